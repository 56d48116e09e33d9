//! Metrics by name of arrays in memory.

use fuseval_core::{Defaults, MetricId, Result, Value};
use fuseval_engine::arrays::{Arrays, evaluate};

/// The values of metrics, given by their names with commas, on arrays in memory, each with the name that it prints. There are
/// no folds, and so no intervals.
///
/// ```
/// use fuseval::arrays::{Arrays, Column};
///
/// let arrays = Arrays {
///     labels: Column::I8(&[0, 0, 1, 1]),
///     scores: Column::F32(&[0.1, 0.4, 0.35, 0.8]),
///     weights: None,
///     segments: &[],
///     kind: fuseval_core::ScoreKind::Probability,
/// };
/// let values = fuseval::evaluate_arrays("roc_auc,brier", &arrays, 1)?;
/// assert_eq!(values[0].1.outcome.number(), Some(0.75));
/// # Ok::<(), fuseval::Error>(())
/// ```
pub fn evaluate_arrays(metrics: &str, arrays: &Arrays<'_>, threads: usize) -> Result<Vec<(String, Value)>> {
    let metrics = MetricId::parse_list(metrics)?
        .iter()
        .map(|id| fuseval_metrics::metric(id, &Defaults::default()))
        .collect::<Result<Vec<_>>>()?;
    let values = evaluate(&metrics, arrays, threads)?;
    Ok(metrics.iter().map(|metric| metric.id().to_string()).zip(values).collect())
}
