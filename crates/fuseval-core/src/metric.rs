//! Metrics: immutable definitions that turn views into states and states into values.

use crate::bytes::Reader;
use crate::state::wrong_kind;
use crate::{AnyState, MetricId, Result, State, Value, View};

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
}

impl Direction {
    /// How much worse `experiment` is than `baseline`: positive when worse, in the metric's own unit.
    pub fn cost(self, baseline: f64, experiment: f64) -> f64 {
        match self {
            Self::Higher => baseline - experiment,
            Self::Lower => experiment - baseline,
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
    pub fn contains(self, label: f64) -> bool {
        match self {
            Self::Any => label.is_finite(),
            Self::Grade => label >= 0.0 && label.is_finite(),
            Self::Unit => (0.0..=1.0).contains(&label),
            Self::Binary => label == 0.0 || label == 1.0,
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
}

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

    /// Rows or whole segments. Read once, when the plan is made.
    fn layout(&self) -> Layout;

    /// Which way is better. Read when results are reported.
    fn direction(&self) -> Direction;

    /// What the engine has to prepare and check. Read once, when the plan is made.
    fn needs(&self) -> Needs;

    /// The state of no data.
    fn empty(&self) -> Self::State;

    /// Adds the rows of a view. Called at most once per bucket, experiment, head, slice and fold, in any order, on any
    /// thread; the result must not depend on how rows were cut into views. An error ends the run.
    fn update(&self, state: &mut Self::State, view: &View<'_>) -> Result<()>;

    /// The value of a state; pure, called any number of times on the same state.
    fn finish(&self, state: &Self::State) -> Value;
}

/// A metric whose state is not known to the caller. Implemented for every [`Metric`].
pub trait AnyMetric: Send + Sync {
    /// As [`Metric::id`].
    fn id(&self) -> MetricId;
    /// As [`Metric::state_name`].
    fn state_name(&self) -> String;
    /// As [`Metric::layout`].
    fn layout(&self) -> Layout;
    /// As [`Metric::direction`].
    fn direction(&self) -> Direction;
    /// As [`Metric::needs`].
    fn needs(&self) -> Needs;
    /// As [`Metric::empty`].
    fn empty(&self) -> Box<dyn AnyState>;
    /// As [`Metric::update`]; a state of another kind is an error.
    fn update(&self, state: &mut dyn AnyState, view: &View<'_>) -> Result<()>;
    /// As [`Metric::finish`]; a state of another kind is an error.
    fn finish(&self, state: &dyn AnyState) -> Result<Value>;
    /// Reads a state from the bytes of the given kind and version; another kind or a newer version is an error.
    fn decode(&self, kind: &str, version: u16, input: &mut Reader<'_>) -> Result<Box<dyn AnyState>>;
}

impl<M: Metric> AnyMetric for M {
    fn id(&self) -> MetricId {
        Metric::id(self)
    }

    fn state_name(&self) -> String {
        Metric::state_name(self)
    }

    fn layout(&self) -> Layout {
        Metric::layout(self)
    }

    fn direction(&self) -> Direction {
        Metric::direction(self)
    }

    fn needs(&self) -> Needs {
        Metric::needs(self)
    }

    fn empty(&self) -> Box<dyn AnyState> {
        Box::new(Metric::empty(self))
    }

    fn update(&self, state: &mut dyn AnyState, view: &View<'_>) -> Result<()> {
        let kind = state.kind();
        match state.as_any_mut().downcast_mut::<M::State>() {
            Some(state) => Metric::update(self, state, view),
            None => Err(wrong_kind(M::State::KIND, kind)),
        }
    }

    fn finish(&self, state: &dyn AnyState) -> Result<Value> {
        match state.as_any().downcast_ref::<M::State>() {
            Some(state) => Ok(Metric::finish(self, state)),
            None => Err(wrong_kind(M::State::KIND, state.kind())),
        }
    }

    fn decode(&self, kind: &str, version: u16, input: &mut Reader<'_>) -> Result<Box<dyn AnyState>> {
        if kind != M::State::KIND {
            return Err(wrong_kind(M::State::KIND, kind));
        }
        if version == 0 || version > M::State::VERSION {
            return Err(crate::Error::partials(
                format!("version 1 to {} of a `{kind}` state", M::State::VERSION),
                format!("version {version}"),
                "read it with the fuseval that wrote it, or a newer one",
            ));
        }
        Ok(Box::new(M::State::decode(version, input)?))
    }
}
