//! Metrics: immutable definitions that turn views into states and states into values.

use crate::bytes::Reader;
use crate::folds::{AnyFolds, Cache, Folds};
use crate::simd::wide;
use crate::state::wrong_kind;
use crate::{Error, Fold, MetricId, Outcome, Result, ScoreKind, State, Value, View};

/// What a metric is defined on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Rows: any batch will do.
    Rows,
    /// Segments: each must be whole within one bucket.
    Segments,
}

/// Which way a metric is better; decides what a feature costs when it is perturbed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Direction {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// The closer to this the better.
    Target(f64),
    /// Neither way is better: a description of the data or of a difference.
    Neither,
}

impl Direction {
    /// How much worse `experiment` is than `baseline`: positive when worse, in the metric's own unit.
    pub fn cost(self, baseline: f64, experiment: f64) -> f64 {
        match self {
            Self::Higher => baseline - experiment,
            Self::Lower | Self::Neither => experiment - baseline,
            Self::Target(target) => (experiment - target).abs() - (baseline - target).abs(),
        }
    }
}

/// What a metric uses of a score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ScoreNeed {
    /// Only the order: ±infinity is a value.
    Order,
    /// The size: an infinite score is an error.
    Size,
    /// A probability: the head's kind must be `probability` or `logit`, and probabilities must lie in [0, 1].
    Probability,
}

impl ScoreNeed {
    /// Whether a score of the given kind can be used so; NaN never can.
    #[inline]
    pub fn accepts(self, score: f64, kind: ScoreKind) -> bool {
        match self {
            Self::Order => !score.is_nan(),
            Self::Probability if kind == ScoreKind::Probability => (0.0..=1.0).contains(&score),
            _ => score.is_finite(),
        }
    }
}

/// Which labels a metric takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LabelRange {
    /// Any finite number.
    Any,
    /// Numbers from 0 on: grades.
    Grade,
    /// Numbers in [0, 1].
    Unit,
    /// 0 or 1.
    Binary,
}

impl LabelRange {
    /// Whether the label is in the range.
    #[inline]
    pub fn contains(self, label: f64) -> bool {
        match self {
            Self::Any => label.is_finite(),
            Self::Grade => label >= 0.0 && label.is_finite(),
            Self::Unit => (0.0..=1.0).contains(&label),
            Self::Binary => label == 0.0 || label == 1.0,
        }
    }

    /// Whether all labels are in the range.
    pub fn contains_all(self, labels: &[f64]) -> bool {
        // Without an early end, so that the compiler vectorises it.
        fn all(labels: &[f64], fits: impl Fn(f64) -> bool) -> bool {
            wide(
                #[inline(always)]
                |_| {
                    let mut all = true;
                    for label in labels {
                        all &= fits(*label);
                    }
                    all
                },
            )
        }
        match self {
            Self::Any => all(labels, f64::is_finite),
            Self::Grade => all(labels, |label| (label >= 0.0) & label.is_finite()),
            Self::Unit => all(labels, |label| (0.0..=1.0).contains(&label)),
            Self::Binary => all(labels, |label| (label == 0.0) | (label == 1.0)),
        }
    }

    /// The range in words, for messages.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Any => "a finite label",
            Self::Grade => "a label that is not negative",
            Self::Unit => "a label between 0 and 1",
            Self::Binary => "a label of 0 or 1",
        }
    }
}

/// Work and checks that a metric asks for; the engine does each once, for all metrics that share it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needs {
    /// What is used of the score.
    pub score: ScoreNeed,
    /// Which labels are taken.
    pub labels: LabelRange,
    /// Whether `view.ranking` must be there.
    pub ranking: bool,
    /// Whether `view.baseline` must be there, and its ranking where a ranking is needed too.
    pub baseline: bool,
    /// Whether `view.items` must be there: the plan needs an item column.
    pub items: bool,
    /// Whether an item must not come back within a segment, where the plan has an item column.
    pub distinct_items: bool,
    /// Whether `view.identities` must be there.
    pub identities: bool,
}

impl Needs {
    /// Nothing but scores and labels.
    pub const fn new(score: ScoreNeed, labels: LabelRange) -> Self {
        Self { score, labels, ranking: false, baseline: false, items: false, distinct_items: false, identities: false }
    }

    /// What meets both these needs and others.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self {
            score: self.score.max(other.score),
            labels: self.labels.max(other.labels),
            ranking: self.ranking || other.ranking,
            baseline: self.baseline || other.baseline,
            items: self.items || other.items,
            distinct_items: self.distinct_items || other.distinct_items,
            identities: self.identities || other.identities,
        }
    }

    /// Also rows ranked within their segments.
    #[must_use]
    pub const fn ranking(self) -> Self {
        Self { ranking: true, ..self }
    }

    /// Also the scores of the baseline.
    #[must_use]
    pub const fn baseline(self) -> Self {
        Self { baseline: true, ..self }
    }
}

/// What kind of interval a metric has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntervalKind {
    /// Delete-one-fold jackknife.
    Jackknife,
    /// The same, for a metric that is biased where data are few: shown as approximate.
    Approximate,
    /// None: the value is a count or a curve.
    None,
}

/// What a metric is, apart from its formula; a constant of its catalogue entry, changed by few options.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Profile {
    /// Rows or whole segments.
    pub layout: Layout,
    /// Which way is better.
    pub direction: Direction,
    /// The least and the greatest value there can be; intervals are clipped to it.
    pub range: (f64, f64),
    /// What the engine has to prepare and check.
    pub needs: Needs,
    /// The kind of interval.
    pub interval: IntervalKind,
}

impl Profile {
    /// A metric over rows with a jackknife interval.
    pub const fn rows(direction: Direction, range: (f64, f64), needs: Needs) -> Self {
        Self { layout: Layout::Rows, direction, range, needs, interval: IntervalKind::Jackknife }
    }

    /// A metric over ranked segments with a jackknife interval.
    pub const fn segments(direction: Direction, range: (f64, f64), needs: Needs) -> Self {
        Self { layout: Layout::Segments, direction, range, needs: needs.ranking(), interval: IntervalKind::Jackknife }
    }

    /// The same with another kind of interval.
    #[must_use]
    pub const fn with_interval(self, interval: IntervalKind) -> Self {
        Self { interval, ..self }
    }
}

/// A number per segment that depends on its labels alone (the relevant rows, the ideal DCG): the engine computes it once per
/// bucket, for all experiments and all metrics that give it the same name.
pub struct LabelSide {
    /// The name: equal names stand for equal functions.
    pub name: String,
    /// The number of a segment with these labels, in any order.
    pub of: LabelFunction,
}

/// A function of the labels of a segment.
pub type LabelFunction = Box<dyn Fn(&[f64]) -> f64 + Send + Sync>;

/// A metric: empty → update × n → (encode → decode) → merge × n → finish.
///
/// ```
/// use fuseval_core::{ExactSum, View};
/// // The heart of `update` of a mean absolute error:
/// fn update(sum: &mut ExactSum, view: &View<'_>) {
///     view.each_prediction().for_each(|(label, prediction, weight)| sum.add_product(weight, (prediction - label).abs()));
/// }
/// ```
pub trait Metric: Send + Sync + 'static {
    /// The running data.
    type State: State;

    /// The name with its options, as it prints and parses: `precision@10[denominator=min_k_n]`.
    fn id(&self) -> MetricId;

    /// Metrics with equal state names share one state: it is updated once for all of them. The default is the metric's own
    /// name, which shares with nobody.
    fn state_name(&self) -> String {
        self.id().to_string()
    }

    /// What the metric is. Read when the plan is made and when results are reported.
    fn profile(&self) -> Profile;

    /// A number per segment that depends on labels alone and is handed back in `view.label_side`. The default asks for none.
    fn label_side(&self) -> Option<LabelSide> {
        None
    }

    /// The state of no data.
    fn empty(&self) -> Self::State;

    /// Adds the rows of a view. Called at most once per bucket, experiment, head, slice and fold, in any order, on any
    /// thread; the result must not depend on how rows were cut into views. An error ends the run.
    fn update(&self, state: &mut Self::State, view: &View<'_>) -> Result<()>;

    /// The value of a state; pure, called any number of times on the same state.
    fn finish(&self, state: &Self::State) -> Value;

    /// The value over all folds. The default merges them and finishes the whole; a metric whose states are large overrides it.
    /// `cache` belongs to the folds and is shared by all metrics with this state.
    fn finish_all(&self, folds: &Folds<Self::State>, _cache: &mut Cache) -> Result<Value> {
        match folds.merged()? {
            Some(state) => Ok(self.finish(&state)),
            None => Ok(self.finish(&self.empty())),
        }
    }

    /// For each fold that contributes to the value, in order, the value without it: what intervals are computed from. The
    /// default merges all other folds; a metric whose states are large overrides it.
    fn leave_one_out(&self, folds: &Folds<Self::State>, _cache: &mut Cache) -> Result<Vec<(Fold, Outcome)>> {
        let without = folds.without_each(|| self.empty(), |state| self.finish(state).outcome)?;
        let contributes = folds.iter().map(|(fold, state)| (fold, self.finish(state).tally.n > 0));
        Ok(contributes.zip(without).filter(|((_, used), _)| *used).map(|((fold, _), value)| (fold, value)).collect())
    }

    /// Bytes of the state of a fold with so many rows: on typical data, and at most. The default is that of a state of fixed size
    /// whose sums may have to be kept in full.
    fn state_bytes(&self, _rows: u64) -> (u64, u64) {
        let size = size_of::<Self::State>() as u64;
        (size, size + 1024)
    }

    /// The value of each segment of a view, `None` where it is undefined. The default, for metrics that are not a mean over
    /// segments, gives nothing.
    fn segment_values(&self, _view: &View<'_>) -> Option<Vec<Option<f64>>> {
        None
    }
}

/// A metric whose state is not known to the caller. Implemented for every [`Metric`].
pub trait AnyMetric: Send + Sync {
    /// As [`Metric::id`].
    fn id(&self) -> MetricId;
    /// As [`Metric::state_name`].
    fn state_name(&self) -> String;
    /// As [`Metric::profile`].
    fn profile(&self) -> Profile;
    /// As [`Metric::label_side`].
    fn label_side(&self) -> Option<LabelSide>;
    /// No folds, for states of this metric.
    fn empty(&self) -> Box<dyn AnyFolds>;
    /// As [`Metric::update`], on the state of a fold; states of another kind are an error.
    fn update(&self, folds: &mut dyn AnyFolds, fold: Fold, view: &View<'_>) -> Result<()>;
    /// As [`Metric::finish_all`]; states of another kind are an error.
    fn finish(&self, folds: &dyn AnyFolds, cache: &mut Cache) -> Result<Value>;
    /// As [`Metric::leave_one_out`]; states of another kind are an error.
    fn leave_one_out(&self, folds: &dyn AnyFolds, cache: &mut Cache) -> Result<Vec<(Fold, Outcome)>>;
    /// As [`Metric::state_bytes`].
    fn state_bytes(&self, rows: u64) -> (u64, u64);
    /// As [`Metric::segment_values`].
    fn segment_values(&self, view: &View<'_>) -> Option<Vec<Option<f64>>>;
    /// Reads the state of a fold from the bytes of the given kind and version; another kind, a newer version or a fold that
    /// is already there is an error.
    fn decode(
        &self,
        folds: &mut dyn AnyFolds,
        fold: Fold,
        kind: &str,
        version: u16,
        input: &mut Reader<'_>,
    ) -> Result<()>;
}

impl<M: Metric> AnyMetric for M {
    fn id(&self) -> MetricId {
        Metric::id(self)
    }

    fn state_name(&self) -> String {
        Metric::state_name(self)
    }

    fn profile(&self) -> Profile {
        Metric::profile(self)
    }

    fn label_side(&self) -> Option<LabelSide> {
        Metric::label_side(self)
    }

    fn empty(&self) -> Box<dyn AnyFolds> {
        Box::new(Folds::<M::State>::default())
    }

    fn update(&self, folds: &mut dyn AnyFolds, fold: Fold, view: &View<'_>) -> Result<()> {
        let folds = typed_mut::<M>(folds)?;
        let state = folds.state(fold, || Metric::empty(self));
        Metric::update(self, state, view)?;
        if state.is_to_settle() {
            AnyFolds::settle(folds);
        }
        Ok(())
    }

    fn finish(&self, folds: &dyn AnyFolds, cache: &mut Cache) -> Result<Value> {
        Metric::finish_all(self, typed::<M>(folds)?, cache)
    }

    fn leave_one_out(&self, folds: &dyn AnyFolds, cache: &mut Cache) -> Result<Vec<(Fold, Outcome)>> {
        Metric::leave_one_out(self, typed::<M>(folds)?, cache)
    }

    fn state_bytes(&self, rows: u64) -> (u64, u64) {
        Metric::state_bytes(self, rows)
    }

    fn segment_values(&self, view: &View<'_>) -> Option<Vec<Option<f64>>> {
        Metric::segment_values(self, view)
    }

    fn decode(
        &self,
        folds: &mut dyn AnyFolds,
        fold: Fold,
        kind: &str,
        version: u16,
        input: &mut Reader<'_>,
    ) -> Result<()> {
        let folds = typed_mut::<M>(folds)?;
        if kind != M::State::KIND {
            return Err(wrong_kind(M::State::KIND, kind));
        }
        if version == 0 || version > M::State::VERSION {
            return Err(Error::partials(
                format!("version 1 to {} of a `{kind}` state", M::State::VERSION),
                format!("version {version}"),
                "read it with the fuseval that wrote it, or a newer one",
            ));
        }
        if folds.get(fold).is_some() {
            return Err(crate::bytes::damaged("each fold once", format!("fold {} twice", fold.number())));
        }
        let state = M::State::decode(version, input)?;
        // Read into the empty state of this metric, so that bytes of another shape are refused.
        folds.state(fold, || Metric::empty(self)).merge(&state)
    }
}

fn typed<M: Metric>(folds: &dyn AnyFolds) -> Result<&Folds<M::State>> {
    folds.as_any().downcast_ref().ok_or_else(|| wrong_kind(M::State::KIND, folds.kind()))
}

fn typed_mut<M: Metric>(folds: &mut dyn AnyFolds) -> Result<&mut Folds<M::State>> {
    let kind = folds.kind();
    folds.as_any_mut().downcast_mut().ok_or_else(|| wrong_kind(M::State::KIND, kind))
}
