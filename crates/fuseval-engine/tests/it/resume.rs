//! Runs that end early, at any batch, and are taken up again; parts of the data, merged: the bytes of one undisturbed run.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fuseval_core::random::KeyedRng;
use fuseval_core::{Partial, Result};
use fuseval_engine::bucket::Extent;
use fuseval_engine::journal::{Done, Journal, Resumed};
use fuseval_engine::specification::{ExperimentSpecification, FeatureChoice, Filling, SliceSpecification};
use fuseval_engine::{Limits, Plan, Run, RunError, Specification, Work, run};
use fuseval_testkit::fakes::{LinearModel, MemorySource};

use crate::data::{asked, head, log};

/// Keeps what is done in memory, and may stop the run after so many records.
struct Kept {
    records: Mutex<Vec<(Done, Vec<u8>)>>,
    plan: Plan,
    stop: AtomicBool,
    stop_after: usize,
}

impl Journal for Kept {
    fn interval(&self) -> Duration {
        Duration::ZERO
    }

    fn record(&self, done: &Done, partial: Partial) -> Result<()> {
        let mut records = self.records.lock().unwrap();
        records.push((done.clone(), partial.encode(&self.plan.state_list())));
        if records.len() >= self.stop_after {
            self.stop.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
}

fn specification() -> Specification {
    let mut asked = asked("roc_auc,mae,ndcg@3,top_k_overlap@2", &["request"]);
    asked.heads = vec![head("ctr", "score"), head("other", "first")];
    asked.slices = vec![SliceSpecification::Columns(vec!["country".to_string()])];
    let features = || FeatureChoice::Named(vec!["x".to_string()]);
    asked.experiments = vec![
        ExperimentSpecification::Permute { features: features(), together: false, repeats: 2, seed: None, name: None },
        ExperimentSpecification::Fill { features: features(), with: Filling::Mean, name: None },
    ];
    asked
}

fn model() -> LinearModel {
    LinearModel::new(&[("x", 1.0), ("score", 0.5)])
}

fn plan(source: &MemorySource) -> Plan {
    Plan::new(&specification(), source, &model(), &fuseval_metrics::metric).unwrap()
}

fn ran(source: &MemorySource, limits: Limits, work: Work<'_>) -> std::result::Result<Run, RunError> {
    run(&plan(source), "plan", source, &model(), limits, work, &|_| {})
}

/// The bytes of the states, rows, buckets and segments.
fn outcome(plan: &Plan, done: Run, records: &[(Done, Vec<u8>)]) -> (Vec<u8>, u64, u64, Option<u64>) {
    let mut partial = done.partial;
    for (_, bytes) in records {
        partial.add_bytes(bytes, &plan.state_list()).unwrap();
    }
    let segments = done.segments.map(|mut segments| segments.distinct());
    (partial.encode(&plan.state_list()), done.rows, done.buckets, segments)
}

#[test]
fn a_run_that_ends_early_anywhere_is_taken_up_to_the_same_bytes() {
    let rows = 600;
    let whole = MemorySource::new(log(rows), 50);
    let limits = |threads| Limits { threads, bucket_rows: 40 };
    let expected = outcome(&plan(&whole), ran(&whole, limits(1), Work::default()).unwrap(), &[]);
    let mut rng = KeyedRng::new(3, &["ends"]);
    let mut taken_over = 0;
    for round in 0..40 {
        let mut records: Vec<(Done, Vec<u8>)> = Vec::new();
        let done = loop {
            let mut resumed = Resumed::default();
            assert!(records.iter().all(|(done, _)| resumed.add(done)), "something was done twice");
            taken_over += resumed.count(4);
            // Ends by an error of reading or by a request to stop, sooner or later, or not at all.
            let ends = rng.below(12) as usize;
            let source = match ends {
                0..4 => MemorySource::new(log(rows), 50).failing_after(ends + 1),
                _ => MemorySource::new(log(rows), 1 + rng.below(100) as usize),
            };
            let kept = Kept {
                records: Mutex::default(),
                plan: plan(&source),
                stop: AtomicBool::new(false),
                stop_after: if (4..10).contains(&ends) { ends * 3 - 11 } else { usize::MAX },
            };
            let work = Work { resumed, journal: Some(&kept), stop: Some(&kept.stop), ..Work::default() };
            let done = ran(&source, limits(1 + round % 3), work);
            records.extend(kept.records.into_inner().unwrap());
            if let Ok(done) = done {
                break done;
            }
        };
        assert_eq!(outcome(&plan(&whole), done, &records), expected, "round {round}");
    }
    assert!(taken_over > 50, "{taken_over} buckets were taken over");
}

#[test]
fn parts_of_the_data_cut_anywhere_merge_to_the_whole() {
    let rows = 500;
    let mut rng = KeyedRng::new(4, &["cuts"]);
    let whole = MemorySource::new(log(rows), 64);
    let limits = Limits { threads: 2, bucket_rows: 30 };
    let (expected, all_rows, _, segments) = outcome(&plan(&whole), ran(&whole, limits, Work::default()).unwrap(), &[]);
    for _ in 0..40 {
        let mut cuts: Vec<u64> = (0..rng.below(6)).map(|_| rng.below(rows as u64 + 1)).collect();
        cuts.extend([0, u64::MAX]);
        cuts.sort_unstable();
        let mut merged = Partial::new("plan");
        let (mut found_rows, mut found_segments) = (0, 0);
        for pair in cuts.windows(2) {
            let extent = Extent { places: pair[0]..pair[1], ..Extent::default() };
            let done = ran(&whole, limits, Work { extent, ..Work::default() }).unwrap();
            found_rows += done.rows;
            found_segments += done.segments.clone().map_or(0, |mut segments| segments.distinct());
            merged.merge(done.partial).unwrap();
        }
        assert_eq!(merged.encode(&plan(&whole).state_list()), expected, "cut at {cuts:?}");
        assert_eq!((found_rows, Some(found_segments)), (all_rows, segments), "cut at {cuts:?}");
    }
}
