//! `fuseval score`: a run file from arguments.

use super::Common;
use crate::run_file::OneOrMany;
use crate::{Result, RunFile};
use clap::builder::ArgPredicate;
use clap::{Args, ValueEnum};

/// Arguments of `fuseval score`.
#[derive(Debug, Args)]
pub(super) struct ScoreArguments {
    /// Files, globs or directories, also of s3://, gs://, az:// and https://; Parquet, CSV, NDJSON, Arrow, Avro
    #[arg(required_unless_present = "trec_run", value_name = "FILE")]
    files: Vec<String>,
    /// The label column
    #[arg(
        long,
        required_unless_present = "trec_run",
        default_value_if("trec_run", ArgPredicate::IsPresent, "relevance")
    )]
    label: Option<String>,
    /// The score column
    #[arg(long, required_unless_present = "trec_run", default_value_if("trec_run", ArgPredicate::IsPresent, "score"))]
    score: Option<String>,
    /// TREC judgements, in the place of FILE
    #[arg(long, value_name = "QRELS", requires = "trec_run", conflicts_with = "files")]
    trec_qrels: Option<String>,
    /// TREC run: retrieved documents with their scores
    #[arg(long, value_name = "RUN", requires = "trec_qrels", conflicts_with = "files")]
    trec_run: Option<String>,
    /// Evaluate topics without retrieved documents too (-c of trec_eval)
    #[arg(long, requires = "trec_run")]
    trec_complete: bool,
    /// Only the first N retrieved documents of a topic count (-M of trec_eval)
    #[arg(long, value_name = "N", requires = "trec_run", value_parser = super::positive)]
    trec_depth: Option<usize>,
    /// The columns of the segment key; takes commas and may be repeated
    #[arg(long, value_delimiter = ',', value_name = "COLUMN")]
    segment: Vec<String>,
    /// The column that identifies an item, for rules about ties and duplicates
    #[arg(long, value_name = "COLUMN")]
    item: Option<String>,
    /// The weight column
    #[arg(long)]
    weight: Option<String>,
    /// How the score is meant
    #[arg(long, value_enum, default_value = "raw")]
    kind: Kind,
    /// The label value that is 1; all others are 0
    #[arg(long, value_name = "VALUE")]
    positive: Option<String>,
    /// Labels from here on are 1, below 0
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    label_threshold: Option<f64>,
    /// A SQL predicate: other rows are not evaluated
    #[arg(long, value_name = "SQL")]
    filter: Option<String>,
    /// A slice: a column, columns with commas, or a SQL predicate; may be repeated
    #[arg(long, value_name = "SPEC")]
    slice: Vec<String>,
    /// Columns of lists, one list per row and all of one length: each place becomes a row; takes commas and may be repeated
    #[arg(long, value_delimiter = ',', value_name = "COLUMN")]
    explode: Vec<String>,
    /// What to do with a NaN or null score or label
    #[arg(long, value_enum, default_value = "error")]
    on_invalid: OnInvalid,
    /// A named set of options for all metrics: sklearn or trec_eval
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// The metrics, with commas; may be repeated; `fuseval metrics` lists them
    #[arg(long, short, required = true, value_name = "LIST")]
    metrics: Vec<String>,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Kind {
    /// A probability of the positive class
    Probability,
    /// The logit of such a probability
    Logit,
    /// Any number
    Raw,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum OnInvalid {
    /// End with an error that names the place
    Error,
    /// Leave the row out and count it
    Drop,
}

pub(super) fn score(arguments: &ScoreArguments) -> Result<()> {
    let common = &arguments.common;
    let run_file = run_file(arguments).with(&common.settings())?;
    if common.print_stored(Some(&run_file))? {
        return Ok(());
    }
    common.evaluate(&run_file, false)
}

fn run_file(arguments: &ScoreArguments) -> RunFile {
    use crate::run_file::{DataBlock, HeadBlock, KindWord, MetricEntry, OnInvalidWord, Text, TrecBlock};
    let score = arguments.score.clone().unwrap_or_default();
    let trec = arguments.trec_run.clone().zip(arguments.trec_qrels.clone()).map(|(run, qrels)| TrecBlock {
        qrels,
        run,
        complete: arguments.trec_complete,
        depth: arguments.trec_depth,
    });
    let head = HeadBlock {
        score: Some(score.clone()),
        label: arguments.label.clone().unwrap_or_default(),
        kind: match arguments.kind {
            Kind::Probability => KindWord::Probability,
            Kind::Logit => KindWord::Logit,
            Kind::Raw => KindWord::Raw,
        },
        weight: arguments.weight.clone(),
        mask: None,
        positive: arguments.positive.clone().map(Text::Text),
        label_threshold: arguments.label_threshold,
    };
    RunFile {
        data: DataBlock {
            path: arguments.files.clone().into(),
            segment: arguments.segment.clone().into(),
            item: arguments.item.clone(),
            filter: arguments.filter.clone(),
            trec,
            explode: arguments.explode.clone().into(),
            ..DataBlock::default()
        },
        preset: arguments.preset.clone(),
        heads: [(score, head)].into_iter().collect(),
        metrics: arguments.metrics.iter().cloned().map(MetricEntry::Name).collect(),
        slices: arguments.slice.iter().map(|spec| slice(spec)).collect::<Vec<OneOrMany>>(),
        on_invalid: match arguments.on_invalid {
            OnInvalid::Error => OnInvalidWord::Error,
            OnInvalid::Drop => OnInvalidWord::Drop,
        },
        ..RunFile::default()
    }
}

/// Names with commas between them are columns; anything else is one column or one predicate.
fn slice(spec: &str) -> OneOrMany {
    let parts: Vec<String> = spec.split(',').map(|part| part.trim().to_string()).collect();
    let is_name = |part: &String| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_');
    if parts.len() > 1 && parts.iter().all(is_name) {
        return OneOrMany::Many(parts);
    }
    OneOrMany::One(spec.to_string())
}
