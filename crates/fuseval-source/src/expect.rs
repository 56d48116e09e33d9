//! What must be there: a number of files, and names of partitions or files.
//!
//! A name is one part of a path or several with `/` between them, each with the wildcards of a glob (`*` stays within a part):
//! `date=2026-11-01`, `part-*.parquet`, `date=2026-11-01/part-0.parquet`. It is there if the parts follow each other anywhere
//! in the path of a file.

use fuseval_core::{Error, Result};
use glob::Pattern;

use crate::options::Expected;
use crate::paths::{FoundFile, url_decoded};

/// The names that a message lists at most.
const LISTED: usize = 10;

/// Checks that what is expected was found.
pub(crate) fn check(expected: &Expected, files: &[FoundFile]) -> Result<()> {
    let place = "data.expect";
    let mut missing = Vec::new();
    for name in &expected.names {
        let parts = parts(name).map_err(|error| error.at(place))?;
        if !files.iter().any(|file| has(&file.shown, &parts)) {
            missing.push(format!("`{name}`"));
        }
    }
    if !missing.is_empty() {
        let more = missing.len().saturating_sub(LISTED);
        let of = format!("{} of {}", missing.len(), expected.names.len());
        let mut listed = missing.get(..LISTED.min(missing.len())).unwrap_or_default().join(", ");
        if more > 0 {
            listed.push_str(&format!(" and {more} more"));
        }
        let found = format!("no file for {listed} ({of} missing)");
        let help = "wait until the data are complete, or correct what is expected";
        return Err(Error::data("a file for each name", found, help).at(place));
    }
    let count = files.len() as u64;
    match expected.files {
        Some(number) if number != count => {
            let first = |file: Option<&FoundFile>| file.map_or("", |file| file.shown.as_str()).to_string();
            let found = match count {
                0 | 1 => format!("{count}: `{}`", first(files.first())),
                _ => format!("{count}, from `{}` to `{}`", first(files.first()), first(files.last())),
            };
            let help = if count < number {
                "wait until the data are complete, or correct what is expected"
            } else {
                "look for files that were written twice, or correct what is expected"
            };
            Err(Error::data(format!("{number} files"), found, help).at(place))
        }
        _ => Ok(()),
    }
}

fn parts(name: &str) -> Result<Vec<Pattern>> {
    let refused = |reason: &str| {
        let found = format!("`{name}` ({reason})");
        let help = "write for example `date=2026-11-01` or `part-*.parquet`";
        Error::usage("the name of a partition or a file, or a glob for it", found, help)
    };
    let parts: Vec<&str> = name.split('/').filter(|part| !part.is_empty()).collect();
    if parts.is_empty() {
        return Err(refused("no name"));
    }
    if parts.contains(&"**") {
        return Err(refused("`**`: a name is sought at any depth as it is"));
    }
    parts.into_iter().map(|part| Pattern::new(part).map_err(|reason| refused(reason.msg))).collect()
}

/// Whether the parts follow each other in a path.
fn has(shown: &str, parts: &[Pattern]) -> bool {
    let names: Vec<&str> = shown.split('/').filter(|part| !part.is_empty()).collect();
    let fits = |(name, part): (&&str, &Pattern)| part.matches(name) || part.matches(&url_decoded(name));
    names.windows(parts.len()).any(|window| window.iter().zip(parts).all(fits))
}
