//! From the paths a user gives to the files of the data set, in logical order: byte order of the path as shown.
//!
//! A directory is searched for files of all formats except `*.json`; names that begin with `.` or `_` are skipped there, as
//! writers use them for what is not data. `key=value` directories below the given directory, or below the part of a glob before
//! its first wildcard, are hive partitions. A file that is reached by two paths is read once.

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use fuseval_core::{Error, Result};

use crate::content::Location;
use crate::format::Format;
use crate::parallel::in_parallel;
use crate::remote::{self, Network, is_url};

/// Spark's and Hive's directory name for a null key.
const NULL_PARTITION: &str = "__HIVE_DEFAULT_PARTITION__";

/// A file of the data set.
#[derive(Debug, Clone)]
pub(crate) struct FoundFile {
    pub(crate) location: Location,
    /// The path below the one the user gave, or the URL, as shown to people.
    pub(crate) shown: String,
    /// The resolved path or the URL, which names the same file always alike.
    pub(crate) canonical: PathBuf,
    /// Hive partitions, outermost first; null is `None`.
    pub(crate) partitions: Vec<(String, Option<String>)>,
}

/// All files of the data set, sorted, each once.
pub(crate) fn found_files(paths: &[String]) -> Result<Vec<FoundFile>> {
    if paths.is_empty() {
        return Err(Error::usage("at least one path", "none", "give a file, a directory or a glob"));
    }
    // The threads of requests are there only where there are requests.
    let network = if paths.iter().any(|path| is_url(path)) { Some(Arc::new(Network::start()?)) } else { None };
    let found = in_parallel(paths, |path| match &network {
        Some(network) if is_url(path) => remote::find(network, path),
        _ => find(path),
    })?;
    let mut files: Vec<FoundFile> = found.into_iter().flatten().collect();
    files.sort_by(|a, b| (a.shown.as_bytes(), &a.canonical).cmp(&(b.shown.as_bytes(), &b.canonical)));
    let mut seen = HashSet::new();
    files.retain(|file| seen.insert(file.canonical.clone()));
    Ok(files)
}

/// What to do where a directory has no data.
pub(crate) const NO_DATA: &str = "check the path; `*.json` files are read where they are named or match a glob";

fn find(given: &str) -> Result<Vec<FoundFile>> {
    let path = Path::new(given);
    let mut files = Vec::new();
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => {
            walk(path, path, &mut HashSet::new(), &mut files)?;
            if files.is_empty() {
                return Err(Error::data("a directory with files of data", format!("none below `{given}`"), NO_DATA));
            }
        }
        Ok(_) => add(path.to_path_buf(), None, &mut files)?,
        Err(_) if given.contains(['*', '?', '[']) => {
            find_glob(given, &mut files)?;
            if files.is_empty() {
                return Err(Error::data("files that match the glob", format!("none for `{given}`"), "check the path"));
            }
        }
        Err(reason) => return Err(unreadable(path, &reason)),
    }
    Ok(files)
}

fn find_glob(given: &str, files: &mut Vec<FoundFile>) -> Result<()> {
    let options = glob::MatchOptions { require_literal_leading_dot: true, ..Default::default() };
    let matches = glob::glob_with(given, options).map_err(|reason| {
        Error::usage("a glob", format!("`{given}` ({})", reason.msg), "write [*] for a star that is part of a name")
    })?;
    let base: PathBuf =
        Path::new(given).components().take_while(|part| !is_wildcard(part)).map(|part| part.as_os_str()).collect();
    let hides = |part: Component<'_>| is_hidden(Path::new(part.as_os_str()));
    let asks_for_hidden = Path::new(given).components().skip(base.components().count()).any(hides);
    for path in matches {
        let path = path.map_err(|reason| unreadable(reason.path(), reason.error()))?;
        // Folders that writers work in match `*` as well.
        let relative = base.strip_prefix(".").unwrap_or(&base);
        let below = path.strip_prefix(&base).or_else(|_| path.strip_prefix(relative)).unwrap_or(&path);
        if !asks_for_hidden && below.components().any(hides) {
            continue;
        }
        if path.is_dir() {
            walk(&path, &base, &mut HashSet::new(), files)?;
        } else {
            add(path, Some(&base), files)?;
        }
    }
    Ok(())
}

fn is_wildcard(part: &Component<'_>) -> bool {
    part.as_os_str().to_string_lossy().contains(['*', '?', '['])
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| is_hidden_name(&name.to_string_lossy()))
}

/// Whether a name is one that writers give to what is not data.
pub(crate) fn is_hidden_name(name: &str) -> bool {
    name.starts_with(['.', '_'])
}

/// Adds the files below `directory`; `visited` keeps symbolic links from leading in circles.
fn walk(directory: &Path, base: &Path, visited: &mut HashSet<PathBuf>, files: &mut Vec<FoundFile>) -> Result<()> {
    if !visited.insert(canonical(directory)?) {
        return Ok(());
    }
    let entries = std::fs::read_dir(directory).map_err(|reason| unreadable(directory, &reason))?;
    for entry in entries {
        let path = entry.map_err(|reason| unreadable(directory, &reason))?.path();
        if is_hidden(&path) {
            continue;
        }
        if path.is_dir() {
            walk(&path, base, visited, files)?;
        } else if Format::is_sought(&path.to_string_lossy()) {
            add(path, Some(base), files)?;
        }
    }
    Ok(())
}

fn add(path: PathBuf, base: Option<&Path>, files: &mut Vec<FoundFile>) -> Result<()> {
    let partitions = base.map(|base| partitions(&path, base)).unwrap_or_default();
    let shown = path.to_string_lossy().into_owned();
    let canonical = canonical(&path)?;
    files.push(FoundFile { location: Location::Local(canonical.clone()), shown, canonical, partitions });
    Ok(())
}

fn canonical(path: &Path) -> Result<PathBuf> {
    path.canonicalize().map_err(|reason| unreadable(path, &reason))
}

/// The error for a path that is not there or cannot be opened.
pub(crate) fn unreadable(path: &Path, reason: &std::io::Error) -> Error {
    let shown = path.display();
    match reason.kind() {
        std::io::ErrorKind::NotFound => {
            Error::data("an existing file, directory or glob", format!("nothing at `{shown}`"), "check the path")
        }
        _ => Error::data("a file or directory that can be read", format!("`{shown}`: {reason}"), "check the path"),
    }
}

/// The `key=value` directories of a path below `base`.
pub(crate) fn partitions(path: &Path, base: &Path) -> Vec<(String, Option<String>)> {
    let below = path.strip_prefix(base).unwrap_or(path);
    let directories = below.parent().map(Path::components);
    let mut partitions: Vec<(String, Option<String>)> = Vec::new();
    for directory in directories.into_iter().flatten() {
        let directory = directory.as_os_str().to_string_lossy();
        let Some((key, value)) = directory.split_once('=').filter(|(key, _)| !key.is_empty()) else { continue };
        let value = (value != NULL_PARTITION).then(|| url_decoded(value));
        let key = url_decoded(key);
        partitions.retain(|(known, _)| *known != key);
        partitions.push((key, value));
    }
    partitions
}

/// Replaces `%41` by `A`; what is no valid escape stays as it is.
pub(crate) fn url_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((first, tail)) = rest.split_first() {
        let escape = tail.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let value = escape
            .filter(|digits| *first == b'%' && digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        decoded.push(value.unwrap_or(*first));
        rest = if value.is_some() { tail.get(2..).unwrap_or_default() } else { tail };
    }
    String::from_utf8(decoded).unwrap_or_else(|_| text.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_are_read_below_the_base_only() {
        let path = Path::new("root/a=0/day=2024%2D01/country=__HIVE_DEFAULT_PARTITION__/x=1.parquet");
        let expected = vec![("day".to_string(), Some("2024-01".to_string())), ("country".to_string(), None)];
        assert_eq!(partitions(path, Path::new("root/a=0")), expected);
    }

    #[test]
    fn what_is_no_escape_stays() {
        assert_eq!(url_decoded("100%"), "100%");
        assert_eq!(url_decoded("%zz%2Fé"), "%zz/é");
        assert_eq!(url_decoded("%FF"), "%FF");
    }
}
