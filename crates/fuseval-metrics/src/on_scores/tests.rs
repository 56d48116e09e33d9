//! Values that scikit-learn 1.9.1 and SciPy 1.17.1 have found, and the conventions.

mod hard_cases;

use fuseval_core::bytes::Reader;
use fuseval_core::folds::encoded;
use fuseval_core::value::Curve;
use fuseval_core::view::{ScoreKind, View};
use fuseval_core::{Cache, Defaults, Fold, MetricId, Outcome};

use crate::over_rows::tests::{has_values, rows, value};

const LABELS: [f64; 16] = [1., 0., 1., 1., 0., 0., 1., 0., 0., 1., 0., 0., 1., 0., 0., 0.];
const SCORES: [f64; 16] = [0.95, 0.9, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.55, 0.5, 0.5, 0.4, 0.3, 0.3, 0.2, 0.1];
const WEIGHTS: [f64; 16] = [1., 2., 0.5, 1.5, 1., 3., 2., 0.25, 1., 4., 0.5, 1., 2.5, 1., 0.75, 2.];

pub(crate) fn curve(name: &str, view: &View<'_>) -> Curve {
    match value(name, None, view).outcome {
        Outcome::Curve(curve) => curve,
        other => panic!("{name}: {other:?}"),
    }
}

/// A name, and its values without and with weights.
const OF_SCIKIT_LEARN: &[(&str, f64, f64)] = &[
    ("pr_auc", 0.6035353535353535, 0.5326583940165648),
    ("pr_auc[curve=trapezoid]", 0.6374158249158248, 0.5145806102496353),
    ("partial_auc", 0.6052631578947368, 0.5266018306636155),
    ("partial_auc[max_fpr=0.25]", 0.6214285714285714, 0.49892857142857144),
    ("partial_auc[max_fpr=0.6]", 0.6626984126984127, 0.44513457556935815),
    ("partial_auc[max_fpr=1]", 0.6916666666666667, 0.5017391304347826),
    ("partial_auc[max_fpr=1,standardise=none]", 0.6916666666666667, 0.5017391304347826),
    ("roc_auc", 0.6916666666666667, 0.5017391304347826),
    ("precision[threshold=0.55]", 0.4444444444444444, 0.40816326530612246),
    ("recall[threshold=0.55]", 0.6666666666666666, 0.43478260869565216),
    ("f_beta[threshold=0.55]", 0.5333333333333333, 0.42105263157894735),
    ("f_beta[threshold=0.55,beta=2]", 0.6060606060606061, 0.4291845493562232),
    ("f_beta[threshold=0.55,beta=0.5]", 0.47619047619047616, 0.4132231404958678),
    ("accuracy[threshold=0.55]", 0.5625, 0.4270833333333333),
    ("balanced_accuracy[threshold=0.55]", 0.5833333333333333, 0.4273913043478261),
    ("mcc[threshold=0.55]", 0.16265001215808886, -0.14512277685757582),
    ("kappa[threshold=0.55]", 0.1515151515151515, -0.14483954900260199),
    ("jaccard[threshold=0.55]", 0.36363636363636365, 0.26666666666666666),
    ("specificity[threshold=0.55]", 0.5, 0.42),
    ("npv[threshold=0.55]", 0.7142857142857143, 0.44680851063829785),
    // Maxima over the points of its `precision_recall_curve`.
    ("precision_at_recall[recall=0.5]", 0.5714285714285714, 0.5411764705882353),
    ("recall_at_precision[precision=0.5]", 0.6666666666666666, 1.0),
    ("threshold_at_recall[recall=0.5]", 0.7, 0.3),
];

#[test]
fn values_are_those_of_scikit_learn() {
    let plain = rows(&LABELS, &SCORES);
    for (name, unweighted, weighted) in OF_SCIKIT_LEARN {
        has_values(&plain, &[(name, Ok(*unweighted))]);
        has_values(&View { weights: Some(&WEIGHTS), ..plain }, &[(name, Ok(*weighted))]);
    }
    has_values(&plain, &[("ks", Ok(0.36666666666666664))]);
}

#[test]
fn the_preset_of_scikit_learn_has_its_values_for_nothing_of_nothing() {
    let (none, all) = ([0.0; 4], [1.0; 4]);
    let (low, half) = ([0.1; 4], [0.1, 0.2, 0.6, 0.7]);
    for (name, labels, scores, by_preset) in [
        ("pr_auc", none, half, Some(0.0)),
        ("precision[threshold=0.5]", [0.0, 0.0, 1.0, 1.0], low, Some(0.0)),
        ("recall[threshold=0.5]", none, half, Some(0.0)),
        ("f_beta", none, low, Some(0.0)),
        ("jaccard", none, low, Some(0.0)),
        ("mcc", none, half, Some(0.0)),
        ("balanced_accuracy", none, half, Some(0.5)),
        ("specificity", all, half, Some(0.0)),
        ("npv", [0.0, 0.0, 1.0, 1.0], [0.9; 4], Some(0.0)),
        ("kappa", none, low, None),
    ] {
        let view = rows(&labels, &scores);
        assert_eq!(value(name, Some("sklearn"), &view).outcome.number(), by_preset, "{name}");
        assert_eq!(value(name, None, &view).outcome.number(), None, "{name}");
    }
}

#[test]
fn what_is_missing_is_said() {
    let none = [0.0; 4];
    let one = [1.0; 4];
    let scores = [0.1, 0.2, 0.3, 0.4];
    has_values(
        &rows(&none, &scores),
        &[
            ("pr_auc", Err("no positive row")),
            ("pr_auc[no_positive=zero]", Ok(0.0)),
            ("ks", Err("no positive row")),
            ("partial_auc", Err("no positive row")),
            ("recall[threshold=0.5]", Err("no positive row")),
            ("recall[threshold=0.5,undefined=one]", Ok(1.0)),
            ("precision[threshold=0.5]", Err("no row at or above the threshold")),
            ("npv", Ok(1.0)),
            ("kappa", Err("all rows are of one class and called it")),
            ("kappa[threshold=0]", Ok(0.0)),
            ("mcc", Err("one class is missing")),
            ("lift", Err("no positive row")),
            ("gain", Ok(0.0)),
            ("precision_at_recall[recall=0.5]", Err("no positive row")),
            ("ece", Ok(0.25)),
        ],
    );
    has_values(
        &rows(&one, &scores),
        &[
            ("pr_auc", Ok(1.0)),
            ("ks", Err("no negative row")),
            ("specificity", Err("no negative row")),
            ("npv[threshold=0]", Err("no row below the threshold")),
            ("balanced_accuracy", Err("no negative row")),
            ("balanced_accuracy[undefined=skip]", Ok(0.0)),
            ("f_beta", Ok(0.0)),
        ],
    );
    has_values(
        &rows(&[1.0, 0.0], &[0.2, 0.8]),
        &[
            ("recall_at_precision[precision=0.6]", Err("no threshold has this precision")),
            ("mcc[threshold=0.9]", Err("all rows are called alike")),
        ],
    );
    let no_rows = fuseval_core::value::NO_ROWS;
    for name in ["pr_auc[no_positive=zero]", "ks", "accuracy", "mcc[undefined=zero]", "gain", "ece", "mce", "roc_curve"]
    {
        has_values(&rows(&[], &[]), &[(name, Err(no_rows))]);
    }
}

#[test]
fn the_top_takes_tied_rows_in_part() {
    // Three tenths of ten rows: the first two and a quarter of the four that tie.
    let labels = [1., 0., 1., 0., 0., 0., 1., 0., 1., 0.];
    let scores = [0.9, 0.8, 0.5, 0.5, 0.5, 0.5, 0.4, 0.3, 0.2, 0.1];
    let view = rows(&labels, &scores);
    has_values(
        &view,
        &[
            ("capture[q=30]", Ok(1.25 / 4.0)),
            ("lift[q=30]", Ok(1.25 / 4.0 / 0.3)),
            ("gain[q=30]", Ok(1.25 / 3.0)),
            ("capture", Ok(0.25)),
            ("lift", Ok(2.5)),
            ("gain", Ok(1.0)),
            ("lift[q=100]", Ok(1.0)),
        ],
    );
}

#[test]
fn thresholds_and_bins_take_logits_as_probabilities() {
    let logits = [3.0, 1.0, 0.0, -0.5, -2.0, 40.0, -800.0];
    let labels = [1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0];
    let probabilities: Vec<f64> = logits.iter().map(|logit| fuseval_core::view::sigmoid(*logit)).collect();
    let by_logit = View { kind: ScoreKind::Logit, ..rows(&labels, &logits) };
    let by_probability = rows(&labels, &probabilities);
    let thresholds = [0.0, 1e-300, 0.1, 0.5, 0.500_000_001, 0.7, 0.953, 1.0, 1.000_001];
    let list: Vec<String> = thresholds.iter().map(f64::to_string).collect();
    let mut names = vec![format!("confusion_matrix[thresholds=[{}]]", list.join(","))];
    names.extend(["ece", "mce[strategy=uniform]", "reliability_curve[strategy=uniform]"].map(str::to_string));
    names.extend(["roc_curve", "pr_curve", "threshold_at_recall[recall=0.9]"].map(str::to_string));
    for name in names {
        let (a, b) = (value(&name, None, &by_logit).outcome, value(&name, None, &by_probability).outcome);
        assert_eq!(a, b, "{name}");
    }
    // As they are, raw scores are compared.
    let raw = View { kind: ScoreKind::Raw, ..by_logit };
    has_values(&raw, &[("recall[threshold=0.5]", Ok(2.0 / 3.0)), ("recall[threshold=-1]", Ok(1.0))]);
    has_values(&by_logit, &[("recall[threshold=0.5]", Ok(1.0))]);
}

#[test]
fn that_scores_are_logits_survives_merges_and_bytes() {
    let metric = crate::metric(&MetricId::parse("recall[threshold=0.5]").unwrap(), &Defaults::default()).unwrap();
    let logits = View { kind: ScoreKind::Logit, ..rows(&[1.0, 1.0], &[0.25, -0.25]) };
    let mut folds = metric.empty();
    metric.update(folds.as_mut(), Fold::default(), &logits).unwrap();
    let bytes = encoded(folds.as_ref(), Fold::default());
    let mut read = metric.empty();
    let (kind, version) = (read.kind(), read.version());
    let mut decode =
        |bytes: &[u8]| metric.decode(read.as_mut(), Fold::default(), kind, version, &mut Reader::new(bytes));
    // No rows, but logits.
    let empty = encoded(metric.empty().as_ref(), Fold::default());
    assert!(empty.is_empty());
    let mut nothing = metric.empty();
    metric.update(nothing.as_mut(), Fold::default(), &View { kind: ScoreKind::Logit, ..View::default() }).unwrap();
    let mut wrong = encoded(nothing.as_ref(), Fold::default());
    wrong[0] |= 2;
    assert!(decode(&wrong).is_err());
    decode(&bytes).unwrap();
    nothing.merge(read.as_ref()).unwrap();
    for folds in [read, nothing] {
        assert_eq!(encoded(folds.as_ref(), Fold::default()), bytes);
        let value = metric.finish(folds.as_ref(), &mut Cache::default()).unwrap();
        assert_eq!(value.outcome, Outcome::Number(0.5));
    }
}

#[test]
fn soft_labels_are_shares_of_both_classes() {
    let view = rows(&[0.25, 1.0, 0.0], &[0.9, 0.6, 0.3]);
    has_values(
        &view,
        &[
            ("precision[threshold=0.5,labels=soft]", Ok(1.25 / 2.0)),
            ("specificity[threshold=0.5,labels=soft]", Ok(1.0 / 1.75)),
            ("gain[q=50,labels=soft]", Ok((0.25 + 0.5) / 1.5)),
            ("ece[bins=1,labels=soft]", Ok(0.55 / 3.0)),
        ],
    );
}
