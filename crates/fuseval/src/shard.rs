//! A shard: the states of one part of the data, in a file that `fuseval merge` reads.

use std::path::{Path, PathBuf};

use fuseval_core::{Error, Result};

use crate::evaluation::compute;
use crate::ledger::Ledger;
use crate::partial_file::unwritable;
use crate::run_directory::Unfinished;
use crate::{Options, Progress, RunFile};

/// Evaluates the part of the data that `options.shard` names, and writes its states into a folder. The folder may be shared by
/// all shards. With `resume` the shard goes on where it was stopped.
pub fn write_shard(
    run_file: &RunFile,
    options: &Options,
    folder: &Path,
    resume: bool,
    progress: &dyn Progress,
) -> Result<PathBuf> {
    let (shard, shards) = options.shard;
    if !tables_are_left_out(run_file, options) {
        return Err(Error::usage(
            "a shard without tables",
            "`output.predictions` or `--per-segment`",
            "leave them out: a shard writes its states alone",
        ));
    }
    let width = shards.to_string().len();
    let name = format!("shard-{shard:0width$}-of-{shards}");
    let path = folder.join(format!("{name}.partial"));
    let unfinished = Unfinished { folder: Ledger::folder(&folder.join(format!(".{name}"))), resume };
    let lock = Ledger::lock(&unfinished.folder)?;
    let computed = compute(run_file, options, Some(&unfinished), progress);
    let mut computed = match computed {
        Ok(computed) => computed,
        Err(error) => {
            let kept = Ledger::find(&unfinished.folder)?.is_some_and(|found| found.has_work());
            if !kept {
                let _ = std::fs::remove_dir_all(folder.join(format!(".{name}")));
                let _ = std::fs::remove_dir(folder);
            }
            return Err(error);
        }
    };
    let keys = computed.segments.as_mut().and_then(|segments| segments.fingerprints()).unwrap_or_default();
    crate::partial_file::write(&path, &computed.description, keys, &computed.plan, &computed.partial)?;
    drop(lock);
    let left = folder.join(format!(".{name}"));
    std::fs::remove_dir_all(&left).map_err(|reason| unwritable(&left, &reason))?;
    Ok(path)
}

fn tables_are_left_out(run_file: &RunFile, options: &Options) -> bool {
    !run_file.output.predictions && options.segments.is_none()
}
