//! The values that fuseval gave, and whether they are the right ones.

use serde_json::Value;

use crate::case::{Answer, Case, Entry, Expected, Place, Question};
use crate::vocabulary::Asked;

/// What a run ended with.
pub enum Outcome {
    /// The JSON of the results, and the scores of the baseline for predictions.
    Done { results: Vec<Value>, run: Value, predictions: Vec<f64> },
    /// An error: its exit code and message.
    Refused { code: i32, message: String },
}

/// A value with its place, and the rows it was computed from where that was asked.
pub struct Found {
    pub place: Place,
    pub answer: Answer,
    pub rows: Option<u64>,
    /// Why there is none, for undefined ones.
    pub why: bool,
}

/// The values of a record: null, a number, or an infinity as text.
pub fn value(record: &Value) -> Result<Answer, String> {
    match record.get("value") {
        Some(Value::Null) => Ok(Answer::Undefined),
        Some(Value::Number(number)) => number.as_f64().map(Answer::Number).ok_or_else(|| format!("the value {number}")),
        Some(Value::String(text)) if text == "Infinity" => Ok(Answer::Number(f64::INFINITY)),
        Some(Value::String(text)) if text == "-Infinity" => Ok(Answer::Number(f64::NEG_INFINITY)),
        other => Err(format!("the value {other:?} in the results")),
    }
}

fn text<'a>(record: &'a Value, field: &str) -> &'a str {
    record.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// The name of the metric without cut-off and options.
fn base(record: &Value) -> &str {
    text(record, "metric").split(['@', '[']).next().unwrap_or_default()
}

/// The slice of a record with the names of the case; `None` for all rows.
fn slice(record: &Value, asked: &Asked) -> Option<Vec<(String, Option<String>)>> {
    let Some(Value::Object(pairs)) = record.get("slice") else { return None };
    let name = |column: &String| {
        let known = asked.slice_names.iter().find(|(ours, _)| ours == column);
        known.map_or_else(|| column.clone(), |(_, theirs)| theirs.clone())
    };
    Some(pairs.iter().map(|(column, value)| (name(column), crate::case::key(value))).collect())
}

/// The values among the results that a question asks for.
pub fn found(question: &Question, asked: &Asked, results: &[Value], predictions: &[f64]) -> Result<Vec<Found>, String> {
    if question.metric == "predict" {
        let rows = predictions.iter().enumerate();
        let found = rows.map(|(row, score)| Found {
            place: Place { row: Some(row as u64), ..Place::default() },
            answer: Answer::Number(*score),
            rows: None,
            why: false,
        });
        return Ok(found.collect());
    }
    let wanted = asked.metrics.first().map_or("", |name| name.split(['@', '[']).next().unwrap_or_default());
    let of_metric = |record: &&Value| base(record) == wanted;
    if question.metric == "permutation_importance" {
        return importances(asked, results.iter().filter(of_metric));
    }
    let several_heads = asked.heads.len() > 1;
    let several_cutoffs = question.options.get("k").is_some_and(Value::is_array);
    let mut all = Vec::new();
    for record in results.iter().filter(of_metric) {
        let slice = slice(record, asked);
        if slice.is_none() != asked.slice.is_empty() {
            continue;
        }
        let counted = |other: &&Value| {
            base(other) == "count"
                && other.get("slice") == record.get("slice")
                && other.get("head") == record.get("head")
        };
        let rows = match results.iter().find(counted).filter(|_| asked.counts_rows).map(value) {
            Some(Ok(Answer::Number(rows))) => Some(rows as u64),
            _ => None,
        };
        let k =
            text(record, "metric").split_once('@').map(|(_, k)| k.split('[').next().unwrap_or_default().to_string());
        all.push(Found {
            place: Place {
                k: k.filter(|_| several_cutoffs),
                head: several_heads.then(|| text(record, "head").to_string()),
                slice,
                ..Place::default()
            },
            answer: value(record)?,
            rows,
            why: !text(record, "why").is_empty(),
        });
    }
    Ok(all)
}

/// The name of an experiment on a set of features.
pub fn experiment_name(features: &[String]) -> String {
    format!("permute:{}", features.join("+"))
}

/// The metric on the data as they are minus its mean over the repeats of each set of features.
fn importances<'a>(asked: &Asked, records: impl Iterator<Item = &'a Value>) -> Result<Vec<Found>, String> {
    let records: Vec<(&str, Answer)> =
        records.map(|record| Ok((text(record, "experiment"), value(record)?))).collect::<Result<_, String>>()?;
    let Some((_, Answer::Number(baseline))) = records.iter().find(|(name, _)| *name == "baseline") else {
        return Err("no baseline".to_string());
    };
    let found = asked.experiments.iter().map(|experiment| {
        let name = experiment_name(&experiment.features);
        let own = records.iter().filter(|(other, _)| other.split('#').next() == Some(name.as_str()));
        let values: Option<Vec<f64>> = own
            .map(|(_, answer)| match answer {
                Answer::Number(number) => Some(baseline - number),
                Answer::Undefined => None,
            })
            .collect();
        let values = values.filter(|values| values.len() as u64 == experiment.repeats);
        let values = values.ok_or_else(|| format!("not {} values of {name}", experiment.repeats))?;
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let place = Place { features: Some(experiment.features.clone()), ..Place::default() };
        Ok(Found { place, answer: Answer::Number(mean), rows: None, why: false })
    });
    found.collect()
}

/// Whether two values are the same: zero and whole numbers exactly, others to a relative 1e-12.
pub fn same(expected: Answer, found: Answer, count: bool) -> bool {
    match (expected, found) {
        (Answer::Undefined, Answer::Undefined) => true,
        (Answer::Number(expected), Answer::Number(found)) => {
            let exact = count || expected == 0.0 || expected.is_infinite();
            expected == found || !exact && (expected - found).abs() <= 1e-12 * expected.abs()
        }
        _ => false,
    }
}

fn shown(answer: Answer) -> String {
    match answer {
        Answer::Number(number) => format!("{number:?}"),
        Answer::Undefined => "null".to_string(),
    }
}

/// What a place is called.
fn place(place: &Place) -> String {
    let mut parts = Vec::new();
    parts.extend(place.k.iter().map(|k| format!("k = {k}")));
    parts.extend(place.head.iter().map(|head| format!("head {head}")));
    parts.extend(place.row.iter().map(|row| format!("row {row}")));
    parts.extend(place.features.iter().map(|features| format!("features {}", features.join("+"))));
    for (column, value) in place.slice.iter().flatten() {
        parts.push(format!("{column} = {}", value.as_ref().map_or("null".to_string(), |value| format!("\"{value}\""))));
    }
    if parts.is_empty() { String::new() } else { format!(" at {}", parts.join(", ")) }
}

/// Compares with the right answer; an error says what is wrong.
pub fn compare(case: &Case, question: &Question, found: &[Found]) -> Result<(), String> {
    let all;
    let entries = match &question.expected {
        None => return Ok(()),
        Some(Expected::Many(entries)) => entries,
        Some(Expected::One(answer)) => {
            all = vec![Entry { place: Place::default(), rows: None, answer: *answer }];
            &all
        }
    };
    for entry in entries {
        let mut own = found.iter().filter(|found| is_at(&entry.place, &found.place));
        let (Some(found), None) = (own.next(), own.next()) else {
            return Err(format!("not one value{} among {}", place(&entry.place), found.len()));
        };
        if !same(entry.answer, found.answer, question.metric == "count") {
            let wrong = case.known_wrong.iter().find(|(_, wrong)| same(*wrong, found.answer, false));
            let how = wrong.map_or(String::new(), |(how, _)| format!("; the known mistake: {how}"));
            let (expected, found) = (shown(entry.answer), shown(found.answer));
            return Err(format!("expected {expected}{}, found {found}{how}", place(&entry.place)));
        }
        if found.answer == Answer::Undefined && !found.why {
            return Err(format!("null without a reason{}", place(&entry.place)));
        }
        if entry.rows.is_some() && entry.rows != found.rows {
            return Err(format!("expected {:?} rows{}, found {:?}", entry.rows, place(&entry.place), found.rows));
        }
    }
    match found.iter().find(|found| !entries.iter().any(|entry| is_at(&entry.place, &found.place))) {
        Some(found) => Err(format!("a value that was not expected{}: {}", place(&found.place), shown(found.answer))),
        None => Ok(()),
    }
}

/// Whether a place of the case is one of the results; a single cut-off or head need not be named.
fn is_at(expected: &Place, found: &Place) -> bool {
    let sorted = |slice: &Option<Vec<(String, Option<String>)>>| {
        let mut slice = slice.clone();
        slice.iter_mut().for_each(|slice| slice.sort());
        slice
    };
    let set = |features: &Option<Vec<String>>| {
        let mut features = features.clone();
        features.iter_mut().for_each(|features| features.sort());
        features
    };
    (expected.k == found.k || found.k.is_none())
        && (expected.head == found.head || found.head.is_none())
        && expected.row == found.row
        && set(&expected.features) == set(&found.features)
        && sorted(&expected.slice) == sorted(&found.slice)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::vocabulary::asked;

    /// What is wrong with results, for a case with these options and this answer.
    fn problem(options: Value, expected: Value, results: &[Value]) -> Result<(), String> {
        let tree = json!({
            "id": "000", "name": "test", "metric": "auc", "options": options, "expected": expected,
            "known_wrong": [{"how": "by mistake", "expected": {"value": 0.25}}],
            "input": {
                "columns": {"s": {"type": "float64", "values": [0.5]}, "l": {"type": "int8", "values": [1]}},
                "roles": {"score": "s", "label": "l"}
            }
        });
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let path = folder.path().join("case.json");
        std::fs::write(&path, tree.to_string()).map_err(|error| error.to_string())?;
        let case = Case::read(&path)?;
        let question = &case.questions[0];
        let asked = asked(&case.input, question, true)?;
        compare(&case, question, &found(question, &asked, results, &[])?)
    }

    fn record(slice: Value, value: Value) -> Value {
        json!({"experiment": "baseline", "head": "s", "slice": slice, "metric": "roc_auc", "value": value, "why": "none"})
    }

    #[test]
    fn only_the_right_value_is_right() {
        let one = |value: Value| problem(json!({}), json!({"value": 0.75}), &[record(Value::Null, value)]);
        assert_eq!(one(json!(0.75 + 1e-13)), Ok(()));
        assert!(one(json!(0.75 + 1e-11)).is_err());
        assert!(one(json!(0.25)).is_err_and(|problem| problem.ends_with("the known mistake: by mistake")));
        assert!(one(Value::Null).is_err());
        assert!(problem(json!({}), json!({"value": 0.0}), &[record(Value::Null, json!(1e-300))]).is_err());
        assert!(problem(json!({}), json!({"value": "Infinity"}), &[record(Value::Null, json!("Infinity"))]).is_ok());
        assert!(problem(json!({}), json!({"value": 0.75}), &[]).is_err());
        let mut bare = record(Value::Null, Value::Null);
        assert_eq!(problem(json!({}), json!({"value": null}), &[bare.clone()]), Ok(()));
        bare["why"] = json!("");
        assert!(problem(json!({}), json!({"value": null}), &[bare]).is_err_and(|problem| problem.contains("reason")));
    }

    #[test]
    fn results_are_complete_and_no_more() {
        let expected = json!({"results": [
            {"slice": {"c": "x"}, "rows": 2, "value": 1.0}, {"slice": {"c": null}, "rows": 1, "value": 0.5}
        ]});
        let count = |slice: Value, value: u64| json!({"experiment": "baseline", "head": "s", "slice": slice, "metric": "count", "value": value});
        let all = [
            record(Value::Null, json!(0.3)),
            record(json!({"c": "x"}), json!(1.0)),
            count(json!({"c": "x"}), 2),
            record(json!({"c": null}), json!(0.5)),
            count(json!({"c": null}), 1),
        ];
        let sliced = |results: &[Value]| problem(json!({"slice_by": ["c"]}), expected.clone(), results);
        assert_eq!(sliced(&all), Ok(()));
        assert!(sliced(&all[..3]).is_err());
        assert!(sliced(&[&all[..], &[record(json!({"c": ""}), json!(1.0))]].concat()).is_err());
        let mut other = all.clone();
        other[2]["value"] = json!(3);
        assert!(sliced(&other).is_err_and(|problem| problem.contains("rows")));
    }
}
