//! What a metric is given: the rows of one bucket, head, slice and fold.

use crate::ExactSum;
use crate::ranking::Ranking;

/// How a score is meant. Declared, never guessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ScoreKind {
    /// A probability of the positive class, in [0, 1].
    Probability,
    /// The logit of such a probability.
    Logit,
    /// Any number: only its order, or its distance to the label, means something.
    #[default]
    Raw,
}

impl ScoreKind {
    /// The name in run files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Probability => "probability",
            Self::Logit => "logit",
            Self::Raw => "raw",
        }
    }
}

/// The rows of one bucket that belong to one head, slice and fold; whole segments where there are segments. Rows of weight
/// zero, masked rows and dropped rows are not in it.
#[derive(Debug, Clone, Copy, Default)]
pub struct View<'a> {
    /// Labels, as the head defines them; never NaN.
    pub labels: &'a [f64],
    /// Scores, in the same order; finite unless the metric needs only their order. NaN stands for a row that was judged but
    /// not retrieved, which only metrics over segments are given.
    pub scores: &'a [f64],
    /// Weights, finite and above zero, in the same order; `None` when every row weighs 1.
    pub weights: Option<&'a [f64]>,
    /// Segment `i` has the rows `segments[i]..segments[i + 1]`. Empty when the data have no segments.
    pub segments: &'a [usize],
    /// The weight of each segment; `None` when every row weighs 1. See [`segment_weight`].
    pub segment_weights: Option<&'a [f64]>,
    /// For each segment the number that the metric asked for with `label_side`; empty if it asked for none.
    pub label_side: &'a [f64],
    /// Rows ranked within their segments; present when the metric declares that it needs it.
    pub ranking: Option<&'a Ranking>,
    /// The scores of the baseline, in the same order; present when the metric declares that it needs them.
    pub baseline: Option<&'a [f64]>,
    /// Rows ranked by the baseline; present when the metric needs both a ranking and the baseline.
    pub baseline_ranking: Option<&'a Ranking>,
    /// The rank of each row's item among the items of the bucket, in the order of the bytes of their names: equal items have
    /// equal ranks. Present when the metric declares that it needs it.
    pub items: Option<&'a [u32]>,
    /// What identifies each row wherever it is read; present when the metric declares that it needs it.
    pub identities: Option<&'a [u64]>,
    /// How the scores are meant.
    pub kind: ScoreKind,
    /// Rows that were left out as invalid and would otherwise be here.
    pub dropped: u64,
}

impl<'a> View<'a> {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.labels.len()
    }

    /// The weight of a row.
    pub fn weight(&self, row: usize) -> f64 {
        self.weights.and_then(|weights| weights.get(row)).copied().unwrap_or(1.0)
    }

    /// (label, score, weight) of each row.
    pub fn each(&self) -> impl Iterator<Item = (f64, f64, f64)> + 'a {
        let view = *self;
        view.labels.iter().zip(view.scores).enumerate().map(move |(row, (y, s))| (*y, *s, view.weight(row)))
    }

    /// (label, prediction, weight) of each row: the score as it is, or the probability that a logit stands for.
    pub fn each_prediction(&self) -> impl Iterator<Item = (f64, f64, f64)> + 'a {
        let kind = self.kind;
        self.each().map(move |(y, s, w)| (y, if kind == ScoreKind::Logit { sigmoid(s) } else { s }, w))
    }

    /// The row ranges of the segments.
    pub fn each_segment(&self) -> impl Iterator<Item = std::ops::Range<usize>> + 'a {
        self.segments.windows(2).map(|pair| match pair {
            [from, to] => *from..*to,
            _ => 0..0,
        })
    }

    /// The weight of a segment: the mean of the weights of its rows, so that a weight that is constant within a request is
    /// the weight of the request.
    pub fn segment_weight(&self, segment: usize) -> f64 {
        self.segment_weights.and_then(|weights| weights.get(segment)).copied().unwrap_or(1.0)
    }
}

/// The mean of the weights of the rows of a segment.
pub fn segment_weight(weights: &[f64]) -> f64 {
    let Some(first) = weights.first() else { return 1.0 };
    if weights.iter().all(|weight| weight == first) {
        return *first;
    }
    let mut sum = ExactSum::new();
    weights.iter().for_each(|weight| sum.add(*weight));
    sum.value() / weights.len() as f64
}

/// 1 / (1 + e^−x), without overflow on either side.
pub fn sigmoid(x: f64) -> f64 {
    if x >= 0.0 {
        return 1.0 / (1.0 + libm::exp(-x));
    }
    let e = libm::exp(x);
    e / (1.0 + e)
}
