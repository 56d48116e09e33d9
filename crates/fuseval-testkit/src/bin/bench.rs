//! fuseval's part in `bench/peers.py`: one task on data that is there, timed, as one line of JSON.
//!
//! `bench TASK --data DIR --repeats N --threads N`; `bench/dataset.py` describes the files of DIR.

use std::path::{Path, PathBuf};
use std::time::Instant;

use fuseval::arrays::{Arrays, Column};
use fuseval::{Options, RunFile, evaluate};
use fuseval_core::ScoreKind;
use serde_json::{Map, Value, json};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let task = arguments.next().expect("a task");
    let (mut data, mut repeats, mut threads) = (PathBuf::from("bench/data"), 5, 2);
    while let (Some(name), Some(value)) = (arguments.next(), arguments.next()) {
        match name.as_str() {
            "--data" => data = PathBuf::from(value),
            "--repeats" => repeats = value.parse().expect("a number of repeats"),
            "--threads" => threads = value.parse().expect("a number of threads"),
            _ => panic!("no option {name}"),
        }
    }
    let run = task_of(&task, &data, threads);
    // Once to warm up, as every tool is.
    let value = run();
    let (mut wall, mut cpu) = (Vec::new(), Vec::new());
    for _ in 0..repeats {
        let (started, cpu_before) = (Instant::now(), cpu_seconds());
        run();
        wall.push(started.elapsed().as_secs_f64());
        cpu.push(cpu_seconds() - cpu_before);
    }
    println!("{}", json!({"task": task, "tool": "fuseval", "wall_s": wall, "cpu_s": cpu, "value": value}));
}

/// User and system time of the process; Linux counts them in hundredths of a second.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = after_name.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<f64>().ok());
    ticks.sum::<f64>() / 100.0
}

type Task = Box<dyn Fn() -> Value>;

fn task_of(task: &str, data: &Path, threads: usize) -> Task {
    match task {
        "roc_auc_exact" => in_memory("pointwise", "roc_auc[mode=exact]", data, threads),
        "roc_auc_histogram" => in_memory("pointwise", "roc_auc[mode=histogram]", data, threads),
        "pointwise4" => in_memory("pointwise", "log_loss,mae,rmse,calibration", data, threads),
        "ranking4" => in_memory("segments", "precision@10,ndcg@10,mrr,map", data, threads),
        "parquet3" => from_parquet("roc_auc,log_loss,ndcg@10", false, data, threads),
        "parquet3_intervals" => from_parquet("roc_auc,log_loss,ndcg@10", true, data, threads),
        "parquet3_intervals_more" => from_parquet("roc_auc,log_loss,ndcg@10,pr_auc,ks,ece", true, data, threads),
        _ => panic!("no task {task}"),
    }
}

fn in_memory(table: &str, metrics: &'static str, data: &Path, threads: usize) -> Task {
    let read = |name: &str| std::fs::read(data.join(format!("{table}.{name}"))).expect("a file of the data");
    let scores: Vec<f32> = read("scores.f32").as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    let labels: Vec<i8> = read("labels.i8").iter().map(|byte| *byte as i8).collect();
    let segments: Vec<usize> = if table == "segments" {
        read("offsets.i64").as_chunks().0.iter().map(|bytes| i64::from_le_bytes(*bytes) as usize).collect()
    } else {
        Vec::new()
    };
    Box::new(move || {
        let arrays = Arrays {
            labels: Column::I8(&labels),
            scores: Column::F32(&scores),
            weights: None,
            segments: &segments,
            kind: ScoreKind::Probability,
        };
        let values = fuseval::evaluate_arrays(metrics, &arrays, threads).expect("values");
        let mut record = Map::new();
        for (name, value) in values {
            let bare = name.split('[').next().unwrap_or_default().to_string();
            if value.error_bound > 0.0 {
                record.insert("error_bound".to_string(), json!(value.error_bound));
            }
            record.insert(bare, json!(value.outcome.number()));
        }
        Value::Object(record)
    })
}

fn from_parquet(metrics: &str, intervals: bool, data: &Path, threads: usize) -> Task {
    let run_file = json!({
        "data": {"path": data.join("segments.parquet"), "segment": "request_id"},
        "heads": {"score": {"label": "label", "kind": "probability"}},
        "metrics": [metrics],
        "interval": intervals,
    });
    let run_file = RunFile::parse(&run_file.to_string(), &[]).expect("a run file");
    let options = Options { threads, ..Options::default() };
    Box::new(move || {
        let evaluation = evaluate(&run_file, &options).expect("an evaluation");
        let results: Value = serde_json::from_str(&evaluation.to_json()).expect("the results as JSON");
        let rows = results["results"].as_array().cloned().unwrap_or_default();
        let pairs =
            rows.iter().map(|row| (row["metric"].as_str().unwrap_or_default().to_string(), row["value"].clone()));
        Value::Object(pairs.collect())
    })
}
