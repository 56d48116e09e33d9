//! `partial_auc`: area under the ROC curve up to a false positive rate.
//!
//! **Definition** ∫ TPR dFPR from 0 to `max_fpr`, the curve linear between thresholds and at the border.
//! `standardise=mcclish` (default): ½·(1 + (area − m²/2) / (m − m²/2)) with m = `max_fpr`, so that ½ is chance and 1 is
//! perfect (McClish 1989); `none`: the area itself, at most m. With `max_fpr=1` both are `roc_auc`.
//! **Relevant** label 1; labels between 0 and 1 are refused unless `labels=soft`, where such a row counts `label` times as
//! positive and `1 − label` times as negative.
//! **Ties** a pair of equal scores counts one half; rows of equal score at the border count pro rata.
//! **Weights** of a pair multiply; rows of weight 0 are not there.
//! **Undefined** when a class is missing.
//! **Options** `max_fpr=0.1`, above 0 and up to 1; `standardise=mcclish|none`. `mode=exact|histogram`: how scores are kept.
//! **State** `scores`, shared with all metrics of thresholds, curves and areas.
//! **Bound** in the histogram a bin whose pairs all count may give anything from nothing to full credit and gives half; in
//! the bin at the border the curve lies between its ends. McClish's formula multiplies by ½ / (m − m²/2).
//! **Oracle** scikit-learn `roc_auc_score(max_fpr=…)`, which standardises and does not tell; torchmetrics
//! `BinaryAUROC(max_fpr=…)` likewise.

use fuseval_core::{
    Cutoff, Direction, Entry, Error, LabelRange, MetricId, Needs, OptionEntry, Outcome, Profile, ScoreNeed,
};

use crate::on_scores::descent::{descent, totals};
use crate::on_scores::{LABELS, MODE, OnScores, ScoreMetric};
use crate::segments::options::name;
use crate::states::scores::ScoreTable;
use crate::states::twofold::Twofold;

const MAX_FPR: f64 = 0.1;
const STANDARDISE: &[(&str, bool)] = &[("mcclish", true), ("none", false)];

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "partial_auc",
    summary: "area under the ROC curve up to a false positive rate, 0.5 for chance",
    file: include_str!("partial_auc.rs"),
    cutoff: Cutoff::None,
    options: &[
        OptionEntry { name: "max_fpr", values: &[], default: "0.1" },
        OptionEntry { name: "standardise", values: &["mcclish", "none"], default: "mcclish" },
        MODE,
        LABELS,
    ],
    presets: &[],
    build: |settings| {
        let max_fpr = settings.number("max_fpr", MAX_FPR)?;
        if !(max_fpr > 0.0 && max_fpr <= 1.0) {
            return Err(Error::usage("`max_fpr` above 0 and up to 1", max_fpr.to_string(), "leave it out for 0.1"));
        }
        let standardise = settings.choice("standardise", STANDARDISE)?;
        Ok(Box::new(OnScores::new(PartialAuc { max_fpr, standardise }, settings)?))
    },
};

/// The formula.
#[derive(Debug, Clone, Copy)]
struct PartialAuc {
    max_fpr: f64,
    standardise: bool,
}

impl ScoreMetric for PartialAuc {
    fn id(&self) -> MetricId {
        let id = MetricId::new(ENTRY.name).with("max_fpr", self.max_fpr, MAX_FPR);
        id.with("standardise", name(STANDARDISE, self.standardise), "mcclish")
    }

    fn profile(&self) -> Profile {
        let most = if self.standardise { 1.0 } else { self.max_fpr };
        Profile::rows(Direction::Higher, (0.0, most), Needs::new(ScoreNeed::Order, LabelRange::Binary))
    }

    fn value(&self, table: &ScoreTable) -> (Outcome, f64) {
        let all = totals(table);
        if let Some(reason) = all.lacks_a_class() {
            return (Outcome::Undefined(reason.into()), 0.0);
        }
        let border = self.max_fpr * all.negative;
        let (mut area, mut open) = (Twofold::default(), Twofold::default());
        for step in descent(table).take_while(|step| step.above.negative < border) {
            if step.down_to.negative <= border {
                area.add_product(step.own.negative, step.above.positive);
                area.add_product(step.own.negative, step.own.positive / 2.0);
                open.add_product(step.own.negative, step.own.positive / 2.0);
            } else {
                let part = border - step.above.negative;
                let rise = step.own.positive * (part / step.own.negative);
                area.add_product(part, step.above.positive);
                area.add_product(part, rise / 2.0);
                open.add_product(part, (step.own.positive - rise / 2.0).max(rise / 2.0));
            }
        }
        let share = |pairs: Twofold| pairs.value() / all.positive / all.negative;
        let (mut value, mut bound) = (share(area), if table.exact { 0.0 } else { share(open) });
        if self.standardise {
            let least = 0.5 * self.max_fpr * self.max_fpr;
            value = 0.5 * (1.0 + (value - least) / (self.max_fpr - least));
            bound *= 0.5 / (self.max_fpr - least);
        }
        (Outcome::Number(value), bound)
    }
}
