//! Rows from lists: where a stored row holds the lists of a whole segment, each place of the lists becomes a row, beside the
//! other columns of the stored row. Null and empty lists become no row.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, UInt64Array};
use arrow_schema::{ArrowError, DataType};
use arrow_select::take::take;
use fuseval_core::{Error, Result};

use crate::session::BATCH_ROWS;

/// The type of the items of a list column.
pub(crate) fn item_type(column: &str, data_type: &DataType) -> Result<DataType> {
    match data_type {
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            Ok(item.data_type().clone())
        }
        // Not a value in any row.
        DataType::Null => Ok(DataType::Null),
        other => {
            let help = "name only columns of lists; the others are repeated for each row";
            Err(Error::usage("columns of lists to explode", format!("`{column}` of type {other}"), help))
        }
    }
}

/// A run of rows that were exploded.
pub(crate) struct Exploded {
    pub(crate) columns: Vec<ArrayRef>,
    /// For each row the stored row of the batch that it comes from.
    pub(crate) origins: Vec<u64>,
}

/// Lists that differ in length.
pub(crate) struct Uneven {
    /// The stored row of the batch.
    pub(crate) row: usize,
    /// Two columns by place, with the lengths of their lists.
    pub(crate) lengths: [(usize, usize); 2],
}

/// The lists of a batch, checked.
pub(crate) struct Lists<'a> {
    columns: Vec<ArrayRef>,
    places: &'a [usize],
    lengths: Vec<usize>,
    next: usize,
}

impl<'a> Lists<'a> {
    /// Checks that the lists at `places` among the columns have one length in each of the `rows`.
    pub(crate) fn new(
        columns: Vec<ArrayRef>,
        places: &'a [usize],
        rows: usize,
    ) -> Result<std::result::Result<Self, Uneven>> {
        let mut lengths: Vec<usize> = Vec::new();
        for (position, place) in places.iter().enumerate() {
            let these = lengths_of(column(&columns, *place)?)?;
            if position == 0 {
                lengths = these;
                continue;
            }
            if let Some(row) = lengths.iter().zip(&these).position(|(first, other)| first != other) {
                let length = |lengths: &[usize]| lengths.get(row).copied().unwrap_or_default();
                let first = (places.first().copied().unwrap_or_default(), length(&lengths));
                return Ok(Err(Uneven { row, lengths: [first, (*place, length(&these))] }));
            }
        }
        lengths.resize(rows, 0);
        Ok(Ok(Self { columns, places, lengths, next: 0 }))
    }

    /// The rows that come next: those of as many stored rows as fill a batch, or of one.
    fn run(&mut self) -> Result<Exploded> {
        let mut origins: Vec<u64> = Vec::new();
        let from = self.next;
        while let Some(length) = self.lengths.get(self.next) {
            if !origins.is_empty() && origins.len() + length > BATCH_ROWS {
                break;
            }
            origins.extend(std::iter::repeat_n(self.next as u64, *length));
            self.next += 1;
        }
        let indices = UInt64Array::from(origins.clone());
        let columns = self.columns.iter().enumerate().map(|(place, array)| {
            if self.places.contains(&place) {
                items(array, from, self.lengths.get(from..self.next).unwrap_or_default())
            } else {
                take(array.as_ref(), &indices, None).map_err(|reason| unexpected(&reason))
            }
        });
        Ok(Exploded { columns: columns.collect::<Result<_>>()?, origins })
    }
}

impl Iterator for Lists<'_> {
    type Item = Result<Exploded>;

    fn next(&mut self) -> Option<Self::Item> {
        (self.next < self.lengths.len()).then(|| self.run())
    }
}

/// The number of items of each list; 0 for null.
fn lengths_of(array: &ArrayRef) -> Result<Vec<usize>> {
    let length = |row: usize, offsets: (i64, i64)| {
        if array.is_null(row) { 0 } else { usize::try_from(offsets.1 - offsets.0).unwrap_or_default() }
    };
    let pairs = |offsets: &[i64]| -> Vec<usize> {
        let ends = offsets.iter().skip(1);
        offsets.iter().zip(ends).enumerate().map(|(row, (from, to))| length(row, (*from, *to))).collect()
    };
    match array.data_type() {
        DataType::List(_) => {
            Ok(pairs(&array.as_list::<i32>().offsets().iter().map(|offset| i64::from(*offset)).collect::<Vec<_>>()))
        }
        DataType::LargeList(_) => Ok(pairs(array.as_list::<i64>().offsets())),
        DataType::FixedSizeList(_, size) => {
            Ok((0..array.len()).map(|row| length(row, (0, i64::from(*size)))).collect())
        }
        DataType::Null => Ok(vec![0; array.len()]),
        other => Err(Error::defect("a column of lists", other.to_string())),
    }
}

/// The items of the lists from row `from` on, one list after the other.
fn items(array: &ArrayRef, from: usize, lengths: &[usize]) -> Result<ArrayRef> {
    let start = |row: usize| -> Result<u64> {
        let offset = match array.data_type() {
            DataType::List(_) => array.as_list::<i32>().offsets().get(row).map(|offset| i64::from(*offset)),
            DataType::LargeList(_) => array.as_list::<i64>().offsets().get(row).copied(),
            DataType::FixedSizeList(..) => Some(i64::from(array.as_fixed_size_list().value_offset(row))),
            _ => Some(0),
        };
        offset.and_then(|offset| u64::try_from(offset).ok()).ok_or_else(|| Error::defect("the start of a list", "none"))
    };
    let values = match array.data_type() {
        DataType::List(_) => array.as_list::<i32>().values().clone(),
        DataType::LargeList(_) => array.as_list::<i64>().values().clone(),
        DataType::FixedSizeList(..) => array.as_fixed_size_list().values().clone(),
        _ => return Ok(arrow_array::new_null_array(&DataType::Null, lengths.iter().sum())),
    };
    let mut indices: Vec<u64> = Vec::new();
    for (row, length) in lengths.iter().enumerate().filter(|(_, length)| **length > 0) {
        let start = start(from + row)?;
        indices.extend(start..start + *length as u64);
    }
    take(values.as_ref(), &UInt64Array::from(indices), None).map_err(|reason| unexpected(&reason))
}

fn column(columns: &[ArrayRef], place: usize) -> Result<&ArrayRef> {
    columns.get(place).ok_or_else(|| Error::defect(format!("column {place} of a batch"), "none"))
}

fn unexpected(reason: &ArrowError) -> Error {
    Error::defect("rows from lists", reason.to_string())
}
