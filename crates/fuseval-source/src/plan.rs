//! What one scan computes from each batch: which columns to read, and in what order filter and derived columns follow.
//!
//! ```text
//! stored columns ─▶ derived columns the filter uses ─▶ filter ─▶ other derived columns ─▶ requests
//! ```
//! The filter comes as early as it can, so that a derived column need not have a value for rows that are left out.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray};
use arrow_schema::DataType;
use arrow_select::filter::FilterBuilder;
use datafusion::prelude::SessionContext;
use fuseval_core::source::Request;
use fuseval_core::{Error, Result, Scan};

use crate::columns::Columns;
use crate::expression::Expression;

/// An expression with the places of its inputs among the columns.
#[derive(Debug)]
struct Step {
    expression: Arc<Expression>,
    inputs: Vec<usize>,
}

/// How a requested column comes about.
#[derive(Debug)]
enum Output {
    Column(usize),
    Predicate(Step),
}

/// What a scan does with each batch.
#[derive(Debug)]
pub(crate) struct ScanPlan {
    /// The columns to read from files, with their common types.
    pub(crate) stored: Vec<(String, DataType)>,
    /// Which of them are lists whose items become rows.
    pub(crate) lists: Vec<usize>,
    early: Vec<Step>,
    filter: Option<Step>,
    late: Vec<Step>,
    outputs: Vec<Output>,
    /// The places of the rows that are asked for.
    pub(crate) places: Range<u64>,
}

/// What is left of a batch.
pub(crate) struct Kept {
    /// One array per request.
    pub(crate) columns: Vec<ArrayRef>,
    /// Which rows of the batch are left; all of them if there is none.
    pub(crate) kept: Option<BooleanArray>,
}

impl ScanPlan {
    /// Checks the requests and arranges the work.
    pub(crate) fn new(
        scan: &Scan,
        filter: Option<&Arc<Expression>>,
        columns: &Columns,
        context: impl Fn() -> SessionContext,
    ) -> Result<Self> {
        let mut wanted = Wanted::default();
        if let Some(filter) = filter {
            filter.inputs().for_each(|name| wanted.add(name));
        }
        let early = wanted.close(columns);
        let mut predicates = Vec::new();
        for request in &scan.requests {
            match request {
                Request::Column(name) => {
                    columns.column_type(name)?;
                    wanted.add(name);
                }
                Request::Predicate(sql) => {
                    let predicate = Arc::new(Expression::predicate(&context(), sql, columns)?);
                    predicate.inputs().for_each(|name| wanted.add(name));
                    predicates.push(predicate);
                }
            }
        }
        let mut late = wanted.close(columns);
        late.retain(|position| !early.contains(position));

        // Lists are read whether asked for or not: they decide how many rows there are.
        columns.table.explode.iter().for_each(|name| wanted.add(name));
        let mut stored = Vec::new();
        let mut lists = Vec::new();
        for name in wanted.names.iter().filter(|name| columns.derived(name).is_none()) {
            if columns.table.explode.contains(name) {
                lists.push(stored.len());
            }
            stored.push((name.clone(), columns.table.stored_type(name)?));
        }
        let derived = early.iter().chain(&late).filter_map(|position| columns.derived.get(*position));
        let names = stored.iter().map(|(name, _)| name).chain(derived.map(|derived| &derived.name));
        let places: HashMap<&String, usize> = names.enumerate().map(|(place, name)| (name, place)).collect();
        let place = |name: &String| {
            places.get(name).copied().ok_or_else(|| Error::defect(format!("a place for column `{name}`"), "none"))
        };
        let step = |expression: &Arc<Expression>| {
            let inputs = expression.inputs().map(place).collect::<Result<_>>()?;
            Ok(Step { expression: expression.clone(), inputs })
        };
        let steps = |positions: &[usize]| {
            let derived = positions.iter().filter_map(|position| columns.derived.get(*position));
            derived.map(|derived| step(&derived.expression)).collect::<Result<Vec<_>>>()
        };
        let mut predicates = predicates.iter();
        let mut outputs = Vec::new();
        for request in &scan.requests {
            match (request, predicates.as_slice().first()) {
                (Request::Predicate(_), Some(predicate)) => {
                    predicates.next();
                    outputs.push(Output::Predicate(step(predicate)?));
                }
                (Request::Column(name), _) => outputs.push(Output::Column(place(name)?)),
                (Request::Predicate(sql), None) => return Err(Error::defect(format!("predicate `{sql}`"), "none")),
            }
        }
        let filter = filter.map(&step).transpose()?;
        let (early, late) = (steps(&early)?, steps(&late)?);
        drop(places);
        Ok(Self { stored, lists, early, filter, late, outputs, places: scan.places.clone() })
    }

    /// Computes the requests from the stored columns of a batch.
    pub(crate) fn apply(&self, stored: Vec<ArrayRef>, rows: usize) -> Result<Kept> {
        let mut columns = stored;
        for step in &self.early {
            columns.push(step.evaluate(&columns, rows)?);
        }
        let mut kept = None;
        let mut left = rows;
        if let Some(filter) = &self.filter {
            let mask = filter.mask(&columns, rows)?;
            left = mask.true_count();
            if left < rows {
                let selection = FilterBuilder::new(&mask).optimize().build();
                for column in &mut columns {
                    *column = selection
                        .filter(column.as_ref())
                        .map_err(|reason| Error::defect("a filtered column", reason.to_string()))?;
                }
                kept = Some(mask);
            }
        }
        for step in &self.late {
            columns.push(step.evaluate(&columns, left)?);
        }
        let outputs = self.outputs.iter().map(|output| match output {
            Output::Column(place) => pick(&columns, *place),
            Output::Predicate(step) => step.mask(&columns, left).map(|mask| Arc::new(mask) as ArrayRef),
        });
        Ok(Kept { columns: outputs.collect::<Result<_>>()?, kept })
    }
}

impl Step {
    fn evaluate(&self, columns: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
        self.expression.evaluate(self.arguments(columns)?, rows)
    }

    fn mask(&self, columns: &[ArrayRef], rows: usize) -> Result<BooleanArray> {
        self.expression.mask(self.arguments(columns)?, rows)
    }

    fn arguments(&self, columns: &[ArrayRef]) -> Result<Vec<ArrayRef>> {
        self.inputs.iter().map(|place| pick(columns, *place)).collect()
    }
}

fn pick(columns: &[ArrayRef], place: usize) -> Result<ArrayRef> {
    columns.get(place).cloned().ok_or_else(|| Error::defect(format!("column {place} of a batch"), "none"))
}

/// The names of columns that are needed, each once, in order of first mention.
#[derive(Default)]
struct Wanted {
    names: Vec<String>,
}

impl Wanted {
    fn add(&mut self, name: &str) {
        if !self.names.iter().any(|known| known == name) {
            self.names.push(name.to_string());
        }
    }

    /// Adds what the derived columns among them are computed from; returns the places of those, in order of computation.
    fn close(&mut self, columns: &Columns) -> Vec<usize> {
        let mut needed = Vec::new();
        for (position, derived) in columns.derived.iter().enumerate().rev() {
            if self.names.contains(&derived.name) {
                derived.expression.inputs().for_each(|name| self.add(name));
                needed.push(position);
            }
        }
        needed.reverse();
        needed
    }
}
