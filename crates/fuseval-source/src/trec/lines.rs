//! A text file as lines of fields, with what trec_eval takes for white space and comments.

use std::path::Path;

use fuseval_core::source::FileIdentity;
use fuseval_core::{Error, Result};

use crate::file::modified_tag;
use crate::paths::unreadable;

/// A longer line is none of a TREC file; the limit keeps the text of a chunk of rows within the offsets of its array.
const LONGEST_LINE: usize = 1 << 20;

/// The characters of a line that an error shows.
const SHOWN: usize = 80;

/// A file in memory.
#[derive(Debug)]
pub(crate) struct TextFile {
    /// The path as given.
    pub(crate) shown: String,
    /// What tells it from other content of that name.
    pub(crate) identity: FileIdentity,
    text: String,
}

/// A line that holds something.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'a> {
    /// From 1.
    pub(crate) number: u64,
    text: &'a str,
}

impl TextFile {
    /// Reads a file of UTF-8 text.
    pub(crate) fn read(path: &str) -> Result<Self> {
        let refused = |reason: std::io::Error| unreadable(Path::new(path), &reason);
        let metadata = std::fs::metadata(path).map_err(refused)?;
        let bytes = std::fs::read(path).map_err(refused)?;
        let content = modified_tag(metadata.modified().ok());
        let identity = FileIdentity { shown: path.to_string(), size: metadata.len(), content };
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Self { shown: path.to_string(), identity, text }),
            Err(reason) => {
                let valid = reason.utf8_error().valid_up_to();
                let before = reason.as_bytes().get(..valid).unwrap_or_default();
                let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
                let byte = reason.as_bytes().get(valid).copied().unwrap_or_default();
                let help = "write the file as UTF-8; unpack it first if it is compressed";
                Err(Error::data("text in UTF-8", format!("the byte {byte:#04x}"), help)
                    .at(format!("{path}: line {line}")))
            }
        }
    }

    /// The lines that are neither blank nor comments.
    pub(crate) fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        let text = self.text.strip_prefix('\u{feff}').unwrap_or(&self.text);
        let lines =
            (1..).zip(text.split('\n')).map(|(number, text)| Line { number, text: text.trim_matches(is_space) });
        lines.filter(|line| !line.text.is_empty() && !line.text.starts_with('#'))
    }

    /// The place of a line, for errors.
    pub(crate) fn place(&self, line: u64) -> String {
        format!("{}: line {line}", self.shown)
    }
}

impl<'a> Line<'a> {
    /// The first `N` fields, of which there must be so many; and no more, if `exact`. `form` names them.
    pub(crate) fn fields<const N: usize>(&self, form: &str, exact: bool) -> Result<[&'a str; N]> {
        if self.text.len() > LONGEST_LINE {
            let found = format!("a line of {} bytes", self.text.len());
            return Err(Error::data(format!("a line `{form}`"), found, "check that this is the right file"));
        }
        let mut rest = self.text.split(is_space).filter(|field| !field.is_empty());
        let mut fields = [""; N];
        let mut count = 0;
        for (field, text) in fields.iter_mut().zip(rest.by_ref()) {
            *field = text;
            count += 1;
        }
        let more = rest.count();
        if count == N && (more == 0 || !exact) {
            return Ok(fields);
        }
        let plural = if count + more == 1 { "" } else { "s" };
        let found = format!("{} field{plural} in `{}`", count + more, short(self.text));
        Err(Error::data(format!("a line `{form}`"), found, "correct the line, or check that this is the right file"))
    }
}

/// The white space of C within a line.
fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r' | '\u{b}' | '\u{c}')
}

/// The beginning of a text.
pub(crate) fn short(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_string(),
    }
}
