//! Metrics of the score state: each is a function of the steps of equal score. The state, how it is kept, and the steps are
//! shared by all of them.

pub(crate) mod bins;
pub(crate) mod confusion;
pub(crate) mod descent;
pub(crate) mod operating_point;
pub(crate) mod rate;
pub(crate) mod thinning;
pub(crate) mod top;

use fuseval_core::registry::Settings;
use fuseval_core::view::ScoreKind;
use fuseval_core::{
    Cache, Error, Fold, Folds, LabelRange, Metric, MetricId, OptionEntry, Outcome, Profile, Result, Value, View,
};

use crate::segments::options::name;
use crate::states::scores::{DEFAULT_BUDGET, Mode, ScoreTable, Scores};

const MODES: &[(&str, Mode)] = &[("auto", Mode::Auto), ("exact", Mode::Exact), ("histogram", Mode::Histogram)];
/// How the score state is kept.
pub(crate) const MODE: OptionEntry =
    OptionEntry { name: "mode", values: &["auto", "exact", "histogram"], default: "auto" };

const LABELS_CHOICES: &[(&str, Classes)] = &[("binary", Classes::Labels), ("soft", Classes::Shares)];
/// Whether labels between 0 and 1 are taken: such a row counts `label` times as positive and `1 − label` times as negative.
pub(crate) const LABELS: OptionEntry = OptionEntry { name: "labels", values: &["binary", "soft"], default: "binary" };

/// The formula of a metric of the score state.
pub(crate) trait ScoreMetric: Send + Sync + 'static {
    /// The name with its own options; the shared ones are added.
    fn id(&self) -> MetricId;

    /// What the metric is; labels are 0 or 1.
    fn profile(&self) -> Profile;

    /// The value of the steps, and a proven bound on its distance to the value of the exact steps; 0 where the steps are
    /// exact.
    fn value(&self, table: &ScoreTable) -> (Outcome, f64);
}

/// A metric of the score state with the options that all of them share.
pub(crate) struct OnScores<M> {
    formula: M,
    mode: Mode,
    classes: Classes,
    budget: u64,
}

/// What the two classes of the score state are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Classes {
    /// Rows of label 0 and of label 1.
    Labels,
    /// Shares of rows, by their labels.
    Shares,
    /// The scores of the baseline and those of the experiment, of all rows.
    Experiments,
}

impl<M: ScoreMetric> OnScores<M> {
    /// Reads the options that the metric's entry lists among those of this module.
    pub(crate) fn new(formula: M, settings: &Settings<'_>) -> Result<Self> {
        let takes = |option: &OptionEntry| settings.entry().options.iter().any(|entry| entry.name == option.name);
        Ok(Self {
            formula,
            mode: if takes(&MODE) { settings.choice("mode", MODES)? } else { Mode::Auto },
            classes: if takes(&LABELS) { settings.choice("labels", LABELS_CHOICES)? } else { Classes::Labels },
            budget: settings.defaults().score_budget.unwrap_or(DEFAULT_BUDGET),
        })
    }

    /// A metric whose negative class is the baseline and whose positive class the experiment.
    pub(crate) fn against_baseline(formula: M, settings: &Settings<'_>) -> Self {
        let budget = settings.defaults().score_budget.unwrap_or(DEFAULT_BUDGET);
        Self { formula, mode: Mode::Auto, classes: Classes::Experiments, budget }
    }

    fn finished(&self, table: &ScoreTable) -> Value {
        let (outcome, error_bound) = self.formula.value(table);
        let (mut tally, mut weight) = table.tally();
        if self.classes == Classes::Experiments {
            // Each row is there twice.
            (tally.n, weight) = (tally.n / 2, weight / 2.0);
        }
        Value { outcome, error_bound, weight, tally, mode: table.mode() }
    }
}

impl<M: ScoreMetric> Metric for OnScores<M> {
    type State = Scores;

    fn id(&self) -> MetricId {
        let id = self.formula.id().with("mode", name(MODES, self.mode), "auto");
        if self.classes == Classes::Shares { id.with("labels", "soft", "binary") } else { id }
    }

    fn state_name(&self) -> String {
        let id = MetricId::new("scores").with("mode", name(MODES, self.mode), "auto");
        let id = if self.classes == Classes::Shares { id.with("labels", "soft", "binary") } else { id };
        if self.classes == Classes::Experiments { format!("{id} of both experiments") } else { id.to_string() }
    }

    fn profile(&self) -> Profile {
        let mut profile = self.formula.profile();
        if self.classes == Classes::Shares {
            profile.needs.labels = LabelRange::Unit;
        }
        profile
    }

    fn empty(&self) -> Scores {
        Scores::new(self.mode, self.budget)
    }

    fn update(&self, state: &mut Scores, view: &View<'_>) -> Result<()> {
        if view.kind == ScoreKind::Logit && view.rows() > 0 {
            state.are_logits();
        }
        match self.classes {
            Classes::Labels if view.weights.is_none() => state.add_rows(view.labels, view.scores),
            Classes::Labels => view.each().for_each(|(label, score, weight)| state.add(score, label > 0.0, weight)),
            Classes::Shares => {
                for (label, score, weight) in view.each() {
                    for (positive, share) in [(true, label), (false, 1.0 - label)] {
                        if share > 0.0 {
                            state.add(score, positive, weight * share);
                        }
                    }
                }
            }
            Classes::Experiments => {
                let baseline = view.baseline.ok_or_else(|| Error::defect("scores of the baseline", "none"))?;
                for ((_, score, weight), before) in view.each().zip(baseline) {
                    state.add(*before, false, weight);
                    state.add(score, true, weight);
                }
            }
        }
        Ok(())
    }

    fn state_bytes(&self, rows: u64) -> (u64, u64) {
        self.empty().bytes(rows)
    }

    fn finish(&self, state: &Scores) -> Value {
        self.finished(&ScoreTable::of(state))
    }

    fn finish_all(&self, folds: &Folds<Scores>, cache: &mut Cache) -> Result<Value> {
        let threads = cache.threads();
        Ok(self.finished(cache.get_or_make(|| Ok(ScoreTable::of_folds(folds, threads)))?))
    }

    fn leave_one_out(&self, folds: &Folds<Scores>, cache: &mut Cache) -> Result<Vec<(Fold, Outcome)>> {
        let tables = cache.get_or_make(|| Ok(ScoreTable::without_each(folds)))?;
        let values = tables.iter().map(|table| self.formula.value(table).0);
        let folds = folds.iter().zip(values).filter(|((_, state), _)| !state.is_empty());
        Ok(folds.map(|((fold, _), value)| (fold, value)).collect())
    }
}

#[cfg(test)]
pub(crate) mod tests;
