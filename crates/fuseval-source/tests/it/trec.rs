//! Qrels and runs: trec_eval's own test files with the counts and the order that it prints, and what is refused.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use fuseval_core::source::Request;
use fuseval_core::{ErrorKind, Scan, Source};
use fuseval_source::{TrecOptions, TrecSource, TrecTopics, open_trec};
use tempfile::TempDir;

use crate::fixture::{columns, directory, in_test, message};

/// A row as delivered, with its place.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    topic: String,
    docno: String,
    relevance: f64,
    judged: bool,
    score: Option<f64>,
    place: String,
}

fn rows(source: &TrecSource) -> Vec<Row> {
    let scan = Scan::new(columns(&["topic", "docno", "relevance", "judged", "score"]));
    let mut all = Vec::new();
    for rows in source.scan(&scan).unwrap() {
        let rows = rows.unwrap();
        let (topic, docno) = (rows.columns[0].as_string::<i32>(), rows.columns[1].as_string::<i32>());
        let (relevance, judged) = (rows.columns[2].as_primitive::<Float64Type>(), rows.columns[3].as_boolean());
        let score = rows.columns[4].as_primitive::<Float64Type>();
        for row in 0..rows.len() {
            assert_eq!(rows.places.get(row), all.len() as u64);
            all.push(Row {
                topic: topic.value(row).to_string(),
                docno: docno.value(row).to_string(),
                relevance: relevance.value(row),
                judged: judged.value(row),
                score: score.is_valid(row).then(|| score.value(row)),
                place: source.place(rows.places.get(row)),
            });
        }
    }
    assert_eq!(source.row_count(), Some(all.len() as u64));
    all
}

fn published(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/trec_eval").join(name)
}

fn options(qrels: &Path, run: &Path) -> TrecOptions {
    let text = |path: &Path| path.to_str().unwrap().to_string();
    TrecOptions { qrels: text(qrels), run: text(run), ..Default::default() }
}

/// A pair of files and options of trec_eval, with what it printed for them.
struct Case {
    printed: &'static str,
    qrels: &'static str,
    run: &'static str,
    complete: bool,
    depth: Option<usize>,
    level: f64,
    topics: TrecTopics,
}

const THREE: TrecTopics = TrecTopics { evaluated: 3, run_only: 0, qrels_only: 0 };
const PLAIN: Case = Case {
    printed: "out.test",
    qrels: "qrels.test",
    run: "results.test",
    complete: false,
    depth: None,
    level: 1.0,
    topics: THREE,
};
const CUT: TrecTopics = TrecTopics { qrels_only: 1, ..THREE };

/// The cases of trec_eval's own tests with qrels of the usual form.
const CASES: &[Case] = &[
    PLAIN,
    Case { qrels: "qrels.test.with-comments", ..PLAIN },
    Case { printed: "out.test.a", ..PLAIN },
    Case { printed: "out.test.aq", ..PLAIN },
    Case { printed: "out.test.aqc", run: "results.trunc", complete: true, topics: CUT, ..PLAIN },
    Case { printed: "out.test.aqcM", run: "results.trunc", complete: true, depth: Some(100), topics: CUT, ..PLAIN },
    Case { printed: "out.test.aql", qrels: "qrels.rel_level", level: 2.0, ..PLAIN },
    Case {
        printed: "out.comment.test",
        qrels: "qrels.comment.test",
        run: "results.comment.test",
        topics: TrecTopics { evaluated: 31, run_only: 270, qrels_only: 0 },
        ..PLAIN
    },
];

fn retrieved<'a>(rows: &[&'a Row]) -> Vec<&'a Row> {
    let retrieved: Vec<&Row> = rows.iter().copied().filter(|row| row.score.is_some()).collect();
    assert!(rows.iter().take(retrieved.len()).all(|row| row.score.is_some()), "retrieved documents come first");
    retrieved
}

/// Measures of a topic under trec_eval's names.
fn measures(rows: &[&Row], level: f64) -> BTreeMap<&'static str, f64> {
    let relevant = |row: &&&Row| row.judged && row.relevance >= level;
    let retrieved = retrieved(rows);
    let num_rel = rows.iter().filter(relevant).count() as f64;
    let ranks: Vec<f64> =
        (1..).zip(&retrieved).filter(|(_, row)| relevant(row)).map(|(rank, _)| f64::from(rank)).collect();
    let precisions: f64 =
        (1..).zip(&ranks).map(|(hits, rank)| f64::from(hits) / rank).fold(0.0, |sum, precision| sum + precision);
    let num_rel_ret = ranks.len() as f64;
    let judged = retrieved.iter().filter(|row| row.judged).count() as f64;
    BTreeMap::from([
        ("num_ret", retrieved.len() as f64),
        ("num_rel", num_rel),
        ("num_rel_ret", num_rel_ret),
        ("num_nonrel_judged_ret", judged - num_rel_ret),
        ("map", if num_rel == 0.0 { 0.0 } else { precisions / num_rel }),
        ("recip_rank", ranks.first().map_or(0.0, |rank| 1.0 / rank)),
    ])
}

/// The grades of the first documents, `-` without one. trec_eval has `.` for a grade below 0.
fn grades(rows: &[&Row]) -> String {
    let grade = |row: &&Row| if row.judged { row.relevance.to_string() } else { "-".to_string() };
    format!("'{}'", retrieved(rows).iter().take(20).map(grade).collect::<String>())
}

/// What trec_eval prints for a topic or for all, if it is among what we compute.
fn as_printed(measure: &str, topic: &str, topics: &[(&str, Vec<&Row>)], level: f64) -> Option<String> {
    if (measure, topic) == ("num_q", "all") {
        return Some(topics.len().to_string());
    }
    let chosen: Vec<&Vec<&Row>> =
        topics.iter().filter(|(name, _)| topic == "all" || *name == topic).map(|(_, rows)| rows).collect();
    if measure == "relstring_20" {
        return Some(grades(chosen[0]));
    }
    let values: Option<Vec<f64>> = chosen.iter().map(|rows| measures(rows, level).get(measure).copied()).collect();
    let values = values?;
    let sum: f64 = values.iter().sum();
    Some(if measure.starts_with("num_") { sum.to_string() } else { format!("{:.4}", sum / values.len() as f64) })
}

#[test]
fn topics_counts_and_order_are_those_of_trec_eval() {
    for case in CASES {
        let options = TrecOptions {
            complete: case.complete,
            depth: case.depth,
            ..options(&published(case.qrels), &published(case.run))
        };
        let source = open_trec(options).unwrap();
        assert_eq!(source.topics(), case.topics, "{}", case.printed);
        let all = rows(&source);
        let mut topics: Vec<(&str, Vec<&Row>)> = Vec::new();
        for row in &all {
            match topics.last_mut().filter(|(topic, _)| *topic == row.topic) {
                Some((_, rows)) => rows.push(row),
                None => topics.push((&row.topic, vec![row])),
            }
        }
        assert!(topics.is_sorted_by(|a, b| a.0 < b.0), "{}: each topic once, in order", case.printed);
        let mut compared = 0;
        for line in std::fs::read_to_string(published(case.printed)).unwrap().lines() {
            let [measure, topic, printed] = line.split_whitespace().collect::<Vec<_>>()[..] else { continue };
            let Some(found) = as_printed(measure, topic, &topics, case.level) else { continue };
            let printed = if measure == "relstring_20" { printed.replace('.', "-") } else { printed.to_string() };
            assert_eq!(found, printed, "{}: {line}", case.printed);
            compared += 1;
        }
        assert!(compared >= 6, "{}: only {compared} values compared", case.printed);
    }
}

/// Files of a test, of which `a.qrels` and `a.run` are read.
fn written(qrels: &str, run: &str) -> (TempDir, TrecOptions) {
    let directory = directory();
    let paths = (directory.path().join("a.qrels"), directory.path().join("a.run"));
    std::fs::write(&paths.0, qrels).unwrap();
    std::fs::write(&paths.1, run).unwrap();
    let options = options(&paths.0, &paths.1);
    (directory, options)
}

/// Rows as text, with their places.
fn lines(qrels: &str, run: &str, change: impl FnOnce(&mut TrecOptions)) -> Vec<String> {
    let (directory, mut options) = written(qrels, run);
    change(&mut options);
    let source = open_trec(options).unwrap();
    let line = |row: Row| {
        let judged = if row.judged { "judged" } else { "-" };
        let score = row.score.map_or("null".to_string(), |score| score.to_string());
        let place = in_test(&row.place, &directory);
        format!("{} {} {} {judged} {score} | {place}", row.topic, row.docno, row.relevance)
    };
    rows(&source).into_iter().map(line).collect()
}

#[test]
fn rows_are_retrieved_documents_in_order_then_the_other_judged_ones() {
    let qrels = "2 0 b 1\n2 0 z 0\n10 0 a 2\n10 0 y -1\n10 0 x -1\n10 0 w 3\n";
    let run = "10 Q0 a 1 0.5 r\n10 Q0 b 2 0.5 r\n10 Q0 x 3 2e0 r\n2 Q0 b 1 -1 r\n7 Q0 b 1 1 r\n";
    let expected = [
        "10 x 0 - 2 | a.run: line 3",
        "10 b 0 - 0.5 | a.run: line 2",
        "10 a 2 judged 0.5 | a.run: line 1",
        "10 w 3 judged null | a.qrels: line 6",
        "10 y 0 - null | a.qrels: line 4",
        "2 b 1 judged -1 | a.run: line 4",
        "2 z 0 judged null | a.qrels: line 2",
    ];
    assert_eq!(lines(qrels, run, |_| {}), expected);
    let first = lines(qrels, run, |options| options.depth = Some(1));
    let expected =
        ["10 x 0 - 2 | a.run: line 3", "10 a 2 judged null | a.qrels: line 3", "10 w 3 judged null | a.qrels: line 6"];
    assert_eq!(first[..3], expected);
}

#[test]
fn topics_must_be_in_both_files_unless_all_are_asked_for() {
    let (qrels, run) = ("1 0 a 1\n3 0 a 1\n", "1 Q0 a 1 1 r\n2 Q0 a 1 1 r\n");
    assert_eq!(lines(qrels, run, |_| {}), ["1 a 1 judged 1 | a.run: line 1"]);
    let complete = lines(qrels, run, |options| options.complete = true);
    assert_eq!(complete, ["1 a 1 judged 1 | a.run: line 1", "3 a 1 judged null | a.qrels: line 2"]);
    let (_directory, options) = written(qrels, run);
    assert_eq!(open_trec(options).unwrap().topics(), TrecTopics { evaluated: 1, run_only: 1, qrels_only: 1 });
}

#[test]
fn scores_are_doubles() {
    // Issue 34 of trec_eval: as float32 both are 0.9222621, and `d` would come first.
    let run = "1 Q0 d 1 0.9222621453752585 r\n1 Q0 a 2 0.9222621453752586 r\n";
    let expected = ["1 a 1 judged 0.9222621453752586 | a.run: line 2", "1 d 0 - 0.9222621453752585 | a.run: line 1"];
    assert_eq!(lines("1 0 a 1\n", run, |_| {}), expected);
}

#[test]
fn comments_blank_lines_and_any_white_space_are_read_over() {
    let qrels = "\u{feff}# two lines\n# of comment\n\n1\t0  a#1 \u{b}+1\r\n  # more\n";
    let run = "#\n \t\n  1 Q0 a#1 1 inf r and more\r\n1 Q0 # 1 -.5 r";
    let expected = ["1 a#1 1 judged inf | a.run: line 3", "1 # 0 - -0.5 | a.run: line 4"];
    assert_eq!(lines(qrels, run, |_| {}), expected);
}

#[test]
fn long_files_come_in_several_runs_of_rows() {
    let run: String = (0..20_000).map(|place| format!("1 Q0 d{place:05} 1 {} r\n", -place)).collect();
    let (_directory, options) = written("1 0 d00007 1\n", &run);
    let source = open_trec(options).unwrap();
    assert!(source.scan(&Scan::default()).unwrap().count() > 2);
    let all = rows(&source);
    assert!(all.iter().enumerate().all(|(place, row)| row.docno == format!("d{place:05}")));
    assert_eq!(all.iter().filter(|row| row.judged).count(), 1);
    assert!(all[19_999].place.ends_with("a.run: line 20000"));
}

#[test]
fn the_columns_have_fixed_types() {
    let (directory, options) = written("1 0 a 1\n", "1 Q0 a 1 1 r\n");
    let source = open_trec(options).unwrap();
    let names: Vec<String> = source.files().iter().map(|name| in_test(name, &directory)).collect();
    assert_eq!(names, ["a.run with a.qrels"]);
    assert_eq!(source.columns(), ["topic", "docno", "relevance", "judged", "score"]);
    let fields: Vec<Field> = source
        .columns()
        .into_iter()
        .map(|name| Field::new(name.clone(), source.column_type(&name).unwrap(), name == "score"))
        .collect();
    let first = source.scan(&Scan::new(columns(&["topic", "docno", "relevance", "judged", "score"])));
    let first = first.unwrap().next().unwrap().unwrap();
    RecordBatch::try_new(Schema::new(fields).into(), first.columns).unwrap();
    assert_eq!(source.column_type("score").unwrap(), DataType::Float64);
    assert!(source.place(1).ends_with("a.qrels: row 1"));
    assert_eq!(
        message(source.column_type("scores"), &directory),
        "expected a column of the data, found `scores`; did you mean `score`?"
    );
}

#[test]
fn predicates_are_refused() {
    let (directory, options) = written("1 0 a 1\n", "1 Q0 a 1 1 r\n");
    let source = open_trec(options).unwrap();
    let expected = "expected columns alone, as TREC files are not read through SQL, found the predicate `score > 1`; \
                    leave it out, or write the joined rows as Parquet or CSV";
    assert_eq!(message(source.check_predicate("score > 1"), &directory), expected);
    let scan = Scan::new(vec![Request::Predicate("score > 1".to_string())]);
    assert_eq!(message(source.scan(&scan), &directory), expected);
    assert_eq!(source.check_predicate("true").unwrap_err().kind(), ErrorKind::Usage);
}

#[test]
fn wrong_files_are_refused_with_the_line() {
    const QRELS: &str = "1 0 a 1\n";
    const RUN: &str = "1 Q0 a 1 1 r\n";
    let cases = [
        ("", RUN, "a.qrels: expected a line with a judgement, found none; check that this is the right file"),
        ("# none\n\n", RUN, "a.qrels: expected a line with a judgement, found none; check that this is the right file"),
        (
            QRELS,
            "\n",
            "a.run: expected a line with a retrieved document, found none; check that this is the right file",
        ),
        (
            "#\n1 0 a\n",
            RUN,
            "a.qrels: line 2: expected a line `topic iteration docno grade`, found 3 fields in `1 0 a`; correct the line, \
             or check that this is the right file",
        ),
        (
            RUN,
            RUN,
            "a.qrels: line 1: expected a line `topic iteration docno grade`, found 6 fields in `1 Q0 a 1 1 r`; correct \
             the line, or check that this is the right file",
        ),
        (
            QRELS,
            "1 Q0 a 1 1 r\n1 Q0 b 1 1\n",
            "a.run: line 2: expected a line `topic Q0 docno rank score run-id`, found 5 fields in `1 Q0 b 1 1`; correct \
             the line, or check that this is the right file",
        ),
        (
            "1 0 a 0.5\n",
            RUN,
            "a.qrels: line 1: expected an integer as grade, the fourth field, found `0.5`; write grades as integers; those \
             below 0 mark documents that were not judged",
        ),
        (
            QRELS,
            "1 Q0 a 1 high r\n",
            "a.run: line 1: expected a number as score, the fifth field, found `high`; correct the line",
        ),
        (
            QRELS,
            "1 Q0 a 1 nan r\n",
            "a.run: line 1: expected a number as score, the fifth field, found `nan`; correct the line",
        ),
        (
            "1 0 b 1\n2 0 a 1\n1 0 a 1\n1 0 b 1\n",
            RUN,
            "a.qrels: line 4: expected each document once in a topic, found `b` of topic `1` again, after line 1; remove \
             one of the lines",
        ),
        (
            QRELS,
            "1 Q0 a 1 1 r\n2 Q0 b 1 2 r\n2 Q0 b 1 1 r\n",
            "a.run: line 3: expected each document once in a topic, found `b` of topic `2` again, after line 2; remove one \
             of the lines",
        ),
        (
            QRELS,
            "01 Q0 a 1 1 r\n",
            "a.run with a.qrels: expected a topic that is in both files, found none; the first topic of the run is `01`, of \
             the qrels `1`; check that the files belong together",
        ),
    ];
    for (qrels, run, expected) in cases {
        let (directory, options) = written(qrels, run);
        let error = open_trec(options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Data);
        assert_eq!(in_test(&error.to_string(), &directory), expected);
    }
}

#[test]
fn files_that_are_no_text_or_not_there_are_refused() {
    let (directory, options) = written("1 0 a 1\n", "");
    std::fs::write(&options.run, b"1 Q0 a 1 1 r\n\x1f\x8b\x08").unwrap();
    assert_eq!(
        message(open_trec(options.clone()), &directory),
        "a.run: line 2: expected text in UTF-8, found the byte 0x8b; write the file as UTF-8; unpack it first if it is \
         compressed"
    );
    std::fs::remove_file(&options.run).unwrap();
    assert_eq!(
        message(open_trec(options.clone()), &directory),
        "expected an existing file, directory or glob, found nothing at `a.run`; check the path"
    );
    let error = open_trec(TrecOptions { depth: Some(0), ..options }).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    let long = "x".repeat(1 << 20);
    let (directory, options) = written("1 0 a 1\n", &format!("1 Q0 {long} 1 1 r\n"));
    assert_eq!(
        message(open_trec(options), &directory),
        "a.run: line 1: expected a line `topic Q0 docno rank score run-id`, found a line of 1048587 bytes; check that this \
         is the right file"
    );
}

#[test]
fn judgement_groups_are_refused_as_documents_that_come_twice() {
    let error = open_trec(options(&published("qrels.123"), &published("results.test"))).unwrap_err();
    assert!(error.to_string().contains("qrels.123: line "), "{error}");
    assert!(error.to_string().contains("expected each document once in a topic"), "{error}");
}
