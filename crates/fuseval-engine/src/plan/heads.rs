//! Heads: the labels, weights and masks they read, and whether their kind suits the metrics.

use fuseval_core::scorer::OutputColumn;
use fuseval_core::{AnyMetric, Error, Model, Result, ScoreKind, ScoreNeed, Source};

use super::{Head, LabelRule, Requests};
use crate::columns::{is_number, is_scalar};
use crate::specification::{HeadSpecification, Specification};

pub(super) fn resolve(
    asked: &Specification,
    source: &dyn Source,
    metrics: &[(Box<dyn AnyMetric>, usize)],
    requests: &mut Requests,
) -> Result<Vec<Head>> {
    if asked.heads.is_empty() {
        return Err(Error::usage(
            "one head or more",
            "none",
            "write for example `heads: {ctr: {score: p_ctr, label: click}}`",
        ));
    }
    asked
        .heads
        .iter()
        .map(|head| {
            resolve_one(head, source, metrics, requests).map_err(|error| error.at(format!("head `{}`", head.name)))
        })
        .collect()
}

fn resolve_one(
    asked: &HeadSpecification,
    source: &dyn Source,
    metrics: &[(Box<dyn AnyMetric>, usize)],
    requests: &mut Requests,
) -> Result<Head> {
    let needs_probability = metrics.iter().find(|(metric, _)| metric.profile().needs.score == ScoreNeed::Probability);
    if let (Some((metric, _)), ScoreKind::Raw) = (needs_probability, asked.kind) {
        return Err(Error::usage(
            format!("`kind: probability` or `kind: logit` for `{}`", metric.id()),
            "`kind: raw`",
            "declare what the score is: `kind: probability` (`--kind probability`), or leave the metric out",
        ));
    }
    let label = requests.column(source, &asked.label, "label")?;
    let rule = label_rule(asked, source)?;
    let weight = asked.weight.as_ref().map(|name| requests.column(source, name, "weight")).transpose()?;
    if let Some(name) = &asked.weight {
        let data_type = source.column_type(name)?;
        if !is_number(&data_type) {
            return Err(Error::data(
                format!("numbers in the weight column `{name}`"),
                data_type.to_string(),
                "choose a numeric column",
            ));
        }
    }
    let mask = asked.mask.as_ref().map(|sql| requests.predicate(source, sql, "mask")).transpose()?;
    Ok(Head { name: asked.name.clone(), label_name: asked.label.clone(), label, weight, mask, rule, kind: asked.kind })
}

fn label_rule(asked: &HeadSpecification, source: &dyn Source) -> Result<LabelRule> {
    let name = &asked.label;
    let data_type = source.column_type(name)?;
    match (&asked.positive, asked.label_threshold) {
        (Some(_), Some(_)) => Err(Error::usage("`positive` or `label_threshold`", "both", "leave one of them out")),
        (Some(positive), None) if is_scalar(&data_type) => Ok(LabelRule::Positive(positive.clone())),
        (None, Some(threshold)) if threshold.is_nan() => {
            Err(Error::usage("a number for `label_threshold`", "NaN", "write for example `label_threshold: 0.5`"))
        }
        (None, Some(threshold)) if is_number(&data_type) => Ok(LabelRule::Threshold(threshold)),
        (None, None) if is_number(&data_type) => Ok(LabelRule::Number),
        (None, _) if is_scalar(&data_type) => Err(Error::data(
            format!("numbers or truth values in the label column `{name}`"),
            format!("{} with {}", crate::columns::type_name(&data_type), {
                let mut seen = Distinct::default();
                each_text(source, name, |text| {
                    seen.note(text);
                    seen.0.len() <= MOST_SHOWN
                })?;
                seen
            }),
            "name the value that is 1: `positive: VALUE` (`--positive VALUE`)",
        )),
        _ => Err(Error::data(
            format!("single values in the label column `{name}`"),
            data_type.to_string(),
            "choose another column, or derive one",
        )),
    }
}

/// The error for a declared positive value that no row has. A value that occurs only in masked rows is no mistake.
pub(crate) fn absent_positive(head: &Head, positive: &str, source: &dyn Source) -> Result<()> {
    let (mut occurs, mut seen) = (false, Distinct::default());
    each_text(source, &head.label_name, |text| {
        occurs |= text == Some(positive);
        seen.note(text);
        !occurs
    })?;
    if occurs {
        return Ok(());
    }
    Err(Error::data(
        format!("the value `{positive}` in the label column `{}`", head.label_name),
        seen.to_string(),
        "name one of the values that occur: `positive: VALUE` (`--positive VALUE`)",
    )
    .at(format!("head `{}`", head.name)))
}

/// The first few distinct values of a column, for messages.
#[derive(Default)]
struct Distinct(std::collections::BTreeSet<String>);

const MOST_SHOWN: usize = 10;

impl Distinct {
    fn note(&mut self, text: Option<&str>) {
        if self.0.len() <= MOST_SHOWN {
            self.0.insert(text.map_or_else(|| "null".to_string(), |text| format!("`{text}`")));
        }
    }
}

impl std::fmt::Display for Distinct {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown: Vec<&str> = self.0.iter().take(MOST_SHOWN).map(String::as_str).collect();
        let more = if self.0.len() > MOST_SHOWN { " and others" } else { "" };
        write!(f, "the values {}{more}", shown.join(", "))
    }
}

/// Calls `f` with the canonical text of each row of a column, until it says stop.
fn each_text(source: &dyn Source, column: &str, mut f: impl FnMut(Option<&str>) -> bool) -> Result<()> {
    let scan = fuseval_core::Scan::new(vec![fuseval_core::source::Request::Column(column.to_string())]);
    for rows in source.scan(&scan)? {
        let rows = rows?;
        let Some(array) = rows.columns.first() else { continue };
        let keys = crate::columns::KeyColumn::new(array)?;
        if !(0..rows.len()).all(|row| keys.with_text(row, &mut f)) {
            break;
        }
    }
    Ok(())
}

/// What the head reads of the model: `output` or `output[column]`.
pub(super) fn score(asked: &HeadSpecification, model: &dyn Model) -> Result<OutputColumn> {
    let text = &asked.score;
    // A score column may bear a name with brackets; an output of exactly this name wins.
    if model.outputs().iter().any(|output| output.name == *text) {
        return Ok(OutputColumn { output: text.clone(), column: None });
    }
    let Some((output, column)) = text.strip_suffix(']').and_then(|rest| rest.split_once('[')) else {
        return Ok(OutputColumn { output: text.clone(), column: None });
    };
    match column.parse() {
        Ok(column) => Ok(OutputColumn { output: output.to_string(), column: Some(column) }),
        Err(_) => Err(Error::usage(
            "a column number in `score: output[column]`",
            format!("`{text}`"),
            "write for example `score: probabilities[1]`",
        )
        .at(format!("head `{}`", asked.name))),
    }
}
