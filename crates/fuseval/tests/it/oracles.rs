//! Every reference value of `testdata/oracles.json`: numbers that other people's tools computed on the same columns.

use std::collections::BTreeMap;

use fuseval::Options;
use serde_json::{Value, json};

use crate::common::{evaluated, results, testdata};

/// The run file of an entry, without its metric: entries that agree in it are evaluated together.
fn asked(entry: &Value) -> Value {
    let mut head = json!({"score": entry["score"], "label": entry["label"], "kind": entry["kind"]});
    for key in ["weight", "positive", "label_threshold"] {
        if !entry[key].is_null() {
            head[key] = entry[key].clone();
        }
    }
    let mut data = json!({"path": testdata(entry["file"].as_str().unwrap()), "segment": entry["segment"]});
    if !entry["filter"].is_null() {
        data["filter"] = entry["filter"].clone();
    }
    json!({"data": data, "heads": {"head": head}})
}

#[test]
fn every_reference_value_is_met() {
    let text = std::fs::read_to_string(testdata("oracles.json")).unwrap();
    let entries: Vec<Value> = serde_json::from_str(&text).unwrap();
    let mut groups: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
    for entry in &entries {
        groups.entry(asked(entry).to_string()).or_default().push(entry);
    }
    let (mut checked, mut wrong) = (0, Vec::new());
    for (asked, entries) in groups {
        let mut run_file: Value = serde_json::from_str(&asked).unwrap();
        let mut metrics: Vec<&str> = entries.iter().map(|entry| entry["metric"].as_str().unwrap()).collect();
        metrics.sort_unstable();
        metrics.dedup();
        run_file["metrics"] = json!(metrics);
        let options = Options { bucket_rows: 1000, ..Options::default() };
        let found = results(&evaluated(&run_file, &options).unwrap_or_else(|error| panic!("{asked}: {error}")));
        for entry in entries {
            let record = found.iter().find(|record| record["metric"] == entry["metric"]).unwrap();
            let n_agrees = entry["n"].is_null() || entry["n"] == record["n"];
            let agrees = match (record["value"].as_f64(), entry["value"].as_f64()) {
                (Some(ours), Some(theirs)) => {
                    (ours - theirs).abs() <= entry["tolerance"].as_f64().unwrap() * theirs.abs()
                }
                (ours, theirs) => ours == theirs,
            };
            checked += 1;
            if !(agrees && n_agrees) {
                wrong.push(format!("{entry}\n  found {} with n {}", record["value"], record["n"]));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {checked} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(checked > 900, "only {checked} reference values");
}
