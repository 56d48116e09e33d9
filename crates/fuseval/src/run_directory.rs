//! The run directory: written under a temporary name beside its place, and put there when it is complete.

use std::path::{Path, PathBuf};

use fuseval_core::{Error, Result};

use crate::{Evaluation, RunFile};

const RESULTS: &str = "results.json";
const RECORDS: &str = "results.parquet";
const PREDICTIONS: &str = "predictions.parquet";

/// A run directory in the making. Dropped before [`RunDirectory::finish`], it leaves nothing behind.
#[derive(Debug)]
pub struct RunDirectory {
    place: PathBuf,
    temporary: PathBuf,
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
        let mut name = place.file_name().map(std::ffi::OsStr::to_os_string).unwrap_or_default();
        name.push(format!(".writing-{}", std::process::id()));
        let temporary = place.with_file_name(name);
        std::fs::create_dir_all(&temporary).map_err(|error| unwritable(&temporary, &error))?;
        Ok(Self { place, temporary, finished: false })
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
        std::fs::write(&results, evaluation.to_json()).map_err(|error| unwritable(&results, &error))?;
        evaluation.write_parquet(&self.temporary.join(RECORDS))?;
        refuse_foreign(&self.place)?;
        if self.place.exists() {
            std::fs::remove_dir_all(&self.place).map_err(|error| unwritable(&self.place, &error))?;
        }
        std::fs::rename(&self.temporary, &self.place).map_err(|error| unwritable(&self.place, &error))?;
        self.finished = true;
        Ok(self.place.clone())
    }
}

impl Drop for RunDirectory {
    fn drop(&mut self) {
        if !self.finished {
            // Nothing is lost if this fails: the name says that it was not finished.
            let _ = std::fs::remove_dir_all(&self.temporary);
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
