//! Object stores from the command line: the numbers of local files, or an error that names the URL.

use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch};
use parquet::arrow::ArrowWriter;
use serde_json::Value;

use crate::common::fuseval;
use crate::servers::{Server, dead_port};

/// Days with files of some rows each.
const DAYS: [&str; 3] = ["day=2026-11-01", "day=2026-11-02", "day=2026-11-03"];

fn write(folder: &Path) {
    for (day, name) in DAYS.iter().enumerate() {
        let rows = day * 1000..(day + 1) * 1000 + day;
        let request: ArrayRef = Arc::new(rows.clone().map(|row| Some(row as i64 / 8)).collect::<Int64Array>());
        let label: ArrayRef = Arc::new(rows.clone().map(|row| Some(i64::from(row % 8 == day))).collect::<Int64Array>());
        let score: ArrayRef =
            Arc::new(rows.map(|row| Some((row * 7919 % 1009) as f64 / 1009.0)).collect::<Float64Array>());
        let columns = [("request", request), ("label", label), ("score", score)];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        std::fs::create_dir_all(folder.join(name)).unwrap();
        let file = std::fs::File::create(folder.join(name).join("part-0.parquet")).unwrap();
        let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
    }
}

/// The environment of an S3 server.
fn variables(port: u16) -> Vec<(&'static str, String)> {
    vec![
        ("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{port}")),
        ("AWS_ALLOW_HTTP", "true".to_string()),
        ("AWS_ACCESS_KEY_ID", "key".to_string()),
        ("AWS_SECRET_ACCESS_KEY", "secret".to_string()),
        ("AWS_REGION", "us-east-1".to_string()),
    ]
}

fn score(folder: &Path, variables: &[(&str, String)], paths: &[&str], more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fuseval"));
    for (name, _) in std::env::vars() {
        if ["AWS_", "GOOGLE_", "AZURE_"].iter().any(|prefix| name.starts_with(prefix)) {
            command.env_remove(name);
        }
    }
    command.current_dir(folder).arg("score").args(paths);
    command.args([
        "--label",
        "label",
        "--score",
        "score",
        "--segment",
        "request",
        "-m",
        "roc_auc,mrr",
        "--format",
        "json",
    ]);
    command.args(more).envs(variables.iter().map(|(name, value)| (name, value))).output().unwrap()
}

/// The results of a run, without its times.
fn results(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    printed["results"].clone()
}

/// The exit code and what was said.
fn refusal(output: &Output) -> (i32, String) {
    (output.status.code().unwrap(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// The files in a bucket `box` of an S3 server.
fn stored(server: &Server, folder: &Path) {
    server.put("box", b"");
    for day in DAYS {
        let bytes = std::fs::read(folder.join(day).join("part-0.parquet")).unwrap();
        server.put(&format!("box/data/{day}/part-0.parquet"), &bytes);
    }
    server.put("box/data/_SUCCESS", b"");
    server.put("box/data/_tmp/part-0.parquet", b"no data");
    server.put("box/database/part-0.parquet", b"not below data/");
}

#[test]
fn parquet_of_a_bucket_gives_the_numbers_of_local_files() {
    let Some(server) = Server::s3() else { return };
    let folder = tempfile::tempdir().unwrap();
    write(folder.path());
    stored(&server, folder.path());
    let variables = variables(server.port);
    let one = results(&score(folder.path(), &[], &["day=2026-11-01/part-0.parquet"], &[]));
    let remote = ["s3://box/data/day=2026-11-01/part-0.parquet"];
    assert_eq!(results(&score(folder.path(), &variables, &remote, &[])), one);
    let all = results(&score(folder.path(), &[], &["."], &["--slice", "day"]));
    assert_ne!(all, one);
    for paths in [
        &["s3://box/data"][..],
        &["s3://box/data/"],
        &["s3://box/data/*/*.parquet"],
        &["s3a://box/data/day=2026-11-0[123]"],
        // A file that is reached by two paths is read once.
        &["s3://box/data/day=*", "s3://box/data/"],
    ] {
        let output = score(folder.path(), &variables, paths, &["--slice", "day"]);
        assert_eq!(results(&output), all, "{paths:?}");
    }
    let mixed = ["day=2026-11-01/part-0.parquet", "s3://box/data/day=2026-11-0[23]/part-0.parquet"];
    let plain = results(&score(folder.path(), &[], &["day=2026-11-01", "day=2026-11-02", "day=2026-11-03"], &[]));
    assert_eq!(results(&score(folder.path(), &variables, &mixed, &[])), plain);
    let expect = ["--set", "data.expect=[day=2026-11-03, day=2026-11-04]"];
    let (code, said) = refusal(&score(folder.path(), &variables, &["s3://box/data/"], &expect));
    assert_eq!(code, 3);
    assert!(said.contains("no file for `day=2026-11-04` (1 of 2 missing)"), "{said}");
    let expect = ["--set", "data.expect.files=3", "--set", "data.expect.names=day=2026-11-03"];
    assert!(score(folder.path(), &variables, &["s3://box/data/"], &expect).status.success());
}

#[test]
fn text_of_a_bucket_is_read_as_from_a_local_disk() {
    let Some(server) = Server::s3() else { return };
    let folder = tempfile::tempdir().unwrap();
    server.put("box", b"");
    // The last row alone makes the labels floats: types are told over the whole object.
    let rows =
        (0..200_000).map(|row| format!("{},{},{}\n", row / 10, row % 3 / 2, (row * 7919 % 100_003) as f64 / 3.0));
    let text = format!("request,label,score\n{}20000,1.0,0.5\n", rows.collect::<String>());
    let lines = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        format!("{{\"request\": {}, \"label\": {}, \"score\": {}}}\n", fields[0], fields[1], fields[2])
    };
    let json: String = text.lines().skip(1).map(lines).collect();
    let files = [("a.csv", text.into_bytes()), ("a.ndjson", json.into_bytes())];
    for (name, bytes) in &files {
        let gzip = Command::new("gzip")
            .arg("-c")
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn();
        std::fs::write(folder.path().join(name), bytes).unwrap();
        server.put(&format!("box/{name}"), bytes);
        let mut gzip = gzip.unwrap();
        let mut input = gzip.stdin.take().unwrap();
        let compressed = std::thread::scope(|scope| {
            scope.spawn(move || std::io::Write::write_all(&mut input, bytes).unwrap());
            gzip.wait_with_output().unwrap().stdout
        });
        server.put(&format!("box/{name}.gz"), &compressed);
    }
    let local = results(&score(folder.path(), &[], &["a.csv"], &[]));
    assert_eq!(results(&score(folder.path(), &[], &["a.ndjson"], &[])), local);
    for name in ["a.csv", "a.csv.gz", "a.ndjson", "a.ndjson.gz"] {
        let output = score(folder.path(), &variables(server.port), &[&format!("s3://box/{name}")], &[]);
        assert_eq!(results(&output), local, "{name}");
    }
}

#[test]
fn what_a_bucket_lacks_or_refuses_is_said() {
    let Some(server) = Server::s3() else { return };
    let folder = tempfile::tempdir().unwrap();
    server.put("box", b"");
    server.put("box/other/a.txt", b"");
    let variables = variables(server.port);
    let refused = |path: &str| refusal(&score(folder.path(), &variables, &[path], &[]));
    for (path, code, said) in [
        ("s3://none/a.parquet", 3, "expected an existing bucket, found none for `s3://none/a.parquet`"),
        ("s3://none/", 3, "expected an existing bucket, found none for `s3://none/`"),
        ("s3://box/a.parquet", 3, "found nothing at `s3://box/a.parquet`"),
        ("s3://box/a/", 3, "found nothing at `s3://box/a/`"),
        ("s3://box/other", 3, "expected a prefix with files of data, found none below `s3://box/other`"),
        ("s3://box/*.parquet", 3, "expected files that match the glob, found none for `s3://box/*.parquet`"),
        ("s3://box/a***b", 2, "expected a glob, found `s3://box/a***b`"),
        ("s3://", 2, "the name of the bucket is missing"),
        ("s3://box//a.parquet", 2, "expected a URL such as `s3://bucket/folder/file.parquet`"),
        ("sw3://box/a.parquet", 2, "expected a URL that begins with `s3://`, `gs://`"),
    ] {
        let (found, text) = refused(path);
        assert_eq!(found, code, "{path}: {text}");
        assert!(text.contains(said), "{path}: {text}");
    }
}

#[test]
fn credentials_and_hosts_that_do_not_work_are_said() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path());
    let Some(server) = Server::with_faults(folder.path()) else { return };
    let path = "s3://day=2026-11-01/part-0.parquet";
    let with = |endpoint: String| {
        let mut variables = variables(0);
        variables[0].1 = endpoint;
        variables
    };
    let (code, said) = refusal(&score(folder.path(), &with(server.url("forbidden")), &[path], &[]));
    assert_eq!(code, 3);
    assert!(said.contains(&format!("error: expected access to `{path}`, found `403 Forbidden`")), "{said}");
    assert!(said.contains(" help: check the credentials (AWS_ACCESS_KEY_ID, "), "{said}");

    let one = results(&score(folder.path(), &[], &["day=2026-11-01/part-0.parquet"], &[]));
    for fault in ["ok", "busy-2", "short-1", "reset-1"] {
        assert_eq!(results(&score(folder.path(), &with(server.url(fault)), &[path], &[])), one, "{fault}");
    }
    let began = Instant::now();
    let (code, said) = refusal(&score(folder.path(), &with(server.url("busy")), &[path], &[]));
    assert_eq!(code, 3);
    assert!(
        said.contains(&format!("error: expected an answer for `{path}`, found `503 Service Unavailable")),
        "{said}"
    );
    let dead = format!("http://127.0.0.1:{}", dead_port());
    let (code, said) = refusal(&score(folder.path(), &with(dead.clone()), &[path], &[]));
    assert_eq!(code, 3);
    assert!(said.contains(&format!("error: expected an answer for `{path}`, found `Connection refused")), "{said}");

    // Without credentials the machine is asked for some, here at a port where nobody answers.
    let without = [
        ("AWS_ENDPOINT_URL", server.url("ok")),
        ("AWS_ALLOW_HTTP", "true".to_string()),
        ("AWS_METADATA_ENDPOINT", dead),
    ];
    let (code, said) = refusal(&score(folder.path(), &without, &[path], &[]));
    assert_eq!(code, 3);
    assert!(
        said.contains(&format!("error: expected credentials for `{path}`, found none in the environment")),
        "{said}"
    );
    assert!(said.contains("AWS_SKIP_SIGNATURE=true for a public bucket"), "{said}");
    assert!(began.elapsed() < Duration::from_secs(120));
    let anonymous = [without[0].clone(), without[1].clone(), ("AWS_SKIP_SIGNATURE", "true".to_string())];
    assert_eq!(results(&score(folder.path(), &anonymous, &[path], &[])), one);
}

#[test]
fn other_stores_are_read_through_their_variables() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path());
    let Some(server) = Server::with_faults(folder.path()) else { return };
    let one = results(&score(folder.path(), &[], &["day=2026-11-01/part-0.parquet"], &[]));
    let google = [
        ("GOOGLE_BASE_URL", server.url("ok")),
        ("GOOGLE_SKIP_SIGNATURE", "true".to_string()),
        ("GOOGLE_ALLOW_HTTP", "true".to_string()),
    ];
    let path = "gs://day=2026-11-01/part-0.parquet";
    assert_eq!(results(&score(folder.path(), &google, &[path], &[])), one);
    let azure = [
        ("AZURE_STORAGE_ACCOUNT_NAME", "account".to_string()),
        ("AZURE_STORAGE_ACCOUNT_KEY", "c2VjcmV0".to_string()),
        ("AZURE_STORAGE_ENDPOINT", server.url("ok")),
        ("AZURE_ALLOW_HTTP", "true".to_string()),
    ];
    for path in ["az://day=2026-11-01/part-0.parquet", "abfs://day=2026-11-01/part-0.parquet"] {
        assert_eq!(results(&score(folder.path(), &azure, &[path], &[])), one, "{path}");
    }
    let output = fuseval(
        folder.path(),
        &[
            "score",
            &server.url("ok/day=2026-11-01/part-0.parquet"),
            "--label",
            "label",
            "--score",
            "score",
            "--segment",
            "request",
            "-m",
            "roc_auc,mrr",
            "--format",
            "json",
        ],
    );
    assert_eq!(results(&output), one);
}
