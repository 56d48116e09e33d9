//! The values of single segments: which requests got worse. One row per experiment, head and segment, one column per metric
//! over segments; null where a segment has no value.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use fuseval_core::source::Request;
use fuseval_core::{Error, Layout, Result, Source};

use crate::bucket::Bucket;
use crate::plan::Plan;

/// The places of the metrics over segments in the plan.
pub(crate) fn metrics(plan: &Plan) -> impl Iterator<Item = usize> {
    let metrics = plan.metrics.iter().enumerate();
    metrics.filter(|(_, (metric, _))| metric.profile().layout == Layout::Segments).map(|(place, _)| place)
}

/// The columns: `experiment`, `head`, the segment key, `rows`, and the metrics over segments by their names.
pub fn schema(plan: &Plan, source: &dyn Source) -> Result<SchemaRef> {
    let mut fields = vec![Field::new("experiment", DataType::Utf8, false), Field::new("head", DataType::Utf8, false)];
    for column in &plan.segment {
        let Some(Request::Column(name)) = plan.requests.get(*column) else { continue };
        fields.push(Field::new(name, source.column_type(name)?, true));
    }
    fields.push(Field::new("rows", DataType::UInt64, false));
    let names = metrics(plan).filter_map(|place| plan.metrics.get(place)).map(|(metric, _)| metric.id().to_string());
    fields.extend(names.map(|name| Field::new(name, DataType::Float64, true)));
    if metrics(plan).next().is_none() {
        return Err(Error::usage(
            "a metric over segments, for a value of each segment",
            "none",
            "ask for one, for example `ndcg@10`, or leave `--per-segment` out",
        ));
    }
    Ok(Arc::new(Schema::new(fields)))
}

/// The values of one experiment and head on the segments of a bucket.
#[derive(Debug, Default)]
pub(crate) struct SegmentValues {
    /// The place of each segment in the bucket.
    pub(crate) segments: Vec<usize>,
    pub(crate) rows: Vec<u64>,
    /// For each metric over segments the value of each segment.
    pub(crate) values: Vec<Vec<Option<f64>>>,
}

/// The rows of one experiment and head, in the order of the segments.
pub(crate) fn batch(
    schema: &SchemaRef,
    plan: &Plan,
    experiment: &str,
    head: &str,
    found: &SegmentValues,
    bucket: &Bucket,
) -> Result<RecordBatch> {
    let defect = |error: arrow_schema::ArrowError| Error::defect("columns of segments", error.to_string());
    let mut order: Vec<usize> = (0..found.segments.len()).collect();
    order.sort_by_key(|place| found.segments.get(*place));
    let first_rows = order.iter().filter_map(|place| bucket.segments.get(*found.segments.get(*place)?));
    let first_rows = UInt64Array::from_iter_values(first_rows.map(|row| *row as u64));
    let text = |text: &str| Arc::new(StringArray::from_iter_values(order.iter().map(|_| text))) as ArrayRef;
    let mut columns = vec![text(experiment), text(head)];
    for column in plan.segment.iter().filter_map(|column| bucket.columns.get(*column)) {
        columns.push(arrow_select::take::take(column.as_ref(), &first_rows, None).map_err(defect)?);
    }
    let rows = order.iter().filter_map(|place| found.rows.get(*place)).copied();
    columns.push(Arc::new(UInt64Array::from_iter_values(rows)));
    for values in &found.values {
        let values = order.iter().map(|place| values.get(*place).copied().flatten());
        columns.push(Arc::new(Float64Array::from_iter(values)));
    }
    debug_assert!(columns.iter().all(|column| column.len() == order.len()));
    RecordBatch::try_new(schema.clone(), columns).map_err(defect)
}
