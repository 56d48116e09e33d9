//! Accumulation: scores of one experiment into the states of every head, slice and fold.

use std::collections::HashMap;

use fuseval_core::bytes::{Reader, Writer};
use fuseval_core::ranking::Ranking;
use fuseval_core::{
    AnyFolds, Cell, Direction, Error, Folds, IntervalKind, LabelRange, Metric, MetricId, Needs, Outcome, Partial,
    Profile, Result, ScoreKind, ScoreNeed, Slice, Source, State, Tally, Value, View,
};

use crate::bucket::Bucket;
use crate::per_segment::{self, SegmentValues};
use crate::plan::Plan;
use crate::selection::{Part, RowFacts, Selection, groups, selections};
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

impl RowCounts {
    /// The counts of all folds.
    pub(crate) fn of(folds: Option<&dyn AnyFolds>) -> Result<Counts> {
        let folds = folds.and_then(|folds| folds.as_any().downcast_ref::<Folds<Counts>>());
        let merged = folds.map(Folds::merged).transpose()?;
        Ok(merged.flatten().unwrap_or_default())
    }
}

impl Metric for RowCounts {
    type State = Counts;

    fn id(&self) -> MetricId {
        MetricId::new("rows")
    }

    fn profile(&self) -> Profile {
        let needs = Needs::new(ScoreNeed::Order, LabelRange::Any);
        Profile::rows(Direction::Neither, (0.0, f64::INFINITY), needs).with_interval(IntervalKind::None)
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
    let none = Needs::new(ScoreNeed::Order, LabelRange::Any);
    plan.metrics.iter().map(|(metric, _)| metric.profile().needs).fold(none, Needs::with)
}

/// The label side of one bucket: the selections of each head, and what metrics ask of rows whatever their scores.
pub(crate) struct LabelSide {
    heads: Vec<Vec<(Slice, Selection)>>,
}

impl LabelSide {
    pub(crate) fn new(plan: &Plan, bucket: &Bucket, source: &dyn Source) -> Result<Self> {
        let groups = groups(plan, bucket)?;
        let needs = needs(plan);
        let facts = RowFacts::new(plan, needs, bucket, source)?;
        let head = |head| {
            let mut selections = selections(plan, head, needs.labels, &groups, bucket, source)?;
            selections.iter_mut().for_each(|(_, selection)| selection.complete(plan, &facts));
            Ok(selections)
        };
        Ok(Self { heads: plan.heads.iter().map(head).collect::<Result<_>>()? })
    }

    /// For each head whether a row has the label 1.
    pub(crate) fn positives(&self) -> impl Iterator<Item = bool> {
        self.heads.iter().map(|selections| selections.first().is_some_and(|(_, all)| all.labels.contains(&1.0)))
    }
}

/// The states of one slice: a place per experiment, head and state.
type States = Vec<Option<Box<dyn AnyFolds>>>;

/// The states of one worker.
pub(crate) struct Accumulator<'a> {
    plan: &'a Plan,
    source: &'a dyn Source,
    needs: Needs,
    slices: HashMap<Slice, States>,
    gathered: Vec<f64>,
    baseline: Vec<f64>,
    ranking: Ranking,
    baseline_ranking: Ranking,
}

/// The scores of one experiment on one bucket, one vector per head, beside those of the baseline.
#[derive(Clone, Copy)]
pub(crate) struct Scores<'a> {
    pub(crate) experiment: usize,
    pub(crate) scores: &'a [Vec<f64>],
    pub(crate) baseline: &'a [Vec<f64>],
}

impl<'a> Accumulator<'a> {
    pub(crate) fn new(plan: &'a Plan, source: &'a dyn Source) -> Self {
        Self {
            plan,
            source,
            needs: needs(plan),
            slices: HashMap::new(),
            gathered: Vec::new(),
            baseline: Vec::new(),
            ranking: Ranking::default(),
            baseline_ranking: Ranking::default(),
        }
    }

    /// Whether the scores of the baseline are to be kept for the experiments after it.
    pub(crate) fn needs_baseline(&self) -> bool {
        self.needs.baseline
    }

    /// Adds the scores of one experiment to the states.
    pub(crate) fn add(&mut self, scores: Scores<'_>, labels: &LabelSide, bucket: &Bucket) -> Result<()> {
        let experiment = scores.experiment;
        for (head, (selections, of_head)) in labels.heads.iter().zip(scores.scores).enumerate() {
            let base = scores.baseline.get(head).filter(|_| self.needs.baseline).map_or(&[][..], Vec::as_slice);
            let mut invalid = self.check(experiment, head, selections, of_head, bucket)?;
            invalid |= !self.plan.unranked && base.iter().any(|score| score.is_nan());
            for (slice, selection) in selections {
                if invalid {
                    let kept = without_missing(self.plan, selection, of_head, base);
                    self.update(experiment, head, slice, &kept, of_head, base)?;
                } else {
                    self.update(experiment, head, slice, selection, of_head, base)?;
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
        // A score that is missing may be that of a row that was judged but not retrieved.
        let fits = |score: f64| {
            if score.is_nan() { self.plan.unranked } else { self.needs.score.accepts(score, at.kind) }
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
        Ok(drops && !self.plan.unranked && all.rows.iter().any(|row| score(row).is_nan()))
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
            .filter(|(metric, _)| {
                metric.profile().needs.score >= need.min(ScoreNeed::Probability) && need > ScoreNeed::Order
            })
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

    /// Calls `f` with a view of each fold of a selection.
    fn each_view(
        &mut self,
        head: usize,
        selection: &Selection,
        scores: &[f64],
        baseline: &[f64],
        mut f: impl FnMut(&Part, &View<'_>) -> Result<()>,
    ) -> Result<()> {
        let kind = self.plan.heads.get(head).map_or(ScoreKind::Raw, |head| head.kind);
        let gather = |out: &mut Vec<f64>, scores: &[f64]| {
            out.clear();
            out.extend(selection.rows.iter().map(|row| scores.get(*row).copied().unwrap_or(f64::NAN)));
        };
        gather(&mut self.gathered, scores);
        if self.needs.baseline {
            gather(&mut self.baseline, baseline);
        }
        for part in &selection.parts {
            let rows = part.rows.clone();
            let scores = self.gathered.get(rows.clone()).unwrap_or_default();
            let baseline = self.baseline.get(rows.clone()).filter(|_| self.needs.baseline);
            let labels = selection.labels.get(rows.clone()).unwrap_or_default();
            let weights = selection.weights.as_ref().and_then(|weights| weights.get(rows.clone()));
            if self.needs.ranking {
                self.ranking.rank(scores, labels, weights, &part.segments);
                if let Some(baseline) = baseline {
                    self.baseline_ranking.rank(baseline, labels, weights, &part.segments);
                }
            }
            let view = View {
                labels,
                scores,
                weights,
                segments: &part.segments,
                segment_weights: part.segment_weights.as_deref(),
                label_side: &[],
                ranking: self.needs.ranking.then_some(&self.ranking),
                baseline,
                baseline_ranking: (self.needs.ranking && self.needs.baseline).then_some(&self.baseline_ranking),
                items: selection.items.get(rows.clone()).filter(|_| self.needs.items),
                identities: selection.identities.get(rows).filter(|_| self.needs.identities),
                kind,
                dropped: part.dropped,
            };
            f(part, &view)?;
        }
        Ok(())
    }

    fn update(
        &mut self,
        experiment: usize,
        head: usize,
        slice: &Slice,
        selection: &Selection,
        scores: &[f64],
        baseline: &[f64],
    ) -> Result<()> {
        let plan = self.plan;
        if selection.parts.is_empty() {
            return Ok(());
        }
        if !self.slices.contains_key(slice) {
            let cells = plan.experiments.len() * plan.heads.len() * plan.states.len();
            self.slices.insert(slice.clone(), std::iter::repeat_with(|| None).take(cells).collect());
        }
        let mut states = self.slices.get_mut(slice).map(std::mem::take).unwrap_or_default();
        let first = (experiment * plan.heads.len() + head) * plan.states.len();
        let updated = self.each_view(head, selection, scores, baseline, |part, view| {
            let states = states.iter_mut().skip(first);
            for ((metric, folds), side) in plan.states.iter().zip(states).zip(&plan.side_of_state) {
                let folds = folds.get_or_insert_with(|| metric.empty());
                metric.update(folds.as_mut(), part.fold, &View { label_side: part.label_side(*side), ..*view })?;
            }
            Ok(())
        });
        if let Some(place) = self.slices.get_mut(slice) {
            *place = states;
        }
        updated
    }

    /// The values of each segment under one experiment, for every head, over all rows.
    pub(crate) fn segment_values(
        &mut self,
        scores: Scores<'_>,
        labels: &LabelSide,
        bucket: &Bucket,
    ) -> Result<Vec<SegmentValues>> {
        let plan = self.plan;
        let places: Vec<usize> = per_segment::metrics(plan).collect();
        let mut found = Vec::new();
        for (head, (selections, of_head)) in labels.heads.iter().zip(scores.scores).enumerate() {
            let base = scores.baseline.get(head).filter(|_| self.needs.baseline).map_or(&[][..], Vec::as_slice);
            let mut values =
                SegmentValues { values: places.iter().map(|_| Vec::new()).collect(), ..SegmentValues::default() };
            let Some((_, all)) = selections.first() else { continue };
            let missing = |scores: &[f64]| scores.iter().any(|score| score.is_nan());
            let kept = (!plan.unranked && (missing(of_head) || missing(base)))
                .then(|| without_missing(plan, all, of_head, base));
            let all = kept.as_ref().unwrap_or(all);
            self.each_view(head, all, of_head, base, |part, view| {
                for rows in view.each_segment() {
                    let row = all.rows.get(part.rows.start + rows.start).copied().unwrap_or_default();
                    values.segments.push(bucket.segments.partition_point(|start| *start <= row).saturating_sub(1));
                    values.rows.push(rows.len() as u64);
                }
                for (place, values) in places.iter().zip(&mut values.values) {
                    let Some((metric, state)) = plan.metrics.get(*place) else { continue };
                    let side = plan.side_of_state.get(*state).copied().flatten();
                    let view = View { label_side: part.label_side(side), ..*view };
                    values.extend(metric.segment_values(&view).unwrap_or_default());
                }
                Ok(())
            })?;
            found.push(values);
        }
        Ok(found)
    }

    /// The states with their addresses, given away: it begins anew.
    pub(crate) fn take_partial(&mut self, fingerprint: &str) -> Result<Partial> {
        let mut partial = Partial::new(fingerprint);
        let (heads, states) = (self.plan.heads.len(), self.plan.states.len());
        for (slice, states_of_slice) in std::mem::take(&mut self.slices) {
            for (place, folds) in states_of_slice.into_iter().enumerate() {
                let Some(folds) = folds else { continue };
                let cell = Cell {
                    experiment: (place / states / heads) as u32,
                    head: (place / states % heads) as u32,
                    slice: slice.clone(),
                    state: (place % states) as u32,
                };
                partial.add(cell, folds)?;
            }
        }
        Ok(partial)
    }
}

/// A selection without the rows that lack a score, or that of the baseline where it is needed.
fn without_missing(plan: &Plan, selection: &Selection, scores: &[f64], baseline: &[f64]) -> Selection {
    let is_missing = |scores: &[f64], row: usize| scores.get(row).is_none_or(|score| score.is_nan());
    selection.without(plan, |row| is_missing(scores, row) || !baseline.is_empty() && is_missing(baseline, row))
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
