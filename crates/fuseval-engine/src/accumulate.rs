//! Accumulation: scores of one experiment into the states of every head, slice and fold.

use std::collections::HashMap;

use fuseval_core::bytes::{Reader, Writer};
use fuseval_core::ranking::Ranking;
use fuseval_core::segment_key::{FOLDS, Fold};
use fuseval_core::{
    AnyState, Cell, Direction, Error, LabelRange, Layout, Metric, MetricId, Needs, Outcome, Partial, Result, ScoreKind,
    ScoreNeed, Slice, Source, State, Tally, Value, View,
};

use crate::bucket::Bucket;
use crate::plan::Plan;
use crate::selection::{Selection, groups, selections};
use crate::specification::OnInvalid;

/// Counts the rows that count and those that were left out as invalid. It has a state like any metric, in every cell, and
/// no line of its own in the report.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowCounts;

/// Counts of rows.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) rows: u64,
    pub(crate) dropped: u64,
}

impl State for Counts {
    const KIND: &'static str = "rows";
    const VERSION: u16 = 1;

    fn merge(&mut self, other: &Self) -> Result<()> {
        self.rows += other.rows;
        self.dropped += other.dropped;
        Ok(())
    }

    fn encode(&self, out: &mut Writer) {
        out.u64(self.rows);
        out.u64(self.dropped);
    }

    fn decode(_version: u16, input: &mut Reader<'_>) -> Result<Self> {
        Ok(Self { rows: fuseval_core::state::count(input)?, dropped: fuseval_core::state::count(input)? })
    }
}

impl Metric for RowCounts {
    type State = Counts;

    fn id(&self) -> MetricId {
        MetricId::new("rows")
    }

    fn layout(&self) -> Layout {
        Layout::Rows
    }

    fn direction(&self) -> Direction {
        Direction::Lower
    }

    fn needs(&self) -> Needs {
        Needs { score: ScoreNeed::Order, labels: LabelRange::Any, ranking: false }
    }

    fn empty(&self) -> Counts {
        Counts::default()
    }

    fn update(&self, state: &mut Counts, view: &View<'_>) -> Result<()> {
        state.rows += view.rows() as u64;
        state.dropped += view.dropped;
        Ok(())
    }

    fn finish(&self, state: &Counts) -> Value {
        Value::exact(Outcome::Number(state.rows as f64), 0.0, Tally { n: state.rows, ..Tally::default() })
    }
}

/// The strictest of the metrics' needs.
pub(crate) fn needs(plan: &Plan) -> Needs {
    let none = Needs { score: ScoreNeed::Order, labels: LabelRange::Any, ranking: false };
    plan.metrics.iter().map(|(metric, _)| metric.needs()).fold(none, |all, needs| Needs {
        score: all.score.max(needs.score),
        labels: all.labels.max(needs.labels),
        ranking: all.ranking || needs.ranking,
    })
}

/// The label side of one bucket: the selections of each head.
pub(crate) struct LabelSide {
    heads: Vec<Vec<(Slice, Selection)>>,
}

impl LabelSide {
    pub(crate) fn new(plan: &Plan, bucket: &Bucket, source: &dyn Source) -> Result<Self> {
        let groups = groups(plan, bucket)?;
        let labels = needs(plan).labels;
        let heads = plan
            .heads
            .iter()
            .map(|head| selections(plan, head, labels, &groups, bucket, source))
            .collect::<Result<_>>()?;
        Ok(Self { heads })
    }

    /// For each head whether a row has the label 1.
    pub(crate) fn positives(&self) -> impl Iterator<Item = bool> {
        self.heads.iter().map(|selections| selections.first().is_some_and(|(_, all)| all.labels.contains(&1.0)))
    }
}

/// The states of one slice: for each fold that has rows, one place per experiment, head and state.
type Folds = [Vec<Option<Box<dyn AnyState>>>; FOLDS as usize];

/// The states of one worker.
pub(crate) struct Accumulator<'a> {
    plan: &'a Plan,
    source: &'a dyn Source,
    needs: Needs,
    slices: HashMap<Slice, Folds>,
    gathered: Vec<f64>,
}

impl<'a> Accumulator<'a> {
    pub(crate) fn new(plan: &'a Plan, source: &'a dyn Source) -> Self {
        Self { plan, source, needs: needs(plan), slices: HashMap::new(), gathered: Vec::new() }
    }

    /// Adds the scores of one experiment, one vector per head, to the states.
    pub(crate) fn add(
        &mut self,
        experiment: usize,
        scores: &[Vec<f64>],
        labels: &LabelSide,
        bucket: &Bucket,
    ) -> Result<()> {
        for (head, (selections, scores)) in labels.heads.iter().zip(scores).enumerate() {
            let invalid = self.check(experiment, head, selections, scores, bucket)?;
            for (slice, selection) in selections {
                if invalid {
                    let kept = selection.without(|row| scores.get(row).is_none_or(|score| score.is_nan()));
                    self.update(experiment, head, slice, &kept, scores)?;
                } else {
                    self.update(experiment, head, slice, selection, scores)?;
                }
            }
        }
        Ok(())
    }

    /// Refuses scores that a metric cannot take; whether there are invalid ones to leave out.
    fn check(
        &self,
        experiment: usize,
        head: usize,
        selections: &[(Slice, Selection)],
        scores: &[f64],
        bucket: &Bucket,
    ) -> Result<bool> {
        let (Some((_, all)), Some(at)) = (selections.first(), self.plan.heads.get(head)) else { return Ok(false) };
        let probability = self.needs.score == ScoreNeed::Probability && at.kind == ScoreKind::Probability;
        let fits = |score: f64| match self.needs.score {
            _ if score.is_nan() => false,
            ScoreNeed::Order => true,
            _ if probability => (0.0..=1.0).contains(&score),
            _ => score.is_finite(),
        };
        let score = |row: &usize| scores.get(*row).copied().unwrap_or(f64::NAN);
        let drops = self.plan.on_invalid == OnInvalid::Drop;
        let mut unfit = all.rows.iter().filter(|row| !(fits(score(row)) || drops && score(row).is_nan()));
        if let Some(row) = unfit.clone().min() {
            let rows = unfit.by_ref().count();
            return Err(self
                .unfit_score(experiment, head, score(row), rows, probability)
                .at(bucket.place(*row, self.source)));
        }
        Ok(drops && all.rows.iter().any(|row| score(row).is_nan()))
    }

    fn unfit_score(&self, experiment: usize, head: usize, score: f64, rows: usize, probability: bool) -> Error {
        let name = |place: Option<&String>| place.cloned().unwrap_or_default();
        let head_name = name(self.plan.heads.get(head).map(|head| &head.name));
        let score_name = name(self.plan.scores.get(head).map(|score| &score.output));
        let need = if score.is_nan() { ScoreNeed::Order } else { self.needs.score };
        let metrics: Vec<String> = self
            .plan
            .metrics
            .iter()
            .filter(|(metric, _)| metric.needs().score >= need.min(ScoreNeed::Probability) && need > ScoreNeed::Order)
            .map(|(metric, _)| format!("`{}`", metric.id()))
            .collect();
        let (expected, help) = match (score.is_nan(), probability) {
            (true, _) => (
                format!("a number in score `{score_name}`"),
                if experiment == 0 {
                    "find out why the score is missing, or leave such rows out and count them: `on_invalid: drop`"
                } else {
                    "the model gives no score under this change; fill with the mean or a value, or say what nulls become: `model.fill_null`"
                },
            ),
            (false, true) => (
                format!("a probability between 0 and 1 in score `{score_name}` for {}", metrics.join(", ")),
                "if the scores are logits, declare `kind: logit` (`--kind logit`); otherwise leave these metrics out",
            ),
            (false, false) => (
                format!("a finite number in score `{score_name}` for {}", metrics.join(", ")),
                "correct the score, or ask only for metrics that use the order of scores",
            ),
        };
        let missing = if self.plan.scores_are_columns { "NaN or null" } else { "NaN" };
        let found = if score.is_nan() { missing.to_string() } else { score.to_string() };
        let found = format!("{found} ({rows} such rows in this bucket)");
        let error = Error::data(expected, found, help).at(format!("head `{head_name}`"));
        match self.plan.experiments.get(experiment) {
            Some(experiment) if experiment.name != "baseline" => error.at(format!("experiment `{}`", experiment.name)),
            _ => error,
        }
    }

    fn update(
        &mut self,
        experiment: usize,
        head: usize,
        slice: &Slice,
        selection: &Selection,
        scores: &[f64],
    ) -> Result<()> {
        let plan = self.plan;
        let kind = plan.heads.get(head).map_or(ScoreKind::Raw, |head| head.kind);
        if selection.parts.is_empty() {
            return Ok(());
        }
        if !self.slices.contains_key(slice) {
            self.slices.insert(slice.clone(), std::array::from_fn(|_| Vec::new()));
        }
        let Some(folds) = self.slices.get_mut(slice) else { return Ok(()) };
        let first = (experiment * plan.heads.len() + head) * plan.states.len();
        self.gathered.clear();
        self.gathered.extend(selection.rows.iter().map(|row| scores.get(*row).copied().unwrap_or(f64::NAN)));
        for part in &selection.parts {
            let scores = self.gathered.get(part.rows.clone()).unwrap_or_default();
            let ranking = self.needs.ranking.then(|| Ranking::new(scores, &part.segments));
            let view = View {
                labels: selection.labels.get(part.rows.clone()).unwrap_or_default(),
                scores,
                weights: selection.weights.as_ref().and_then(|weights| weights.get(part.rows.clone())),
                segments: &part.segments,
                ranking: ranking.as_ref(),
                kind,
                dropped: part.dropped,
            };
            let Some(states) = folds.get_mut(usize::from(part.fold.number())) else { continue };
            if states.is_empty() {
                states.resize_with(plan.experiments.len() * plan.heads.len() * plan.states.len(), || None);
            }
            for (metric, state) in plan.states.iter().zip(states.iter_mut().skip(first)) {
                metric.update(state.get_or_insert_with(|| metric.empty()).as_mut(), &view)?;
            }
        }
        Ok(())
    }

    /// The states with their addresses.
    pub(crate) fn into_partial(self, fingerprint: &str) -> Result<Partial> {
        let mut partial = Partial::new(fingerprint);
        let (heads, states) = (self.plan.heads.len(), self.plan.states.len());
        for (slice, folds) in self.slices {
            for (number, states_of_fold) in (0u8..).zip(folds) {
                let Some(fold) = Fold::new(number) else { continue };
                for (place, state) in states_of_fold.into_iter().enumerate() {
                    let Some(state) = state else { continue };
                    let cell = Cell {
                        experiment: (place / states / heads) as u32,
                        head: (place / states % heads) as u32,
                        slice: slice.clone(),
                        state: (place % states) as u32,
                        fold,
                    };
                    partial.add(cell, state)?;
                }
            }
        }
        Ok(partial)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fuseval_core::random::KeyedRng;
    use fuseval_testkit::generate::{Shape, Table};
    use fuseval_testkit::laws;

    #[test]
    fn the_counts_of_rows_keep_the_laws_of_states() {
        let mut rng = KeyedRng::new(1, &["rows"]);
        let shape = Shape { segments: 9, longest: 5, grid: 3, weighted: false };
        let tables: [Table; 3] = std::array::from_fn(|_| Table::draw(&mut rng, shape));
        laws::is_a_commutative_monoid(&RowCounts, [&tables[0], &tables[1], &tables[2]]);
        laws::survives_hostile_bytes(&RowCounts, &tables[0], &mut rng);
        laws::is_split_invariant(&RowCounts, &tables[0], &mut rng);
    }
}
