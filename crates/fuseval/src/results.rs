//! The results as data: `results.json`, and one record per number for tables and CSV.

use std::io::Write;

use fuseval_core::{Outcome, Slice};
use fuseval_engine::ResultRow;
use fuseval_engine::plan::{Plan, SliceDefinition};
use serde::ser::{Serialize, SerializeMap, Serializer};
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

/// As in `results.json`; the record of a number is made when it is written, since there may be hundreds of thousands.
impl Serialize for Evaluation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let facts = &self.facts;
        let missing: Map<String, Value> =
            facts.missing.iter().map(|(feature, rows)| (feature.clone(), json!(rows))).collect();
        let mut map = serializer.serialize_map(Some(4))?;
        map.serialize_entry("fuseval", env!("CARGO_PKG_VERSION"))?;
        map.serialize_entry("plan", &self.fingerprint)?;
        map.serialize_entry(
            "run",
            &json!({
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
                "resumed_buckets": facts.resumed_buckets,
                "clustered": facts.clustered,
                "missing_features": missing,
                "order_dependent": self.order_dependent(),
            }),
        )?;
        map.serialize_entry("results", &Rows(self))?;
        map.end()
    }
}

/// The numbers of an evaluation.
struct Rows<'a>(&'a Evaluation);

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.rows.iter().map(|row| self.0.row_value(row)))
    }
}

impl Evaluation {
    /// The content of `results.json`.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Writes the content of `results.json`.
    pub(crate) fn write_json(&self, out: &mut dyn Write) -> std::io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        out.write_all(b"\n")
    }

    fn row_value(&self, row: &ResultRow) -> Value {
        let mut out = Map::new();
        let mut put = |name: &str, value: Value| out.insert(name.to_string(), value);
        put("experiment", json!(self.experiment(row)));
        put("head", json!(self.head(row)));
        put("slice", slice(&self.plan, &row.slice));
        put("metric", json!(self.metric(row)));
        put("value", optional(row.value.outcome.number()));
        match &row.value.outcome {
            Outcome::Undefined(why) => put("why", json!(why)),
            Outcome::Curve(curve) => {
                let points: Vec<Value> =
                    curve.points.iter().map(|point| point.iter().map(|value| number(*value)).collect()).collect();
                put("curve", json!({"columns": curve.columns, "points": points}))
            }
            Outcome::Number(_) => None,
        };
        let interval = row.interval.as_ref().ok();
        put("low", optional(interval.map(|interval| interval.low)));
        put("high", optional(interval.map(|interval| interval.high)));
        if let (Err(why), Outcome::Number(_)) = (&row.interval, &row.value.outcome) {
            put("why_no_interval", json!(why));
        }
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
        let difference = row.difference.as_ref().ok();
        put("delta_low", optional(difference.map(|difference| difference.interval.low)));
        put("delta_high", optional(difference.map(|difference| difference.interval.high)));
        put("p", optional(difference.map(|difference| difference.p)));
        put("p_adjusted", optional(row.p_adjusted));
        Value::Object(out)
    }

    /// One line per number, with every field of `results.json`.
    pub(crate) fn to_csv(&self) -> String {
        let mut out = csv::Writer::from_writer(Vec::new());
        let mut header = false;
        for row in &self.rows {
            let Value::Object(mut record) = self.row_value(row) else { continue };
            for name in ["why", "why_no_interval", "curve"] {
                let value = record.shift_remove(name).unwrap_or_default();
                record.insert(name.to_string(), value);
            }
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

    /// The points of a curve as JSON.
    pub(crate) fn curve(&self, row: &ResultRow) -> Option<String> {
        match self.row_value(row) {
            Value::Object(mut record) => record.shift_remove("curve").map(|curve| curve.to_string()),
            _ => None,
        }
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
