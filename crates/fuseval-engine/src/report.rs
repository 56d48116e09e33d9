//! The report: folds merged, states finished, one line per number, with its difference to the baseline.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use fuseval_core::{AnyState, Cell, Outcome, Partial, Result, Slice, Value};

use crate::accumulate::Counts;
use crate::plan::{Plan, SliceDefinition};

/// One number.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultRow {
    /// Place of the experiment in the plan.
    pub experiment: usize,
    /// Place of the head in the plan.
    pub head: usize,
    /// The slice.
    pub slice: Slice,
    /// Place of the metric in the plan.
    pub metric: usize,
    /// The value with its counts.
    pub value: Value,
    /// Rows that count for the head and slice, whatever the metric counts.
    pub rows: u64,
    /// Rows left out as invalid.
    pub dropped: u64,
    /// Value − value of the baseline, where both are numbers and are over the same rows.
    pub delta: Option<f64>,
}

/// Finishes a partial: experiments, heads, slices and metrics in the order of the plan, slices by columns in the order of
/// their values.
pub fn report(plan: &Plan, partial: Partial) -> Result<Vec<ResultRow>> {
    let states = merged_folds(partial)?;
    let mut slices: BTreeSet<Slice> = states.keys().map(|(_, _, slice, _)| slice.clone()).collect();
    slices.insert(Slice::default());
    // A predicate that no row meets is reported all the same: without a value, with the reason.
    for (place, definition) in plan.slices.iter().enumerate() {
        if matches!(definition, SliceDefinition::Predicate(..)) {
            slices.insert(Slice { definition: place as u32 + 1, values: Vec::new() });
        }
    }
    let mut slices: Vec<Slice> = slices.into_iter().collect();
    slices.sort_by(by_value);
    let mut rows = Vec::new();
    let mut baseline: BTreeMap<(usize, Slice, usize), (f64, u64)> = BTreeMap::new();
    for experiment in 0..plan.experiments.len() {
        for head in 0..plan.heads.len() {
            for slice in &slices {
                let state = |state: usize| states.get(&(experiment as u32, head as u32, slice.clone(), state as u32));
                let counts = state(plan.states.len().saturating_sub(1))
                    .and_then(|state| state.as_any().downcast_ref::<Counts>());
                let Counts { rows: row_count, dropped } = counts.copied().unwrap_or_default();
                for (place, (metric, state_place)) in plan.metrics.iter().enumerate() {
                    let value = match state(*state_place) {
                        Some(state) => metric.finish(state.as_ref())?,
                        None => metric.finish(metric.empty().as_ref())?,
                    };
                    let value = without_nan(value);
                    let number = value.outcome.number();
                    let key = (head, slice.clone(), place);
                    if let (0, Some(number)) = (experiment, number) {
                        baseline.insert(key.clone(), (number, dropped));
                    }
                    let delta = match (number, baseline.get(&key)) {
                        (Some(number), Some((base, left_out))) if experiment > 0 && *left_out == dropped => {
                            Some(number - base).filter(|delta| delta.is_finite())
                        }
                        _ => None,
                    };
                    rows.push(ResultRow {
                        experiment,
                        head,
                        slice: slice.clone(),
                        metric: place,
                        value,
                        rows: row_count,
                        dropped,
                        delta,
                    });
                }
            }
        }
    }
    Ok(rows)
}

/// Slices in the order of the plan and of their values: null first, numbers by size, then texts.
fn by_value(a: &Slice, b: &Slice) -> Ordering {
    let number = |value: &Option<String>| value.as_ref().and_then(|text| text.parse::<f64>().ok());
    let values = a.values.iter().zip(&b.values).map(|(a, b)| match (number(a), number(b)) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        (a_number, b_number) => b_number.is_some().cmp(&a_number.is_some()).then(a.cmp(b)),
    });
    a.definition.cmp(&b.definition).then(values.fold(Ordering::Equal, Ordering::then)).then(a.cmp(b))
}

/// A sum that overflowed both ways has no value.
fn without_nan(value: Value) -> Value {
    match value.outcome {
        Outcome::Number(number) if number.is_nan() => {
            Value { outcome: Outcome::Undefined("not a number".into()), ..value }
        }
        _ => value,
    }
}

type Address = (u32, u32, Slice, u32);

/// The states of all folds as one, merged in pairs so that large states are copied few times.
fn merged_folds(partial: Partial) -> Result<BTreeMap<Address, Box<dyn AnyState>>> {
    let mut folds: BTreeMap<Address, Vec<Box<dyn AnyState>>> = BTreeMap::new();
    for (Cell { experiment, head, slice, state, .. }, content) in partial.into_cells() {
        folds.entry((experiment, head, slice, state)).or_default().push(content);
    }
    folds
        .into_iter()
        .filter_map(|(address, states)| match in_pairs(states) {
            Ok(Some(state)) => Some(Ok((address, state))),
            Ok(None) => None,
            Err(error) => Some(Err(error)),
        })
        .collect()
}

fn in_pairs(mut states: Vec<Box<dyn AnyState>>) -> Result<Option<Box<dyn AnyState>>> {
    while states.len() > 1 {
        let mut merged = Vec::with_capacity(states.len().div_ceil(2));
        let mut rest = states.into_iter();
        while let Some(mut state) = rest.next() {
            if let Some(other) = rest.next() {
                state.merge(other.as_ref())?;
            }
            merged.push(state);
        }
        states = merged;
    }
    Ok(states.pop())
}
