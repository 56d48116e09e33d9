//! What the tests of fuseval stand on: generators of hard data, the laws that every state and metric keeps, a deliberately
//! plain second implementation, and fakes of a source and a model. Never part of the product.

pub mod fakes;
pub mod generate;
pub mod laws;
pub mod naive;

/// A name of every metric of the catalogue with the options that change its state; a test holds the list complete.
pub const METRICS: &[&str] = &[
    "mae",
    "rmse",
    "log_loss",
    "log_loss[clip=0]",
    "calibration",
    "roc_auc",
    "roc_auc[thresholds=10]",
    "roc_auc[thresholds=1000]",
    "roc_auc[thresholds=[0,0.25,0.5,0.75,1]]",
    "precision@1",
    "precision@3",
    "precision@10",
    "precision@3[ties=optimistic]",
    "precision@3[ties=pessimistic]",
    "precision@3[ties=stable]",
    "precision@5[denominator=min_k_n]",
    "precision@2[no_positive=skip]",
    "precision@2[no_positive=one]",
];

/// The metric of a name.
///
/// # Panics
/// If there is none.
pub fn metric(name: &str) -> Box<dyn fuseval_core::AnyMetric> {
    let id = fuseval_core::MetricId::parse(name).expect("a metric name");
    fuseval_metrics::metric(&id).expect("a metric of the catalogue")
}
