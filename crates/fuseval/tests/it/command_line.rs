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
        assert_eq!(names(&folder.path().join("runs/eval")), ["results.json", "results.parquet", "run.partial"]);
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
    assert_eq!(
        names(&folder.path().join("out")),
        ["predictions.parquet", "results.json", "results.parquet", "run.partial"]
    );
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

/// Forty requests of four rows, two of them relevant.
fn write_scores(folder: &Path) {
    let mut text = "request,label,score,a|b\n".to_string();
    for row in 0..160 {
        text.push_str(&format!("r{},{},{},x\n", row / 4, row % 2, f64::from(row * 7 % 10) / 10.0));
    }
    std::fs::write(folder.join("scores.csv"), text).unwrap();
}

const SCORE: [&str; 8] = ["score", "scores.csv", "--label", "label", "--score", "score", "--segment", "request"];

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn segments_on_standard_output_are_alone_there() {
    let folder = tempfile::tempdir().unwrap();
    write_scores(folder.path());
    let asked = |more: &[&str]| {
        let output = fuseval(folder.path(), &[&SCORE[..], &["-m", "mrr", "--per-segment"], more].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        (text(&output.stdout), text(&output.stderr))
    };
    let (segments, results) = asked(&[]);
    let mut reader = csv::Reader::from_reader(segments.as_bytes());
    assert_eq!(reader.records().map(Result::unwrap).count(), 40);
    assert!(results.contains("mrr") && results.contains("[ ]: 95 % intervals"), "{results}");
    let (again, results) = asked(&["-", "--format", "json"]);
    assert_eq!(again, segments);
    let json: Value = serde_json::from_str(&results).unwrap();
    assert_eq!(json["results"][0]["metric"], "mrr");
    assert_eq!(asked(&["-", "--quiet"]), (segments, String::new()));
}

#[test]
fn a_table_that_would_be_too_wide_has_one_line_per_number() {
    let folder = tempfile::tempdir().unwrap();
    write_scores(folder.path());
    let printed = |metrics: &str, format: &str| {
        let more = ["-m", metrics, "--slice", "\"a|b\" = 'x' OR 'a|b' = 'y'", "--format", format];
        let output = fuseval(folder.path(), &[&SCORE[..], &more].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let few = printed("count,roc_auc", "table");
    let words = |line: &str| line.split_whitespace().map(str::to_string).collect::<Vec<_>>();
    assert_eq!(words(few.lines().next().unwrap()), ["head", "slice", "rows", "count", "roc_auc"]);
    let many =
        "count,roc_auc,mrr,precision@1,precision@2[denominator=min_k_n],recall@2,ndcg@3,map,hit_rate@2,roc_curve";
    let table = printed(many, "table");
    assert_eq!(words(table.lines().next().unwrap()), ["head", "slice", "metric", "value", "interval", "n"]);
    assert_eq!(words(table.lines().nth(2).unwrap()), ["score", "(all)", "count", "160", "160"]);
    assert!(table.lines().any(|line| line.contains("roc_curve") && line.contains(" points ")), "{table}");
    assert!(table.contains("\npoints of curves: --format json\n"), "{table}");
    assert_eq!(table.lines().filter(|line| line.contains(" roc_auc ")).count(), 2);
    let markdown = printed(many, "markdown");
    let columns = |line: &str| line.replace("\\|", "").matches('|').count();
    let rows: Vec<&str> = markdown.lines().take_while(|line| !line.is_empty()).collect();
    assert!(rows.iter().all(|row| columns(row) == 7), "{markdown}");
    assert_eq!(rows.len(), 2 + 20);
    let notes: Vec<&str> = markdown.lines().skip(rows.len() + 1).collect();
    assert!(!notes.is_empty() && notes.iter().all(|note| note.starts_with("- ")), "{markdown}");
}

#[test]
fn what_numbers_do_not_say_stands_below_them() {
    let folder = tempfile::tempdir().unwrap();
    write_scores(folder.path());
    let rows = ["score", "scores.csv", "--label", "label", "--score", "score", "-m", "mae,flip_rate"];
    let printed = text(&fuseval(folder.path(), &rows).stdout);
    assert!(printed.contains("flip_rate: compares the baseline with itself: there are no experiments\n"), "{printed}");
    let folds = "by leaving out one of 32 folds of rows at a time (name the segment if rows depend on each other)";
    assert!(printed.contains(folds), "{printed}");
}

#[test]
fn trec_files_of_a_run_file_have_topics_as_segments_and_say_which_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    file("qrels", "1 0 a 1\n2 0 a 1\n3 0 a 1\n");
    file("run", "1 Q0 a 1 0.5 x\n1 Q0 b 2 0.5 x\n4 Q0 a 1 0.5 x\n5 Q0 a 1 0.5 x\n");
    let yaml = "data: {trec: {qrels: qrels, run: run}}\nheads: {score: {label: relevance}}\nmetrics: [mrr]\npreset: trec_eval\n";
    file("eval.yaml", yaml);
    let output = fuseval(folder.path(), &["run", "eval.yaml", "--quiet"]);
    let printed = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    // Of two documents with one score the last by name is the first.
    assert!(printed.contains("0.500000"), "{printed}");
    let note =
        "2 topics of the run without judgements and 2 topics of the qrels without retrieved documents are left out\n";
    assert!(printed.contains(note), "{printed}");
    let preset = fuseval(folder.path(), &["run", "eval.yaml", "--set", "preset=trec"]);
    assert!(text(&preset.stderr).contains(" help: write one of them\n"), "{}", text(&preset.stderr));
}

#[test]
fn a_plan_that_does_not_fit_into_memory_is_refused_before_it_is_run() {
    let folder = tempfile::tempdir().unwrap();
    write_run_file(folder.path(), "");
    let output = fuseval(folder.path(), &["run", "eval.yaml", "--memory", "100KiB"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("found --memory 102.4 KB"), "{}", text(&output.stderr));
    assert!(!folder.path().join("runs").exists());
    let explained = fuseval(folder.path(), &["run", "eval.yaml", "--memory", "100KiB", "--explain"]);
    assert!(text(&explained.stdout).contains("does not fit into 102.4 KB"), "{}", text(&explained.stdout));
}

#[test]
fn a_foreign_folder_is_left_alone_whatever_its_name() {
    let folder = tempfile::tempdir().unwrap();
    write_run_file(folder.path(), "");
    let foreign = folder.path().join("books/ledger");
    std::fs::create_dir_all(&foreign).unwrap();
    std::fs::write(foreign.join("2024.csv"), "sum\n1\n").unwrap();
    let output = fuseval(folder.path(), &["run", "eval.yaml", "--set", "output.dir=books"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert_eq!(names(&foreign), ["2024.csv"]);
}
