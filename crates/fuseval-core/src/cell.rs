//! The address of the states of one cell: experiment, head, slice, state; with a fold it names one state.

use crate::Fold;
use crate::Result;
use crate::bytes::{Reader, Writer};

/// A slice: all rows, or the rows where the columns of one slice definition of the plan have these values.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Slice {
    /// 0 for all rows, otherwise 1 + the place of the definition in the plan.
    pub definition: u32,
    /// The canonical texts of the columns, null as `None`; empty for all rows and for predicates.
    pub values: Vec<Option<String>>,
}

/// The address of a cell. Experiment, head and state are places in the plan's lists.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell {
    /// Place in the plan's experiments; 0 is the baseline.
    pub experiment: u32,
    /// Place in the plan's heads.
    pub head: u32,
    /// The slice.
    pub slice: Slice,
    /// Place in the plan's states; metrics that need the same state share it.
    pub state: u32,
}

impl Cell {
    /// Writes the address of the state of a fold.
    pub fn encode(&self, fold: Fold, out: &mut Writer) {
        out.u32(self.experiment);
        out.u32(self.head);
        out.u32(self.slice.definition);
        out.u32(self.slice.values.len() as u32);
        for value in &self.slice.values {
            out.u8(u8::from(value.is_some()));
            if let Some(text) = value {
                out.text(text);
            }
        }
        out.u32(self.state);
        out.u8(fold.number());
    }

    /// Reads the address of the state of a fold.
    pub fn decode(input: &mut Reader<'_>) -> Result<(Self, Fold)> {
        let experiment = input.u32()?;
        let head = input.u32()?;
        let definition = input.u32()?;
        let count = input.u32()?;
        let mut values = Vec::new();
        for _ in 0..count {
            values.push(match input.u8()? {
                0 => None,
                1 => Some(input.text()?.to_string()),
                other => return Err(crate::bytes::damaged("0 or 1", other.to_string())),
            });
        }
        let state = input.u32()?;
        let number = input.u8()?;
        let fold = Fold::new(number).ok_or_else(|| crate::bytes::damaged("a fold below 32", number.to_string()))?;
        Ok((Self { experiment, head, slice: Slice { definition, values }, state }, fold))
    }
}
