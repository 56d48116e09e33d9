//! Perturbations: one file per kind, and the donor values that some of them need from the whole data set.

mod donors;
mod fill;
mod permute;

pub(crate) use donors::perturbations;
pub use fill::Fill;
pub use permute::Permute;
