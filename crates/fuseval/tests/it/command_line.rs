//! The binary beyond single messages: run directories, predictions, formats that agree, and the README's run file.

use std::path::Path;

use fuseval::RunFile;
use serde_json::Value;

use crate::common::{fuseval, root, testdata};

fn write_run_file(folder: &Path, more: &str) {
    let text = format!(
        "data: {{path: {}, segment: [user_id, date], carryover: [row_id]}}\n\
         model: {{path: {}, backend: embedded}}\n\
         heads:\n  pCTR: {{label: is_click, kind: probability}}\n  pOCTR: {{label: profile_enter, kind: probability}}\n\
         metrics: [roc_auc, precision@5]\n\
         experiments:\n  - permute: {{features: [hour, video_rate]}}\n{more}",
        testdata("kuairand/clustered.parquet").display(),
        testdata("kuairand/models/multi_head.onnx").display()
    );
    std::fs::write(folder.join("eval.yaml"), text).unwrap();
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn a_run_leaves_its_directory_and_a_second_one_takes_its_place() {
    let folder = tempfile::tempdir().unwrap();
    write_run_file(folder.path(), "");
    for _ in 0..2 {
        let output = fuseval(folder.path(), &["run", "eval.yaml"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(names(&folder.path().join("runs")), ["eval"]);
        assert_eq!(names(&folder.path().join("runs/eval")), ["results.json", "results.parquet"]);
    }
    let printed = fuseval(folder.path(), &["run", "eval.yaml", "--format", "json", "--quiet"]);
    assert!(printed.stderr.is_empty());
    let printed: Value = serde_json::from_slice(&printed.stdout).unwrap();
    let written: Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("runs/eval/results.json")).unwrap()).unwrap();
    assert_eq!(printed, written);
    assert_eq!(written["results"].as_array().unwrap().len(), 3 * 2 * 2);
    assert_eq!(written["run"]["rows"], 6112);
    assert_eq!(written["run"]["segments"], 1379);
    let records = fuseval(
        folder.path(),
        &[
            "score",
            "runs/eval/results.parquet",
            "--label",
            "n",
            "--score",
            "value",
            "-m",
            "mae",
            "--format",
            "json",
            "--filter",
            "experiment = 'baseline' AND slice IS NULL",
        ],
    );
    let records: Value = serde_json::from_slice(&records.stdout).unwrap();
    assert_eq!(records["run"]["rows"], 4);
    assert_eq!(written["results"][4]["experiment"], "permute:hour");
    let value = |place: usize| written["results"][place]["value"].as_f64().unwrap();
    assert_eq!(written["results"][4]["delta"].as_f64().unwrap(), value(4) - value(0));
}

#[test]
fn predictions_are_written_only_when_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    write_run_file(folder.path(), "");
    let output =
        fuseval(folder.path(), &["run", "eval.yaml", "--set", "output.predictions=true", "--set", "output.dir=out"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(names(&folder.path().join("out")), ["predictions.parquet", "results.json", "results.parquet"]);
    let check = |arguments: &[&str]| {
        let output = fuseval(folder.path(), arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        json["run"]["rows"].as_u64().unwrap()
    };
    let score = [
        "score",
        "out/predictions.parquet",
        "--label",
        "pOCTR",
        "--score",
        "pCTR",
        "-m",
        "mae",
        "--format",
        "json",
        "--filter",
    ];
    for experiment in ["baseline", "permute:hour", "permute:video_rate"] {
        let filter = format!("experiment = '{experiment}' AND row_id IS NOT NULL");
        assert_eq!(check(&[&score[..], &[&filter]].concat()), 6112);
    }
}

#[test]
fn a_failed_run_leaves_a_former_result_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    write_run_file(folder.path(), "");
    assert!(fuseval(folder.path(), &["run", "eval.yaml"]).status.success());
    let before = std::fs::read(folder.path().join("runs/eval/results.json")).unwrap();
    let failed = fuseval(folder.path(), &["run", "eval.yaml", "--set", "data.filter=is_click > 5"]);
    assert_eq!(failed.status.code(), Some(3));
    assert_eq!(std::fs::read(folder.path().join("runs/eval/results.json")).unwrap(), before);
    assert_eq!(names(&folder.path().join("runs")), ["eval"]);
}

#[test]
fn the_seed_changes_the_experiments_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    write_run_file(folder.path(), "");
    let run = |seed: &str| {
        let output = fuseval(folder.path(), &["run", "eval.yaml", "--format", "json", "--quiet", "--seed", seed]);
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(json["run"]["seed"].to_string(), seed);
        json["results"].as_array().unwrap().clone()
    };
    let (first, second) = (run("1"), run("2"));
    assert_eq!(first[..4], second[..4]);
    assert_ne!(first[4..], second[4..]);
}

#[test]
fn the_run_file_of_the_readme_is_one() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let (_, rest) = readme.split_once("```yaml\n").unwrap();
    let (text, _) = rest.split_once("```").unwrap();
    let run_file = RunFile::parse(text, &[]).unwrap();
    assert_eq!(run_file.heads.len(), 3);
    assert_eq!(run_file.experiments.len(), 3);
    assert_eq!(run_file.metrics.len(), 4);
}

#[test]
fn the_score_command_of_the_readme_works() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let (_, rest) = readme.split_once("```\nfuseval score").unwrap();
    let (command, _) = rest.split_once("```").unwrap();
    let command = format!("score{}", command.replace("\\\n", " "));
    // The only argument with a blank in it stands in quotes.
    let mut arguments: Vec<&str> = Vec::new();
    for (place, part) in command.split('"').enumerate() {
        if place % 2 == 1 {
            arguments.push(part);
        } else {
            arguments.extend(part.split_whitespace());
        }
    }
    let output = fuseval(&root(), &arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains("duration_log > 3"));
}
