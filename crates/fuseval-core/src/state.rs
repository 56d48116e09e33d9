//! States: mergeable running data with versioned bytes.

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

    /// The same with a state that is not needed any more, whose memory may be taken over. Called where workers' states come
    /// together; the default merges.
    fn absorb(&mut self, other: Self) -> Result<()> {
        self.merge(&other)
    }

    /// Keeps the states of all folds of one cell within what they may take together. Called with them after merges and now and
    /// then between updates; what comes of it in the end must depend on the data alone. The default does nothing.
    fn settle(_folds: &mut [Self]) {}

    /// Whether it is time for [`Self::settle`] after an update.
    fn is_to_settle(&self) -> bool {
        false
    }

    /// Writes the canonical bytes. Called once per cell and partial, on settled states.
    fn encode(&self, out: &mut Writer);

    /// Reads bytes of the given version, `1..=VERSION`.
    fn decode(version: u16, input: &mut Reader<'_>) -> Result<Self>;
}

/// The error for a state of another kind than the metric's.
pub(crate) fn wrong_kind(expected: &str, found: &str) -> Error {
    Error::partials(
        format!("a state of kind `{expected}`"),
        format!("one of kind `{found}`"),
        "merge only partials of the same plan",
    )
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
