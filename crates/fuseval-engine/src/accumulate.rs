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

/// Counts the rows that were left out as invalid. It has a state like any metric, in every cell, and no line of its own in
/// the report.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dropped;

/// A count of rows.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RowCount(u64);

impl State for RowCount {
    const KIND: &'static str = "rows";
    const VERSION: u16 = 1;

    fn merge(&mut self, other: &Self) -> Result<()> {
        self.0 += other.0;
        Ok(())
    }

    fn encode(&self, out: &mut Writer) {
        out.u64(self.0);
    }

    fn decode(_version: u16, input: &mut Reader<'_>) -> Result<Self> {
        Ok(Self(fuseval_core::state::count(input)?))
    }
}

impl Metric for Dropped {
    type State = RowCount;

    fn id(&self) -> MetricId {
        MetricId::new("dropped")
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

    fn empty(&self) -> RowCount {
        RowCount::default()
    }

    fn update(&self, state: &mut RowCount, view: &View<'_>) -> Result<()> {
        state.0 += view.dropped;
        Ok(())
    }

    fn finish(&self, state: &RowCount) -> Value {
        Value::exact(Outcome::Number(state.0 as f64), 0.0, Tally { n: state.0, ..Tally::default() })
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

/// The states of one worker.
pub(crate) struct Accumulator<'a> {
    plan: &'a Plan,
    source: &'a dyn Source,
    needs: Needs,
    slices: HashMap<Slice, Vec<Option<Box<dyn AnyState>>>>,
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
                "find out why the score is missing, or leave such rows out and count them: `on_invalid: drop`",
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
        let found = format!("{score} ({rows} such rows in this bucket)");
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
        let count = plan.experiments.len() * plan.heads.len() * plan.states.len() * usize::from(FOLDS);
        if !self.slices.contains_key(slice) {
            self.slices.insert(slice.clone(), (0..count).map(|_| None).collect());
        }
        let Some(states) = self.slices.get_mut(slice) else { return Ok(()) };
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
            for (place, metric) in plan.states.iter().enumerate() {
                let address = ((experiment * plan.heads.len() + head) * plan.states.len() + place) * usize::from(FOLDS)
                    + usize::from(part.fold.number());
                if let Some(state) = states.get_mut(address) {
                    metric.update(state.get_or_insert_with(|| metric.empty()).as_mut(), &view)?;
                }
            }
        }
        Ok(())
    }

    /// The states with their addresses.
    pub(crate) fn into_partial(self, fingerprint: &str) -> Result<Partial> {
        let mut partial = Partial::new(fingerprint);
        let (heads, states) = (self.plan.heads.len(), self.plan.states.len());
        for (slice, cells) in self.slices {
            for (address, state) in cells.into_iter().enumerate() {
                let Some(state) = state else { continue };
                let Some(fold) = Fold::new((address % usize::from(FOLDS)) as u8) else { continue };
                let rest = address / usize::from(FOLDS);
                let cell = Cell {
                    experiment: (rest / states / heads) as u32,
                    head: (rest / states % heads) as u32,
                    slice: slice.clone(),
                    state: (rest % states) as u32,
                    fold,
                };
                partial.add(cell, state)?;
            }
        }
        Ok(partial)
    }
}
