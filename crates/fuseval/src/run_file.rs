//! The run file as written: its keys, their defaults, and the errors that name the line, the column and the nearest key.

mod parse;
mod values;

use std::path::PathBuf;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use values::{ExpectEntry, MetricEntry, MetricValue, OneOrMany, Text};

/// A run file. Every key has its default where one is sensible; an unknown key is an error.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunFile {
    /// The rows.
    pub data: DataBlock,
    /// The model; left out when scores are columns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelEntry>,
    /// The heads by name, in the order in which they are reported.
    #[serde(default)]
    pub heads: IndexMap<String, HeadBlock>,
    /// The metrics: names such as `roc_auc` and `precision@10[ties=stable]`, or maps such as `{name: precision, k: 10}`.
    #[serde(default)]
    pub metrics: Vec<MetricEntry>,
    /// The slices: a column, a list of columns, or a SQL predicate each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slices: Vec<OneOrMany>,
    /// The experiments beside the baseline.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub experiments: Vec<ExperimentBlock>,
    /// What to do with a NaN or null score or label.
    #[serde(default)]
    pub on_invalid: OnInvalidWord,
    /// The seed of experiments that have none of their own.
    #[serde(default)]
    pub seed: u64,
    /// Where results go.
    #[serde(default)]
    pub output: OutputBlock,
    /// Not yet: conditions on differences that decide the exit code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gates: Option<serde_json::Value>,
    /// A named set of options for all metrics: `sklearn` or `trec_eval`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// The rule for segments without a positive, for all metrics: `skip`, `zero` or `one`; each metric's own if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_positive: Option<String>,
    /// Distinct scores up to which areas and curves are exact, shared by all of the run; 16,777,216 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact_budget: Option<u64>,
    /// Intervals: `{level: 0.95}`, or `false` for none.
    #[serde(default)]
    pub interval: IntervalEntry,
    /// Where relative paths begin: the folder of the run file.
    #[serde(skip)]
    pub base: PathBuf,
    /// The name of the run file without its extension.
    #[serde(skip)]
    pub name: String,
}

impl RunFile {
    /// The JSON Schema of run files.
    pub fn schema() -> String {
        let mut text = serde_json::to_string_pretty(&schemars::schema_for!(Self)).unwrap_or_default();
        text.push('\n');
        text
    }
}

/// The rows and what their columns mean.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DataBlock {
    /// A file, glob or directory of this machine or of an object store (`s3://`, `gs://`, `az://`, `abfs://`), a file of a web
    /// server, or a list of them; Parquet, CSV, NDJSON, Arrow and Avro.
    #[serde(default, skip_serializing_if = "OneOrMany::is_empty")]
    pub path: OneOrMany,
    /// The columns of the segment key: the rows of a request or session.
    #[serde(default)]
    pub segment: OneOrMany,
    /// A SQL predicate: other rows are not evaluated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// Columns by SQL expression, in order; later ones may use earlier ones.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub derive: IndexMap<String, String>,
    /// Types of columns of CSV and NDJSON: `text`, `int`, `float`, `bool`, `timestamp` or `date`.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub types: IndexMap<String, String>,
    /// Columns of lists, of one length within a row: each place of the lists becomes a row, beside the other columns.
    #[serde(default, skip_serializing_if = "OneOrMany::is_empty")]
    pub explode: OneOrMany,
    /// Columns that travel with the rows into the predictions file.
    #[serde(default, skip_serializing_if = "OneOrMany::is_empty")]
    pub carryover: OneOrMany,
    /// Not yet: columns that identify a row.
    #[serde(default, skip_serializing_if = "OneOrMany::is_empty")]
    pub row_key: OneOrMany,
    /// The column that identifies an item, for rules about ties and duplicates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    /// TREC files in the place of `path`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trec: Option<TrecBlock>,
    /// Whether the rows of a segment stand next to each other. `no`: they are brought together by the segment key; `yes`:
    /// a segment that comes back is an error; `auto`: they are brought together where one comes back.
    #[serde(default, skip_serializing_if = "ClusteredWord::is_auto")]
    pub clustered: ClusteredWord,
    /// Files and partitions that must be there: a missing one is an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<ExpectEntry>,
}

/// What must be there.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpectBlock {
    /// The number of files, no more and no fewer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<u64>,
    /// Names of partitions or files, such as `date=2026-11-01` or `part-*.parquet`: at least one file for each; there may be
    /// others.
    #[serde(default, skip_serializing_if = "OneOrMany::is_empty")]
    pub names: OneOrMany,
}

/// Whether the rows of a segment stand next to each other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ClusteredWord {
    /// That is found out.
    #[default]
    Auto,
    /// They do.
    Yes,
    /// They do not.
    No,
}

impl ClusteredWord {
    fn is_auto(&self) -> bool {
        *self == Self::Auto
    }
}

/// TREC qrels and run: columns `topic`, `docno`, `relevance`, `judged` and `score`. Judged documents that were not retrieved
/// count among the relevant ones and have no rank. The segment is the topic and the item the document, unless named otherwise.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrecBlock {
    /// The file of judgements.
    pub qrels: String,
    /// The file of retrieved documents.
    pub run: String,
    /// Whether topics without retrieved documents are evaluated too.
    #[serde(default)]
    pub complete: bool,
    /// How many retrieved documents of a topic count; all if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<usize>,
}

/// Intervals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum IntervalEntry {
    /// Whether there are any.
    Switch(bool),
    /// Their level.
    Block(IntervalBlock),
}

impl Default for IntervalEntry {
    fn default() -> Self {
        Self::Switch(true)
    }
}

/// The level of intervals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IntervalBlock {
    /// The share of intervals that cover the true value, between 0 and 1.
    pub level: f64,
}

/// One model, or a list of models (not yet).
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ModelEntry {
    /// One model.
    One(ModelBlock),
    /// A list.
    Many(Vec<serde_json::Value>),
}

/// The model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelBlock {
    /// The ONNX file.
    pub path: String,
    /// Columns of inputs that do not bear the name of one column; a list makes a matrix.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub inputs: IndexMap<String, OneOrMany>,
    /// What runs the model: `auto`, `onnxruntime` or `embedded`.
    #[serde(default = "auto")]
    pub backend: String,
    /// Values for nulls, by feature.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub fill_null: IndexMap<String, Text>,
}

fn auto() -> String {
    "auto".to_string()
}

/// A head.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeadBlock {
    /// A score column, or `output` or `output[column]` of the model; the name of the head if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<String>,
    /// The label column.
    pub label: String,
    /// How the score is meant.
    #[serde(default)]
    pub kind: KindWord,
    /// The weight column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<String>,
    /// A SQL predicate: other rows do not count for this head.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mask: Option<String>,
    /// The label value that is 1; all others are 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub positive: Option<Text>,
    /// Labels from here on are 1, below 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label_threshold: Option<f64>,
}

/// How a score is meant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum KindWord {
    /// A probability of the positive class.
    Probability,
    /// The logit of such a probability.
    Logit,
    /// Any number.
    #[default]
    Raw,
}

/// What to do with a NaN or null score or label.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnInvalidWord {
    /// End the run with an error that names the place.
    #[default]
    Error,
    /// Leave the row out for the head and count it.
    Drop,
}

/// An entry of `experiments`: exactly one of its keys.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExperimentBlock {
    /// Move values of features to other rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permute: Option<PermuteBlock>,
    /// Give all rows the same value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fill: Option<FillBlock>,
}

/// A permutation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PermuteBlock {
    /// `all`, or a list: one experiment per feature.
    pub features: OneOrMany,
    /// One experiment that moves all of them by the same permutation.
    #[serde(default)]
    pub together: bool,
    /// Experiments with a permutation of their own each.
    #[serde(default = "one")]
    pub repeats: u32,
    /// The seed; the run's if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The name of the experiment; `permute:FEATURE` if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

fn one() -> u32 {
    1
}

/// A filling.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FillBlock {
    /// The feature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feature: Option<String>,
    /// `all`, or a list: one experiment per feature.
    #[serde(default, skip_serializing_if = "OneOrMany::is_empty")]
    pub features: OneOrMany,
    /// `mean`, `missing`, or the value.
    pub with: Text,
    /// The name of the experiment; `fill:FEATURE` if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Where results go.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutputBlock {
    /// The run directory; `runs/NAME` if left out, where NAME is that of the run file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dir: Option<String>,
    /// Whether to write the predictions of all experiments.
    #[serde(default)]
    pub predictions: bool,
}
