//! States: mergeable running data with versioned bytes.

use std::any::Any;

use crate::bytes::{Reader, Writer};
use crate::{Error, Result};

/// A commutative monoid with canonical bytes.
///
/// Laws, checked for every kind in the testkit and compared as bytes: merging is associative and commutative, the empty
/// state changes nothing, `decode(encode(s))` is `s`, equal content has equal bytes, and bytes that `encode` cannot have
/// written are refused without a panic and without allocating more than they hold.
pub trait State: Clone + Send + 'static {
    /// The name of the kind, in the partial's header.
    const KIND: &'static str;
    /// The version of the bytes. A reader refuses versions newer than its own and reads all older ones.
    const VERSION: u16;

    /// Adds the content of another state of the same shape. An error means that the shapes differ (another plan).
    fn merge(&mut self, other: &Self) -> Result<()>;

    /// Writes the canonical bytes. Called once per cell and partial.
    fn encode(&self, out: &mut Writer);

    /// Reads bytes of the given version, `1..=VERSION`.
    fn decode(version: u16, input: &mut Reader<'_>) -> Result<Self>;
}

/// A state whose kind is not known to the caller. Implemented for every [`State`].
pub trait AnyState: Send {
    /// The name of the kind.
    fn kind(&self) -> &'static str;
    /// The version of the bytes that `encode` writes.
    fn version(&self) -> u16;
    /// As [`State::merge`]; another kind is an error.
    fn merge(&mut self, other: &dyn AnyState) -> Result<()>;
    /// As [`State::encode`].
    fn encode(&self, out: &mut Writer);
    /// A copy.
    fn copied(&self) -> Box<dyn AnyState>;
    /// The state itself.
    fn as_any(&self) -> &dyn Any;
    /// The state itself, mutable.
    fn as_any_mut(&mut self) -> &mut dyn Any;
}

impl<S: State> AnyState for S {
    fn kind(&self) -> &'static str {
        S::KIND
    }

    fn version(&self) -> u16 {
        S::VERSION
    }

    fn merge(&mut self, other: &dyn AnyState) -> Result<()> {
        match other.as_any().downcast_ref::<S>() {
            Some(other) => State::merge(self, other),
            None => Err(wrong_kind(S::KIND, other.kind())),
        }
    }

    fn encode(&self, out: &mut Writer) {
        State::encode(self, out);
    }

    fn copied(&self) -> Box<dyn AnyState> {
        Box::new(self.clone())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

/// The error for a state of another kind than the metric's.
pub(crate) fn wrong_kind(expected: &str, found: &str) -> Error {
    Error::partials(
        format!("a state of kind `{expected}`"),
        format!("one of kind `{found}`"),
        "merge only partials of the same plan",
    )
}

/// The bytes of a state, for comparison and storage.
pub fn encoded(state: &dyn AnyState) -> Vec<u8> {
    let mut out = Writer::new();
    state.encode(&mut out);
    out.into_bytes()
}

/// Reads a count of rows, segments or additions. More than 2^56 cannot have been counted and is refused, so that adding
/// counts never overflows.
pub fn count(input: &mut Reader<'_>) -> Result<u64> {
    let count = input.u64()?;
    if count > 1 << 56 {
        return Err(crate::bytes::damaged("a count below 2^56", count.to_string()));
    }
    Ok(count)
}
