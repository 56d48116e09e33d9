//! What must be there.

use fuseval_core::ErrorKind;
use fuseval_source::{Expected, SourceOptions, open};

use crate::fixture::*;

#[test]
fn what_is_missing_is_named() {
    let directory = directory();
    for name in ["date=2026-11-01/part-0.parquet", "date=2026-11-01/part-1.parquet", "date=2026%2D11-02/part-0.parquet"]
    {
        parquet(directory.path().join(name), &[group(vec![("n", int(&[1]))])]);
    }
    let expecting = |files: Option<u64>, names: &[&str]| {
        let expect = Expected { files, names: names.iter().map(|name| name.to_string()).collect() };
        open(SourceOptions { expect, ..options(directory.path()) })
    };
    for (files, names) in [
        (None, &[][..]),
        (Some(3), &["date=2026-11-01", "date=2026-11-02", "part-*.parquet"][..]),
        (None, &["date=2026-11-01/part-1.parquet", "date=*/part-[01].parquet"][..]),
    ] {
        assert!(expecting(files, names).is_ok());
    }
    let refused = |files, names: &[&str]| {
        let result = expecting(files, names);
        let kind = result.as_ref().map(|_| ()).unwrap_err().kind();
        (kind, message(result, &directory))
    };
    let wait = "wait until the data are complete, or correct what is expected";
    assert_eq!(
        refused(Some(3), &["date=2026-11-02", "date=2026-11-03", "part-2.parquet", "date=2026-11-02/part-1.parquet"]),
        (
            ErrorKind::Data,
            format!(
                "data.expect: expected a file for each name, found no file for `date=2026-11-03`, `part-2.parquet`, \
                 `date=2026-11-02/part-1.parquet` (3 of 4 missing); {wait}"
            )
        )
    );
    assert_eq!(
        refused(Some(4), &[]),
        (
            ErrorKind::Data,
            format!(
                "data.expect: expected 4 files, found 3, from `date=2026%2D11-02/part-0.parquet` to \
                 `date=2026-11-01/part-1.parquet`; {wait}"
            )
        )
    );
    assert_eq!(refused(Some(2), &[]).0, ErrorKind::Data);
    let many: Vec<String> = (0..30).map(|day| format!("date=2026-12-{day}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert!(refused(None, &many).1.contains("`date=2026-12-9` and 20 more (30 of 30 missing)"));
    for name in ["", "/", "a/**", "[", "a***"] {
        assert_eq!(refused(None, &[name]).0, ErrorKind::Usage, "{name}");
    }
}
