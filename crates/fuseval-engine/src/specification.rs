//! What is asked, in plain words: the meaning of a run file before it has met the data and the model.

use fuseval_core::{MetricId, ScoreKind};

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
}
