//! Threads, buckets and batches change no bit.

use fuseval_engine::Limits;
use fuseval_engine::specification::{ExperimentSpecification, FeatureChoice, Filling, SliceSpecification};
use fuseval_testkit::fakes::{LinearModel, MemorySource};

use crate::data::{asked, head, log, ran, results, segments};

const METRICS: &str =
    "mae,rmse,log_loss,calibration,roc_auc,roc_auc[thresholds=20],precision@3,precision@3[ties=stable]";

fn everything() -> fuseval_engine::Specification {
    let mut asked = asked(METRICS, &["request"]);
    asked.heads = vec![head("a", "score"), head("b", "first")];
    asked.heads[1].weight = Some("weight".to_string());
    asked.slices = vec![SliceSpecification::Columns(vec!["country".to_string()])];
    asked.inputs = vec![("x".to_string(), vec!["x".to_string()])];
    asked.experiments = vec![
        ExperimentSpecification::Permute {
            features: FeatureChoice::All,
            together: false,
            repeats: 2,
            seed: None,
            name: None,
        },
        ExperimentSpecification::Fill { features: FeatureChoice::All, with: Filling::Mean, name: None },
    ];
    asked
}

fn model() -> LinearModel {
    LinearModel::new(&[("x", 0.75), ("z", 0.25)])
}

#[test]
fn threads_buckets_and_batches_change_no_bit() {
    let expected = results(
        &everything(),
        &MemorySource::new(log(3000), 100),
        Some(&model()),
        Limits { threads: 1, bucket_rows: 1_000_000 },
    )
    .unwrap();
    assert!(expected.len() > 100);
    for (threads, bucket_rows, batch) in [(1, 1, 1), (1, 64, 100), (2, 64, 999), (4, 500, 8), (3, 1, 5000)] {
        let source = MemorySource::new(log(3000), batch);
        let found = results(&everything(), &source, Some(&model()), Limits { threads, bucket_rows }).unwrap();
        assert_eq!(found, expected, "{threads} threads, {bucket_rows} rows to a bucket, {batch} to a batch");
    }
}

#[test]
fn cut_points_depend_on_the_rows_alone() {
    let buckets = |batch, threads| {
        let limits = Limits { threads, bucket_rows: 50 };
        let (_, run) = ran(&asked("mae", &["request"]), &MemorySource::new(log(1000), batch), None, limits).unwrap();
        (run.buckets, run.rows, segments(&run))
    };
    assert_eq!(buckets(1, 1), buckets(333, 2));
    assert_eq!(buckets(1, 1).1, 1000);
    assert!(buckets(1, 1).0 >= 15);
}

#[test]
fn scattered_rows_change_no_metric_over_rows() {
    let columns = log(1000);
    let order: Vec<usize> = (0..1000).map(|place| place * 7919 % 1000).collect();
    let scattered =
        columns.iter().map(|(name, array)| (*name, fuseval_testkit::fakes::reordered(array, &order))).collect();
    let asked = asked("mae,log_loss,roc_auc,roc_auc[thresholds=7]", &["request"]);
    let limits = Limits { threads: 2, bucket_rows: 40 };
    let expected = ran(&asked, &MemorySource::new(columns, 64), None, limits).unwrap();
    let found = ran(&asked, &MemorySource::new(scattered, 64), None, limits).unwrap();
    assert_eq!(segments(&found.1), segments(&expected.1));
    let report = |(plan, run): (_, fuseval_engine::Run)| fuseval_engine::report(&plan, run.partial).unwrap();
    assert_eq!(report(found), report(expected));
}
