//! Intervals by the delete-one-fold jackknife, for a value and for the difference of two values over the same folds.
//!
//! Segments are assigned to folds by a hash of their key, so folds are exchangeable groups of whole segments and the delete-a-group
//! jackknife applies (Efron 1982, *The Jackknife, the Bootstrap and Other Resampling Plans*, chapter 3; Shao and Tu 1995, *The
//! Jackknife and Bootstrap*, section 2.3): rows of one segment may depend on each other as they like.

use fuseval_core::Fold;

use super::student_t::{t_quantile, t_two_sided_p};

/// With fewer folds than this there is no interval.
pub const FEWEST_FOLDS: usize = 10;

/// What a metric is without one of the folds that have data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LeaveOneOut {
    /// The fold that is left out.
    pub fold: Fold,
    /// The value over all other folds, where there is one.
    pub value: Option<f64>,
}

/// A value with what is needed for its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate<'a> {
    /// The value over all folds.
    pub value: f64,
    /// The value without each fold that has data, in the order of the folds.
    pub without: &'a [LeaveOneOut],
}

/// An interval of a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The standard error of the value.
    pub standard_error: f64,
}

/// The difference of two values, with its interval and p-value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// Experiment − baseline.
    pub delta: f64,
    /// The interval of the difference.
    pub interval: Interval,
    /// How likely a difference at least as large, either way, would be if there were none.
    pub p: f64,
}

/// The interval of a value from its values without each of G folds, clipped to the range of the metric:
///
/// value ± t · se, where se² = (G − 1) / G · Σ (value without g − their mean)² and t is the quantile of Student's distribution
/// with G − 1 degrees of freedom that leaves (1 − level) / 2 outside on each side.
///
/// ```
/// use fuseval_engine::statistics::jackknife;
/// let without = [0.52, 0.55, 0.49, 0.53, 0.57, 0.5, 0.51, 0.54, 0.56, 0.48, 0.525, 0.535];
/// let interval = jackknife(0.53, &without, 0.95, (0.0, 1.0));
/// assert!((interval.low - 0.33754).abs() < 5e-6 && (interval.high - 0.72246).abs() < 5e-6);
/// ```
pub fn jackknife(value: f64, without: &[f64], level: f64, range: (f64, f64)) -> Interval {
    let standard_error = standard_error(without);
    let t = -t_quantile((1.0 - level) / 2.0, degrees(without));
    // Where all folds agree the interval is a point, whatever t is.
    let reach = if standard_error == 0.0 { 0.0 } else { t * standard_error };
    let clipped = |end: f64| end.max(range.0).min(range.1);
    Interval { low: clipped(value - reach), high: clipped(value + reach), standard_error }
}

/// The interval of a value at a level, or why there is none: fewer than [`FEWEST_FOLDS`] folds, a value or a leave-one-out that
/// is undefined or infinite.
pub fn interval(estimate: &Estimate<'_>, level: f64, range: (f64, f64)) -> Result<Interval, String> {
    let without = finite(estimate)?;
    checked(jackknife(estimate.value, &without, level, range))
}

/// The difference of two values over the same folds: its leave-one-outs are the differences of theirs, so that what the two
/// have in common, fold by fold, cancels. Without any difference in any fold p is 1; with the same difference in all folds it
/// is 0. The interval is clipped to the differences that two values in `range` can have.
pub fn paired_difference(
    experiment: &Estimate<'_>,
    baseline: &Estimate<'_>,
    level: f64,
    range: (f64, f64),
) -> Result<Difference, String> {
    if !experiment.without.iter().map(|one| one.fold).eq(baseline.without.iter().map(|one| one.fold)) {
        return Err("experiment and baseline have data in different folds".into());
    }
    let (with, base) = (finite(experiment)?, finite(baseline)?);
    let without: Vec<f64> = with.iter().zip(&base).map(|(with, base)| with - base).collect();
    let delta = experiment.value - baseline.value;
    let interval = checked(jackknife(delta, &without, level, (range.0 - range.1, range.1 - range.0)))?;
    let p = match (delta == 0.0, interval.standard_error == 0.0) {
        (true, true) => 1.0,
        (false, true) => 0.0,
        _ => t_two_sided_p(delta / interval.standard_error, degrees(&without)),
    };
    Ok(Difference { delta, interval, p })
}

fn degrees(without: &[f64]) -> u32 {
    u32::try_from(without.len().saturating_sub(1)).unwrap_or(u32::MAX)
}

fn standard_error(without: &[f64]) -> f64 {
    let count = without.len() as f64;
    // Measured from the first, so that equal values give exactly 0.
    let first = without.first().copied().unwrap_or_default();
    let mean = without.iter().map(|value| value - first).sum::<f64>() / count;
    let squares: f64 = without.iter().map(|value| (value - first - mean) * (value - first - mean)).sum();
    ((count - 1.0) / count * squares).sqrt()
}

/// The leave-one-outs as numbers, or why they are not enough for an interval.
fn finite(estimate: &Estimate<'_>) -> Result<Vec<f64>, String> {
    let folds = estimate.without.len();
    if folds < FEWEST_FOLDS {
        return Err(format!("fewer than {FEWEST_FOLDS} folds ({folds}) have data"));
    }
    if !estimate.value.is_finite() {
        return Err("the value is not finite".into());
    }
    let number = |one: &LeaveOneOut| one.value.filter(|value| value.is_finite());
    let missing: Vec<String> =
        estimate.without.iter().filter(|one| number(one).is_none()).map(|one| one.fold.number().to_string()).collect();
    match missing.as_slice() {
        [] => Ok(estimate.without.iter().filter_map(number).collect()),
        [fold] => Err(format!("undefined without fold {fold}")),
        folds => Err(format!("undefined without folds {}", folds.join(", "))),
    }
}

fn checked(interval: Interval) -> Result<Interval, String> {
    if interval.standard_error.is_finite() { Ok(interval) } else { Err("the standard error is not finite".into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);
    const A: [f64; 12] = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 5.0, 3.0, 5.0, 8.0];
    const B: [f64; 12] = [2.0, 7.0, 1.0, 8.0, 2.0, 8.0, 1.0, 8.0, 2.0, 8.0, 4.0, 5.0];

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    /// The mean of one observation per fold, and its leave-one-outs.
    fn means(values: &[f64]) -> (f64, Vec<LeaveOneOut>) {
        let sum: f64 = values.iter().sum();
        let without = values.iter().map(|value| Some((sum - value) / (values.len() as f64 - 1.0)));
        (mean(values), folds(without))
    }

    fn folds(values: impl IntoIterator<Item = Option<f64>>) -> Vec<LeaveOneOut> {
        (0..).filter_map(Fold::new).zip(values).map(|(fold, value)| LeaveOneOut { fold, value }).collect()
    }

    fn of(value: f64, without: &[LeaveOneOut]) -> Estimate<'_> {
        Estimate { value, without }
    }

    /// For the mean of one observation per fold the jackknife is the ordinary t interval (`scipy.stats.t.interval`, 1.17.1).
    #[test]
    fn agrees_with_the_t_interval_of_a_mean() {
        let (value, without) = means(&A);
        let interval = interval(&of(value, &without), 0.95, ALL).unwrap();
        assert!((interval.standard_error - 0.7316785737969477).abs() < 1e-14);
        assert!((interval.low - 2.722919650449236).abs() < 1e-13);
        assert!((interval.high - 5.94374701621743).abs() < 1e-13);
    }

    /// As `scipy.stats.ttest_rel` (1.17.1).
    #[test]
    fn agrees_with_the_paired_t_test() {
        let ((a, without_a), (b, without_b)) = (means(&A), means(&B));
        let difference = paired_difference(&of(a, &without_a), &of(b, &without_b), 0.95, ALL).unwrap();
        assert!((difference.delta - (mean(&A) - mean(&B))).abs() < 1e-15);
        assert!((difference.p - 0.7623908871553743).abs() < 1e-13);
        assert!((difference.interval.low - -2.700355147874889).abs() < 1e-13);
        assert!((difference.interval.high - 2.033688481208222).abs() < 1e-13);
    }

    #[test]
    fn intervals_stay_within_the_range() {
        let (value, without) = means(&A);
        let clipped = interval(&of(value, &without), 0.999, (3.0, 5.0)).unwrap();
        assert_eq!((clipped.low, clipped.high), (3.0, 5.0));
        let (other, without_other) = means(&B);
        let difference =
            paired_difference(&of(value, &without), &of(other, &without_other), 0.999, (4.0, 5.0)).unwrap();
        assert_eq!((difference.interval.low, difference.interval.high), (-1.0, 1.0));
    }

    #[test]
    fn too_few_folds_have_no_interval() {
        let (value, without) = means(&A);
        let reason = "fewer than 10 folds (9) have data";
        assert_eq!(interval(&of(value, &without[..9]), 0.95, ALL), Err(reason.into()));
        assert!(interval(&of(value, &without[..10]), 0.95, ALL).is_ok());
        assert_eq!(interval(&of(value, &[]), 0.95, ALL), Err("fewer than 10 folds (0) have data".into()));
    }

    #[test]
    fn undefined_leave_one_outs_are_named() {
        let one = folds((0..12).map(|i| (i != 3).then_some(0.5)));
        assert_eq!(interval(&of(0.5, &one), 0.95, ALL), Err("undefined without fold 3".into()));
        let more = folds((0..12).map(|i| if i == 7 { Some(f64::INFINITY) } else { (i != 3).then_some(0.5) }));
        assert_eq!(interval(&of(0.5, &more), 0.95, ALL), Err("undefined without folds 3, 7".into()));
        let all = folds([Some(0.5); 12]);
        assert_eq!(interval(&of(f64::INFINITY, &all), 0.95, ALL), Err("the value is not finite".into()));
        let reason = Err("undefined without fold 3".into());
        assert_eq!(paired_difference(&of(0.5, &all), &of(0.5, &one), 0.95, ALL), reason);
    }

    #[test]
    fn differences_need_the_same_folds() {
        let (twelve, thirteen) = (folds([Some(0.5); 12]), folds([Some(0.5); 13]));
        assert!(paired_difference(&of(0.5, &twelve), &of(0.5, &thirteen), 0.95, ALL).is_err());
    }

    #[test]
    fn no_difference_is_certain_and_so_is_the_same_one_everywhere() {
        // Values whose mean is not exact, so that a sum over them would leave a rest.
        let low = folds([Some(0.1); 12]);
        let high = folds([Some(0.7); 12]);
        let same = paired_difference(&of(0.1, &low), &of(0.1, &low), 0.95, ALL).unwrap();
        assert_eq!((same.delta, same.p), (0.0, 1.0));
        assert_eq!((same.interval.low, same.interval.high, same.interval.standard_error), (0.0, 0.0, 0.0));
        let moved = paired_difference(&of(0.7, &high), &of(0.1, &low), 0.95, ALL).unwrap();
        assert_eq!((moved.p, moved.interval.standard_error), (0.0, 0.0));
        let balanced = paired_difference(&of(0.1, &means(&A).1), &of(0.1, &low), 0.95, ALL).unwrap();
        assert_eq!((balanced.delta, balanced.p), (0.0, 1.0));
    }

    #[test]
    fn p_is_below_one_minus_level_just_when_the_interval_leaves_out_zero() {
        for shift in 0..60 {
            let moved = B.map(|value| value + f64::from(shift) / 5.0 - 6.0);
            let ((a, without_a), (b, without_b)) = (means(&moved), means(&A));
            let difference = paired_difference(&of(a, &without_a), &of(b, &without_b), 0.9, ALL).unwrap();
            let leaves_out = difference.interval.low > 0.0 || difference.interval.high < 0.0;
            assert_eq!(difference.p < 1.0 - 0.9, leaves_out, "{difference:?}");
        }
    }

    #[test]
    fn a_standard_error_that_overflows_is_no_interval() {
        let wide = folds((0..12).map(|i| Some(if i % 2 == 0 { 1e300 } else { -1e300 })));
        assert_eq!(interval(&of(0.0, &wide), 0.95, ALL), Err("the standard error is not finite".into()));
    }
}
