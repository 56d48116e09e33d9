//! Partials: bytes of a whole run, and what is refused.

use fuseval_core::random::KeyedRng;
use fuseval_core::{ErrorKind, Partial};
use fuseval_engine::specification::SliceSpecification;
use fuseval_engine::{Limits, Plan, report};
use fuseval_testkit::fakes::MemorySource;

use crate::data::{asked, log, ran};

fn made() -> (Plan, Partial) {
    let mut asked = asked("mae,roc_auc,roc_auc[thresholds=5],precision@2", &["request"]);
    asked.slices = vec![SliceSpecification::Columns(vec!["country".to_string()])];
    let (plan, run) =
        ran(&asked, &MemorySource::new(log(300), 50), None, Limits { threads: 2, bucket_rows: 20 }).unwrap();
    (plan, run.partial)
}

#[test]
fn bytes_round_trip_to_the_same_report() {
    let (plan, partial) = made();
    let bytes = partial.encode(&plan.state_list());
    let back = Partial::decode(&bytes, "plan", &plan.state_list()).unwrap();
    assert_eq!(back.encode(&plan.state_list()), bytes);
    assert_eq!(report(&plan, back).unwrap(), report(&plan, partial).unwrap());
}

#[test]
fn merged_with_an_empty_partial_nothing_changes() {
    let (plan, partial) = made();
    let bytes = partial.encode(&plan.state_list());
    let mut empty = Partial::new("plan");
    empty.merge(partial).unwrap();
    assert_eq!(empty.encode(&plan.state_list()), bytes);
}

#[test]
fn another_plan_is_refused() {
    let (plan, partial) = made();
    let bytes = partial.encode(&plan.state_list());
    let error = Partial::decode(&bytes, "other", &plan.state_list()).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Partials);
    assert_eq!(
        error.to_string(),
        "expected a partial of plan other, found one of plan plan; use the run file, model and data it was made with"
    );
    assert_eq!(Partial::new("other").merge(partial).unwrap_err().kind(), ErrorKind::Partials);
}

#[test]
fn damaged_bytes_are_refused() {
    let (plan, partial) = made();
    let bytes = partial.encode(&plan.state_list());
    let mut rng = KeyedRng::new(3, &["damage"]);
    for _ in 0..500 {
        let cut = rng.below(bytes.len() as u64) as usize;
        assert!(Partial::decode(&bytes[..cut], "plan", &plan.state_list()).is_err(), "cut at {cut}");
        let mut flipped = bytes.clone();
        flipped[cut] ^= 1 << rng.below(8);
        assert!(Partial::decode(&flipped, "plan", &plan.state_list()).is_err(), "flipped at {cut}");
    }
}

/// Bytes as they were once written. They stay for ever: every later version reads them to the same report.
#[test]
fn kept_bytes_are_still_read() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/partials/format-1.partial");
    let names = "mae,log_loss,calibration,roc_auc,roc_auc[mode=histogram],roc_auc[thresholds=5],precision@2,ndcg";
    let asked = asked(names, &["request"]);
    let (plan, run) =
        ran(&asked, &MemorySource::new(log(40), 50), None, Limits { threads: 1, bucket_rows: 20 }).unwrap();
    let bytes = run.partial.encode(&plan.state_list());
    if std::env::var_os("UPDATE_GOLDEN").is_some() && !std::path::Path::new(path).exists() {
        std::fs::write(path, &bytes).unwrap();
    }
    let kept = std::fs::read(path).unwrap();
    assert!(kept == bytes, "the bytes changed: that is another version, with a number and a reader of its own");
    let back = Partial::decode(&kept, "plan", &plan.state_list()).unwrap();
    assert_eq!(report(&plan, back).unwrap(), report(&plan, run.partial).unwrap());
}
