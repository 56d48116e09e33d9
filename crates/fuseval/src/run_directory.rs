//! The run directory: while a run goes on, a folder `ledger` inside it; when it is done, the results, put in their place in one go.
//!
//! ```text
//!   DIR/ledger/…            of a run that goes on, or was killed: see `ledger.rs`; and the results on their way
//!   DIR/results.json        of a run that is done: always the last to get its name
//!   DIR/results.parquet, DIR/run.partial, DIR/predictions.parquet
//! ```
//! The results of a former run stay until those of the new one are complete.

use std::fs::File;
use std::path::{Path, PathBuf};

use fuseval_core::{Error, ErrorKind, Result};

use crate::evaluation::{Computed, compute, evaluated};
use crate::ledger::Ledger;
use crate::partial_file::sync_folder;
use crate::{Evaluation, Options, Progress, RunFile};

const RESULTS: &str = "results.json";
const RECORDS: &str = "results.parquet";
const PREDICTIONS: &str = "predictions.parquet";
const PARTIAL: &str = "run.partial";
const LEDGER: &str = "ledger";

/// A run directory that this process works on, and no other.
#[derive(Debug)]
pub struct RunDirectory {
    place: PathBuf,
    resume: bool,
    /// The topmost folder above the ledger that was not there before.
    made: Option<PathBuf>,
    finished: bool,
    _lock: File,
}

/// A run on its way, as the evaluation sees it.
#[derive(Debug)]
pub(crate) struct Unfinished {
    /// The folder of its ledger.
    pub(crate) folder: PathBuf,
    /// Whether to go on with what is there.
    pub(crate) resume: bool,
}

impl RunDirectory {
    /// The run directory of a run file, for a run from the start: `output.dir`, or `runs/NAME` beside the run file.
    pub fn new(run_file: &RunFile) -> Result<Self> {
        let place = match &run_file.output.dir {
            Some(dir) => PathBuf::from(crate::asked::resolved(run_file, dir)),
            None => run_file.base.join("runs").join(&run_file.name),
        };
        Self::open(&place, false)
    }

    /// A directory whose run goes on where it was stopped; a new run where nothing was begun.
    pub fn resume(place: &Path) -> Result<Self> {
        Self::open(place, true)
    }

    /// A directory for results alone.
    pub(crate) fn fresh(place: &Path) -> Result<Self> {
        Self::open(place, false)
    }

    fn open(place: &Path, resume: bool) -> Result<Self> {
        refuse_foreign(place)?;
        let folder = Ledger::folder(place);
        let made = first_missing(&folder);
        let lock = Ledger::lock(&folder)?;
        Ok(Self { place: place.to_path_buf(), resume, made, finished: false, _lock: lock })
    }

    /// Where the directory is.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// The result of a run that is done, if there is one and nothing newer was begun.
    pub fn stored(place: &Path) -> Result<Option<Evaluation>> {
        let is_done = place.join(RESULTS).exists() && place.join(PARTIAL).exists();
        if !is_done || Ledger::find(&Ledger::folder(place))?.is_some() {
            return Ok(None);
        }
        evaluated(crate::merge::states(&[place.join(PARTIAL)])?, 1).map(Some)
    }

    /// The stored `results.json`.
    pub(crate) fn stored_json(place: &Path) -> Result<String> {
        let path = place.join(RESULTS);
        std::fs::read_to_string(&path).map_err(|error| unwritable(&path, &error))
    }

    /// The run file of a run that was begun and is not done.
    pub fn begun(place: &Path) -> Result<Option<RunFile>> {
        Ok(match Ledger::find(&Ledger::folder(place))? {
            Some(found) => Some(found.header.run_file()?),
            None => None,
        })
    }

    /// Evaluates a run file in this directory. An error leaves what is done, if that is worth keeping.
    pub fn evaluate(self, run_file: &RunFile, options: &Options, progress: &dyn Progress) -> Result<Evaluation> {
        let folder = Ledger::folder(&self.place);
        let mut options = options.clone();
        if run_file.output.predictions {
            options.predictions = Some(folder.join(PREDICTIONS));
        }
        let unfinished = Unfinished { folder, resume: self.resume };
        let computed = compute(run_file, &options, Some(&unfinished), progress)?;
        self.finish(computed, options.threads)
    }

    /// Writes the results and puts them in their place, where those of a former run give way.
    pub(crate) fn finish(mut self, computed: Computed, threads: usize) -> Result<Evaluation> {
        let folder = Ledger::folder(&self.place);
        crate::partial_file::write(
            &folder.join(PARTIAL),
            &computed.description,
            &[],
            &computed.plan,
            &computed.partial,
        )?;
        let evaluation = evaluated(computed, threads)?;
        let results = folder.join(RESULTS);
        crate::partial_file::write_whole(&results, |out| evaluation.write_json(out))?;
        evaluation.write_parquet(&folder.join(RECORDS))?;
        for name in [RESULTS, RECORDS, PREDICTIONS, PARTIAL] {
            let former = self.place.join(name);
            if former.exists() {
                std::fs::remove_file(&former).map_err(|error| unwritable(&former, &error))?;
            }
        }
        // The results come last: where they are, all is there.
        for name in [RECORDS, PREDICTIONS, PARTIAL, RESULTS] {
            let place = self.place.join(name);
            if folder.join(name).exists() {
                std::fs::rename(folder.join(name), &place).map_err(|error| unwritable(&place, &error))?;
            }
        }
        sync_folder(&self.place.join(RESULTS)).map_err(|error| unwritable(&self.place, &error))?;
        self.finished = true;
        // First the file that says what is done, so that nothing asks for partials that are gone.
        let ledger = folder.join(LEDGER);
        if ledger.exists() {
            std::fs::remove_file(&ledger).map_err(|error| unwritable(&ledger, &error))?;
        }
        std::fs::remove_dir_all(&folder).map_err(|error| unwritable(&folder, &error))?;
        Ok(evaluation)
    }

    /// Where the results are, as people want to read it.
    pub fn results(place: &Path) -> PathBuf {
        shown(place).join(RESULTS)
    }
}

impl Drop for RunDirectory {
    fn drop(&mut self) {
        let folder = Ledger::folder(&self.place);
        // A ledger that cannot be read is not ours to remove.
        let has_work = Ledger::find(&folder).map_or(true, |found| found.is_some_and(|found| found.has_work()));
        if self.finished || has_work {
            return;
        }
        // Nothing is lost: nothing was done. Folders go if they were made for it, and only while they are empty.
        let _ = std::fs::remove_dir_all(&folder);
        let mut folder = Some(self.place.as_path());
        while let (Some(empty), Some(made)) = (folder, &self.made) {
            if !empty.starts_with(made) || std::fs::remove_dir(empty).is_err() {
                break;
            }
            folder = empty.parent();
        }
    }
}

impl Evaluation {
    /// Refuses a run file whose plan is not the one of these results.
    pub(crate) fn refuse_other_plan(&self, run_file: &RunFile) -> Result<()> {
        let plan = crate::fingerprint::fingerprint(run_file)?;
        if plan == self.fingerprint {
            return Ok(());
        }
        Err(Error::partials(
            format!("the plan that this run was done with, {}", self.fingerprint),
            format!("another run file or model, {plan}"),
            "leave `--resume` out to run it anew, or choose another directory",
        ))
    }
}

/// What to say where a run ended early and what it has done is kept.
pub(crate) fn how_to_go_on(place: &Path, error: &Error) -> Option<String> {
    let found = Ledger::find(&Ledger::folder(place)).ok()??;
    let kept = found.has_work() && matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::Data | ErrorKind::Usage);
    kept.then(|| format!("what was done is kept; go on with `--resume {}`", shown(place).display()))
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
    let has_results = names.iter().any(|name| name == RESULTS);
    let ours = !has_results
        || std::fs::read_to_string(place.join(RESULTS))
            .is_ok_and(|text| text.trim_start().starts_with("{\n  \"fuseval\":"));
    let has_ledger = names.iter().any(|name| name == LEDGER);
    if has_ledger && !Ledger::is_ours(&Ledger::folder(place)) {
        return wrong("a directory with other files in `ledger`");
    }
    let known =
        names.iter().all(|name| [RESULTS, RECORDS, PREDICTIONS, PARTIAL, LEDGER].iter().any(|ours| name == ours));
    if names.is_empty() || (known && ours && (has_results || has_ledger)) {
        return Ok(());
    }
    wrong("a directory with other files")
}

fn unwritable(path: &Path, error: &std::io::Error) -> Error {
    Error::usage("a place to write results to", error.to_string().to_lowercase(), "choose another `output.dir`")
        .at(path.display().to_string())
}
