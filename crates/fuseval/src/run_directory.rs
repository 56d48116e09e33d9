//! The run directory: written under a temporary name beside its place, and put there when it is complete.

use std::path::{Path, PathBuf};

use fuseval_core::{Error, Result};

use crate::{Evaluation, RunFile};

const RESULTS: &str = "results.json";
/// Between the name of a run directory in the making and the number of the process that writes it.
const WRITING: &str = ".writing-";
const RECORDS: &str = "results.parquet";
const PREDICTIONS: &str = "predictions.parquet";

/// A run directory in the making. Dropped before [`RunDirectory::finish`], it leaves nothing behind.
#[derive(Debug)]
pub struct RunDirectory {
    place: PathBuf,
    temporary: PathBuf,
    /// The topmost folder above the place that was not there before.
    made: Option<PathBuf>,
    finished: bool,
}

impl RunDirectory {
    /// The run directory of a run file: `output.dir`, or `runs/NAME` beside the run file.
    pub fn new(run_file: &RunFile) -> Result<Self> {
        let place = match &run_file.output.dir {
            Some(dir) => PathBuf::from(crate::asked::resolved(run_file, dir)),
            None => run_file.base.join("runs").join(&run_file.name),
        };
        refuse_foreign(&place)?;
        let name = place.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let parent = place.parent().unwrap_or(Path::new("")).to_path_buf();
        remove_left_over(&parent, &name);
        let temporary = parent.join(format!("{name}{WRITING}{}", std::process::id()));
        let made = first_missing(&parent);
        std::fs::create_dir_all(&temporary).map_err(|error| unwritable(&place, &error))?;
        Ok(Self { place, temporary, made, finished: false })
    }

    /// Where the directory will be.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Where to write the predictions.
    pub fn predictions(&self) -> PathBuf {
        self.temporary.join(PREDICTIONS)
    }

    /// Writes the results and puts the directory in its place, where a former run of fuseval gives way.
    pub fn finish(mut self, evaluation: &Evaluation) -> Result<PathBuf> {
        let results = self.temporary.join(RESULTS);
        evaluation.write_json(&results).map_err(|error| unwritable(&results, &error))?;
        evaluation.write_parquet(&self.temporary.join(RECORDS))?;
        refuse_foreign(&self.place)?;
        // The former result is moved aside, not removed, until the new one is in its place.
        let aside = self.temporary.with_extension("former");
        let had_former = self.place.exists();
        if had_former {
            std::fs::rename(&self.place, &aside).map_err(|error| unwritable(&self.place, &error))?;
        }
        if let Err(error) = std::fs::rename(&self.temporary, &self.place) {
            let _ = std::fs::rename(&aside, &self.place);
            return Err(unwritable(&self.place, &error));
        }
        self.finished = true;
        if had_former {
            let _ = std::fs::remove_dir_all(&aside);
        }
        Ok(shown(&self.place))
    }
}

impl Drop for RunDirectory {
    fn drop(&mut self) {
        if !self.finished {
            // Nothing is lost if this fails: the name says that it was not finished.
            let _ = std::fs::remove_dir_all(&self.temporary);
            // Folders above it go if they were made for it, and only while they are empty.
            let mut folder = self.temporary.parent();
            while let (Some(empty), Some(made)) = (folder, &self.made) {
                if !empty.starts_with(made) || std::fs::remove_dir(empty).is_err() {
                    break;
                }
                folder = empty.parent();
            }
        }
    }
}

/// A path as people want to read it: from the working directory where it lies below it, without detours.
fn shown(place: &Path) -> PathBuf {
    let Ok(whole) = place.canonicalize() else { return place.to_path_buf() };
    let here = std::env::current_dir().and_then(|here| here.canonicalize());
    here.ok().and_then(|here| whole.strip_prefix(here).ok().map(Path::to_path_buf)).unwrap_or(whole)
}

/// The topmost folder of a path that is not there yet.
fn first_missing(folder: &Path) -> Option<PathBuf> {
    folder
        .ancestors()
        .take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists())
        .last()
        .map(Path::to_path_buf)
}

/// Removes what killed runs into the same place have left beside it. Whether their processes are gone is known where the
/// system lists its processes; elsewhere nothing is removed.
fn remove_left_over(parent: &Path, name: &str) {
    let processes = Path::new("/proc");
    let Ok(entries) = std::fs::read_dir(if parent.as_os_str().is_empty() { Path::new(".") } else { parent }) else {
        return;
    };
    if !processes.join("self").exists() {
        return;
    }
    for entry in entries.flatten() {
        let file_name = entry.file_name();
        let process = file_name.to_str().and_then(|file_name| file_name.strip_prefix(name)?.strip_prefix(WRITING));
        if process.is_some_and(|process| process.parse::<u32>().is_ok() && !processes.join(process).exists()) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Refuses a directory with content that fuseval did not write.
fn refuse_foreign(place: &Path) -> Result<()> {
    let wrong = |found: &str| {
        Err(Error::usage(
            "a run directory that is new, empty or from fuseval",
            found,
            "choose another `output.dir`, or move the files away",
        )
        .at(place.display().to_string()))
    };
    if place.is_file() {
        return wrong("a file");
    }
    let Ok(entries) = std::fs::read_dir(place) else { return Ok(()) };
    let names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    let ours = std::fs::read_to_string(place.join(RESULTS))
        .is_ok_and(|text| text.trim_start().starts_with("{\n  \"fuseval\":"));
    let known = names.iter().all(|name| [RESULTS, RECORDS, PREDICTIONS].iter().any(|ours| name == ours));
    if names.is_empty() || (ours && known) {
        return Ok(());
    }
    wrong("a directory with other files")
}

fn unwritable(path: &Path, error: &std::io::Error) -> Error {
    Error::usage("a place to write results to", error.to_string().to_lowercase(), "choose another `output.dir`")
        .at(path.display().to_string())
}
