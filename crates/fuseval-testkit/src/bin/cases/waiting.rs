//! What has to wait for a later issue, told from what a case asks for.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use arrow_array::{Array, LargeStringArray, RecordBatch};
use serde_json::Value;

use crate::case::{Input, Question};
use crate::tables::Table;
use crate::vocabulary::is_over_segments;
use crate::write::column_texts;

/// Watches the keys of segments go by, and notices one that comes back after its segment ended.
#[derive(Default)]
pub struct Contiguity {
    last: Option<Option<String>>,
    ended: HashSet<u64>,
    pub scattered: bool,
}

impl Contiguity {
    /// The next rows.
    pub fn watch(&mut self, batch: &RecordBatch, column: &str) -> Result<(), String> {
        let Some(texts) = column_texts(batch, column)? else { return Ok(()) };
        let Some(texts) = texts.as_any().downcast_ref::<LargeStringArray>() else { return Ok(()) };
        for row in 0..texts.len() {
            let key = texts.is_valid(row).then(|| texts.value(row));
            if self.last.as_ref().is_some_and(|last| last.as_deref() == key) {
                continue;
            }
            let mut hasher = DefaultHasher::new();
            key.hash(&mut hasher);
            self.scattered |= !self.ended.insert(hasher.finish());
            self.last = Some(key.map(str::to_string));
        }
        Ok(())
    }
}

/// Whether the segments of a column lie scattered over the tables, in the order in which they are read.
pub fn is_scattered(tables: &[Table], column: &str) -> Result<bool, String> {
    let mut contiguity = Contiguity::default();
    let mut files: Vec<(String, &Table)> = Vec::new();
    for table in tables {
        files.push(match table {
            Table::Rows { name, .. } | Table::Text { name, .. } => (name.clone(), table),
        });
    }
    files.sort_by(|one, other| one.0.cmp(&other.0));
    for (_, table) in files {
        match table {
            Table::Rows { groups, .. } => {
                for group in groups {
                    contiguity.watch(group, column)?;
                }
            }
            Table::Text { text, .. } => {
                let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
                let place = lines.next().and_then(|header| header.iter().position(|name| *name == column));
                let Some(place) = place else { continue };
                let keys = lines.map(|fields| fields.get(place).map(|field| field.trim_matches('"').to_string()));
                let keys: LargeStringArray = keys.collect();
                let batch = RecordBatch::try_from_iter([(column, std::sync::Arc::new(keys) as _)]);
                contiguity.watch(&batch.map_err(|error| error.to_string())?, column)?;
            }
        }
    }
    Ok(contiguity.scattered)
}

/// Why a question has to wait, if it has to. `scattered`: whether the rows of a segment do not stand together.
pub fn reason(input: &Input, question: &Question, scattered: bool) -> Option<&'static str> {
    let option = |name: &str| question.options.get(name).and_then(Value::as_str);
    if is_over_segments(question) && scattered {
        return Some("segments whose rows do not stand together");
    }
    if option("scope") == Some("within_request") {
        return Some("permutations within requests");
    }
    if option("average_over") == Some("all_permutations") {
        return Some("the mean over all permutations");
    }
    let partial = option("completeness") == Some("allow_partial");
    (input.expectation.is_some() && !partial).then_some("a declared set of rows or files (`data.expect`)")
}
