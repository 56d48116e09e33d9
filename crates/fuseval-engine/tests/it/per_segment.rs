//! The values of single segments: in the order of the data, and with the mean that the report has.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch};
use fuseval_core::Result;
use fuseval_engine::plan::ColumnScores;
use fuseval_engine::predictions::TableSink;
use fuseval_engine::specification::OnInvalid;
use fuseval_engine::{Limits, Plan, Specification, Tables, Work, report, run};
use fuseval_testkit::fakes::MemorySource;

use crate::data::{asked, log};

#[derive(Default)]
struct Kept(Vec<RecordBatch>);

impl TableSink for Kept {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.0.push(batch.clone());
        Ok(())
    }

    fn written(&mut self, _next: u64) -> Result<()> {
        Ok(())
    }
}

/// A segment: request, rows, value.
type Segment = (i64, u64, Option<f64>);

/// Every segment, and the mean and the count of the report.
fn values(asked: &Specification, source: &MemorySource, limits: Limits) -> (Vec<Segment>, f64, u64) {
    let asked = &Specification { scores_are_columns: true, ..asked.clone() };
    let model = ColumnScores::new(asked);
    let plan = Plan::new(asked, source, &model, &fuseval_metrics::metric).unwrap();
    let mut kept = Kept::default();
    let tables = Tables { segments: Some((&mut kept, 0)), ..Tables::default() };
    let work = Work { tables, ..Work::default() };
    let done = run(&plan, "plan", source, &model, limits, work, &|_| {}).unwrap();
    let mut out = Vec::new();
    for batch in kept.0 {
        let request = batch.column_by_name("request").unwrap().as_primitive::<Int64Type>().clone();
        let rows = batch.column_by_name("rows").unwrap().as_primitive::<UInt64Type>().clone();
        let value = batch.columns().last().unwrap().as_primitive::<Float64Type>().clone();
        let value = |row: usize| (!value.is_null(row)).then(|| value.value(row));
        out.extend((0..batch.num_rows()).map(|row| (request.value(row), rows.value(row), value(row))));
    }
    let row = report(&plan, done.partial).unwrap().remove(0);
    (out, row.value.outcome.number().unwrap(), row.value.tally.n)
}

#[test]
fn segments_come_in_the_order_of_the_data_and_their_mean_is_the_value() {
    for limits in [Limits { threads: 1, bucket_rows: 1000 }, Limits { threads: 3, bucket_rows: 20 }] {
        let source = MemorySource::new(log(400), 37);
        let (values, mean, n) = values(&asked("ndcg@3", &["request"]), &source, limits);
        let requests: Vec<i64> = values.iter().map(|(request, ..)| *request).collect();
        assert_eq!(requests, (1..=requests.len() as i64).collect::<Vec<_>>());
        assert_eq!(values.iter().map(|(_, rows, _)| rows).sum::<u64>(), 400);
        let defined: Vec<f64> = values.iter().filter_map(|(.., value)| *value).collect();
        assert_eq!(defined.len() as u64, n);
        assert!((defined.iter().sum::<f64>() / n as f64 - mean).abs() < 1e-12);
        assert!(defined.len() < values.len(), "some segment has no relevant row");
    }
}

#[test]
fn rows_that_are_dropped_are_dropped_here_too() {
    let mut columns = log(200);
    let holes: Vec<Option<f64>> = columns[1]
        .1
        .as_primitive::<Float64Type>()
        .iter()
        .enumerate()
        .map(|(row, score)| score.filter(|_| row % 9 != 4))
        .collect();
    columns[1].1 = std::sync::Arc::new(Float64Array::from(holes)) as ArrayRef;
    let mut asked = asked("precision@3", &["request"]);
    asked.on_invalid = OnInvalid::Drop;
    let source = MemorySource::new(columns, 50);
    let (values, mean, n) = values(&asked, &source, Limits { threads: 2, bucket_rows: 30 });
    assert_eq!(values.iter().map(|(_, rows, _)| rows).sum::<u64>(), 178);
    let defined: Vec<f64> = values.iter().filter_map(|(.., value)| *value).collect();
    assert_eq!(defined.len() as u64, n);
    assert!((defined.iter().sum::<f64>() / n as f64 - mean).abs() < 1e-12);
}
