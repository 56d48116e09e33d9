//! Statistics of the report, as pure functions: intervals from the folds, paired differences with their p-values, and p-values
//! adjusted for the number of comparisons. `docs/intervals.md` has the formulas and their measured coverage.

mod benjamini_hochberg;
mod jackknife;
mod student_t;

pub use benjamini_hochberg::benjamini_hochberg;
pub use jackknife::{
    Difference, Estimate, FEWEST_FOLDS, Interval, LeaveOneOut, interval, jackknife, paired_difference,
};
pub use student_t::{t_cdf, t_quantile, t_two_sided_p};
