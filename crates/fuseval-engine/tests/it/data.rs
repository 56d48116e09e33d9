//! Data sets in memory and short ways to run on them.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, StringArray};
use fuseval_core::random::KeyedRng;
use fuseval_core::{Error, MetricId, Model, ScoreKind, Slice, Source};
use fuseval_engine::plan::ColumnScores;
use fuseval_engine::run::{check_positives, check_rows};
use fuseval_engine::specification::HeadSpecification;
use fuseval_engine::{Limits, Plan, ResultRow, Run, Specification, Work, report, run};
use fuseval_testkit::fakes::MemorySource;
use fuseval_testkit::generate::unit;

pub(crate) fn floats(values: impl IntoIterator<Item = f64>) -> ArrayRef {
    Arc::new(Float64Array::from_iter_values(values))
}

pub(crate) fn optional_floats(values: &[Option<f64>]) -> ArrayRef {
    Arc::new(Float64Array::from(values.to_vec()))
}

pub(crate) fn integers(values: impl IntoIterator<Item = i64>) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(values))
}

pub(crate) fn texts(values: &[Option<&str>]) -> ArrayRef {
    Arc::new(StringArray::from(values.to_vec()))
}

/// A log of requests of 1 to 12 rows with two features, a label, a weight, a country and a score with ties.
pub(crate) fn log(rows: usize) -> Vec<(&'static str, ArrayRef)> {
    let mut rng = KeyedRng::new(5, &["log"]);
    let (mut request, mut left) = (0, 0);
    let mut requests = Vec::new();
    for _ in 0..rows {
        if left == 0 {
            request += 1;
            left = 1 + rng.below(12);
        }
        left -= 1;
        requests.push(request);
    }
    let scores: Vec<f64> = (0..rows).map(|_| (unit(&mut rng) * 50.0).floor() / 50.0).collect();
    let labels: Vec<f64> = scores.iter().map(|score| f64::from(u8::from(unit(&mut rng) < *score))).collect();
    let countries: Vec<Option<&str>> =
        (0..rows).map(|_| [Some("de"), Some("fr"), None][rng.below(3) as usize]).collect();
    vec![
        ("request", integers(requests)),
        ("score", floats(scores.iter().copied())),
        ("label", floats(labels)),
        ("weight", floats((0..rows).map(|_| 0.1 + unit(&mut rng)))),
        ("country", texts(&countries)),
        ("x", floats(scores)),
        ("z", floats((0..rows).map(|_| unit(&mut rng)))),
    ]
}

pub(crate) fn head(name: &str, score: &str) -> HeadSpecification {
    HeadSpecification {
        name: name.to_string(),
        score: score.to_string(),
        label: "label".to_string(),
        kind: ScoreKind::Probability,
        weight: None,
        mask: None,
        positive: None,
        label_threshold: None,
    }
}

/// The column `score` against the column `label`.
pub(crate) fn asked(metrics: &str, segment: &[&str]) -> Specification {
    Specification {
        segment: segment.iter().map(ToString::to_string).collect(),
        heads: vec![head("ctr", "score")],
        metrics: MetricId::parse_list(metrics).unwrap(),
        ..Specification::default()
    }
}

pub(crate) const LIMITS: Limits = Limits { threads: 2, bucket_rows: 16 };

/// The plan and the run of what is asked; scores are columns where there is no model.
pub(crate) fn ran(
    asked: &Specification,
    source: &dyn Source,
    model: Option<&dyn Model>,
    limits: Limits,
) -> Result<(Plan, Run), Error> {
    let columns = ColumnScores::new(asked);
    let asked = &Specification { scores_are_columns: model.is_none(), ..asked.clone() };
    let model = model.unwrap_or(&columns);
    let plan = Plan::new(asked, source, model, &fuseval_metrics::metric)?;
    let done = run(&plan, "plan", source, model, limits, Work::default(), &|_| {});
    let done = done.map_err(|error| error.into_error(&plan, source))?;
    check_rows(done.rows)?;
    check_positives(&plan, &done.positive_seen, source)?;
    Ok((plan, done))
}

/// The number of different segments.
pub(crate) fn segments(run: &Run) -> Option<u64> {
    run.segments.clone().map(|mut segments| segments.distinct())
}

pub(crate) fn results(
    asked: &Specification,
    source: &dyn Source,
    model: Option<&dyn Model>,
    limits: Limits,
) -> Result<Vec<ResultRow>, Error> {
    let (plan, run) = ran(asked, source, model, limits)?;
    report(&plan, run.partial)
}

/// The number of the first metric and head over all rows, per experiment.
pub(crate) fn numbers(rows: &[ResultRow]) -> Vec<Option<f64>> {
    let first = |row: &&ResultRow| row.metric == 0 && row.head == 0 && row.slice == Slice::default();
    rows.iter().filter(first).map(|row| row.value.outcome.number()).collect()
}

pub(crate) fn memory(columns: Vec<(&str, ArrayRef)>) -> MemorySource {
    MemorySource::new(columns, 7)
}
