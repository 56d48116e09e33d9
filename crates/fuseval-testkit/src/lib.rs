//! What the tests of fuseval stand on: generators of hard data, the laws that every state and metric keeps, a deliberately
//! plain second implementation, and fakes of a source and a model. Never part of the product.

pub mod fakes;
pub mod generate;
pub mod laws;
pub mod naive;

/// A name of every metric of the catalogue with the options that change its formula or state; a test holds the list complete.
/// Those that the naive implementation lacks, curves and the like, stand last.
pub fn metrics() -> impl Iterator<Item = &'static str> {
    let naive = [naive::rows::METRICS, naive::scores::METRICS, naive::segments::METRICS];
    naive.into_iter().flatten().chain(LAWS_ONLY).copied()
}

/// Metrics that keep the laws and have no value in the naive implementation, with the tests that check their values.
pub const LAWS_ONLY: &[&str] = &[
    // Their files test the points.
    "confusion_matrix",
    "confusion_matrix[thresholds=[0.25,0.5,0.75]]",
    "roc_curve",
    "roc_curve[max_error=0]",
    "pr_curve",
    "reliability_curve",
    "reliability_curve[bins=5,strategy=uniform]",
    // The test of bounds compares them with the exact values.
    "roc_auc[mode=histogram]",
    "pr_auc[mode=histogram]",
    "ece[mode=histogram]",
    // Labels are shares of rows; where they are 0 or 1, nothing else.
    "ks[labels=soft]",
];

/// The metric of a name.
///
/// # Panics
/// If there is none.
pub fn metric(name: &str) -> Box<dyn fuseval_core::AnyMetric> {
    let id = fuseval_core::MetricId::parse(name).expect("a metric name");
    fuseval_metrics::metric(&id, &fuseval_core::Defaults::default()).expect("a metric of the catalogue")
}
