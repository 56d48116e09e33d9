//! `--explain`: what a run would do, and what its states would take.

use std::fmt::Write;

use fuseval_core::Source;
use fuseval_engine::Plan;
use fuseval_engine::plan::SliceDefinition;

use crate::Options;
use crate::figures::{counted, grouped};

/// Rows that are assumed where the files do not tell.
const ASSUMED_ROWS: u64 = 1_000_000;

pub(crate) fn explanation(plan: &Plan, source: &dyn Source, backend: &str, options: &Options) -> String {
    let threads = options.threads;
    let mut out = String::new();
    let mut line = |what: &str, text: String| {
        let _ = writeln!(out, "{what:12} {text}");
    };
    let rows = source.row_count();
    let shown = rows.map_or_else(|| "an unknown number of rows".to_string(), |rows| format!("{} rows", grouped(rows)));
    line("data", format!("{shown} in {}", counted(source.files().len(), "file")));
    line("segment", if plan.segment_names.is_empty() { "none".to_string() } else { plan.segment_names.join(", ") });
    line("model", backend.to_string());
    line("heads", plan.heads.iter().map(|head| head.name.as_str()).collect::<Vec<_>>().join(", "));
    let metric = |(metric, state): &(Box<dyn fuseval_core::AnyMetric>, usize)| {
        let name = plan.states.get(*state).map(|state| state.state_name()).unwrap_or_default();
        let id = metric.id().to_string();
        if name == id { id } else { format!("{id} (state {name})") }
    };
    line("metrics", plan.metrics.iter().map(metric).collect::<Vec<_>>().join(", "));
    let slice = |slice: &SliceDefinition| match slice {
        SliceDefinition::Columns(columns) => {
            columns.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(" x ")
        }
        SliceDefinition::Predicate(sql, _) => sql.clone(),
    };
    let slices: Vec<String> = plan.slices.iter().map(slice).collect();
    line("slices", if slices.is_empty() { "none".to_string() } else { slices.join("; ") });
    line(
        "experiments",
        match plan.experiments.len().saturating_sub(1) {
            0 => "the baseline, no experiments".to_string(),
            others => format!("the baseline and {}", counted(others, "experiment")),
        },
    );
    let estimate = plan.estimate(rows.unwrap_or(ASSUMED_ROWS));
    let assumed = if rows.is_some() { String::new() } else { format!(", for {} rows", grouped(ASSUMED_ROWS)) };
    let has_scores = plan.states.iter().any(|state| state.state_name().starts_with("scores"));
    let on_top = if has_scores { " (the table of one score cell at the end comes on top)" } else { "" };
    line(
        "states",
        format!(
            "{} in 32 folds{}: about {} for each of {}, at most {}{on_top}{assumed}",
            counted(usize::try_from(estimate.cells).unwrap_or(usize::MAX), "cell"),
            if plan.slices.is_empty() { "" } else { ", a slice by columns counted once" },
            size(estimate.typical),
            counted(threads, "thread"),
            size(estimate.most),
        ),
    );
    if estimate.donors > 0 {
        line("permutations", format!("{} for the values they take from{assumed}", size(estimate.donors)));
    }
    let needed = crate::memory::needed(plan, rows.unwrap_or(ASSUMED_ROWS), threads);
    let limit = crate::memory::limit(options.memory);
    let fits = if needed <= limit { "fits" } else { "does not fit" };
    line("memory", format!("about {} for all threads, which {fits} into {}", size(needed), size(limit)));
    out
}

/// Bytes for people.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];
    let (mut value, mut unit) = (bytes as f64 / 1000.0, 0);
    while value >= 1000.0 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS.get(unit).copied().unwrap_or("TB"))
}
