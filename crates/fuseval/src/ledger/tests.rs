//! Names of files.

use super::*;

/// The number of a table part that was open when a run was killed stands in no record, and must not make the next run
/// take the number of a partial that does.
#[test]
fn a_file_that_the_ledger_names_is_never_written_again() {
    let folder = tempfile::tempdir().unwrap();
    let outline = fuseval_engine::plan::Outline { metrics: Vec::new(), ..Default::default() };
    let plan = outline.plan(&fuseval_metrics::metric).unwrap();
    let header = Header {
        fuseval: String::new(),
        run_file: serde_json::Value::Null,
        output: serde_json::Value::Null,
        base: String::new(),
        name: String::new(),
        models: Vec::new(),
        files: Vec::new(),
        bucket_rows: 1,
        shard: (0, 1),
        by_key: false,
        tables: Vec::new(),
    };
    let done =
        |index| Done { buckets: vec![BucketDone { index, end: index + 1, experiments: 0..1 }], ..Done::default() };
    let ledger = Ledger::begin(folder.path(), &header).unwrap();
    ledger.next_part("predictions");
    ledger.record(&plan, &done(0), &Partial::new("plan")).unwrap();
    drop(ledger);
    let mut names = Vec::new();
    for index in 1..12 {
        let found = Ledger::find(folder.path()).unwrap().unwrap();
        let (ledger, resumed, notes) = Ledger::resume(folder.path(), found, &plan, "plan").unwrap();
        assert_eq!((resumed.count(1), notes.len()), (index, 0));
        ledger.next_part("predictions");
        ledger.record(&plan, &done(index), &Partial::new("plan")).unwrap();
        let found = Ledger::find(folder.path()).unwrap().unwrap();
        names = found.records.iter().map(|record| record.file().to_string()).collect();
    }
    let all = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), all);
}
