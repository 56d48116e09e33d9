//! Permutations and fillings.

use std::sync::Mutex;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use fuseval_core::{Model, Result};
use fuseval_engine::predictions::TableSink;
use fuseval_engine::specification::{ExperimentSpecification, FeatureChoice, Filling, Scalar};
use fuseval_engine::{Limits, Plan, Specification, Tables, Work, run};
use fuseval_testkit::fakes::{LinearModel, MemorySource};

use crate::data::{LIMITS, asked, floats, head, integers, log, memory, numbers, optional_floats, results};

fn permute(features: &[&str], together: bool, repeats: u32) -> ExperimentSpecification {
    let features = FeatureChoice::Named(features.iter().map(ToString::to_string).collect());
    ExperimentSpecification::Permute { features, together, repeats, seed: Some(7), name: None }
}

fn fill(feature: &str, with: Filling) -> ExperimentSpecification {
    ExperimentSpecification::Fill { features: FeatureChoice::Named(vec![feature.to_string()]), with, name: None }
}

#[derive(Default)]
struct Kept(Mutex<Vec<RecordBatch>>);

impl TableSink for Kept {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.0.get_mut().unwrap().push(batch.clone());
        Ok(())
    }

    fn written(&mut self, _next: u64) -> Result<()> {
        Ok(())
    }
}

/// (experiment, x of the row, score) of every prediction, in the order written.
fn predictions(
    asked: &Specification,
    source: &MemorySource,
    model: &dyn Model,
    limits: Limits,
) -> Vec<(String, f64, f64)> {
    let plan = Plan::new(asked, source, model, &fuseval_metrics::metric).unwrap();
    let mut kept = Kept::default();
    let tables = Tables { predictions: Some((&mut kept, 0)), ..Tables::default() };
    run(&plan, "plan", source, model, limits, Work { tables, ..Work::default() }, &|_| {}).unwrap();
    let mut out = Vec::new();
    for batch in kept.0.into_inner().unwrap() {
        let x = batch.column_by_name("x").unwrap().as_primitive::<Float64Type>().clone();
        let score = batch.column_by_name("ctr").unwrap().as_primitive::<Float64Type>().clone();
        let experiment = batch.column_by_name("experiment").unwrap().as_string::<i32>().clone();
        out.extend(
            (0..batch.num_rows()).map(|row| (experiment.value(row).to_string(), x.value(row), score.value(row))),
        );
    }
    out
}

fn identity(experiments: Vec<ExperimentSpecification>) -> (Specification, LinearModel) {
    let mut asked = asked("mae", &["request"]);
    asked.heads = vec![head("ctr", "first")];
    asked.carryover = vec!["x".to_string()];
    asked.experiments = experiments;
    (asked, LinearModel::new(&[("x", 1.0), ("z", 1.0)]))
}

fn scores_of(all: &[(String, f64, f64)], experiment: &str) -> Vec<f64> {
    all.iter().filter(|row| row.0 == experiment).map(|row| row.2).collect()
}

#[test]
fn a_permutation_moves_every_value_to_one_row_of_the_whole_data_set() {
    for rows in [3, 500, 5000] {
        let (asked, model) = identity(vec![permute(&["x"], false, 2)]);
        let source = memory(log(rows));
        let all = predictions(&asked, &source, &model, LIMITS);
        let sorted = |mut values: Vec<f64>| {
            values.sort_by(f64::total_cmp);
            values
        };
        let (base, first, second) =
            (scores_of(&all, "baseline"), scores_of(&all, "permute:x#1"), scores_of(&all, "permute:x#2"));
        assert_eq!(base.len(), rows);
        assert_eq!(sorted(base.clone()), sorted(first.clone()));
        if rows > 3 {
            assert_ne!(first, second);
            let moved_far =
                base.chunks(20).zip(first.chunks(20)).filter(|(a, b)| sorted(a.to_vec()) != sorted(b.to_vec()));
            assert!(moved_far.count() * 20 > rows * 9 / 10, "values stay near their rows");
        }
        let other =
            predictions(&asked, &MemorySource::new(log(rows), 1000), &model, Limits { threads: 4, bucket_rows: 3 });
        assert_eq!(scores_of(&other, "permute:x#1"), first);
    }
}

#[test]
fn predictions_are_written_in_the_order_of_the_rows() {
    let (asked, model) = identity(vec![]);
    let source = MemorySource::new(log(5000), 17);
    let all = predictions(&asked, &source, &model, Limits { threads: 4, bucket_rows: 5 });
    let expected: Vec<f64> = log(5000)[5].1.as_primitive::<Float64Type>().values().to_vec();
    assert_eq!(all.iter().map(|row| row.1).collect::<Vec<_>>(), expected);
}

#[test]
fn a_feature_alone_gives_the_digits_that_it_gives_with_others() {
    let model = LinearModel::new(&[("x", 0.5), ("z", 0.5)]);
    let value = |experiments| {
        let mut asked = asked("roc_auc", &["request"]);
        asked.experiments = experiments;
        numbers(&results(&asked, &memory(log(900)), Some(&model), LIMITS).unwrap())
    };
    let both = value(vec![permute(&["x", "z"], false, 1)]);
    assert_eq!(both[1], value(vec![permute(&["x"], false, 1)])[1]);
    assert_eq!(both[2], value(vec![permute(&["z", "x"], false, 1)])[1]);
    assert_ne!(both[1], both[2]);
    let together = value(vec![permute(&["x", "z"], true, 1)]);
    assert_eq!(together[1], value(vec![permute(&["z", "x"], true, 1)])[1]);
}

#[test]
fn a_feature_that_the_model_ignores_costs_exactly_nothing() {
    let model = LinearModel::new(&[("x", 1.0), ("z", 0.0)]);
    let mut asked = asked("roc_auc,log_loss", &["request"]);
    asked.experiments = vec![permute(&["z"], false, 3)];
    let rows = results(&asked, &memory(log(900)), Some(&model), LIMITS).unwrap();
    assert!(rows.iter().filter(|row| row.experiment > 0).all(|row| row.delta == Some(0.0)));
}

#[test]
fn the_mean_over_permutations_approaches_the_one_over_all() {
    // All 720 permutations of 6 rows give a mean importance of 5/36 for x1 (case importance-of-duplicate-features).
    let columns = vec![
        ("x1", floats([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
        ("x2", floats([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
        ("label", integers([0, 0, 1, 0, 1, 1])),
    ];
    let model = LinearModel::new(&[("x1", 1.0), ("x2", 1.0)]);
    let mut asked = asked("roc_auc", &[]);
    asked.heads[0].kind = fuseval_core::ScoreKind::Raw;
    for (features, together, exact) in [(vec!["x1"], false, 5.0 / 36.0), (vec!["x1", "x2"], true, 7.0 / 18.0)] {
        asked.experiments = vec![permute(&features, together, 2000)];
        let values = numbers(&results(&asked, &memory(columns.clone()), Some(&model), LIMITS).unwrap());
        let costs: Vec<f64> = values[1..].iter().map(|value| values[0].unwrap() - value.unwrap()).collect();
        let mean = costs.iter().sum::<f64>() / 2000.0;
        let deviation = (costs.iter().map(|cost| (cost - mean) * (cost - mean)).sum::<f64>() / 1999.0).sqrt();
        assert!((mean - exact).abs() < 4.0 * deviation / 2000f64.sqrt(), "{features:?}: {mean} and {exact}");
    }
}

#[test]
fn filling_gives_all_rows_one_value() {
    let experiments = vec![
        fill("x", Filling::Constant(Scalar::Number(0.25))),
        ExperimentSpecification::Fill {
            features: FeatureChoice::Named(vec!["x".to_string()]),
            with: Filling::Mean,
            name: Some("mean".to_string()),
        },
    ];
    let (asked, model) = identity(experiments);
    let all = predictions(&asked, &memory(log(400)), &model, LIMITS);
    let base = scores_of(&all, "baseline");
    let mean = base.iter().sum::<f64>() / 400.0;
    assert!(scores_of(&all, "fill:x=0.25").iter().all(|score| *score == 0.25));
    assert!(scores_of(&all, "mean").iter().all(|score| (score - mean).abs() < 1e-14));
}

#[test]
fn missing_values_reach_the_model_and_are_counted() {
    let columns = vec![
        ("x", optional_floats(&[Some(0.1), None, Some(f64::NAN), Some(0.9)])),
        ("z", floats([0.0; 4])),
        ("label", integers([0, 1, 1, 0])),
    ];
    let mut asked = asked("mae", &[]);
    asked.fill_null = vec![("x".to_string(), Scalar::Number(0.5))];
    let model = LinearModel::new(&[("x", 1.0), ("z", 1.0)]);
    let source = memory(columns);
    let plan = Plan::new(&asked, &source, &model, &fuseval_metrics::metric).unwrap();
    let done = run(&plan, "plan", &source, &model, LIMITS, Work::default(), &|_| {}).unwrap();
    assert_eq!(done.missing, [2, 0]);
    let rows = fuseval_engine::report(&plan, done.partial).unwrap();
    assert!((rows[0].value.outcome.number().unwrap() - (0.1 + 0.5 + 0.5 + 0.9) / 4.0).abs() < 1e-15);
}

#[test]
fn the_mean_is_over_values_that_are_there_not_over_filled_nulls() {
    let columns =
        vec![("x", optional_floats(&[Some(1.0), None])), ("z", floats([0.0; 2])), ("label", integers([1, 1]))];
    let mut asked = asked("mae", &[]);
    asked.heads[0].kind = fuseval_core::ScoreKind::Raw;
    asked.fill_null = vec![("x".to_string(), Scalar::Number(0.0))];
    asked.experiments = vec![fill("x", Filling::Mean)];
    let model = LinearModel::new(&[("x", 1.0), ("z", 1.0)]);
    let values = numbers(&results(&asked, &memory(columns), Some(&model), LIMITS).unwrap());
    assert_eq!(values, [Some(0.5), Some(0.0)]);
}
