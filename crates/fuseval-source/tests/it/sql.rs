//! Filters, derived columns and predicates.

use arrow_schema::DataType;
use fuseval_core::Source;
use fuseval_source::{SourceOptions, open};
use tempfile::TempDir;

use crate::fixture::*;

fn videos() -> TempDir {
    let directory = directory();
    let rows = group(vec![
        ("watch_frac", float(&[0.2, f64::NAN, 0.9, 0.5])),
        ("Country", optional_text(&[Some("de"), None, Some("fr"), Some("de")])),
        ("age in years", int(&[20, 30, 40, 0])),
        ("user.id", int(&[1, 2, 3, 4])),
        ("count", int(&[5, 6, 7, 8])),
    ]);
    parquet(directory.path().join("a.parquet"), &[rows]);
    directory
}

fn with_derive(directory: &TempDir, derive: &[(&str, &str)]) -> SourceOptions {
    let derive = derive.iter().map(|(name, sql)| (name.to_string(), sql.to_string())).collect();
    SourceOptions { derive, ..options(directory.path()) }
}

#[test]
fn columns_are_used_in_sql_as_they_are_written() {
    let directory = videos();
    let source = opened(directory.path());
    let lines = rows(
        &source,
        vec![
            predicate("watch_frac IS NOT NULL AND watch_frac > 0.4"),
            predicate("Country = 'de'"),
            predicate("\"age in years\" BETWEEN 20 AND 30"),
            predicate("\"user.id\" IN (1, 4)"),
            predicate("count > 6 OR UPPER(Country) LIKE 'D%'"),
            predicate("true"),
        ],
    );
    let expected = [
        "0/0: false true true true true true",
        "0/1: true false true false false true",
        "0/2: true false false false true true",
        "0/3: true true false true true true",
    ];
    assert_eq!(lines.unwrap(), expected);
}

#[test]
fn names_in_requests_are_never_sql() {
    let directory = videos();
    let source = opened(directory.path());
    assert_eq!(values(&source, &["user.id", "age in years", "Country"])[0], "1 20 de");
}

#[test]
fn derived_columns_may_use_earlier_ones() {
    let directory = videos();
    let derive = [("long", "watch_frac >= 0.5"), ("short", "NOT long"), ("twice", "\"age in years\" * 2")];
    let source = open(with_derive(&directory, &derive)).unwrap();
    assert_eq!(source.columns()[5..], ["long", "short", "twice"]);
    assert_eq!(source.column_type("short").unwrap(), DataType::Boolean);
    assert_eq!(source.column_type("twice").unwrap(), DataType::Int64);
    let lines =
        rows(&source, vec![columns(&["short"])[0].clone(), columns(&["twice"])[0].clone(), predicate("twice > 50")]);
    assert_eq!(
        lines.unwrap(),
        ["0/0: true 40 false", "0/1: false 60 true", "0/2: false 80 true", "0/3: false 0 false"]
    );
}

#[test]
fn derived_text_has_the_type_of_stored_text() {
    let directory = videos();
    let source = open(with_derive(&directory, &[("place", "coalesce(Country, 'nowhere')")])).unwrap();
    assert_eq!(source.column_type("place").unwrap(), DataType::LargeUtf8);
    assert_eq!(values(&source, &["place"]), ["de", "nowhere", "fr", "de"]);
}

#[test]
fn a_filter_may_use_derived_columns_and_goes_before_the_others() {
    let directory = videos();
    // The quotient has no value for the last row, which the filter leaves out.
    let derive = [("old", "\"age in years\" > 20"), ("quotient", "600 / \"age in years\"")];
    let filter = Some("old OR \"user.id\" = 1".to_string());
    let source = open(SourceOptions { filter, ..with_derive(&directory, &derive) }).unwrap();
    assert_eq!(rows(&source, columns(&["quotient"])).unwrap(), ["0/0: 30", "0/1: 20", "0/2: 15"]);
}

#[test]
fn null_is_false_in_a_filter() {
    let directory = videos();
    let filter = Some("Country <> 'de'".to_string());
    let source = open(SourceOptions { filter, ..options(directory.path()) }).unwrap();
    assert_eq!(rows(&source, columns(&["user.id"])).unwrap(), ["0/2: 3"]);
}

#[test]
fn an_expression_without_a_value_is_an_error_of_the_data() {
    let directory = videos();
    let source = open(with_derive(&directory, &[("quotient", "600 / \"age in years\"")])).unwrap();
    assert_eq!(
        message(rows(&source, columns(&["quotient"])), &directory),
        "a.parquet: row group 0: expected a value of `600 / \"age in years\"` for every row, found `Divide by zero error`; \
         correct the value, or filter the row out"
    );
}

#[test]
fn a_long_predicate_is_no_problem() {
    let directory = videos();
    let source = opened(directory.path());
    let holds = |sql: &str| rows(&source, vec![predicate(sql)]).unwrap()[3] == "0/3: true";
    let terms: Vec<String> = (0..341).map(|value| format!("\"user.id\" = {value}")).collect();
    assert!(holds(&terms.join(" OR ")));
    assert!(holds(&format!("{} > 0", vec!["count"; 511].join(" + "))));
    let list: Vec<String> = (0..20_000).map(|value| value.to_string()).collect();
    assert!(holds(&format!("count IN ({})", list.join(", "))));
    assert_eq!(
        message(source.check_predicate(&vec!["count"; 1000].join(" + ")), &directory),
        "expected SQL with at most 1024 names and operators, found 1999 of them; write lists of values as \
         `column IN (…)`, or split the expression into derived columns"
    );
}

fn refused(sql: &str, reason: &str) -> String {
    format!(
        "expected a SQL expression over the columns, `{sql}`, found `{reason}`; correct the SQL; names with other characters \
         than letters, digits and _ go in double quotes"
    )
}

#[test]
fn sql_that_cannot_be_meant_is_refused() {
    let directory = videos();
    let source = opened(directory.path());
    let cases = [
        (
            "watch_frc IS NOT NULL",
            "expected columns of the data in `watch_frc IS NOT NULL`, found `watch_frc`; did you mean `watch_frac`?".to_string(),
        ),
        ("country = 'x'", "expected columns of the data in `country = 'x'`, found `country`; did you mean `Country`?".to_string()),
        ("watch_frac >", refused("watch_frac >", "Expected: an expression, found: EOF")),
        ("watch_frac > 0.5 nonsense", refused("watch_frac > 0.5 nonsense", "Expected: end of expression, found: nonsense at Line: 1, Column: 18")),
        ("watch_frac + 1", "expected a predicate, which is true or false, found `watch_frac + 1` of type Float64; compare it with a value".to_string()),
        ("watch_frac", "expected a predicate, which is true or false, found `watch_frac` of type Float64; compare it with a value".to_string()),
        ("sum(count) > 3", "expected a value that depends on one row only in `sum(count) > 3`, found `sum()`; compute it beforehand and store it as a column".to_string()),
        ("no_such_function(count)", refused("no_such_function(count)", "Invalid function 'no_such_function'.")),
        ("count > (SELECT 1)", "expected a value that depends on one row only in `count > (SELECT 1)`, found a subquery; compute it beforehand and store it as a column".to_string()),
        ("random() < 0.5", "expected a value that never changes in `random() < 0.5`, found `random()`; write the value itself, so that every run gives the same result".to_string()),
        ("watch_frac > now()", "expected a value that never changes in `watch_frac > now()`, found `now()`; write the value itself, so that every run gives the same result".to_string()),
        ("Country + 1 > 'x'", refused("Country + 1 > 'x'", "Cannot coerce arithmetic expression LargeUtf8 + Int64 to valid types")),
        ("'unfinished", refused("'unfinished", "Unterminated string literal at Line: 1, Column: 1")),
        ("", refused("", "Expected: an expression, found: EOF")),
        ("user.id = 1", refused("user.id = 1", "Dot access not supported for non-string expr: Identifier(Ident { value: \"id\", quote_style: None, span: Span(Location(1,6)..Location(1,8)) })")),
    ];
    for (sql, expected) in cases {
        assert_eq!(message(source.check_predicate(sql), &directory), expected);
    }
}

#[test]
fn declarations_that_cannot_be_meant_are_refused() {
    let directory = videos();
    let refused = |derive: &[(&str, &str)]| message(open(with_derive(&directory, derive)), &directory);
    assert_eq!(
        refused(&[("count", "1")]),
        "derive: expected a new name for a derived column, found `count`, which is there already; choose another name"
    );
    assert_eq!(
        refused(&[("a", "b + 1"), ("b", "1")]),
        "derive `a`: expected columns of the data in `b + 1`, found `b`; choose one of `watch_frac`, `Country`, \
         `age in years`, `user.id`, `count`"
    );
    let filter = Some("count".to_string());
    assert_eq!(
        message(open(SourceOptions { filter, ..options(directory.path()) }), &directory),
        "filter: expected a predicate, which is true or false, found `count` of type Int64; compare it with a value"
    );
}
