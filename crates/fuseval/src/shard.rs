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
    if !tables_are_left_out(run_file, options) {
        return Err(Error::usage(
            "a shard without tables",
            "`output.predictions` or `--per-segment`",
            "leave them out: a shard writes its states alone",
        ));
    }
    let name = name(options.shard);
    let path = folder.join(format!("{name}.partial"));
    let unfinished = Unfinished { folder: Ledger::folder(&folder.join(format!(".{name}"))), resume };
    let lock = Ledger::lock(&unfinished.folder)?;
    let computed = compute(run_file, options, Some(&unfinished), progress);
    let mut computed = match computed {
        Ok(computed) => computed,
        Err(error) => {
            if !has_work(folder, options.shard) {
                let _ = std::fs::remove_dir_all(folder.join(format!(".{name}")));
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

/// The name of a shard.
fn name((shard, shards): (u64, u64)) -> String {
    let width = shards.to_string().len();
    format!("shard-{shard:0width$}-of-{shards}")
}

/// Whether a shard that ended early has left work to go on with. A ledger that cannot be read counts, since it is not ours to
/// remove.
pub(crate) fn has_work(folder: &Path, shard: (u64, u64)) -> bool {
    let ledger = Ledger::folder(&folder.join(format!(".{}", name(shard))));
    Ledger::find(&ledger).map_or(true, |found| found.is_some_and(|found| found.has_work()))
}

fn tables_are_left_out(run_file: &RunFile, options: &Options) -> bool {
    !run_file.output.predictions && options.segments.is_none()
}
