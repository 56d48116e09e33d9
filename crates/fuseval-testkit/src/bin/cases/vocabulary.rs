//! From the words of the cases to those of fuseval. What is only named differently is renamed here; anything else goes to
//! fuseval as it stands, which refuses what it does not know.

use serde_json::{Map, Value};

use crate::case::{Input, Question, key, number, texts};

type Result<T> = std::result::Result<T, String>;

/// What is asked of fuseval.
#[derive(Clone, Default)]
pub struct Asked {
    pub metrics: Vec<String>,
    pub heads: Vec<Head>,
    pub segment: Option<String>,
    pub item: Option<String>,
    pub explode: Vec<String>,
    /// The columns of the slice key.
    pub slice: Vec<String>,
    /// Columns of the slice key under the name that the case gives them.
    pub slice_names: Vec<(String, String)>,
    pub derive: Vec<(String, String)>,
    pub types: Vec<(String, String)>,
    pub drops_invalid: bool,
    pub experiments: Vec<Permutation>,
    pub predicts: bool,
    /// Whether a number of rows is asked for beside the metric.
    pub counts_rows: bool,
}

/// A head.
#[derive(Clone)]
pub struct Head {
    pub name: String,
    pub score: String,
    pub label: String,
    pub weight: Option<String>,
    pub kind: &'static str,
    pub positive: Option<String>,
    pub label_threshold: Option<f64>,
}

/// A permutation experiment.
#[derive(Clone)]
pub struct Permutation {
    pub features: Vec<String>,
    pub repeats: u64,
    pub seed: Option<u64>,
}

/// Metrics that are named differently.
const METRICS: &[(&str, &str)] = &[("auc", "roc_auc")];

/// Metrics over segments.
const SEGMENT_METRICS: &[&str] = &[
    "gauc",
    "uauc",
    "precision",
    "recall",
    "capped_recall",
    "f1",
    "hit_rate",
    "mrr",
    "map",
    "ndcg",
    "dcg",
    "err",
    "rbp",
    "r_precision",
    "mean_rank",
    "pair_accuracy",
];

/// Metrics of probabilities, unless the scores are said to be logits.
const PROBABILITIES: &[&str] =
    &["log_loss", "normalized_entropy", "rig", "brier", "calibration", "ece", "mce", "reliability"];

/// (metric, option, value) with their names in fuseval; `*` for every metric, or for a value that stays; no name where nothing
/// need be said.
const OPTIONS: &[(&str, &str, &str, &str, &str)] = &[
    ("*", "ties", "average", "ties", "expected"),
    ("*", "ties", "item_asc", "ties", "key_asc"),
    ("*", "ties", "item_desc", "ties", "key_desc"),
    ("*", "ties", "input_order", "ties", "stable"),
    ("*", "gain", "exponential", "gain", "exp2"),
    ("*", "weighting", "equal", "average", "macro"),
    ("*", "weighting", "*", "average", "*"),
    ("*", "duplicates", "keep_first_rank", "duplicates", "first"),
    ("recall", "denominator", "all_relevant", "denominator", "relevant"),
    // Bins are closed on the left; there is no option for it.
    ("ece", "closed", "left", "", ""),
    ("r2", "constant_labels", "finite", "constant", "zero_one"),
    ("r2", "constant_labels", "*", "constant", "*"),
];

/// Maps a question.
pub fn asked(input: &Input, question: &Question, counts_rows: bool) -> Result<Asked> {
    let mut options = question.options.clone();
    let mut asked = Asked { counts_rows, item: input.roles.item.clone(), ..Asked::default() };
    asked.explode = input.roles.explode.clone();
    let mut metric = question.metric.clone();
    match metric.as_str() {
        "predict" => asked.predicts = true,
        "permutation_importance" => {
            metric = take_text(&mut options, "of").ok_or("no metric `of`")?;
            let features = options.remove("features").ok_or("no features")?;
            let repeats = options.remove("repeats").and_then(|repeats| repeats.as_u64()).unwrap_or(1);
            let seed = options.remove("seed").and_then(|seed| seed.as_u64());
            // What is not the plain permutation of all rows waits; see `waiting.rs`.
            options.remove("scope");
            options.remove("average_over");
            for set in features.as_array().ok_or("`features` is no list")? {
                asked.experiments.push(Permutation { features: texts(set), repeats, seed });
            }
        }
        _ => {}
    }
    let segmented = SEGMENT_METRICS.contains(&metric.as_str());
    let roles = &input.roles;
    let (first, second) = if metric == "gauc" || metric == "uauc" || metric == "count" {
        (&roles.segment, &roles.request)
    } else {
        (&roles.request, &roles.segment)
    };
    asked.segment = first.clone().or(second.clone());
    if segmented && asked.segment.is_none() {
        return Err(format!("no role `request` or `segment` for {metric}"));
    }
    asked.heads = heads(input, &metric, &mut options, &mut asked.derive)?;
    match take_text(&mut options, "missing").as_deref() {
        None | Some("error") => {}
        Some("drop") => asked.drops_invalid = true,
        Some(other) => return Err(format!("the rule `missing` = {other}")),
    }
    if let Some(slices) = options.remove("slice_by") {
        slice(&slices, &mut asked)?;
    }
    // Nothing to set: what is there is evaluated, unless `data.expect` says what should be.
    match take_text(&mut options, "completeness").as_deref() {
        None | Some("allow_partial") => {}
        Some(other) => return Err(format!("the rule `completeness` = {other}")),
    }
    asked.metrics = if asked.predicts { vec!["count".to_string()] } else { metric_names(&metric, options)? };
    if counts_rows && metric != "count" {
        asked.metrics.push("count".to_string());
    }
    Ok(asked)
}

fn take_text(options: &mut Map<String, Value>, name: &str) -> Option<String> {
    options.remove(name).and_then(|value| key(&value))
}

fn heads(
    input: &Input,
    metric: &str,
    options: &mut Map<String, Value>,
    derive: &mut Vec<(String, String)>,
) -> Result<Vec<Head>> {
    let roles = &input.roles;
    let kind = match take_text(options, "score_kind").as_deref() {
        None if PROBABILITIES.contains(&metric) => "probability",
        None => "raw",
        Some("logit") => "logit",
        Some("probability") => "probability",
        Some("raw") => "raw",
        Some(other) => return Err(format!("the score kind {other}")),
    };
    let weight = match (take_text(options, "weight"), take_text(options, "request_weight")) {
        // A segment weighs the mean of its rows' weights: that of the request, where all its rows have it.
        (Some(weight), None) | (None, Some(weight)) => Some(weight),
        (None, None) => None,
        (Some(_), Some(_)) => return Err("weights of rows and of requests together".to_string()),
    };
    let score = roles.score.clone().unwrap_or_else(|| "score".to_string());
    let label = roles.label.clone().unwrap_or_else(|| {
        // A head has a label, a prediction needs none.
        derive.push(("no_label".to_string(), "0".to_string()));
        "no_label".to_string()
    });
    let mut all = vec![(score.clone(), score, label, None)];
    if !roles.heads.is_empty() {
        all = roles.heads.clone();
    }
    let positive = take_text(options, "positive_label");
    let threshold = options.remove("label_threshold");
    let threshold = match &threshold {
        None => None,
        Some(value) => Some(number(value).ok_or_else(|| format!("the label threshold {value}"))?),
    };
    let rule = take_text(options, "label_rule");
    let clamp = options.remove("label_clamp").is_some_and(|clamp| clamp == true);
    let mut heads = Vec::new();
    for (name, score, label, own_weight) in all {
        let mut head = Head {
            name,
            score,
            label,
            weight: own_weight.or(weight.clone()),
            kind,
            positive: positive.clone(),
            label_threshold: threshold,
        };
        // Other rules than "from the threshold on" are SQL.
        let sql = match (threshold, rule.as_deref()) {
            (_, None | Some(">=" | "ge" | "at_least" | "greater_equal")) => None,
            (Some(threshold), Some(">" | "gt" | "above" | "greater")) => Some((">", threshold)),
            (Some(threshold), Some("<=" | "le" | "at_most" | "less_equal")) => Some(("<=", threshold)),
            (Some(threshold), Some("<" | "lt" | "below" | "less")) => Some(("<", threshold)),
            (_, Some(other)) => return Err(format!("the label rule `{other}`")),
        };
        let column = quoted(&head.label);
        if let Some((sign, threshold)) = sql {
            head.label = derived(derive, &head.label, format!("CAST({column} AS DOUBLE) {sign} {threshold:?}"));
            head.label_threshold = None;
        }
        if clamp {
            let clamped = format!("least(greatest(CAST({column} AS DOUBLE), 0.0), 1.0)");
            head.label = derived(derive, &head.label, clamped);
        }
        heads.push(head);
    }
    Ok(heads)
}

/// Adds a derived column once, and names it.
fn derived(derive: &mut Vec<(String, String)>, column: &str, sql: String) -> String {
    if let Some((name, _)) = derive.iter().find(|(_, known)| *known == sql) {
        return name.clone();
    }
    let name = format!("{column}_derived{}", derive.len());
    derive.push((name.clone(), sql));
    name
}

/// A column in SQL.
fn quoted(column: &str) -> String {
    format!("\"{}\"", column.replace('"', "\"\""))
}

/// Columns, or days of timestamps at a fixed offset from UTC.
fn slice(slices: &Value, asked: &mut Asked) -> Result<()> {
    for part in slices.as_array().ok_or("`slice_by` is no list")? {
        let fields = match part {
            Value::String(column) => {
                asked.slice.push(column.clone());
                continue;
            }
            Value::Object(fields) => fields,
            other => return Err(format!("the slice {other}")),
        };
        let column = fields.get("column").and_then(Value::as_str).ok_or("no column of a slice")?;
        if let Some(unknown) =
            fields.keys().find(|name| !["column", "unit", "utc_offset_hours"].contains(&name.as_str()))
        {
            return Err(format!("unknown field `{unknown}` of a slice"));
        }
        let offset = fields.get("utc_offset_hours").map_or(Some(0.0), number).ok_or("the offset")?;
        let seconds = offset * 3600.0;
        // The instant in UTC, moved, and its date. A timestamp without zone is cut by its wall clock.
        let utc = format!(
            "arrow_cast(arrow_cast({}, 'Timestamp(Second, Some(\"+00:00\"))'), 'Timestamp(Second, None)')",
            quoted(column)
        );
        let sql = match fields.get("unit").and_then(Value::as_str) {
            None => quoted(column),
            Some("day") if seconds == 0.0 => format!("CAST({utc} AS DATE)"),
            Some("day") => format!("CAST({utc} + INTERVAL '{seconds} seconds' AS DATE)"),
            Some(other) => return Err(format!("slices by {other}")),
        };
        let name = derived(&mut asked.derive, column, sql);
        asked.slice.push(name.clone());
        asked.slice_names.push((name, column.to_string()));
    }
    Ok(())
}

/// The metric with its options, one name for each cut-off.
fn metric_names(metric: &str, mut options: Map<String, Value>) -> Result<Vec<String>> {
    let name = METRICS.iter().find(|(theirs, _)| *theirs == metric).map_or(metric, |(_, ours)| ours);
    let cutoffs = match options.remove("k") {
        None => vec![String::new()],
        Some(Value::Array(all)) => all.iter().map(|k| format!("@{}", key(k).unwrap_or_default())).collect(),
        Some(k) => vec![format!("@{}", key(&k).unwrap_or_default())],
    };
    let mut written = Vec::new();
    for (option, value) in &options {
        let value = match value {
            Value::Array(items) => {
                format!("[{}]", items.iter().map(|item| key(item).unwrap_or_default()).collect::<Vec<_>>().join(","))
            }
            other => key(other).unwrap_or_default(),
        };
        let fits = |known: &str, given: &str| known == "*" || known == given;
        let renamed =
            OPTIONS.iter().find(|(of, theirs, known, ..)| fits(of, metric) && theirs == option && fits(known, &value));
        match renamed {
            Some((.., "", _)) => {}
            Some((.., ours, "*")) => written.push(format!("{ours}={value}")),
            Some((.., ours, new)) => written.push(format!("{ours}={new}")),
            None => written.push(format!("{option}={value}")),
        }
    }
    let bracket = if written.is_empty() { String::new() } else { format!("[{}]", written.join(",")) };
    Ok(cutoffs.into_iter().map(|k| format!("{name}{k}{bracket}")).collect())
}
