//! Partials: the states of one part of the data with their addresses, and their bytes.
//!
//! ```text
//!   "FUSEVAL\0"  format version u16  plan fingerprint text
//!   kinds: count u64, then per state of the plan: kind text, version u16
//!   states: count u64, then per state in the order of cells and folds: address, block of the state's bytes
//!   xxh3 of all of the above u64
//! ```
//! `docs/partial-format.md` is the normative description.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::Write;

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::bytes::{Reader, Writer, damaged};
use crate::folds::{AnyFolds, encoded};
use crate::{AnyMetric, Cell, Error, Result};

const MAGIC: &[u8; 8] = b"FUSEVAL\0";
const FORMAT: u16 = 1;

/// The states of one part of the data.
pub struct Partial {
    plan: String,
    cells: BTreeMap<Cell, Box<dyn AnyFolds>>,
}

impl Partial {
    /// The partial of no data, for the plan with this fingerprint.
    pub fn new(plan: &str) -> Self {
        Self { plan: plan.to_string(), cells: BTreeMap::new() }
    }

    /// The fingerprint of the plan.
    pub fn plan(&self) -> &str {
        &self.plan
    }

    /// The cells in address order, given away.
    pub fn into_cells(self) -> impl Iterator<Item = (Cell, Box<dyn AnyFolds>)> {
        self.cells.into_iter()
    }

    /// Adds the states of a cell.
    pub fn add(&mut self, cell: Cell, folds: Box<dyn AnyFolds>) -> Result<()> {
        match self.cells.entry(cell) {
            Entry::Vacant(entry) => {
                let mut folds = folds;
                folds.settle();
                entry.insert(folds);
                Ok(())
            }
            Entry::Occupied(mut entry) => entry.get_mut().absorb(folds),
        }
    }

    /// Adds all of another partial of the same plan.
    pub fn merge(&mut self, other: Self) -> Result<()> {
        if self.plan != other.plan {
            return Err(Error::partials(
                format!("a partial of plan {}", self.plan),
                format!("one of plan {}", other.plan),
                "merge only partials of one run file, one model and one data set",
            ));
        }
        other.cells.into_iter().try_for_each(|(cell, folds)| self.add(cell, folds))
    }

    /// The bytes. `states` are the plan's states, by one metric of each.
    pub fn encode(&self, states: &[&dyn AnyMetric]) -> Vec<u8> {
        let mut bytes = Vec::new();
        // Writing into memory does not fail.
        let _ = self.write(states, &mut bytes);
        bytes
    }

    /// Writes the bytes, one state after the other.
    pub fn write(&self, states: &[&dyn AnyMetric], out: &mut dyn Write) -> std::io::Result<()> {
        let mut hash = Xxh3::new();
        let mut put = |bytes: &[u8]| {
            hash.update(bytes);
            out.write_all(bytes)
        };
        let mut head = Writer::new();
        head.raw(MAGIC);
        head.u16(FORMAT);
        head.text(&self.plan);
        head.u64(states.len() as u64);
        for metric in states {
            let empty = metric.empty();
            head.text(empty.kind());
            head.u16(empty.version());
        }
        head.u64(self.cells.values().map(|folds| folds.present().len() as u64).sum());
        put(head.as_bytes())?;
        for (cell, folds) in &self.cells {
            let mut bytes = Writer::new();
            for fold in folds.present() {
                cell.encode(fold, &mut bytes);
                bytes.block(&encoded(folds.as_ref(), fold));
            }
            put(bytes.as_bytes())?;
        }
        out.write_all(&hash.digest().to_le_bytes())
    }

    /// Reads the bytes of a partial of the plan with the given fingerprint and states.
    pub fn decode(bytes: &[u8], plan: &str, states: &[&dyn AnyMetric]) -> Result<Self> {
        let mut partial = Self::new(plan);
        partial.add_bytes(bytes, states)?;
        Ok(partial)
    }

    /// Adds all of a partial of the same plan that stands in bytes. After an error part of it may have been added.
    pub fn add_bytes(&mut self, bytes: &[u8], states: &[&dyn AnyMetric]) -> Result<()> {
        let Some((content, checksum)) = bytes.split_last_chunk::<8>() else {
            return Err(damaged("a partial", format!("{} bytes", bytes.len())));
        };
        let mut input = Reader::new(content);
        if input.raw(MAGIC.len()).ok() != Some(MAGIC) {
            return Err(damaged("the bytes of a partial", "another file"));
        }
        let format = input.u16()?;
        if format != FORMAT {
            return Err(Error::partials(
                format!("format {FORMAT} of partials"),
                format!("format {format}"),
                "read it with the fuseval that wrote it, or a newer one",
            ));
        }
        if xxh3_64(content).to_le_bytes() != *checksum {
            return Err(damaged("the checksum of the bytes", "another"));
        }
        let plan = input.text()?;
        if plan != self.plan {
            return Err(Error::partials(
                format!("a partial of plan {}", self.plan),
                format!("one of plan {plan}"),
                "use the run file, model and data it was made with",
            ));
        }
        let mut kinds = Vec::new();
        for _ in 0..input.count(10)? {
            kinds.push((input.text()?, input.u16()?));
        }
        if kinds.len() != states.len() {
            return Err(damaged(format!("{} states", states.len()), kinds.len().to_string()));
        }
        let mut last = None;
        // The cell whose folds are being read.
        let mut open: Option<(Cell, Box<dyn AnyFolds>)> = None;
        for _ in 0..input.count(29)? {
            let (cell, fold) = Cell::decode(&mut input)?;
            let place = cell.state as usize;
            let (Some((kind, version)), Some(metric)) = (kinds.get(place), states.get(place)) else {
                return Err(damaged("a state of the plan", format!("state {place}")));
            };
            if last.as_ref().is_some_and(|last| *last >= (cell.clone(), fold)) {
                return Err(damaged("cells in address order", "another order"));
            }
            last = Some((cell.clone(), fold));
            let mut block = Reader::new(input.block()?);
            if open.as_ref().is_some_and(|(of, _)| *of != cell)
                && let Some((of, folds)) = open.take()
            {
                self.add(of, folds)?;
            }
            let (_, folds) = open.get_or_insert_with(|| (cell, metric.empty()));
            metric.decode(folds.as_mut(), fold, kind, *version, &mut block)?;
            block.end()?;
        }
        if let Some((of, folds)) = open {
            self.add(of, folds)?;
        }
        input.end()
    }
}
