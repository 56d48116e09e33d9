//! The bounds that metrics of the histogram state hold the exact values.

use fuseval_core::random::KeyedRng;
use fuseval_core::{Defaults, MetricId, Outcome};
use fuseval_testkit::generate::{Table, unit};
use fuseval_testkit::{laws, metric};

/// Names that take `mode=histogram` as the last option.
const NAMES: &[&str] = &[
    "roc_auc",
    "partial_auc",
    "partial_auc[max_fpr=0.4,standardise=none]",
    "pr_auc",
    "pr_auc[curve=trapezoid]",
    "pr_auc[curve=trapezoid,anchor=first]",
    "pr_auc[curve=interpolated]",
    "precision[threshold=0.3005]",
    "recall[threshold=0.3004]",
    "f_beta[threshold=0.3005,beta=2]",
    "specificity[threshold=0.3005]",
    "npv[threshold=0.3005]",
    "accuracy[threshold=0.3005]",
    "balanced_accuracy[threshold=0.3005]",
    "mcc[threshold=0.3005]",
    "mcc[threshold=0.3007,undefined=zero]",
    "kappa[threshold=0.3004]",
    "jaccard[threshold=0.3002]",
    "precision_at_recall[recall=0.6]",
    "recall_at_precision[precision=0.6]",
    "threshold_at_recall[recall=0.4]",
    "ks",
    "capture",
    "lift[q=25]",
    "gain[q=40]",
    "ece",
    "ece[bins=4]",
    "ece[bins=333,strategy=uniform]",
    "mce",
    "mce[bins=333,strategy=uniform]",
];

/// The same metric from the histogram.
fn histogram(name: &str) -> String {
    match name.strip_suffix(']') {
        Some(name) => format!("{name},mode=histogram]"),
        None => format!("{name}[mode=histogram]"),
    }
}

/// Rows whose scores share few bins of the histogram.
fn crowded(rng: &mut KeyedRng, weighted: bool) -> Table {
    let rows = 1 + rng.below(80) as usize;
    let (width, rate, grid) = ([1e-4, 1e-3, 1e-2][rng.below(3) as usize], unit(rng), rng.below(2) == 0);
    let mut table = Table { segments: vec![0, rows], ..Table::default() };
    for _ in 0..rows {
        let place = if grid { rng.below(12) as f64 / 12.0 } else { unit(rng) };
        table.scores.push(0.3 + width * place);
        table.baseline.push(0.3 + width * unit(rng));
        table.labels.push(f64::from(u8::from(unit(rng) < 0.5 * rate + 0.5 * place)));
        table.items.push(0);
        table.identities.push(table.identities.len() as u64);
    }
    table.weights =
        weighted.then(|| (0..rows).map(|_| 2f64.powi(rng.below(8) as i32 - 4) * (0.5 + unit(rng))).collect());
    table
}

#[test]
fn the_exact_value_lies_within_the_bound_of_the_histogram() {
    let mut rng = KeyedRng::new(1, &["bounds"]);
    let mut tight = vec![(0, 0); NAMES.len()];
    for draw in 0..300 {
        let table = crowded(&mut rng, draw % 2 == 1);
        for (name, tight) in NAMES.iter().zip(&mut tight) {
            let near = histogram(name);
            let value = |name: &str| {
                let metric = metric(name);
                laws::value_of(metric.as_ref(), laws::state_of(metric.as_ref(), &table).as_ref())
            };
            let (exact, near) = (value(name), value(&near));
            assert_eq!((exact.mode, exact.error_bound, near.mode), ("exact", 0.0, "histogram"), "{name}");
            if let (Some(exact), Some(number)) = (exact.outcome.number(), near.outcome.number()) {
                let (off, bound) = ((exact - number).abs(), near.error_bound);
                assert!(off <= bound + 1e-14, "{name}: {number} ± {bound} misses {exact} on {table:?}");
                tight.0 += 1;
                tight.1 += u32::from(bound > 0.0 && off > 0.25 * bound);
            }
        }
    }
    // A bound that is never nearly reached would be a loose one.
    NAMES
        .iter()
        .zip(tight)
        .for_each(|(name, (compared, near))| assert!(compared > 75 && near > 0, "{name}: {near} of {compared}"));
}

#[test]
fn distances_from_the_baseline_keep_their_bounds_where_scores_are_over_the_budget() {
    let mut rng = KeyedRng::new(2, &["bounds"]);
    for draw in 0..100 {
        let table = crowded(&mut rng, draw % 2 == 1);
        for name in ["score_shift[measure=psi]", "score_shift[measure=ks]"] {
            let value = |score_budget: Option<u64>| {
                let defaults = Defaults { score_budget, ..Defaults::default() };
                let metric = fuseval_metrics::metric(&MetricId::parse(name).unwrap(), &defaults).unwrap();
                laws::value_of(metric.as_ref(), laws::state_of(metric.as_ref(), &table).as_ref())
            };
            let (exact, near) = (value(None), value(Some(0)));
            assert_eq!((exact.mode, near.mode, exact.tally.n), ("exact", "histogram", table.rows() as u64));
            assert_eq!(near.tally, exact.tally);
            assert!((near.weight - exact.weight).abs() <= 1e-14 * exact.weight);
            let (Outcome::Number(exact), Outcome::Number(number)) = (exact.outcome, near.outcome) else {
                panic!("{name} has no value");
            };
            assert!((exact - number).abs() <= near.error_bound + 1e-14, "{name}: {number} misses {exact}");
        }
    }
}

/// How far a point is in y from a line of points, whose x are sums of another order; left of the first one its y holds.
fn distance(line: &[Vec<f64>], x: f64, y: f64) -> f64 {
    const ROUNDING: f64 = 1e-12;
    let around = line.windows(2).filter(|pair| pair[0][0] - ROUNDING <= x && x <= pair[1][0] + ROUNDING);
    let to = |pair: &[Vec<f64>]| {
        let ((from_x, from_y), (to_x, to_y)) = ((pair[0][0], pair[0][1]), (pair[1][0], pair[1][1]));
        let at = |x: f64| from_y + (to_y - from_y) * (x.clamp(from_x, to_x) - from_x) / (to_x - from_x);
        if from_x == to_x { y - y.clamp(from_y.min(to_y), from_y.max(to_y)) } else { y - at(x) }
    };
    let left = if x <= line[0][0] + ROUNDING { (y - line[0][1]).abs() } else { f64::INFINITY };
    around.map(|pair| to(pair).abs()).fold(left, f64::min)
}

#[test]
fn exact_curves_lie_within_the_bound_of_the_histogram() {
    let mut rng = KeyedRng::new(3, &["bounds"]);
    for draw in 0..300 {
        let table = crowded(&mut rng, draw % 2 == 1);
        let curve = |name: &str| {
            let metric = metric(name);
            let value = laws::value_of(metric.as_ref(), laws::state_of(metric.as_ref(), &table).as_ref());
            match value.outcome {
                Outcome::Curve(curve) => Some((curve.points, value.error_bound)),
                _ => None,
            }
        };
        for name in ["roc_curve", "pr_curve"] {
            for max_error in [0.0, 0.05] {
                let exact = curve(&format!("{name}[max_error=0]"));
                let near = curve(&format!("{name}[max_error={max_error},mode=histogram]"));
                let (Some((exact, _)), Some((near, bound))) = (exact, near) else { continue };
                for point in exact {
                    let off = distance(&near, point[0], point[1]);
                    assert!(off <= bound + max_error + 1e-12, "{name}: {point:?} is {off} off, {bound} {near:?}");
                }
            }
        }
        let names = ["confusion_matrix[thresholds=[0.3,0.3002,0.301]]", "reliability_curve[bins=5]"];
        for (name, columns) in names.into_iter().zip([1..5, 0..1]) {
            let (exact, _) = curve(name).unwrap();
            let (near, bound) = curve(&histogram(name)).unwrap();
            assert_eq!(exact.len(), near.len(), "{name}");
            for (exact, near) in exact.iter().zip(&near) {
                for column in columns.clone() {
                    let off = (exact[column] - near[column]).abs();
                    assert!(off <= bound + 1e-9 * bound + 1e-12, "{name}: {exact:?} {near:?} {bound}");
                }
            }
        }
    }
}
