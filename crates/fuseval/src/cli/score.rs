//! `fuseval score`: a run file from arguments.

use clap::{Args, ValueEnum};
use fuseval::{Result, RunFile};

use super::{Common, progress::Bar};

/// Arguments of `fuseval score`.
#[derive(Debug, Args)]
pub(super) struct ScoreArguments {
    /// Files, globs or directories; Parquet and CSV
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// The label column
    #[arg(long)]
    label: String,
    /// The score column
    #[arg(long)]
    score: String,
    /// The columns of the segment key; takes commas and may be repeated
    #[arg(long, value_delimiter = ',', value_name = "COLUMN")]
    segment: Vec<String>,
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
    /// What to do with a NaN or null score or label
    #[arg(long, value_enum, default_value = "error")]
    on_invalid: OnInvalid,
    /// The metrics, with commas; may be repeated
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
    let evaluation = fuseval::evaluate_with(&run_file, &common.options(), &Bar::new(common.quiet))?;
    common.print(&evaluation)
}

fn run_file(arguments: &ScoreArguments) -> RunFile {
    use fuseval::run_file::{DataBlock, HeadBlock, KindWord, MetricEntry, OnInvalidWord, OneOrMany, Text};
    let head = HeadBlock {
        score: Some(arguments.score.clone()),
        label: arguments.label.clone(),
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
            filter: arguments.filter.clone(),
            ..DataBlock::default()
        },
        heads: [(arguments.score.clone(), head)].into_iter().collect(),
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
fn slice(spec: &str) -> fuseval::run_file::OneOrMany {
    let parts: Vec<String> = spec.split(',').map(|part| part.trim().to_string()).collect();
    let is_name = |part: &String| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_');
    if parts.len() > 1 && parts.iter().all(is_name) {
        return fuseval::run_file::OneOrMany::Many(parts);
    }
    fuseval::run_file::OneOrMany::One(spec.to_string())
}
