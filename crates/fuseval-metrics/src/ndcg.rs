//! `ndcg`, `ndcg@k`: normalised discounted cumulative gain, the DCG of a segment over that of its best order, averaged over
//! segments.
//!
//! **Definition** DCG / ideal DCG, where DCG = Σ gain(label) / log2(rank + 1) over the first k ranks, and the ideal has the
//! labels of the segment in descending order, those without a score included; the mean over segments. Without `@k` the whole
//! segment is looked at. Järvelin and Kekäläinen 2002.
//! **Relevant** nothing is cut: a label is a grade from 0 on, and `gain` says what it is worth: `linear` the label itself
//! (default; scikit-learn, trec_eval, torchmetrics), `exp2` 2^label − 1 (LightGBM, XGBoost, Burges 2005), a list the entry for
//! the grade, as in `gain=[0,1,3,7]`. For labels 0 and 1 the first two are the same. Negative labels are refused.
//! **Ties** `expected` (default): the mean over all orders of tied rows: each place of a block has the block's mean gain
//! (McSherry and Najork 2008; scikit-learn). `optimistic`, `pessimistic`: higher labels first or last; `stable`: input order;
//! `key_asc`, `key_desc`: by item; `random`: by a hash of seed and row. Segments with a tie across k are counted.
//! **Weights** a segment weighs the mean of its rows' weights; rows of weight 0 are not there.
//! **Undefined** in a segment without gain, which is left out and counted (`no_positive=zero` or `one` gives it that value;
//! scikit-learn, trec_eval and torchmetrics take 0, LightGBM and XGBoost 1).
//! **Options** `gain=linear|exp2|[…]`; `ideal=present|full`: `full` divides by the DCG of k rows of label 1, whether the
//! segment has as many or not (RecTools), and takes labels from 0 to 1 only; `average=macro|rows|positives`;
//! `duplicates=first`: an item counts once, at its best rank.
//! **State** `sums`: Σ w·NDCG, Σ w over segments.
//! **Oracle** scikit-learn `ndcg_score`; trec_eval `ndcg` and `ndcg_cut_k`; full enumeration of orders where something is tied.

use fuseval_core::{
    Cutoff, Direction, Entry, Error, LabelRange, LabelSide, MetricId, Needs, OptionEntry, Profile, Result, ScoreNeed,
    View,
};

use crate::segments::gain::{Discounts, GAIN, Gain};
use crate::segments::options::name;
use crate::segments::{
    AVERAGE, DUPLICATES, NO_POSITIVE_SKIP, OverSegments, Segment, SegmentMetric, SegmentOptions, TIES,
};

const IDEALS: &[(&str, bool)] = &[("present", false), ("full", true)];
const IDEAL: OptionEntry = OptionEntry { name: "ideal", values: &["present", "full"], default: "present" };

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "ndcg",
    summary: "normalised discounted cumulative gain of a segment, mean over segments",
    file: include_str!("ndcg.rs"),
    cutoff: Cutoff::Optional,
    options: &[GAIN, IDEAL, TIES, NO_POSITIVE_SKIP, AVERAGE, DUPLICATES],
    presets: &[
        ("sklearn", "ties", "expected"),
        ("sklearn", "no_positive", "zero"),
        ("trec_eval", "ties", "key_desc"),
        ("trec_eval", "no_positive", "zero"),
        ("trec_eval", "gain", "linear"),
    ],
    build: |settings| {
        let formula = Ndcg { gain: Gain::read(settings)?, full: settings.choice("ideal", IDEALS)? };
        if formula.full && settings.k().is_none() {
            return Err(Error::usage("a cut-off k for `ideal=full`", "none", "write for example `ndcg@10`"));
        }
        Ok(Box::new(OverSegments::new(formula, SegmentOptions::read(settings)?)))
    },
};

/// The formula.
#[derive(Debug, Clone)]
struct Ndcg {
    gain: Gain,
    /// Whether the ideal is k rows of label 1.
    full: bool,
}

impl SegmentMetric for Ndcg {
    fn id(&self) -> MetricId {
        let id = MetricId::new(ENTRY.name).with("gain", &self.gain, "linear");
        id.with("ideal", name(IDEALS, self.full), "present")
    }

    fn profile(&self) -> Profile {
        let labels = if self.full { LabelRange::Unit } else { LabelRange::Grade };
        Profile::segments(Direction::Higher, (0.0, 1.0), Needs::new(ScoreNeed::Order, labels))
    }

    /// The ideal DCG; 0 where no row has a gain.
    fn label_side(&self, options: &SegmentOptions) -> LabelSide {
        let mut id = MetricId::new("ideal_dcg").with("gain", &self.gain, "linear");
        id = id.with("ideal", name(IDEALS, self.full), "present");
        if let Some(k) = options.k {
            id = id.at(k);
        }
        let (gain, k) = (self.gain.clone(), options.k.unwrap_or(usize::MAX));
        let full = self.full.then(|| gain.of(1.0) * Discounts::new().sum(0..k));
        let of = move |labels: &[f64]| match full {
            None => gain.ideal_dcg(labels, k),
            Some(full) if labels.iter().any(|label| gain.of(*label) > 0.0) => full,
            Some(_) => 0.0,
        };
        LabelSide { name: id.to_string(), of: Box::new(of) }
    }

    fn check(&self, view: &View<'_>) -> Result<()> {
        self.gain.check(view)
    }

    fn value(&self, segment: &Segment<'_>) -> Option<f64> {
        Some(self.gain.dcg(segment) / segment.label_side)
    }
}
