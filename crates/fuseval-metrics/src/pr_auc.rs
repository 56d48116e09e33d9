//! `pr_auc`: area under the precision-recall curve.
//!
//! **Definition** `curve=step` (default): Σ (rise of recall)·precision over thresholds from the highest down, known as
//! average precision (scikit-learn, torchmetrics, TorchRec). `curve=trapezoid`: the trapezoids through the points of the
//! curve, with a first point at recall 0 (Spark); flatters, since precision does not fall in a straight line.
//! `curve=interpolated`: the area under the curve between points after Davis and Goadrich (2006), true and false positives
//! linear (Keras, TFMA).
//! **Relevant** label 1; labels between 0 and 1 are refused unless `labels=soft`, where such a row counts `label` times as
//! positive and `1 − label` times as negative.
//! **Ties** rows of equal score make one point of the curve.
//! **Weights** count for rows; rows of weight 0 are not there and add no point.
//! **Undefined** without a positive row; `no_positive=zero` gives 0. (The key `no_positive` of a run is about segments and
//! does not count here.)
//! **Options** `anchor=one|first`: the precision of the first point of `curve=trapezoid`, 1, or that of the highest
//! threshold as in Spark 4; no part of the other curves. `mode=exact|histogram`: how scores are kept.
//! **State** `scores`, shared with all metrics of thresholds, curves and areas.
//! **Bound** in the histogram rows of a bin may lie in any order. With t true and f false positives, from (t₀, f₀) to (t₁,
//! f₁), precision in the bin is at most t₁ / (t₁ + f₀) and at least t / (t + f₁). Step: from ∫ t / (t + f₁) dt to (t₁ −
//! t₀)·t₁ / (t₁ + f₀). Trapezoid: the same above, and below the trapezoid under t / (t + f₁), which is concave. Interpolated:
//! from ∫ t / (t + f₁) dt to ∫ t / (t + f₀) dt.
//! **Oracle** scikit-learn `average_precision_score` (0 without a positive row, as its preset here); for the trapezoid `auc`
//! of `precision_recall_curve`, which has `anchor=one`.

use fuseval_core::registry::Settings;
use fuseval_core::value::NO_ROWS;
use fuseval_core::{
    Cutoff, Direction, Entry, Error, LabelRange, MetricId, Needs, OptionEntry, Outcome, Profile, Result, ScoreNeed,
};

use crate::on_scores::descent::{Descent, Weights, coarse_descent, totals};
use crate::on_scores::{LABELS, MODE, OnScores, ScoreMetric};
use crate::segments::options::name;
use crate::states::scores::ScoreTable;
use crate::states::twofold::Twofold;

/// How points are connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Step,
    Trapezoid,
    Interpolated,
}

const SHAPES: &[(&str, Shape)] =
    &[("step", Shape::Step), ("trapezoid", Shape::Trapezoid), ("interpolated", Shape::Interpolated)];
/// Whether the first point has precision 1.
const ANCHORS: &[(&str, bool)] = &[("one", true), ("first", false)];

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "pr_auc",
    summary: "area under the precision-recall curve, by default average precision",
    file: include_str!("pr_auc.rs"),
    cutoff: Cutoff::None,
    options: &[
        OptionEntry { name: "curve", values: &["step", "trapezoid", "interpolated"], default: "step" },
        OptionEntry { name: "anchor", values: &["one", "first"], default: "one" },
        OptionEntry { name: "no_positive", values: &["skip", "zero"], default: "skip" },
        MODE,
        LABELS,
    ],
    presets: &[("sklearn", "no_positive", "zero")],
    build: |settings| {
        let shape = settings.choice("curve", SHAPES)?;
        let from_one = settings.choice("anchor", ANCHORS)?;
        let formula = PrAuc { shape, from_one, or_zero: is_zero_without_positives(settings)? };
        Ok(Box::new(OnScores::new(formula, settings)?))
    },
};

/// The rule as given or as the preset has it; what the run sets for segments does not count.
fn is_zero_without_positives(settings: &Settings<'_>) -> Result<bool> {
    let preset = settings.defaults().preset.as_deref();
    match settings.given("no_positive").map(ToString::to_string).as_deref() {
        None => Ok(ENTRY.presets.iter().any(|(of, ..)| Some(*of) == preset)),
        Some("skip") => Ok(false),
        Some("zero") => Ok(true),
        Some(other) => Err(Error::usage("`no_positive` of `skip` or `zero`", format!("`{other}`"), "leave it out")),
    }
}

/// The formula.
#[derive(Debug, Clone, Copy)]
struct PrAuc {
    shape: Shape,
    from_one: bool,
    or_zero: bool,
}

impl ScoreMetric for PrAuc {
    fn id(&self) -> MetricId {
        let id = MetricId::new(ENTRY.name).with("curve", name(SHAPES, self.shape), "step");
        let id = id.with("anchor", name(ANCHORS, self.from_one), "one");
        id.with("no_positive", if self.or_zero { "zero" } else { "skip" }, "skip")
    }

    fn profile(&self) -> Profile {
        Profile::rows(Direction::Higher, (0.0, 1.0), Needs::new(ScoreNeed::Order, LabelRange::Binary))
    }

    fn value(&self, table: &ScoreTable) -> (Outcome, f64) {
        let all = totals(table);
        match all.lacks_positives() {
            None => {}
            Some(reason) if self.or_zero && reason != NO_ROWS => return (Outcome::Number(0.0), 0.0),
            Some(reason) => return (Outcome::Undefined(reason.into()), 0.0),
        }
        let (mut area, mut least, mut most) = (Twofold::default(), Twofold::default(), Twofold::default());
        let mut precision = if self.from_one { 1.0 } else { f64::NAN };
        for step in coarse_descent(table) {
            let next = step.down_to.precision();
            if precision.is_nan() {
                precision = next;
            }
            match self.shape {
                Shape::Step => area.add_product(step.own.positive, next),
                Shape::Trapezoid => area.add_product(step.own.positive, f64::midpoint(precision, next)),
                Shape::Interpolated => area.add(under_interpolation(step.above, step.own)),
            }
            precision = next;
            if !table.exact {
                let (low, high) = self.ends(&step);
                least.add(low);
                most.add(high);
            }
        }
        let value = area.value();
        let bound = if table.exact { 0.0 } else { (most.value() - value).max(value - least.value()).max(0.0) };
        (Outcome::Number((value / all.positive).min(1.0)), bound / all.positive)
    }
}

impl PrAuc {
    /// The least and the greatest area that the rows of a bin can have in some order.
    fn ends(&self, step: &Descent) -> (f64, f64) {
        let Descent { above, own, down_to, .. } = *step;
        if own.positive == 0.0 {
            return (0.0, 0.0);
        }
        let positives = Weights { negative: 0.0, positive: own.positive };
        let with = |negative: f64| under_interpolation(Weights { negative, ..above }, positives);
        let low = with(down_to.negative);
        let high = own.positive * Weights { negative: above.negative, ..down_to }.precision();
        match self.shape {
            Shape::Step => (low, high),
            Shape::Interpolated => (low, with(above.negative)),
            Shape::Trapezoid => {
                let at = |positive: f64| positive / (positive + down_to.negative);
                let low =
                    if down_to.negative > 0.0 { f64::midpoint(at(above.positive), at(down_to.positive)) } else { 1.0 };
                (own.positive * low, high)
            }
        }
    }
}

/// ∫ t / (t + f) dt from a point of the curve on, with t and f growing in proportion up to the next: with d = Δ(t + f) / (t + f)
/// it is Δt·(t·ln(1 + d) / d + Δt·(d − ln(1 + d)) / d²) / (t + f), of which no term is negative.
fn under_interpolation(from: Weights, by: Weights) -> f64 {
    let (rows, more) = (from.sum(), by.sum());
    if by.positive == 0.0 {
        return 0.0;
    }
    if rows == 0.0 {
        return by.positive * by.precision();
    }
    let d = more / rows;
    let mean = if d == 0.0 { 1.0 } else { libm::log1p(d) / d };
    by.positive * (from.positive * mean + by.positive * second(d)) / rows
}

/// (d − ln(1 + d)) / d²; by its series where the difference would lose digits.
fn second(d: f64) -> f64 {
    if d > 0.1 {
        return (d - libm::log1p(d)) / d / d;
    }
    (2..=18).rev().fold(0.0, |sum, power| 1.0 / f64::from(power) - d * sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_integral_keeps_its_digits_however_short_the_way() {
        let from = Weights { negative: 1e9, positive: 1.0 };
        // ∫ (1 + t) / (1e9 + 1 + t) dt from 0 to 1.
        let exact = 1.5 / 1e9 - 7.0 / 3.0 / 1e18 + 1e-18 / 6.0;
        let area = under_interpolation(from, Weights { negative: 0.0, positive: 1.0 });
        assert!((area - exact).abs() <= 1e-15 * exact + 1e-18, "{area} {exact}");
        for d in [0.099_999_999, 0.1, 0.100_000_001] {
            assert!((second(d) - (d - libm::log1p(d)) / d / d).abs() < 1e-14);
        }
        assert_eq!(second(0.0), 0.5);
    }
}
