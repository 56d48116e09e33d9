//! What is asked, in plain words: the meaning of a run file before it has met the data and the model.

use fuseval_core::{Defaults, MetricId, ScoreKind};

/// A head as asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct HeadSpecification {
    /// The name.
    pub name: String,
    /// A score column, or `output` or `output[column]` of the model.
    pub score: String,
    /// The label column.
    pub label: String,
    /// How the score is meant.
    pub kind: ScoreKind,
    /// The weight column.
    pub weight: Option<String>,
    /// A SQL predicate: rows where it is not true do not count for this head.
    pub mask: Option<String>,
    /// The label value that is 1; all others are 0.
    pub positive: Option<String>,
    /// Labels from here on are 1, below 0.
    pub label_threshold: Option<f64>,
}

/// A slice as asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SliceSpecification {
    /// One slice per combination of values that occurs.
    Columns(Vec<String>),
    /// The rows where a SQL predicate is true.
    Predicate(String),
}

/// A single value, as written.
#[derive(Debug, Clone, PartialEq)]
pub enum Scalar {
    /// An integer.
    Integer(i64),
    /// A number.
    Number(f64),
    /// A truth value.
    Bool(bool),
    /// A text.
    Text(String),
}

/// What a feature is filled with.
#[derive(Debug, Clone, PartialEq)]
pub enum Filling {
    /// The mean of its values over all evaluated rows that have one.
    Mean,
    /// The missing value: NaN, or what nulls are filled with.
    Missing,
    /// This value.
    Constant(Scalar),
}

/// The features of an experiment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeatureChoice {
    /// Every feature of the model.
    All,
    /// These.
    Named(Vec<String>),
}

/// An entry of `experiments:`; it stands for one experiment or several.
#[derive(Debug, Clone, PartialEq)]
pub enum ExperimentSpecification {
    /// Values of features move to other rows.
    Permute {
        /// Which features.
        features: FeatureChoice,
        /// One experiment that moves all of them by the same permutation, instead of one experiment each.
        together: bool,
        /// How many experiments, each with a permutation of its own.
        repeats: u32,
        /// The seed; the run's where none is given.
        seed: Option<u64>,
        /// The name of the experiment.
        name: Option<String>,
    },
    /// All rows get the same value.
    Fill {
        /// Which features.
        features: FeatureChoice,
        /// What they get.
        with: Filling,
        /// The name of the experiment.
        name: Option<String>,
    },
}

impl ExperimentSpecification {
    /// How many experiments it stands for; `all` features count as one, since they are not known here.
    fn count(&self) -> u64 {
        let listed = |choice: &FeatureChoice| match choice {
            FeatureChoice::All => 1,
            FeatureChoice::Named(names) => names.len() as u64,
        };
        match self {
            Self::Permute { together: true, repeats, .. } => u64::from(*repeats),
            Self::Permute { features, repeats, .. } => listed(features) * u64::from(*repeats),
            Self::Fill { features, .. } => listed(features),
        }
    }
}

/// What to do with a NaN or null score or label, or a null weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnInvalid {
    /// The run ends with an error that names the place.
    #[default]
    Error,
    /// The row is left out for the head, and counted.
    Drop,
}

/// All that is asked of a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Specification {
    /// The columns of the segment key.
    pub segment: Vec<String>,
    /// Columns that go into the predictions file.
    pub carryover: Vec<String>,
    /// Columns of model inputs that do not bear the name of one column.
    pub inputs: Vec<(String, Vec<String>)>,
    /// Values for nulls of features.
    pub fill_null: Vec<(String, Scalar)>,
    /// The heads.
    pub heads: Vec<HeadSpecification>,
    /// The metrics.
    pub metrics: Vec<MetricId>,
    /// The slices.
    pub slices: Vec<SliceSpecification>,
    /// The experiments beside the baseline.
    pub experiments: Vec<ExperimentSpecification>,
    /// The seed of experiments that have none of their own.
    pub seed: u64,
    /// What to do with invalid rows.
    pub on_invalid: OnInvalid,
    /// Whether there is no model, and the scores of the heads are columns.
    pub scores_are_columns: bool,
    /// The level of intervals; `None` for no intervals.
    pub interval: Option<f64>,
    /// The column that identifies an item.
    pub item: Option<String>,
    /// Whether a missing score means a row that was judged but not retrieved: it counts among the relevant rows of its segment
    /// and has no rank.
    pub unranked: bool,
    /// A named set of options for all metrics.
    pub preset: Option<String>,
    /// The rule for segments without a positive row, for all metrics.
    pub no_positive: Option<String>,
    /// Distinct scores up to which score states are exact, shared by all of the run.
    pub exact_budget: Option<u64>,
}

/// The default of `exact_budget`.
pub const EXACT_BUDGET: u64 = 1 << 24;

impl Specification {
    /// What the run sets for all its metrics. The budget of distinct scores is shared evenly by the cells of the plan; a
    /// slice by columns counts once, since its values are not known beforehand.
    pub fn defaults(&self) -> Defaults {
        let experiments = 1 + self.experiments.iter().map(ExperimentSpecification::count).sum::<u64>();
        let cells = experiments * self.heads.len().max(1) as u64 * (1 + self.slices.len() as u64);
        Defaults {
            preset: self.preset.clone(),
            no_positive: self.no_positive.clone(),
            seed: self.seed,
            score_budget: Some(self.exact_budget.unwrap_or(EXACT_BUDGET) / cells),
        }
    }
}
