//! Runs that are killed, stopped or run out of disk, and are taken up again: the same results, and nothing is done twice.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use fuseval_core::random::KeyedRng;
use serde_json::Value;

use crate::common::{fuseval, testdata};

/// The setting that makes every experiment on a bucket a checkpoint.
const AT_ONCE: (&str, &str) = ("FUSEVAL_CHECKPOINT_MS", "0");

fn write_run_file(folder: &Path) {
    let text = format!(
        "data: {{path: {}, segment: [user_id, date], carryover: [row_id]}}\n\
         model: {{path: {}, backend: embedded}}\n\
         heads:\n  pCTR: {{label: is_click, kind: probability}}\n  pOCTR: {{label: profile_enter, kind: probability}}\n\
         metrics: [roc_auc, log_loss, \"ndcg@5\", \"top_k_overlap@3\"]\n\
         slices: [date]\n\
         experiments:\n  - permute: {{features: [hour, video_rate, duration_log]}}\n  - fill: {{feature: user_rate, with: mean}}\n\
         output: {{predictions: true}}\n",
        testdata("kuairand/clustered.parquet").display(),
        testdata("kuairand/models/multi_head.onnx").display(),
    );
    std::fs::write(folder.join("eval.yaml"), text).unwrap();
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fuseval"));
    command.current_dir(folder).args(["run", "eval.yaml", "--bucket-rows", "200", "--format", "json"]);
    command.args(arguments).env(AT_ONCE.0, AT_ONCE.1).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// `results`, and the content of the predictions.
fn outcome(output: &Output, directory: &Path) -> (Value, String) {
    (json(output)["results"].clone(), predictions(directory))
}

/// All predictions as text, in order.
fn predictions(directory: &Path) -> String {
    let file = std::fs::File::open(directory.join("predictions.parquet")).unwrap();
    let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    let mut out = String::new();
    for batch in reader {
        let batch = batch.unwrap();
        let columns: Vec<_> = batch
            .columns()
            .iter()
            .map(|column| arrow_cast::display::ArrayFormatter::try_new(column.as_ref(), &Default::default()).unwrap())
            .collect();
        for row in 0..batch.num_rows() {
            columns.iter().for_each(|column| out.push_str(&format!("{} ", column.value(row))));
        }
    }
    out
}

/// What an undisturbed run gives, and how long it takes.
fn undisturbed(folder: &Path) -> ((Value, String), Duration) {
    let started = Instant::now();
    let output = command(folder, &["--set", "output.dir=whole"]).output().unwrap();
    let time = started.elapsed();
    (outcome(&output, &folder.join("whole")), time)
}

fn killed_after(mut child: Child, delay: Duration) -> bool {
    std::thread::sleep(delay);
    let running = child.try_wait().unwrap().is_none();
    let _ = child.kill();
    child.wait().unwrap();
    running
}

#[test]
fn a_run_that_is_killed_again_and_again_ends_in_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    write_run_file(folder.path());
    let (expected, time) = undisturbed(folder.path());
    let mut rng = KeyedRng::new(4, &["kills"]);
    let (mut kills, mut resumed_buckets, mut round) = (0, 0, 0);
    while kills < 60 {
        round += 1;
        let directory = format!("run{round}");
        // A killed run is taken up and killed again, four times at most, then let be.
        for _ in 0..4 {
            let delay = time.mul_f64(rng.below(1000) as f64 / 1000.0);
            let threads = ["1", "2"][rng.below(2) as usize];
            let mut command = command(folder.path(), &["--resume", &directory, "--threads", threads]);
            // Now and then some work is not recorded yet, while parts of tables are open.
            command.env(AT_ONCE.0, ["0", "20", "60"][rng.below(3) as usize]);
            let child = command.spawn().unwrap();
            kills += u32::from(killed_after(child, delay));
        }
        let output = command(folder.path(), &["--resume", &directory]).output().unwrap();
        assert_eq!(outcome(&output, &folder.path().join(&directory)), expected, "round {round}");
        resumed_buckets += json(&output)["run"]["resumed_buckets"].as_u64().unwrap();
        let mut names: Vec<_> = std::fs::read_dir(folder.path().join(&directory))
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        names.sort();
        assert_eq!(names, ["predictions.parquet", "results.json", "results.parquet", "run.partial"]);
    }
    assert!(resumed_buckets > 0, "no kill left anything behind, in {kills} kills");
}

/// Waits until so many records stand in a ledger.
fn wait_for_records(ledger: &Path, records: usize, child: &mut Child) {
    let lines = || std::fs::read(ledger).map_or(0, |bytes| bytes.iter().filter(|byte| **byte == b'\n').count());
    while lines() <= records {
        assert!(child.try_wait().unwrap().is_none(), "the run ended before so many records were there");
        std::thread::yield_now();
    }
}

/// A run directory of a run that was killed when so many records stood in its ledger.
fn killed_with_records(folder: &Path, directory: &str, records: usize, more: &[&str]) -> PathBuf {
    let place = folder.join(directory).join("ledger");
    let mut child = command(folder, &[&["--resume", directory], more].concat()).spawn().unwrap();
    wait_for_records(&place.join("ledger"), records, &mut child);
    child.kill().unwrap();
    child.wait().unwrap();
    place
}

#[test]
fn work_that_is_recorded_is_not_done_again() {
    let folder = tempfile::tempdir().unwrap();
    write_run_file(folder.path());
    let (expected, _) = undisturbed(folder.path());
    killed_with_records(folder.path(), "run", 40, &[]);
    // Without the run file: the directory knows it.
    let output = fuseval(folder.path(), &["run", "--resume", "run", "--format", "json"]);
    let resumed = json(&output)["run"]["resumed_buckets"].as_u64().unwrap();
    assert!(resumed >= 3, "{resumed}");
    assert_eq!(outcome(&output, &folder.path().join("run")), expected);
    // A finished run is printed, not run.
    let again = fuseval(folder.path(), &["run", "--resume", "run", "--format", "json"]);
    assert_eq!(json(&again), json(&output));
    assert!(text(&again.stderr).contains("the run is done"), "{}", text(&again.stderr));
    let other = fuseval(folder.path(), &["run", "eval.yaml", "--resume", "run", "--set", "seed=3"]);
    assert_eq!(other.status.code(), Some(5));
}

#[test]
fn what_changed_is_named() {
    let folder = tempfile::tempdir().unwrap();
    write_run_file(folder.path());
    let data = folder.path().join("data.parquet");
    std::fs::copy(testdata("kuairand/clustered.parquet"), &data).unwrap();
    let model = folder.path().join("model.onnx");
    std::fs::copy(testdata("kuairand/models/multi_head.onnx"), &model).unwrap();
    let here = ["--set", "data.path=data.parquet", "--set", "model.path=model.onnx"];
    let refused = |arguments: &[&str]| {
        let output = command(folder.path(), &[&here[..], arguments].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(5), "{}", text(&output.stderr));
        text(&output.stderr)
    };
    killed_with_records(folder.path(), "run", 5, &here);
    let said = refused(&["--resume", "run", "--set", "metrics=[roc_auc]"]);
    assert!(said.contains("`metrics`"), "{said}");
    let said = refused(&["--resume", "run", "--seed", "5"]);
    assert!(said.contains("`seed`: 0") && said.contains("found 5"), "{said}");
    let bytes = std::fs::read(&model).unwrap();
    let mut other = bytes.clone();
    // In the middle of the weights.
    other[bytes.len() / 2] ^= 1;
    std::fs::write(&model, other).unwrap();
    let said = refused(&["--resume", "run"]);
    assert!(said.contains("the model model.onnx"), "{said}");
    std::fs::write(&model, bytes).unwrap();
    crate::clustered::scatter(&testdata("kuairand/clustered.parquet"), &data);
    let said = refused(&["--resume", "run"]);
    assert!(said.contains("data.parquet"), "{said}");
}

#[test]
fn damaged_ledgers_and_partials_are_refused_or_done_again_and_never_believed() {
    let folder = tempfile::tempdir().unwrap();
    write_run_file(folder.path());
    let (expected, _) = undisturbed(folder.path());
    let ledger = killed_with_records(folder.path(), "run", 25, &[]);
    let kept = folder.path().join("kept");
    std::fs::create_dir(&kept).unwrap();
    let copy = |from: &Path, to: &Path| {
        for entry in std::fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    };
    copy(&ledger, &kept);
    let mut rng = KeyedRng::new(5, &["damage"]);
    let mut names: Vec<PathBuf> = std::fs::read_dir(&kept).unwrap().map(|entry| entry.unwrap().path()).collect();
    // Files that were being written when the run was killed do not count.
    names.retain(|name| name.file_name().unwrap() != "lock" && std::fs::metadata(name).unwrap().len() > 0);
    names.sort();
    let mut refused = 0;
    for round in 0..24 {
        let _ = std::fs::remove_dir_all(folder.path().join("run"));
        std::fs::create_dir_all(&ledger).unwrap();
        copy(&kept, &ledger);
        // The ledger itself every third time.
        let name =
            if round % 3 == 0 { kept.join("ledger") } else { names[rng.below(names.len() as u64) as usize].clone() };
        let at = ledger.join(name.file_name().unwrap());
        let mut bytes = std::fs::read(&at).unwrap();
        let place = rng.below(bytes.len() as u64) as usize;
        if round % 2 == 0 {
            bytes.truncate(place);
        } else {
            bytes[place] ^= 1 << rng.below(8);
        }
        std::fs::write(&at, bytes).unwrap();
        let output = command(folder.path(), &["--resume", "run"]).output().unwrap();
        match output.status.code() {
            Some(0) => {
                assert_eq!(outcome(&output, &folder.path().join("run")), expected, "{} at {place}", at.display())
            }
            Some(3 | 5) => refused += 1,
            code => panic!("exit code {code:?}: {}", text(&output.stderr)),
        }
    }
    assert!(refused > 0, "no damage was refused");
}

#[test]
fn ctrl_c_keeps_what_is_done_and_says_how_to_go_on() {
    if !cfg!(unix) {
        eprintln!("skipped: signals are sent with kill");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    write_run_file(folder.path());
    let (expected, _) = undisturbed(folder.path());
    let ledger = folder.path().join("run/ledger/ledger");
    let mut child = command(folder.path(), &["--set", "output.dir=run"]).spawn().unwrap();
    wait_for_records(&ledger, 8, &mut child);
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("go on with `--resume run`"), "{}", text(&output.stderr));
    let output = fuseval(folder.path(), &["run", "--resume", "run", "--format", "json"]);
    assert!(json(&output)["run"]["resumed_buckets"].as_u64().unwrap() > 0);
    assert_eq!(outcome(&output, &folder.path().join("run")), expected);
}

#[test]
fn a_disk_that_is_full_ends_the_run_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    write_run_file(folder.path());
    let (expected, _) = undisturbed(folder.path());
    // Files of at most so many blocks: writing fails as on a full disk, at another place with each limit.
    for blocks in [1, 8, 24, 48, 96] {
        let script = format!(
            "trap '' XFSZ; ulimit -f {blocks}; exec {} run eval.yaml --bucket-rows 200 --resume run{blocks} --quiet",
            env!("CARGO_BIN_EXE_fuseval")
        );
        let output =
            Command::new("sh").current_dir(folder.path()).args(["-c", &script]).env(AT_ONCE.0, AT_ONCE.1).output();
        let output = output.unwrap();
        assert_eq!(output.status.code(), Some(2), "{blocks} blocks: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains("free space"), "{}", text(&output.stderr));
        assert!(!folder.path().join(format!("run{blocks}/results.json")).exists());
        let directory = format!("run{blocks}");
        let output = command(folder.path(), &["--resume", &directory]).output().unwrap();
        assert_eq!(outcome(&output, &folder.path().join(&directory)), expected, "{blocks} blocks");
    }
}

#[test]
fn two_processes_do_not_work_on_one_directory() {
    let folder = tempfile::tempdir().unwrap();
    write_run_file(folder.path());
    let ledger = folder.path().join("run/ledger/ledger");
    let mut first = command(folder.path(), &["--resume", "run"]).spawn().unwrap();
    wait_for_records(&ledger, 0, &mut first);
    let second = command(folder.path(), &["--resume", "run"]).output().unwrap();
    let is_running = first.try_wait().unwrap().is_none();
    first.kill().unwrap();
    first.wait().unwrap();
    if is_running {
        assert_eq!(second.status.code(), Some(2), "{}", text(&second.stderr));
        assert!(text(&second.stderr).contains("no other process"), "{}", text(&second.stderr));
    }
}
