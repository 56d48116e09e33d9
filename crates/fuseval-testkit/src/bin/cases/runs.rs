//! Runs of fuseval: its command line as a process of its own, and its library.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use fuseval::{Options, RunFile};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Map, Value, json};

use crate::answers::{Outcome, experiment_name};
use crate::vocabulary::Asked;

type Result<T> = std::result::Result<T, String>;

/// Where data were written, and how they are to be read.
pub struct Site {
    /// How messages call it.
    pub name: String,
    pub folder: PathBuf,
    /// Types of CSV columns.
    pub types: Vec<(String, String)>,
    /// Columns of CSV that are float32.
    pub narrow: Vec<String>,
    /// The output of the model beside the data, where there is a model.
    pub model: Option<String>,
}

/// The folder of the data within a site.
pub const DATA: &str = "in";
pub const MODEL: &str = "model.onnx";

/// How fuseval is run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Way {
    CommandLine,
    Library,
}

/// What changes no value.
#[derive(Debug, Clone, Copy, Default)]
pub struct Machine {
    pub threads: Option<usize>,
    pub bucket_rows: Option<usize>,
}

/// Runs what is asked.
pub fn run(site: &Site, asked: &Asked, way: Way, machine: Machine) -> Result<Outcome> {
    let asked = &adapted(site, asked);
    match way {
        Way::CommandLine => command_line(site, asked, machine),
        Way::Library => library(site, asked, machine),
    }
}

/// With what the format of the site needs.
fn adapted(site: &Site, asked: &Asked) -> Asked {
    let mut asked = asked.clone();
    asked.types.extend(site.types.iter().cloned());
    for column in &site.narrow {
        let name = format!("{column}_narrow");
        let mut used = false;
        for head in &mut asked.heads {
            for own in [Some(&mut head.score), Some(&mut head.label), head.weight.as_mut()].into_iter().flatten() {
                if own == column {
                    own.clone_from(&name);
                    used = true;
                }
            }
        }
        if used {
            asked.derive.push((name, format!("CAST(\"{column}\" AS FLOAT)")));
        }
    }
    asked
}

/// The run file.
fn run_file(site: &Site, asked: &Asked) -> Value {
    let pairs = |pairs: &[(String, String)]| -> Map<String, Value> {
        pairs.iter().map(|(name, value)| (name.clone(), json!(value))).collect()
    };
    let mut data = json!({"path": DATA, "derive": pairs(&asked.derive), "types": pairs(&asked.types)});
    data["segment"] = json!(asked.segment.iter().collect::<Vec<_>>());
    data["explode"] = json!(asked.explode);
    if let Some(item) = &asked.item {
        data["item"] = json!(item);
    }
    let mut heads = Map::new();
    for head in &asked.heads {
        let score = site.model.as_ref().unwrap_or(&head.score);
        let mut block = json!({"score": score, "label": head.label, "kind": head.kind});
        if let Some(weight) = &head.weight {
            block["weight"] = json!(weight);
        }
        if let Some(positive) = &head.positive {
            block["positive"] = json!(positive);
        }
        if let Some(threshold) = head.label_threshold {
            block["label_threshold"] = json!(threshold);
        }
        heads.insert(head.name.clone(), block);
    }
    let experiments = asked.experiments.iter().map(|experiment| {
        let together = experiment.features.len() > 1;
        let mut permute = json!({"features": experiment.features, "together": together, "repeats": experiment.repeats});
        if let Some(seed) = experiment.seed {
            permute["seed"] = json!(seed);
        }
        permute["name"] = json!(experiment_name(&experiment.features));
        json!({"permute": permute})
    });
    let mut file = json!({
        "data": data,
        "heads": heads,
        "metrics": asked.metrics,
        "experiments": experiments.collect::<Vec<_>>(),
        "on_invalid": if asked.drops_invalid { "drop" } else { "error" },
        "output": {"dir": "out", "predictions": asked.predicts},
    });
    if !asked.slice.is_empty() {
        file["slices"] = json!([asked.slice]);
    }
    if site.model.is_some() {
        file["model"] = json!({"path": MODEL});
    }
    file
}

fn library(site: &Site, asked: &Asked, machine: Machine) -> Result<Outcome> {
    let refused = |error: fuseval::Error| Outcome::Refused {
        code: i32::from(error.kind().exit_code()),
        message: without_folder(&error.to_string(), &site.folder),
    };
    let mut file = match RunFile::parse(&run_file(site, asked).to_string(), &[]) {
        Ok(file) => file,
        Err(error) => return Ok(refused(error)),
    };
    file.base = site.folder.clone();
    let default = Options::default();
    let predictions = asked.predicts.then(|| site.folder.join("library.parquet"));
    let options = Options {
        threads: machine.threads.unwrap_or(default.threads),
        bucket_rows: machine.bucket_rows.unwrap_or(default.bucket_rows),
        predictions: predictions.clone(),
        ..default
    };
    match fuseval::evaluate(&file, &options) {
        Ok(evaluation) => done(&evaluation.to_json(), predictions.as_deref(), asked),
        Err(error) => Ok(refused(error)),
    }
}

fn without_folder(message: &str, folder: &Path) -> String {
    message.replace(&format!("{}/", folder.display()), "").replace(&folder.display().to_string(), "")
}

fn command_line(site: &Site, asked: &Asked, machine: Machine) -> Result<Outcome> {
    let mut arguments = match (asked.heads.as_slice(), asked.predicts, site.model.is_some()) {
        ([_], false, false) if asked.experiments.is_empty() => score(asked),
        _ => {
            let text = serde_json::to_string_pretty(&run_file(site, asked)).map_err(|error| error.to_string())?;
            std::fs::write(site.folder.join("eval.yaml"), text).map_err(|error| error.to_string())?;
            vec!["run".to_string(), "eval.yaml".to_string()]
        }
    };
    arguments.extend(["--format=json".to_string(), "--quiet".to_string()]);
    arguments.extend(machine.threads.map(|threads| format!("--threads={threads}")));
    arguments.extend(machine.bucket_rows.map(|rows| format!("--bucket-rows={rows}")));
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new(this).arg("fuseval").args(&arguments).current_dir(&site.folder).output();
    let output = output.map_err(|error| error.to_string())?;
    let (printed, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    match output.status.code() {
        Some(0) => {
            let predictions = asked.predicts.then(|| site.folder.join("out/predictions.parquet"));
            done(&printed, predictions.as_deref(), asked)
        }
        Some(code) if printed.is_empty() => Ok(Outcome::Refused { code, message: said.into_owned() }),
        Some(code) => Err(format!("results on standard output although the exit code is {code}")),
        None => Err(format!("the process was killed; {said}")),
    }
}

/// The arguments of `fuseval score`.
fn score(asked: &Asked) -> Vec<String> {
    let mut arguments = vec!["score".to_string(), DATA.to_string()];
    let mut put = |name: &str, value: &str| arguments.push(format!("--{name}={value}"));
    for head in &asked.heads {
        put("label", &head.label);
        put("score", &head.score);
        put("kind", head.kind);
        head.weight.iter().for_each(|weight| put("weight", weight));
        head.positive.iter().for_each(|positive| put("positive", positive));
        head.label_threshold.iter().for_each(|threshold| put("label-threshold", &threshold.to_string()));
    }
    asked.segment.iter().for_each(|segment| put("segment", segment));
    asked.item.iter().for_each(|item| put("item", item));
    if !asked.explode.is_empty() {
        put("explode", &asked.explode.join(","));
    }
    if !asked.slice.is_empty() {
        put("slice", &asked.slice.join(","));
    }
    if asked.drops_invalid {
        put("on-invalid", "drop");
    }
    for (name, sql) in &asked.derive {
        put("set", &format!("data.derive.{name}={}", json!(sql)));
    }
    for (name, word) in &asked.types {
        put("set", &format!("data.types.{name}={word}"));
    }
    put("metrics", &asked.metrics.join(","));
    arguments
}

fn done(text: &str, predictions: Option<&Path>, asked: &Asked) -> Result<Outcome> {
    let mut tree: Value = serde_json::from_str(text).map_err(|error| format!("the results are no JSON: {error}"))?;
    let Some(Value::Array(results)) = tree.get_mut("results").map(Value::take) else {
        return Err("no `results`".to_string());
    };
    let predictions = match predictions {
        None => Vec::new(),
        Some(path) => scores(path, asked)?,
    };
    Ok(Outcome::Done { results, run: tree.get("run").cloned().unwrap_or_default(), predictions })
}

/// The scores of the baseline in a file of predictions.
fn scores(path: &Path, asked: &Asked) -> Result<Vec<f64>> {
    let file = File::open(path).map_err(|error| format!("no predictions: {error}"))?;
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).and_then(|builder| builder.build());
    let head = asked.heads.first().map_or("", |head| head.name.as_str());
    let mut all = Vec::new();
    for batch in reader.map_err(|error| error.to_string())? {
        let batch = batch.map_err(|error| error.to_string())?;
        let (Some(scores), Some(experiments)) = (batch.column_by_name(head), batch.column_by_name("experiment")) else {
            return Err(format!("no columns `{head}` and `experiment` in the predictions"));
        };
        let rows = scores.as_primitive::<Float64Type>().iter().zip(experiments.as_string::<i32>());
        all.extend(rows.filter(|(_, experiment)| *experiment == Some("baseline")).filter_map(|(score, _)| score));
    }
    Ok(all)
}
