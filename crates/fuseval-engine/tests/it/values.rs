//! Numbers that can be checked by hand: slices, masks, weights, dropped rows, thresholds.

use arrow_array::ArrayRef;
use fuseval_core::{Slice, Source};
use fuseval_engine::specification::{OnInvalid, SliceSpecification};

use crate::data::{LIMITS, asked, floats, integers, memory, numbers, optional_floats, ran, results, segments, texts};

fn four() -> Vec<(&'static str, ArrayRef)> {
    vec![
        ("request", texts(&[Some("a"), Some("a"), Some("b"), Some("b")])),
        ("score", floats([0.9, 0.1, 0.4, 0.6])),
        ("label", integers([1, 0, 1, 0])),
        ("weight", floats([1.0, 2.0, 0.0, 1.0])),
    ]
}

#[test]
fn weights_and_zero_weights() {
    let mut asked = asked("mae", &["request"]);
    asked.heads[0].weight = Some("weight".to_string());
    let rows = results(&asked, &memory(four()), None, LIMITS).unwrap();
    let value = &rows[0].value;
    assert!((value.outcome.number().unwrap() - 0.9 / 4.0).abs() < 1e-15);
    assert_eq!((value.tally.n, value.weight), (3, 4.0));
}

#[test]
fn all_weights_zero_is_undefined() {
    let mut columns = four();
    columns[3].1 = floats([0.0; 4]);
    let mut asked = asked("mae,roc_auc,precision@1", &["request"]);
    asked.heads[0].weight = Some("weight".to_string());
    let rows = results(&asked, &memory(columns), None, LIMITS).unwrap();
    assert!(rows.iter().all(|row| row.value.outcome.number().is_none()));
}

#[test]
fn null_empty_and_the_word_null_are_three_slices() {
    let columns = vec![
        ("country", texts(&[Some("de"), None, Some(""), Some("null"), Some("de"), None, Some(""), Some("null"), None])),
        ("score", floats([0.2, 0.9, 0.4, 0.6, 0.8, 0.1, 0.7, 0.3, 0.5])),
        ("label", integers([0, 1, 1, 1, 1, 1, 0, 0, 0])),
    ];
    let mut asked = asked("roc_auc", &[]);
    asked.slices = vec![SliceSpecification::Columns(vec!["country".to_string()])];
    let rows = results(&asked, &memory(columns), None, LIMITS).unwrap();
    let found: Vec<(Option<String>, u64, Option<f64>)> = rows
        .iter()
        .filter(|row| row.slice != Slice::default())
        .map(|row| (row.slice.values[0].clone(), row.value.tally.n, row.value.outcome.number()))
        .collect();
    let text = |text: &str| Some(text.to_string());
    let expected =
        [(None, 3, Some(0.5)), (text(""), 2, Some(0.0)), (text("de"), 2, Some(1.0)), (text("null"), 2, Some(1.0))];
    assert_eq!(found, expected);
    assert_eq!(numbers(&rows), [Some(0.65)]);
}

#[test]
fn a_predicate_that_no_row_meets_is_reported_without_a_value() {
    let mut columns = four();
    columns.push(("never", std::sync::Arc::new(arrow_array::BooleanArray::from(vec![false; 4]))));
    let mut asked = asked("roc_auc", &[]);
    asked.slices = vec![SliceSpecification::Predicate("never".to_string())];
    let rows = results(&asked, &memory(columns), None, LIMITS).unwrap();
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[1].value.outcome, fuseval_core::Outcome::Undefined(fuseval_core::value::NO_ROWS.into()));
}

#[test]
fn masked_rows_are_not_there() {
    let mut columns = four();
    columns.push((
        "shown",
        std::sync::Arc::new(arrow_array::BooleanArray::from(vec![Some(true), Some(false), None, Some(true)])),
    ));
    let mut asked = asked("mae", &[]);
    asked.heads[0].mask = Some("shown".to_string());
    let rows = results(&asked, &memory(columns), None, LIMITS).unwrap();
    assert_eq!(rows[0].value.tally.n, 2);
    assert_eq!(rows[0].dropped, 0);
}

#[test]
fn invalid_rows_are_dropped_and_counted_when_asked() {
    let columns = vec![
        ("score", floats([0.2, f64::NAN, 0.6, 0.4, f64::NAN, 0.9, 0.5])),
        ("label", optional_floats(&[Some(0.0), Some(1.0), Some(1.0), Some(0.0), Some(0.0), Some(1.0), None])),
    ];
    let mut asked = asked("roc_auc", &[]);
    asked.on_invalid = OnInvalid::Drop;
    let rows = results(&asked, &memory(columns), None, LIMITS).unwrap();
    assert_eq!(rows[0].value.outcome.number(), Some(1.0));
    assert_eq!((rows[0].value.tally.n, rows[0].dropped), (4, 3));
}

#[test]
fn dropping_inside_segments_keeps_the_segments() {
    let columns = vec![
        ("request", integers([1, 1, 1, 2, 2, 3])),
        ("score", floats([0.9, f64::NAN, 0.1, 0.2, 0.8, f64::NAN])),
        ("label", integers([1, 1, 0, 1, 0, 1])),
    ];
    let mut asked = asked("precision@1", &["request"]);
    asked.on_invalid = OnInvalid::Drop;
    let rows = results(&asked, &memory(columns), None, LIMITS).unwrap();
    assert_eq!(rows[0].value.outcome.number(), Some(0.5));
    assert_eq!((rows[0].value.tally.n, rows[0].dropped), (2, 2));
}

#[test]
fn labels_by_threshold_and_by_positive_value() {
    let mut columns = four();
    columns[2].1 = floats([0.7, 0.5, 0.2, 0.9]);
    let mut by_threshold = asked("roc_auc", &[]);
    by_threshold.heads[0].label_threshold = Some(0.5);
    let rows = results(&by_threshold, &memory(columns), None, LIMITS).unwrap();
    assert_eq!(numbers(&rows), [Some(2.0 / 3.0)]);
    let mut columns = four();
    columns[2].1 = texts(&[Some("yes"), Some("no"), Some("yes"), Some("no")]);
    let mut by_value = asked("roc_auc", &[]);
    by_value.heads[0].positive = Some("yes".to_string());
    let rows = results(&by_value, &memory(columns), None, LIMITS).unwrap();
    assert_eq!(numbers(&rows), [Some(0.75)]);
}

#[test]
fn infinite_scores_have_a_place_in_the_order() {
    let (inf, low) = (f64::INFINITY, f64::NEG_INFINITY);
    let columns =
        vec![("score", floats([inf, 0.5, low, low, 2.0, inf, low])), ("label", integers([1, 1, 0, 1, 0, 0, 0]))];
    let rows = results(&asked("roc_auc", &[]), &memory(columns), None, LIMITS).unwrap();
    assert_eq!(numbers(&rows), [Some(13.0 / 24.0)]);
}

#[test]
fn integer_weights_of_any_size_add_up() {
    let columns = vec![
        ("score", floats([0.25, 0.5, 0.75, 0.125])),
        ("label", integers([0, 1, 1, 1])),
        ("weight", integers([1 << 62, 1 << 62, 1 << 62, 3])),
    ];
    let mut asked = asked("mae,roc_auc", &[]);
    asked.heads[0].weight = Some("weight".to_string());
    let rows = results(&asked, &memory(columns), None, LIMITS).unwrap();
    assert!((rows[0].value.outcome.number().unwrap() - 1.0 / 3.0).abs() < 1e-15);
    assert_eq!(rows[1].value.outcome.number(), Some(1.0));
}

#[test]
fn segments_are_counted_across_batches_and_keys_compare_as_text() {
    let source = memory(crate::data::log(500));
    let (_, run) = ran(&asked("precision@2", &["request"]), &source, None, LIMITS).unwrap();
    let array =
        source.scan(&fuseval_core::Scan::new(vec![fuseval_core::source::Request::Column("request".to_string())]));
    let mut seen = std::collections::BTreeSet::new();
    for rows in array.unwrap() {
        let rows = rows.unwrap();
        let column: &arrow_array::Int64Array = arrow_array::cast::AsArray::as_primitive(&rows.columns[0]);
        seen.extend(column.values().iter().copied());
    }
    assert_eq!(segments(&run), Some(seen.len() as u64));
}

#[test]
fn a_nan_label_is_missing_whatever_the_positive_value() {
    let columns = vec![("score", floats([0.9, 0.1, 0.5])), ("label", floats([1.0, 0.0, f64::NAN]))];
    let mut asked = asked("roc_auc", &[]);
    asked.heads[0].positive = Some("1".to_string());
    let error = results(&asked, &memory(columns.clone()), None, LIMITS).err().unwrap();
    assert!(error.to_string().contains("found NaN"), "{error}");
    asked.on_invalid = OnInvalid::Drop;
    let rows = results(&asked, &memory(columns), None, LIMITS).unwrap();
    assert_eq!((rows[0].value.outcome.number(), rows[0].rows, rows[0].dropped), (Some(1.0), 2, 1));
}

#[test]
fn areas_hold_for_weights_of_any_size() {
    for size in [1e-200, 1e-3, 1.0, 1e200] {
        let columns = vec![
            ("score", floats([0.9, 0.5, 0.5, 0.5, 0.1])),
            ("label", integers([1, 1, 0, 1, 0])),
            ("weight", floats([0.1, 0.2, 0.5, 0.3, 0.7].map(|weight| weight * size))),
        ];
        let mut asked = asked("roc_auc,roc_auc[thresholds=10]", &[]);
        asked.heads[0].weight = Some("weight".to_string());
        let rows = results(&asked, &memory(columns), None, LIMITS).unwrap();
        // 0.1 beats 1.2, 0.5 beats 0.7 and ties with 0.5, of 0.6 times 1.2.
        let exact = (0.1 * 1.2 + 0.5 * 0.7 + 0.25 * 0.5 * 2.0 / 2.0) / (0.6 * 1.2);
        for row in &rows {
            let value = row.value.outcome.number().unwrap();
            assert!((value - exact).abs() < 1e-14, "{value} and {exact} at {size}");
        }
    }
}

#[test]
fn slices_of_numbers_stand_in_the_order_of_numbers() {
    let columns =
        vec![("hour", integers([10, 2, 1, 20, 3])), ("score", floats([0.1; 5])), ("label", integers([1, 0, 1, 0, 1]))];
    let mut asked = asked("mae", &[]);
    asked.slices = vec![SliceSpecification::Columns(vec!["hour".to_string()])];
    let rows = results(&asked, &memory(columns), None, LIMITS).unwrap();
    let hours: Vec<&str> = rows[1..].iter().filter_map(|row| row.slice.values[0].as_deref()).collect();
    assert_eq!(hours, ["1", "2", "3", "10", "20"]);
}
