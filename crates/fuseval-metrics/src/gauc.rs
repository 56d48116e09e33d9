//! `gauc`: the area under the ROC curve within each segment, averaged over segments by their numbers of rows.
//!
//! **Definition** the share of a segment's (relevant, other) pairs in which the relevant row has the higher score; the mean over
//! segments, each weighted by its rows (impressions: Zhou et al. 2018, DIN). `average=macro` weighs segments alike and is
//! `uauc`; `average=positives` is RecBole's GAUC.
//! **Relevant** label 1; other labels need `rel_threshold`, and then rows with label ≥ `rel_threshold` are relevant.
//! **Ties** a pair of equal scores counts one half, which is the mean over all orders. (TorchRec's `gauc` takes tied rows as
//! they come.)
//! **Weights** a segment weighs the mean of its rows' weights, times its number of rows; within the segment all pairs count
//! alike. Rows of weight 0 are not there, and rows without a score are in no pair.
//! **Undefined** in a segment of one class, which is left out and counted. `single_class=half` gives it 0.5, as TorchRec's
//! `grouped_auc` does.
//! **Options** `constant_scores=half|skip`: a segment in which all scores are equal has 0.5 (default), or is left out, which
//! makes a model that cannot tell rows apart look better. `average=rows|macro|positives`.
//! **State** `sums`: Σ w·AUC, Σ w over segments.
//! **Oracle** scikit-learn `roc_auc_score` per segment.

use fuseval_core::registry::Settings;
use fuseval_core::{
    AnyMetric, Cutoff, Direction, Entry, LabelRange, MetricId, Needs, OptionEntry, Profile, Result, ScoreNeed,
};

use crate::segments::options::name;
use crate::segments::pairs::Pairs;
use crate::segments::{AVERAGE, OverSegments, REL_THRESHOLD, SINGLE_CLASS, Segment, SegmentMetric, SegmentOptions};

const CONSTANT: &[(&str, bool)] = &[("half", false), ("skip", true)];
/// What a segment gives in which all scores are equal.
pub(crate) const CONSTANT_SCORES: OptionEntry =
    OptionEntry { name: "constant_scores", values: &["half", "skip"], default: "half" };

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "gauc",
    summary: "area under the ROC curve within a segment, mean over segments by their rows",
    file: include_str!("gauc.rs"),
    cutoff: Cutoff::None,
    options: &[CONSTANT_SCORES, SINGLE_CLASS, OptionEntry { default: "rows", ..AVERAGE }, REL_THRESHOLD],
    presets: &[],
    build: |settings| auc_of_segments(ENTRY.name, settings),
};

/// `gauc` or `uauc`: they differ in what segments weigh by default.
pub(crate) fn auc_of_segments(metric: &'static str, settings: &Settings<'_>) -> Result<Box<dyn AnyMetric>> {
    let options = SegmentOptions::read(settings)?;
    let formula = AucOfSegment {
        metric,
        skips_constant: settings.choice("constant_scores", CONSTANT)?,
        binary: options.rel_threshold.is_none(),
    };
    Ok(Box::new(OverSegments::new(formula, options)))
}

/// The formula.
#[derive(Debug, Clone, Copy)]
struct AucOfSegment {
    metric: &'static str,
    skips_constant: bool,
    binary: bool,
}

impl SegmentMetric for AucOfSegment {
    fn id(&self) -> MetricId {
        MetricId::new(self.metric).with("constant_scores", name(CONSTANT, self.skips_constant), "half")
    }

    fn profile(&self) -> Profile {
        let labels = if self.binary { LabelRange::Binary } else { LabelRange::Any };
        Profile::segments(Direction::Higher, (0.0, 1.0), Needs::new(ScoreNeed::Order, labels))
    }

    fn leaves_out(&self, segment: &Segment<'_>) -> bool {
        self.skips_constant && segment.is_constant()
    }

    fn why_undefined(&self) -> &'static str {
        if self.skips_constant { "no segment with both classes and two scores" } else { "no segment with both classes" }
    }

    fn value(&self, segment: &Segment<'_>) -> Option<f64> {
        Pairs::of(segment, |label| segment.is_relevant(label)).share()
    }
}
