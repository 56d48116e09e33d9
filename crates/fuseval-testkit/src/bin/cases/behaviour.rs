//! The sentences of `expected_behaviour` that a machine can check, told by their words. Others are left to people.

use serde_json::{Value, json};

use crate::answers::{Outcome, value};
use crate::case::{Answer, Case, Data, Question};
use crate::check::{Sites, first_site, importances, line};
use crate::onnx;
use crate::runs::{Machine, Way, run};
use crate::vocabulary::asked;

type Result<T> = std::result::Result<T, String>;

/// Checks a case whose questions have been answered.
pub fn check(case: &Case, sites: &Sites) -> Result<()> {
    let question = &case.questions[0];
    if question.metric == "permutation_importance" && question.expected.is_none() {
        importances(case, question, sites)?;
    }
    for sentence in &case.behaviours {
        sentence_holds(case, question, sites, sentence).map_err(|problem| format!("{problem}, against: {sentence}"))?;
    }
    Ok(())
}

/// The number after some words.
fn number_after(sentence: &str, words: &str) -> Option<u64> {
    let (_, rest) = sentence.split_once(words)?;
    rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok()
}

fn sentence_holds(case: &Case, question: &Question, sites: &Sites, sentence: &str) -> Result<()> {
    for (words, field) in [
        ("segments used = ", "n"),
        ("segments skipped = ", "undefined"),
        ("reports ", "dropped"),
        ("clipped (here ", "clipped"),
    ] {
        let applies = field != "dropped" || sentence.contains(" rows dropped");
        if let Some(expected) = number_after(sentence, words).filter(|_| applies) {
            counted(case, question, sites, field, expected)?;
        }
    }
    if sentence.contains("K = ") && sentence.contains("refused") {
        for (place, _) in sentence.match_indices("K = ") {
            let rest = &sentence[place + 4..];
            let given = rest.split([',', ' ']).next().unwrap_or_default().trim_matches('"');
            refused(case, &with(question, "k", json!(given)), sites, &["k", given])?;
        }
    }
    if sentence.contains("string labels are refused") {
        let strict = without(question, "positive_label");
        let distinct = labels(case);
        refused(case, &strict, sites, &distinct.iter().map(String::as_str).collect::<Vec<_>>())?;
    }
    if sentence.contains("value that never occurs is refused") {
        let distinct = labels(case);
        let texts: Vec<&str> = distinct.iter().map(String::as_str).collect();
        refused(case, &with(question, "positive_label", json!("never")), sites, &texts)?;
    }
    if sentence.starts_with("By default a repeated (request, item) pair is an error") {
        refused(case, &without(question, "duplicates"), sites, &[])?;
    }
    if sentence.contains("refuse an infinite score") {
        for metric in ["log_loss", "calibration", "mae", "rmse"] {
            refused(case, &Question { metric: metric.to_string(), ..plain(question) }, sites, &["score"])?;
        }
    }
    if sentence.contains("missing value is reported per feature") {
        missing_features(case, question, sites)?;
    }
    if sentence.contains("with clip 0 the infinite value") {
        let record = results(case, &with(question, "clip", json!("0")), sites)?;
        if value(record.first().unwrap_or(&Value::Null))? != Answer::Number(f64::INFINITY) {
            return Err("another value".to_string());
        }
    }
    Ok(())
}

fn with(question: &Question, option: &str, value: Value) -> Question {
    let mut changed = question.clone();
    changed.options.insert(option.to_string(), value);
    changed
}

fn without(question: &Question, option: &str) -> Question {
    let mut changed = question.clone();
    changed.options.remove(option);
    changed
}

fn plain(question: &Question) -> Question {
    Question { options: serde_json::Map::new(), ..question.clone() }
}

fn results(case: &Case, question: &Question, sites: &Sites) -> Result<Vec<Value>> {
    let asked = asked(&case.input, question, false)?;
    match run(first_site(sites)?, &asked, Way::CommandLine, Machine::default())? {
        Outcome::Done { results, .. } => Ok(results),
        Outcome::Refused { code, message } => Err(format!("exit code {code}: {}", line(&message))),
    }
}

/// Whether a count of the results is what it should be.
fn counted(case: &Case, question: &Question, sites: &Sites, field: &str, expected: u64) -> Result<()> {
    let results = results(case, question, sites)?;
    let found = results.first().and_then(|record| record.get(field)).and_then(Value::as_u64);
    if found == Some(expected) { Ok(()) } else { Err(format!("{field} is {found:?}, not {expected}")) }
}

/// Whether a question is refused, with texts in the message.
fn refused(case: &Case, question: &Question, sites: &Sites, mentions: &[&str]) -> Result<()> {
    let asked = asked(&case.input, question, false)?;
    match run(first_site(sites)?, &asked, Way::CommandLine, Machine::default())? {
        Outcome::Done { .. } => Err(format!("{} is not refused", asked.metrics.join(","))),
        Outcome::Refused { code: 2 | 3, message } => match mentions.iter().find(|text| !message.contains(**text)) {
            Some(text) => Err(format!("the message does not mention `{text}`: {}", line(&message))),
            None => Ok(()),
        },
        Outcome::Refused { code, message } => Err(format!("exit code {code}: {}", line(&message))),
    }
}

/// The distinct labels of a case.
fn labels(case: &Case) -> Vec<String> {
    let Data::Columns(columns) = &case.input.data else { return Vec::new() };
    let label = columns.iter().find(|column| Some(&column.name) == case.input.roles.label.as_ref());
    let mut all: Vec<String> = label.iter().flat_map(|column| &column.values).filter_map(crate::case::key).collect();
    all.sort();
    all.dedup();
    all
}

/// Whether the run says in how many rows a feature was missing.
fn missing_features(case: &Case, question: &Question, sites: &Sites) -> Result<()> {
    let Data::Columns(columns) = &case.input.data else { return Ok(()) };
    let asked = asked(&case.input, question, false)?;
    let Outcome::Done { run: told, .. } = run(first_site(sites)?, &asked, Way::CommandLine, Machine::default())? else {
        return Err("no results".to_string());
    };
    for feature in onnx::features(&case.input)? {
        let Some(column) = columns.iter().find(|column| column.name == feature) else { continue };
        let missing = column.values.iter().filter(|value| value.is_null() || *value == "NaN").count() as u64;
        let found = told.get("missing_features").and_then(|all| all.get(&feature)).and_then(Value::as_u64);
        if found.unwrap_or(0) != missing {
            return Err(format!("{found:?} missing values of {feature}, not {missing}"));
        }
    }
    Ok(())
}
