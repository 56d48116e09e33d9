//! The catalogue for people: a list of all metrics, and a page for each.

use std::fmt::Write;

use fuseval_core::registry::{Cutoff, unknown};
use fuseval_core::{Entry, MetricId, Result};
use fuseval_metrics::ALL;

/// One line per metric: how it is written, and what it is.
pub fn list() -> String {
    let width = ALL.iter().map(|entry| written(entry).len()).max().unwrap_or_default();
    let mut out = String::new();
    for entry in ALL {
        let _ = writeln!(out, "{:width$}  {}", written(entry), entry.summary);
    }
    out.push_str("\n`fuseval metrics NAME` explains one.\n");
    out
}

/// The name with its cut-off.
fn written(entry: &Entry) -> String {
    match entry.cutoff {
        Cutoff::None => entry.name.to_string(),
        Cutoff::Optional => format!("{}[@k]", entry.name),
        Cutoff::Required => format!("{}@k", entry.name),
    }
}

/// The page of a metric: definition, rules, options with their defaults, what presets set. An unknown name is an error that
/// suggests the nearest.
pub fn page(name: &str) -> Result<String> {
    let base = name.split(['@', '[']).next().unwrap_or_default();
    let Some(entry) = ALL.iter().find(|entry| entry.name == base) else {
        return Err(unknown(ALL, base, MetricId::parse(name).ok().and_then(|id| id.k).as_deref()));
    };
    let mut out = entry.page();
    if !entry.options.is_empty() {
        out.push_str("\nOptions, with their defaults:\n\n");
    }
    for option in entry.options {
        let values = if option.values.is_empty() { String::new() } else { format!(": {}", option.values.join(", ")) };
        let default =
            if option.default.is_empty() { " must be given".to_string() } else { format!(" = {}", option.default) };
        let _ = writeln!(out, "- `{}`{default}{values}", option.name);
    }
    for (preset, option, value) in entry.presets {
        let _ = writeln!(out, "- with `preset: {preset}` `{option}` = {value}");
    }
    Ok(out)
}

/// All pages, as one document in Markdown.
pub fn document() -> String {
    let mut out = String::from(
        "# Metrics\n\nThis page is made from the catalogue; `fuseval metrics NAME` prints the same.\n\n```text\n",
    );
    out.push_str(&list());
    out.push_str("```\n");
    for entry in ALL {
        let page = page(entry.name).unwrap_or_default();
        // A paragraph for each heading.
        let page = page.replace("\n**", "\n\n**").replace("\n\n\n", "\n\n");
        let _ = write!(out, "\n## {}\n\n{page}", entry.name);
    }
    out
}
