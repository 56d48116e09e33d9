//! The numbers of hard cases from the trackers of other tools, by their numbers there.

use fuseval_core::Outcome;
use fuseval_core::view::{ScoreKind, View};

use super::curve;
use crate::over_rows::tests::{has_values, rows, value};

#[test]
fn hard_case_005_all_scores_equal() {
    let labels = [0., 1., 1., 0., 1., 0.];
    let view = rows(&labels, &[0.5; 6]);
    has_values(&view, &[("roc_auc", Ok(0.5)), ("pr_auc", Ok(0.5))]);
    let weighted = View { weights: Some(&[1.0, 2.0, 0.5, 3.0, 1.0, 1.0]), ..view };
    has_values(&weighted, &[("roc_auc", Ok(0.5)), ("pr_auc", Ok(7.0 / 17.0))]);
}

#[test]
fn hard_case_007_the_first_point_of_the_curve() {
    let view = rows(&[1., 0., 0., 1., 0., 1., 0.], &[0.9, 0.9, 0.9, 0.6, 0.6, 0.3, 0.1]);
    has_values(
        &view,
        &[
            ("pr_auc", Ok(37.0 / 90.0)),
            ("pr_auc[curve=trapezoid,anchor=first]", Ok(23.0 / 60.0)),
            ("pr_auc[curve=trapezoid]", Ok(89.0 / 180.0)),
        ],
    );
}

#[test]
fn hard_case_011_no_positives() {
    let view = rows(&[0.0; 4], &[0.2, 0.9, 0.5, 0.5]);
    has_values(&view, &[("pr_auc", Err("no positive row")), ("pr_auc[no_positive=zero]", Ok(0.0))]);
}

#[test]
fn hard_case_032_the_positive_class_that_sorts_first() {
    let view = rows(&[1., 0., 1., 0., 0., 1.], &[0.9, 0.8, 0.8, 0.4, 0.3, 0.1]);
    has_values(&view, &[("pr_auc", Ok(13.0 / 18.0)), ("roc_auc", Ok(11.0 / 18.0))]);
}

#[test]
fn hard_case_035_infinite_scores() {
    let infinity = f64::INFINITY;
    let scores = [infinity, 0.5, -infinity, -infinity, 2.0, infinity, -infinity];
    let view = View { kind: ScoreKind::Raw, ..rows(&[1., 1., 0., 1., 0., 0., 0.], &scores) };
    for mode in ["exact", "histogram"] {
        let name = |metric: &str| format!("{metric}[mode={mode}]");
        has_values(&view, &[(name("roc_auc").as_str(), Ok(13.0 / 24.0)), (name("pr_auc").as_str(), Ok(10.0 / 21.0))]);
    }
    let curve = curve("roc_curve[max_error=0]", &view);
    assert_eq!(curve.points.first().unwrap(), &[0.0, 0.0, infinity]);
    assert_eq!(curve.points.last().unwrap(), &[1.0, 1.0, -infinity]);
}

#[test]
fn hard_case_037_rows_of_weight_zero() {
    // The engine leaves out the first row, whose weight is 0.
    let weights = [1.0, 1.0, 2.0, 1.0];
    let view = View { weights: Some(&weights), ..rows(&[0., 1., 1., 0.], &[0.8, 0.8, 0.5, 0.3]) };
    has_values(&view, &[("pr_auc", Ok(2.0 / 3.0)), ("roc_auc", Ok(7.0 / 12.0))]);
}

#[test]
fn hard_case_040_weights_are_used() {
    let weights = [4.0, 0.5, 1.0, 0.25, 0.25];
    let view = View { weights: Some(&weights), ..rows(&[1., 0., 1., 0., 1.], &[0.7, 0.7, 0.2, 0.2, 0.5]) };
    has_values(&view, &[("pr_auc", Ok(6367.0 / 7182.0)), ("roc_auc", Ok(5.0 / 9.0))]);
}

#[test]
fn hard_case_049_scores_out_of_range_have_an_order() {
    let view = View { kind: ScoreKind::Raw, ..rows(&[1., 0., 0., 1.], &[1.2, -0.1, 0.5, 0.75]) };
    has_values(&view, &[("roc_auc", Ok(1.0)), ("pr_auc", Ok(1.0)), ("partial_auc", Ok(1.0)), ("ks", Ok(1.0))]);
}

#[test]
fn hard_case_052_edges_that_are_not_exact() {
    let view = rows(&[1., 0., 0., 1., 1., 0.], &[0.29, 0.285, 0.57, 0.58, 0.14, 0.145]);
    has_values(&view, &[("ece[bins=100,strategy=uniform]", Ok(0.45))]);
}

#[test]
fn hard_case_053_a_constant_prediction_has_one_bin() {
    let view = rows(&[1., 0., 1., 1., 0.], &[0.3; 5]);
    has_values(&view, &[("ece[bins=10]", Ok(0.3)), ("mce[bins=10]", Ok(0.3))]);
    assert_eq!(curve("reliability_curve[bins=10]", &view).points, [[0.3, 0.6, 5.0, 5.0]]);
}

#[test]
fn hard_case_059_low_rates() {
    let scores = [0.0004, 0.0011, 0.0002, 0.0031, 0.0007, 0.0003, 0.0009, 0.0045, 0.0001, 0.0006, 0.0005, 0.0012];
    let view = rows(&[0., 1., 0., 1., 0., 0., 1., 0., 0., 1., 0., 0.], &scores);
    has_values(&view, &[("roc_auc", Ok(0.75)), ("roc_auc[mode=histogram]", Ok(0.75))]);
    let grid = value("roc_auc[thresholds=199]", None, &view);
    assert_eq!(grid.outcome, Outcome::Number(0.5));
    assert!(grid.error_bound >= 0.25);
}

#[test]
fn hard_case_061_all_users_together() {
    let scores = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.6, 0.2, 0.9, 0.5, 0.7];
    let view = rows(&[1., 0., 1., 0., 0., 0., 1., 0., 0., 1., 1., 0.], &scores);
    has_values(&view, &[("roc_auc", Ok(23.0 / 35.0))]);
}

#[test]
fn hard_case_088_curves_run_from_end_to_end() {
    let scores = [3.0, 1.0, 1.0, 0.5, 0.5, 0.0, -2.0, 0.5, 1.0];
    let view = View { kind: ScoreKind::Raw, ..rows(&[1., 1., 0., 1., 0., 0., 1., 0., 1.], &scores) };
    has_values(&view, &[("roc_auc", Ok(0.65)), ("pr_auc", Ok(457.0 / 630.0))]);
    let points = curve("roc_curve", &view).points;
    assert_eq!(points.first().unwrap(), &[0.0, 0.0, f64::INFINITY]);
    assert_eq!(points.last().unwrap(), &[1.0, 1.0, -2.0]);
}
