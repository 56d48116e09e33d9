//! The hard cases: `cases DIR` runs every `*.json` in a folder through the command line and through the library, from Parquet
//! and from CSV. One line per case; `N passed, N failed` last; exit code 1 when a case fails. What cases are, and the words
//! they use, stands in the README beside them.
//!
//! ```text
//! case ─▶ tables (values, formula) ─▶ write, onnx ─▶ check ─▶ vocabulary ─▶ runs ─▶ answers, behaviour
//! ```

mod answers;
mod behaviour;
mod case;
mod check;
mod formula;
mod importance;
mod onnx;
mod runs;
mod tables;
mod values;
mod vocabulary;
mod waiting;
mod write;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use case::Case;
use check::{Verdict, check};

fn main() -> ExitCode {
    let mut arguments: Vec<_> = std::env::args_os().skip(1).collect();
    // The command line that cases are run through is this program again, under its other name.
    if arguments.first().is_some_and(|first| first == "fuseval") {
        return fuseval::cli::main(arguments);
    }
    let folder = arguments.pop().map_or_else(|| PathBuf::from("testdata/cases"), PathBuf::from);
    match run(&folder) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::from(2)
        }
    }
}

/// Runs the cases of a folder, or one file; whether none failed.
fn run(folder: &Path) -> Result<bool, String> {
    let mut paths = vec![folder.to_path_buf()];
    if folder.is_dir() {
        let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        paths = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
        paths.sort();
    }
    if paths.is_empty() || !folder.exists() {
        return Err(format!("no case in {}", folder.display()));
    }
    let (mut passed, mut failed) = (0, 0);
    let mut waiting: Vec<(String, String)> = Vec::new();
    for path in &paths {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let verdict = match Case::read(path) {
            Ok(case) => {
                let work = tempfile::tempdir().map_err(|error| error.to_string())?;
                check(&case, work.path())
            }
            Err(problem) => match problem.strip_prefix("waiting: ") {
                Some(reason) => Verdict::Waiting(reason.to_string()),
                None => Verdict::Failed(problem),
            },
        };
        match verdict {
            Verdict::Passed => {
                passed += 1;
                println!("ok      {stem}");
            }
            Verdict::Waiting(reason) => {
                println!("waiting {stem}: {reason}");
                waiting.push((stem, reason));
            }
            Verdict::Failed(problem) => {
                failed += 1;
                println!("FAILED  {stem}: {problem}");
            }
        }
    }
    if !waiting.is_empty() {
        println!("\n{} wait for a later issue, and count as neither:", waiting.len());
        for (stem, reason) in &waiting {
            println!("  {stem}: {reason}");
        }
    }
    println!("{passed} passed, {failed} failed");
    Ok(failed == 0)
}
