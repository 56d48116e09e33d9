//! The results as data: `results.json`, and one record per number for tables and CSV.

use fuseval_core::{Outcome, Slice};
use fuseval_engine::ResultRow;
use fuseval_engine::plan::{Plan, SliceDefinition};
use serde_json::{Map, Value, json};

use crate::Evaluation;

/// A float in JSON: infinities as text, since JSON has none.
fn number(value: f64) -> Value {
    if value.is_finite() {
        return json!(value);
    }
    json!(if value > 0.0 { "Infinity" } else { "-Infinity" })
}

fn optional(value: Option<f64>) -> Value {
    value.map_or(Value::Null, number)
}

/// A slice as results show it: null, `{"column": "value"}`, or the predicate.
pub(crate) fn slice(plan: &Plan, slice: &Slice) -> Value {
    let definition = (slice.definition as usize).checked_sub(1).and_then(|place| plan.slices.get(place));
    match definition {
        None => Value::Null,
        Some(SliceDefinition::Predicate(sql, _)) => json!(sql),
        Some(SliceDefinition::Columns(columns)) => {
            let pairs = columns.iter().zip(&slice.values).map(|((name, _), value)| (name.clone(), json!(value)));
            Value::Object(pairs.collect::<Map<_, _>>())
        }
    }
}

/// A slice as one text, for tables.
pub(crate) fn slice_text(plan: &Plan, slice: &Slice) -> String {
    match self::slice(plan, slice) {
        Value::Null => String::new(),
        Value::String(sql) => sql,
        Value::Object(pairs) => {
            let shown = |value: &Value| value.as_str().map_or_else(|| "null".to_string(), str::to_string);
            pairs.iter().map(|(name, value)| format!("{name}={}", shown(value))).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

impl Evaluation {
    /// The content of `results.json`.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(&self.to_value()).unwrap_or_default();
        text.push('\n');
        text
    }

    fn to_value(&self) -> Value {
        let facts = &self.facts;
        let missing: Map<String, Value> =
            facts.missing.iter().map(|(feature, rows)| (feature.clone(), json!(rows))).collect();
        json!({
            "fuseval": env!("CARGO_PKG_VERSION"),
            "plan": self.fingerprint,
            "run": {
                "rows": facts.rows,
                "segments": facts.segments,
                "buckets": facts.buckets,
                "wall_s": facts.wall_s,
                "read_s": facts.read_s,
                "perturb_s": facts.perturb_s,
                "infer_s": facts.infer_s,
                "metric_s": facts.metric_s,
                "engine": "local",
                "threads": facts.threads,
                "backend": facts.backend,
                "seed": facts.seed,
                "resumed_buckets": 0,
                "missing_features": missing,
            },
            "results": self.rows.iter().map(|row| self.row_value(row)).collect::<Vec<_>>(),
        })
    }

    fn row_value(&self, row: &ResultRow) -> Value {
        let mut out = Map::new();
        let mut put = |name: &str, value: Value| out.insert(name.to_string(), value);
        put("experiment", json!(self.experiment(row)));
        put("head", json!(self.head(row)));
        put("slice", slice(&self.plan, &row.slice));
        put("metric", json!(self.metric(row)));
        put("value", optional(row.value.outcome.number()));
        if let Outcome::Undefined(why) = &row.value.outcome {
            put("why", json!(why));
        }
        put("low", Value::Null);
        put("high", Value::Null);
        put("error_bound", number(row.value.error_bound));
        let tally = row.value.tally;
        put("n", json!(tally.n));
        put("weight", number(row.value.weight));
        put("undefined", json!(tally.undefined));
        put("short", json!(tally.short));
        put("tied", json!(tally.tied));
        put("clipped", json!(tally.clipped));
        put("dropped", json!(row.dropped));
        put("mode", json!(row.value.mode));
        put("delta", optional(row.delta));
        for name in ["delta_low", "delta_high", "p", "p_adjusted"] {
            put(name, Value::Null);
        }
        Value::Object(out)
    }

    /// One line per number, with every field of `results.json`.
    pub(crate) fn to_csv(&self) -> String {
        let mut out = csv::Writer::from_writer(Vec::new());
        let mut header = false;
        for row in &self.rows {
            let Value::Object(mut record) = self.row_value(row) else { continue };
            record.entry("why").or_insert(Value::Null);
            let why = record.shift_remove("why").unwrap_or_default();
            record.insert("why".to_string(), why);
            record.insert("slice".to_string(), json!(slice_text(&self.plan, &row.slice)));
            if !header {
                header = out.write_record(record.keys()).is_ok();
            }
            let cells = record.values().map(|value| match value {
                Value::Null => String::new(),
                Value::String(text) => text.clone(),
                other => other.to_string(),
            });
            // Writing into memory does not fail.
            let _ = out.write_record(cells);
        }
        out.into_inner().ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
    }

    pub(crate) fn experiment(&self, row: &ResultRow) -> &str {
        self.plan.experiments.get(row.experiment).map_or("", |experiment| &experiment.name)
    }

    pub(crate) fn head(&self, row: &ResultRow) -> &str {
        self.plan.heads.get(row.head).map_or("", |head| &head.name)
    }

    pub(crate) fn metric(&self, row: &ResultRow) -> String {
        self.plan.metrics.get(row.metric).map_or_else(String::new, |(metric, _)| metric.id().to_string())
    }
}
