//! Files of a web server, one with faults: what comes is whole, or the error names the URL.

use std::time::{Duration, Instant};

use fuseval_core::{ErrorKind, Source};
use fuseval_source::{FileSource, SourceOptions, open};

use crate::fixture::*;
use crate::servers::{Server, dead_port};

fn url(server: &Server, path: &str) -> fuseval_core::Result<FileSource> {
    open(SourceOptions { paths: vec![server.url(path)], ..Default::default() })
}

/// Files of a few MiB, so that they are read in parts.
fn served() -> Option<(Server, tempfile::TempDir, Vec<String>)> {
    let directory = directory();
    let rows: Vec<i64> = (0..600_000).map(|row: i64| row.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64)).collect();
    parquet(directory.path().join("a.parquet"), &[group(vec![("n", int(&rows)), ("m", int(&rows))])]);
    let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
    let text = format!("n\n{text}");
    std::fs::write(directory.path().join("a.csv"), &text).unwrap();
    std::fs::write(directory.path().join("a.csv.zst"), zstd::encode_all(text.as_bytes(), 1).unwrap()).unwrap();
    let server = Server::with_faults(directory.path())?;
    let expected = rows.iter().map(ToString::to_string).collect();
    Some((server, directory, expected))
}

#[test]
fn faults_that_pass_change_nothing() {
    let Some((server, _directory, expected)) = served() else { return };
    for fault in ["ok", "short-2", "reset-2", "busy-2"] {
        for name in ["a.parquet", "a.csv", "a.csv.zst"] {
            let source = url(&server, &format!("{fault}/{name}")).unwrap();
            assert!(values(&source, &["n"]) == expected, "{fault} {name}");
        }
    }
    // By range: the footer, the one column that was asked for, and nothing twice.
    assert!(server.requests(&["GET /ok/a.parquet bytes="]) <= 4);
    assert_eq!(server.requests(&["GET /ok/a.parquet"]), server.requests(&["GET /ok/a.parquet bytes="]));
    assert!(server.requests(&["GET /short-2/a.parquet"]) >= 5);
    assert!(server.requests(&["GET /busy-2/a.csv.zst"]) >= 3);
}

#[test]
fn faults_that_stay_end_with_the_url() {
    let Some((server, _directory, _)) = served() else { return };
    for (fault, name, found) in [
        ("short", "a.parquet", "end of file before message length reached`, after several tries"),
        ("reset", "a.csv", "`, after several tries; check the URL and the network, and try again"),
        ("busy", "a.csv.zst", "`503 Service Unavailable`, after several tries; check the URL and the network"),
    ] {
        let began = Instant::now();
        let path = format!("{fault}/{name}");
        let error = url(&server, &path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Data);
        let error = error.to_string();
        assert!(error.starts_with(&format!("expected an answer for `{}`, found `", server.url(&path))), "{error}");
        assert!(error.contains(found), "{error}");
        assert!(began.elapsed() < Duration::from_secs(90), "{fault}: {:?}", began.elapsed());
    }
}

#[test]
fn what_is_not_there_or_not_allowed_is_said() {
    let Some((server, _directory, _)) = served() else { return };
    let refused = |path: &str| {
        let error = url(&server, path).unwrap_err();
        (error.kind(), error.to_string().replace(&server.url(""), "URL/"))
    };
    assert_eq!(
        refused("ok/b.parquet"),
        (
            ErrorKind::Data,
            "expected an existing file or prefix, found nothing at `URL/ok/b.parquet`; check the URL".to_string()
        )
    );
    assert_eq!(
        refused("forbidden/a.parquet"),
        (
            ErrorKind::Data,
            "expected access to `URL/forbidden/a.parquet`, found `403 Forbidden`; check the credentials (user and password \
             in the URL, or a signed URL) and what they allow"
                .to_string()
        )
    );
    assert_eq!(
        refused("norange/a.parquet"),
        (
            ErrorKind::Data,
            "URL/norange/a.parquet: expected a server that gives ranges of a file, found one that gives whole files only; \
             copy the file to this machine"
                .to_string()
        )
    );
    assert_eq!(refused("ok/").0, ErrorKind::Usage);
    assert_eq!(refused("ok/*.parquet").0, ErrorKind::Usage);
    assert_eq!(refused("ok/a.txt").0, ErrorKind::Data);
    let dead = format!("http://127.0.0.1:{}/a.parquet", dead_port());
    let began = Instant::now();
    let error = open(SourceOptions { paths: vec![dead.clone()], ..Default::default() }).unwrap_err().to_string();
    assert_eq!(
        error,
        format!(
            "expected an answer for `{dead}`, found `Connection refused (os error 111)`, after several tries; check the URL \
             and the network, and try again"
        )
    );
    assert!(began.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_file_that_changes_is_refused_and_its_identity_tells() {
    let Some((server, _directory, expected)) = served() else { return };
    let source = url(&server, "ok/a.csv").unwrap();
    let identities = source.identities();
    assert_eq!(identities[0].shown, server.url("ok/a.csv"));
    assert_eq!(identities[0].content, "etag:first");
    assert!(url(&server, "ok/a.parquet").unwrap().identities()[0].content.starts_with("footer:"));
    // The first HEAD is that of opening, the second comes before reading.
    let path = |fault: &str, name: &str| format!("{fault}/{name}");
    let refused = |fault: &str, name: &str, place: &str| {
        let source = url(&server, &path(fault, name)).unwrap();
        let error = rows(&source, columns(&["n"])).unwrap_err();
        let expected = format!(
            "{}{place}: expected the file as it was when the run began, found another size, tag or time of change; run again \
             when nothing writes to the data",
            server.url(&path(fault, name))
        );
        assert_eq!((error.kind(), error.to_string()), (ErrorKind::Data, expected));
    };
    refused("changed-1", "a.parquet", "");
    // The first GET reads the header, the second is for the rows; a Parquet file's footer is read once more before them.
    refused("changed-2", "a.parquet", ": row group 0");
    let error = url(&server, "changed-1/a.csv").unwrap().column_type("n").unwrap_err().to_string();
    assert!(error.contains("changed-1/a.csv: expected the file as it was when the run began"), "{error}");
    let source = url(&server, "changed-9/a.parquet").unwrap();
    assert!(values(&source, &["n"]) == expected);
}

#[test]
fn a_password_is_not_shown() {
    let Some((server, _directory, expected)) = served() else { return };
    let shown = server.url("ok/a.csv");
    let given = shown.replace("http://", "http://me:secret@") + "?signature=secret";
    let source = open(SourceOptions { paths: vec![given, shown.clone()], ..Default::default() }).unwrap();
    assert_eq!(source.files(), [shown.clone(), shown]);
    assert_eq!(values(&source, &["n"]).len(), 2 * expected.len());
}
