//! The one error type: what was expected, what was found, what to do, and where.

use std::fmt;

/// Result with the one error type of fuseval.
pub type Result<T> = std::result::Result<T, Error>;

/// Who has to act. Each kind has its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The run file or the arguments are wrong (exit code 2).
    Usage,
    /// The data are wrong (exit code 3).
    Data,
    /// The model is wrong (exit code 4).
    Model,
    /// Partials do not belong together, or their bytes are damaged (exit code 5).
    Partials,
    /// A defect of fuseval (exit code 70).
    Defect,
    /// The user stopped it (exit code 130, as shells have it).
    Interrupted,
}

impl ErrorKind {
    /// The exit code of a process that ends with this kind of error.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Usage => 2,
            Self::Data => 3,
            Self::Model => 4,
            Self::Partials => 5,
            Self::Defect => 70,
            Self::Interrupted => 130,
        }
    }
}

/// An error: *expected*, *found*, *what to do*, and the places it passed through, outermost first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    expected: String,
    found: String,
    help: String,
    context: Vec<String>,
}

impl Error {
    /// An error of the given kind. `expected` and `found` complete "expected …, found …"; `help` says what to do.
    pub fn new(
        kind: ErrorKind,
        expected: impl Into<String>,
        found: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self { kind, expected: expected.into(), found: found.into(), help: help.into(), context: Vec::new() }
    }

    /// The run file or the arguments are wrong.
    pub fn usage(expected: impl Into<String>, found: impl Into<String>, help: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, expected, found, help)
    }

    /// The data are wrong.
    pub fn data(expected: impl Into<String>, found: impl Into<String>, help: impl Into<String>) -> Self {
        Self::new(ErrorKind::Data, expected, found, help)
    }

    /// The model is wrong.
    pub fn model(expected: impl Into<String>, found: impl Into<String>, help: impl Into<String>) -> Self {
        Self::new(ErrorKind::Model, expected, found, help)
    }

    /// Partials do not belong together.
    pub fn partials(expected: impl Into<String>, found: impl Into<String>, help: impl Into<String>) -> Self {
        Self::new(ErrorKind::Partials, expected, found, help)
    }

    /// An invariant of fuseval does not hold.
    pub fn defect(expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self::new(ErrorKind::Defect, expected, found, "this is a defect of fuseval; please report it")
    }

    /// Adds the place where the error passed: a file, a column, a key of the run file, a metric.
    #[must_use]
    pub fn at(mut self, place: impl Into<String>) -> Self {
        self.context.insert(0, place.into());
        self
    }

    /// The kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The places the error passed through, joined, outermost first; empty when none is known.
    pub fn place(&self) -> String {
        self.context.join(": ")
    }

    /// "expected …, found …".
    pub fn problem(&self) -> String {
        format!("expected {}, found {}", self.expected, self.found)
    }

    /// What to do about it.
    pub fn help(&self) -> &str {
        &self.help
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.context.is_empty() {
            write!(f, "{}: ", self.place())?;
        }
        write!(f, "{}; {}", self.problem(), self.help)
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_reads_place_expected_found_help() {
        let error = Error::data("a number", "`x`", "fix the cell").at("column label").at("a.csv");
        assert_eq!(error.to_string(), "a.csv: column label: expected a number, found `x`; fix the cell");
        assert_eq!(error.kind().exit_code(), 3);
    }
}
