//! Shards on any number of machines, merged: the results of one process, or the reason why they do not belong together.

use std::path::Path;

use serde_json::Value;

use crate::common::{fuseval, testdata};

fn run_file(folder: &Path, path: &str, more: &str) {
    let text = format!(
        "data: {{path: {}, segment: [user_id, date], filter: \"hour > 3\"{more}}}\n\
         model: {{path: {}, backend: embedded}}\n\
         heads:\n  pCTR: {{label: is_click, kind: probability}}\n  pGCTR30: {{label: good_click30, kind: probability, mask: \"is_click = 1\"}}\n\
         metrics: [roc_auc, pr_auc, log_loss, \"ndcg@5\", gauc, \"top_k_overlap@3\"]\n\
         slices: [date, \"duration_log > 3\"]\n\
         experiments:\n  - permute: {{features: [hour, video_rate]}}\n  - fill: {{feature: user_rate, with: mean}}\n",
        testdata(path).display(),
        testdata("kuairand/models/multi_head.onnx").display(),
    );
    std::fs::write(folder.join("eval.yaml"), text).unwrap();
}

fn ran(folder: &Path, arguments: &[&str]) -> Value {
    let output = fuseval(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap_or_default()
}

fn shard(folder: &Path, shard: &str, to: &str, more: &[&str]) {
    ran(folder, &[&["run", "eval.yaml", "--shard", shard, "--partials", to, "--quiet"], more].concat());
}

fn partials(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".partial"))
        .collect();
    names.sort();
    names
}

fn merged(folder: &Path, partials: &[String]) -> Value {
    let partials: Vec<&str> = partials.iter().map(String::as_str).collect();
    ran(folder, &[&["merge", "--format", "json", "--quiet"], &partials[..]].concat())
}

/// The exit code and what is said.
fn refused(folder: &Path, partials: &[&str]) -> String {
    let output = fuseval(folder, &[&["merge"], partials].concat());
    assert_eq!(output.status.code(), Some(5), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn shards_merge_to_the_results_of_one_process() {
    let folder = tempfile::tempdir().unwrap();
    run_file(folder.path(), "kuairand/clustered.parquet", "");
    let whole = ran(folder.path(), &["run", "eval.yaml", "--format", "json", "--quiet"]);
    for shards in [1, 2, 5, 13] {
        let to = format!("parts{shards}");
        for place in 0..shards {
            let bucket_rows = ["50", "100000"][place % 2];
            shard(folder.path(), &format!("{place}/{shards}"), &to, &["--bucket-rows", bucket_rows]);
        }
        let mut files = partials(&folder.path().join(&to));
        assert_eq!(files.len(), shards);
        files.reverse();
        let found = merged(folder.path(), &files);
        assert_eq!(found["results"], whole["results"], "{shards} shards");
        for fact in ["rows", "segments"] {
            assert_eq!(found["run"][fact], whole["run"][fact], "{shards} shards");
        }
    }
    // Into a run directory, which then prints the same.
    let files = partials(&folder.path().join("parts2"));
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    ran(folder.path(), &[&["merge", "--output", "out", "--format", "json"], &files[..]].concat());
    let stored = ran(folder.path(), &["run", "--resume", "out", "--format", "json", "--quiet"]);
    assert_eq!(stored["results"], whole["results"]);
}

#[test]
fn more_shards_than_rows_leave_empty_ones() {
    let folder = tempfile::tempdir().unwrap();
    let rows = "request,label,score\na,1,0.5\na,0,0.25\nb,1,0.75\n";
    std::fs::write(folder.path().join("d.csv"), rows).unwrap();
    let score =
        ["score", "d.csv", "--label", "label", "--score", "score", "--segment", "request", "-m", "mrr,mae", "--quiet"];
    for place in 0..7 {
        ran(folder.path(), &[&score[..], &["--shard", &format!("{place}/7"), "--partials", "p"]].concat());
    }
    let whole = ran(folder.path(), &[&score[..], &["--format", "json"]].concat());
    assert_eq!(merged(folder.path(), &partials(&folder.path().join("p")))["results"], whole["results"]);
}

#[test]
fn scattered_segments_are_dealt_out_by_key() {
    let folder = tempfile::tempdir().unwrap();
    run_file(folder.path(), "kuairand/clustered.parquet", "");
    let whole = ran(folder.path(), &["run", "eval.yaml", "--format", "json", "--quiet"]);
    let without = |results: &Value| -> Vec<Value> {
        // A permutation follows the place of a row, which is another one in another order.
        let all = results["results"].as_array().unwrap().iter();
        let mut all: Vec<Value> =
            all.filter(|row| !row["experiment"].as_str().unwrap().starts_with("permute")).cloned().collect();
        // Adjusted over the permutations too.
        all.iter_mut().for_each(|row| row["p_adjusted"] = Value::Null);
        all
    };
    crate::clustered::scatter(&testdata("kuairand/clustered.parquet"), &folder.path().join("scattered.parquet"));
    let text = std::fs::read_to_string(folder.path().join("eval.yaml")).unwrap();
    let path = testdata("kuairand/clustered.parquet").display().to_string();
    std::fs::write(folder.path().join("eval.yaml"), text.replace(&path, "scattered.parquet")).unwrap();
    let scattered = ran(folder.path(), &["run", "eval.yaml", "--format", "json", "--quiet"]);
    assert_eq!(without(&scattered), without(&whole));
    for place in 0..3 {
        shard(folder.path(), &format!("{place}/3"), "p", &[]);
    }
    assert_eq!(merged(folder.path(), &partials(&folder.path().join("p")))["results"], scattered["results"]);
    // Declared to be whole they are not; shards by place would cut them, and the merge says so.
    for place in 0..3 {
        let more = ["--set", "data.clustered=yes", "--set", "metrics=[log_loss]"];
        shard(folder.path(), &format!("{place}/3"), "rows", &more);
    }
    let rows = merged(folder.path(), &partials(&folder.path().join("rows")));
    assert_eq!(rows["run"]["segments"], whole["run"]["segments"], "a segment of several shards counts once");
}

#[test]
fn a_segment_in_two_shards_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..60).map(|row| format!("{},{},0.{}\n", row % 30 / 3, row % 2, row % 7)).collect();
    std::fs::write(folder.path().join("d.csv"), format!("request,label,score\n{rows}")).unwrap();
    let score =
        ["score", "d.csv", "--label", "label", "--score", "score", "--segment", "request", "-m", "mrr", "--quiet"];
    for place in 0..2 {
        let more = ["--shard", &format!("{place}/2"), "--partials", "p", "--set", "data.clustered=yes"];
        ran(folder.path(), &[&score[..], &more].concat());
    }
    let said = refused(folder.path(), &["p/shard-0-of-2.partial", "p/shard-1-of-2.partial"]);
    assert!(said.contains("one that is in p/shard-0-of-2.partial and in p/shard-1-of-2.partial"), "{said}");
}

#[test]
fn missing_doubled_foreign_and_damaged_partials_are_named() {
    let folder = tempfile::tempdir().unwrap();
    run_file(folder.path(), "kuairand/clustered.parquet", "");
    for place in 0..3 {
        shard(folder.path(), &format!("{place}/3"), "p", &[]);
        shard(folder.path(), &format!("{place}/3"), "other", &["--seed", "1"]);
    }
    let part = |place: usize| format!("p/shard-{place}-of-3.partial");
    let said = refused(folder.path(), &[&part(0), &part(2)]);
    assert!(said.contains("none of 1/3"), "{said}");
    let said = refused(folder.path(), &[&part(0), &part(1), &part(1), &part(2)]);
    assert!(said.contains("shard 1/3 twice"), "{said}");
    let said = refused(folder.path(), &[&part(0), "other/shard-1-of-3.partial", &part(2)]);
    assert!(said.contains("the plan of p/shard-0-of-3.partial"), "{said}");
    let said = refused(folder.path(), &[&part(0), "eval.yaml"]);
    assert!(said.contains("the file of a partial"), "{said}");
    let bytes = std::fs::read(folder.path().join(part(1))).unwrap();
    let mut rng = fuseval_core::random::KeyedRng::new(6, &["damage"]);
    for round in 0..60 {
        let place = rng.below(bytes.len() as u64) as usize;
        let mut damaged = bytes.clone();
        if round % 2 == 0 {
            damaged.truncate(place);
        } else {
            damaged[place] ^= 1 << rng.below(8);
        }
        std::fs::write(folder.path().join("damaged.partial"), damaged).unwrap();
        refused(folder.path(), &[&part(0), "damaged.partial", &part(2)]);
    }
}

#[test]
fn shards_of_trec_files_count_each_row_once() {
    let folder = tempfile::tempdir().unwrap();
    let (qrels, run) = (testdata("trec_eval/qrels.test"), testdata("trec_eval/results.test"));
    let (qrels, run) = (qrels.display().to_string(), run.display().to_string());
    let score = ["score", "--trec-qrels", &qrels, "--trec-run", &run, "-m", "map,ndcg@10", "--quiet"];
    let whole = ran(folder.path(), &[&score[..], &["--format", "json"]].concat());
    for clustered in ["auto", "no"] {
        for place in 0..3 {
            let set = format!("data.clustered={clustered}");
            let more = ["--set", &set, "--shard", &format!("{place}/3"), "--partials", clustered];
            ran(folder.path(), &[&score[..], &more].concat());
        }
        let found = merged(folder.path(), &partials(&folder.path().join(clustered)));
        assert_eq!(found["results"], whole["results"], "{clustered}");
        assert_eq!(found["run"]["rows"], whole["run"]["rows"], "{clustered}");
    }
}
