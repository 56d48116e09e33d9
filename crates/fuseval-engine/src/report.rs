//! The report: folds merged, states finished, one line per number, with its interval, and its difference to the baseline.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use fuseval_core::{AnyFolds, AnyMetric, Cache, Cell, Fold, IntervalKind, Outcome, Partial, Result, Slice, Value};

use crate::accumulate::RowCounts;
use crate::plan::{Plan, SliceDefinition};
use crate::statistics::{Difference, Estimate, Interval, LeaveOneOut, benjamini_hochberg, interval, paired_difference};

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
    /// The interval, or why there is none.
    pub interval: std::result::Result<Interval, String>,
    /// Rows that count for the head and slice, whatever the metric counts.
    pub rows: u64,
    /// Rows left out as invalid.
    pub dropped: u64,
    /// Value − value of the baseline, where both are numbers and are over the same rows.
    pub delta: Option<f64>,
    /// The difference with its interval and p value, or why there is none.
    pub difference: std::result::Result<Difference, String>,
    /// The p value adjusted for all experiments of the head, metric and slice.
    pub p_adjusted: Option<f64>,
}

/// What later experiments are compared with.
struct Baseline {
    number: f64,
    dropped: u64,
    without: Vec<LeaveOneOut>,
}

/// The key of what experiments are compared by: head, slice, metric.
type Compared = (usize, Slice, usize);

/// Finishes a partial: experiments, heads, slices and metrics in the order of the plan, slices by columns in the order of
/// their values.
pub fn report(plan: &Plan, partial: Partial) -> Result<Vec<ResultRow>> {
    report_with(plan, partial, 1)
}

/// As [`report`], with so many threads for states that are large.
pub fn report_with(plan: &Plan, partial: Partial, threads: usize) -> Result<Vec<ResultRow>> {
    let cells: BTreeMap<Cell, Box<dyn AnyFolds>> = partial.into_cells().collect();
    let slices = slices(plan, &cells);
    let mut rows = Vec::new();
    let mut baselines: BTreeMap<Compared, Baseline> = BTreeMap::new();
    for experiment in 0..plan.experiments.len() {
        for head in 0..plan.heads.len() {
            for slice in &slices {
                let at = |state: usize| Cell {
                    experiment: experiment as u32,
                    head: head as u32,
                    slice: slice.clone(),
                    state: state as u32,
                };
                let counts = RowCounts::of(cells.get(&at(plan.states.len().saturating_sub(1))).map(AsRef::as_ref))?;
                let mut caches: Vec<Cache> = plan.states.iter().map(|_| Cache::with_threads(threads)).collect();
                for (place, (metric, state)) in plan.metrics.iter().enumerate() {
                    let Some(cache) = caches.get_mut(*state) else { continue };
                    let empty = metric.empty();
                    let folds = cells.get(&at(*state)).unwrap_or(&empty).as_ref();
                    let value = without_nan(metric.finish(folds, cache)?);
                    let without = if value.outcome.number().is_some() && plan.interval.is_some() {
                        without(metric.as_ref(), folds, cache)?
                    } else {
                        Vec::new()
                    };
                    let mut row = ResultRow {
                        experiment,
                        head,
                        slice: slice.clone(),
                        metric: place,
                        interval: interval_of(plan, metric.as_ref(), &value, &without),
                        value,
                        rows: counts.rows,
                        dropped: counts.dropped,
                        delta: None,
                        difference: Err("the baseline itself".to_string()),
                        p_adjusted: None,
                    };
                    let key = (head, slice.clone(), place);
                    if experiment > 0 {
                        compare(plan, metric.as_ref(), &mut row, &without, baselines.get(&key));
                    } else if let Some(number) = row.value.outcome.number() {
                        baselines.insert(key, Baseline { number, dropped: counts.dropped, without });
                    }
                    rows.push(row);
                }
            }
        }
    }
    adjust(&mut rows);
    Ok(rows)
}

/// The slices to report, in order.
fn slices(plan: &Plan, cells: &BTreeMap<Cell, Box<dyn AnyFolds>>) -> Vec<Slice> {
    let mut slices: BTreeSet<Slice> = cells.keys().map(|cell| cell.slice.clone()).collect();
    slices.insert(Slice::default());
    // A predicate that no row meets is reported all the same: without a value, with the reason.
    for (place, definition) in plan.slices.iter().enumerate() {
        if matches!(definition, SliceDefinition::Predicate(..)) {
            slices.insert(Slice { definition: place as u32 + 1, values: Vec::new() });
        }
    }
    let mut slices: Vec<Slice> = slices.into_iter().collect();
    slices.sort_by(by_value);
    slices
}

/// The values without each fold.
fn without(metric: &dyn AnyMetric, folds: &dyn AnyFolds, cache: &mut Cache) -> Result<Vec<LeaveOneOut>> {
    if metric.profile().interval == IntervalKind::None {
        return Ok(Vec::new());
    }
    let number = |(fold, outcome): (Fold, Outcome)| LeaveOneOut { fold, value: outcome.number() };
    Ok(metric.leave_one_out(folds, cache)?.into_iter().map(number).collect())
}

fn interval_of(
    plan: &Plan,
    metric: &dyn AnyMetric,
    value: &Value,
    without: &[LeaveOneOut],
) -> std::result::Result<Interval, String> {
    let profile = metric.profile();
    let level = plan.interval.ok_or("not asked for")?;
    match value.outcome.number() {
        None => Err("no value".to_string()),
        Some(_) if profile.interval == IntervalKind::None => Err("a count has none".to_string()),
        Some(value) => interval(&Estimate { value, without }, level, profile.range),
    }
}

/// Puts the difference to the baseline into a row.
fn compare(
    plan: &Plan,
    metric: &dyn AnyMetric,
    row: &mut ResultRow,
    without: &[LeaveOneOut],
    baseline: Option<&Baseline>,
) {
    let (Some(value), Some(baseline)) = (row.value.outcome.number(), baseline) else {
        row.difference = Err("no value on one side".to_string());
        return;
    };
    if baseline.dropped != row.dropped {
        row.difference = Err("not over the same rows as the baseline".to_string());
        return;
    }
    row.delta = Some(value - baseline.number).filter(|delta| delta.is_finite());
    let profile = metric.profile();
    let (low, high) = profile.range;
    row.difference = match plan.interval {
        None => Err("not asked for".to_string()),
        Some(_) if profile.interval == IntervalKind::None => Err("a count has none".to_string()),
        Some(level) => paired_difference(
            &Estimate { value, without },
            &Estimate { value: baseline.number, without: &baseline.without },
            level,
            (low - high, high - low),
        ),
    };
}

/// Adjusts p values over the experiments of each head, metric and slice.
fn adjust(rows: &mut [ResultRow]) {
    let mut families: BTreeMap<Compared, Vec<usize>> = BTreeMap::new();
    for (place, row) in rows.iter().enumerate().filter(|(_, row)| row.experiment > 0) {
        families.entry((row.head, row.slice.clone(), row.metric)).or_default().push(place);
    }
    for places in families.into_values() {
        let p = |place: &usize| {
            rows.get(*place).and_then(|row| row.difference.as_ref().ok()).map(|difference| difference.p)
        };
        let adjusted = benjamini_hochberg(&places.iter().map(p).collect::<Vec<_>>());
        for (place, adjusted) in places.into_iter().zip(adjusted) {
            if let Some(row) = rows.get_mut(place) {
                row.p_adjusted = adjusted;
            }
        }
    }
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
