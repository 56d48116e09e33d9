//! The laws over the whole catalogue, and the catalogue against the naive implementation.

use fuseval_core::random::KeyedRng;
use fuseval_metrics::ALL;
use fuseval_testkit::generate::{Shape, Table};
use fuseval_testkit::{LAWS_ONLY, laws, metric, metrics, naive};

const SHAPES: [Shape; 6] = [
    Shape { segments: 12, longest: 8, grid: 0, weighted: false },
    Shape { segments: 12, longest: 8, grid: 4, weighted: false },
    Shape { segments: 30, longest: 3, grid: 2, weighted: true },
    Shape { segments: 8, longest: 20, grid: 100, weighted: true },
    Shape { segments: 1, longest: 60, grid: 0, weighted: true },
    Shape { segments: 0, longest: 1, grid: 0, weighted: false },
];

fn for_each_table(times: u64, mut f: impl FnMut(&Table, &mut KeyedRng)) {
    for shape in SHAPES {
        for time in 0..times {
            let mut rng = KeyedRng::new(time, &["laws", &format!("{shape:?}")]);
            let table = Table::draw(&mut rng, shape);
            f(&table, &mut rng);
        }
    }
}

#[test]
fn every_metric_of_the_catalogue_is_exercised() {
    for entry in ALL {
        let named = metrics().any(|name| metric(name).id().name == entry.name);
        assert!(named, "{} is in no law; add it to a list of the naive implementation", entry.name);
    }
}

#[test]
fn every_state_is_a_commutative_monoid_with_canonical_bytes() {
    let mut tables = Vec::new();
    for_each_table(4, |table, _| tables.push(table.clone()));
    for name in metrics() {
        for three in tables.windows(3) {
            laws::is_a_commutative_monoid(metric(name).as_ref(), [&three[0], &three[1], &three[2]]);
        }
    }
}

#[test]
fn every_state_survives_hostile_bytes() {
    for_each_table(2, |table, rng| {
        metrics().for_each(|name| laws::survives_hostile_bytes(metric(name).as_ref(), table, rng));
    });
}

#[test]
fn no_split_changes_a_bit() {
    for_each_table(20, |table, rng| {
        // `stable` follows the input order within a segment, which a split of whole segments keeps.
        metrics().for_each(|name| laws::is_split_invariant(metric(name).as_ref(), table, rng));
    });
}

#[test]
fn the_scale_of_weights_changes_no_bit() {
    for_each_table(10, |table, _| {
        // These hold sums of weights.
        let sums = ["confusion_matrix", "reliability_curve"];
        for metric in metrics().map(metric).filter(|metric| !sums.contains(&metric.id().name.as_str())) {
            laws::ignores_the_scale_of_weights(metric.as_ref(), table);
        }
    });
}

#[test]
fn the_naive_implementation_agrees() {
    let mut compared = 0;
    for_each_table(25, |table, _| {
        for name in metrics().filter(|name| !LAWS_ONLY.contains(name)) {
            let metric = metric(name);
            let ours = laws::value_of(metric.as_ref(), laws::state_of(metric.as_ref(), table).as_ref());
            match (ours.outcome.number(), naive::value(name, table)) {
                (Some(ours), Some(theirs)) if theirs.is_infinite() => assert_eq!(ours, theirs, "{name}"),
                // The naive sums round at every step: 1e-12 relative covers a few hundred rows.
                (Some(ours), Some(theirs)) => {
                    assert!((ours - theirs).abs() <= 1e-12 * theirs.abs().max(1e-3), "{name}: {ours} and {theirs}")
                }
                (None, None) => {}
                (ours, theirs) => panic!("{name}: {ours:?} and {theirs:?} on {table:?}"),
            }
            compared += 1;
        }
    });
    assert_eq!(compared, 25 * SHAPES.len() * (metrics().count() - LAWS_ONLY.len()));
}

#[test]
fn the_exact_area_lies_within_the_bound_of_the_thresholds() {
    for_each_table(25, |table, _| {
        let exact = metric("roc_auc");
        let exact = laws::value_of(exact.as_ref(), laws::state_of(exact.as_ref(), table).as_ref()).outcome.number();
        for name in ["roc_auc[thresholds=10]", "roc_auc[thresholds=1000]", "roc_auc[thresholds=[0,0.25,0.5,0.75,1]]"] {
            let metric = metric(name);
            let value = laws::value_of(metric.as_ref(), laws::state_of(metric.as_ref(), table).as_ref());
            if let (Some(exact), Some(near)) = (exact, value.outcome.number()) {
                assert!(
                    (exact - near).abs() <= value.error_bound + 1e-15,
                    "{name}: {near} ± {} misses {exact}",
                    value.error_bound
                );
            }
        }
    });
}
