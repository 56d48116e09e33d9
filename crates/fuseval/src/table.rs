//! Results for people: the heads × metrics of the baseline, then the experiments by what they cost.

use std::collections::BTreeMap;
use std::fmt::Write;

use comfy_table::{CellAlignment, LineStyle, Table, TableStyle, presets};
use fuseval_core::{IntervalKind, Outcome};
use fuseval_engine::ResultRow;

use crate::Evaluation;
use crate::results::slice_text;

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Tables for people.
    Table,
    /// The content of `results.json`.
    Json,
    /// One line per number.
    Csv,
    /// Tables in Markdown.
    Markdown,
}

impl Evaluation {
    /// The results in a format.
    pub fn print(&self, format: Format) -> String {
        match format {
            Format::Json => self.to_json(),
            Format::Csv => self.to_csv(),
            Format::Table => self.tables(plain(), "\n"),
            Format::Markdown => self.tables(presets::ASCII_MARKDOWN, " "),
        }
    }

    /// `apart` stands between a value and its interval.
    fn tables(&self, style: TableStyle, apart: &str) -> String {
        let mut out = format!("{}\n", self.baseline(style, apart));
        for note in self.notes() {
            let _ = writeln!(out, "{note}");
        }
        if let Some(costs) = self.costs(style) {
            let _ = write!(out, "\n{costs}\n");
        }
        for note in self.notes_on_experiments() {
            let _ = writeln!(out, "{note}");
        }
        out
    }

    /// One line per slice and head, one column per metric.
    fn baseline(&self, style: TableStyle, apart: &str) -> Table {
        let sliced = self.rows.iter().any(|row| row.slice.definition > 0);
        let metrics: Vec<String> = self.plan.metrics.iter().map(|(metric, _)| metric.id().to_string()).collect();
        let mut header: Vec<String> = vec!["head".to_string()];
        header.extend(sliced.then(|| "slice".to_string()));
        header.push("rows".to_string());
        header.extend(metrics.iter().cloned());
        let text_columns = 1 + usize::from(sliced);
        let mut table = table(style, &header, text_columns);
        let baseline: Vec<&ResultRow> = self.rows.iter().filter(|row| row.experiment == 0).collect();
        for line in baseline.chunks(metrics.len().max(1)) {
            let Some(first) = line.first() else { continue };
            let mut cells = vec![self.head(first).to_string()];
            if sliced {
                cells.push(match slice_text(&self.plan, &first.slice) {
                    text if text.is_empty() => "(all)".to_string(),
                    text => text,
                });
            }
            cells.push(grouped(first.rows));
            cells.extend(line.iter().map(|row| shown_with_interval(row, apart)));
            table.add_row(cells);
        }
        table
    }

    /// What must not pass in silence: values that are missing, segments that are special, rows that were changed or left out.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for row in self.rows.iter().filter(|row| row.experiment == 0 && row.slice.definition == 0) {
            let name = format!("{} of {}", self.metric(row), self.head(row));
            let tally = row.value.tally;
            if let Outcome::Undefined(why) = &row.value.outcome {
                notes.push(format!("{name}: undefined, {why}"));
            }
            let mut parts = Vec::new();
            let mut part = |count: u64, what: &str| {
                if count > 0 {
                    parts.push(format!("{} {what}", grouped(count)));
                }
            };
            part(tally.undefined, "without a value");
            part(tally.short, "shorter than k");
            part(tally.tied, "with a tie across k");
            if !parts.is_empty() {
                notes.push(format!("{name}: {} segments; {}", grouped(tally.n + tally.undefined), parts.join(", ")));
            }
            if tally.clipped > 0 {
                notes.push(format!("{name}: {} probabilities clipped", grouped(tally.clipped)));
            }
            if row.value.error_bound > 0.0 {
                let mode = row.value.mode;
                notes.push(format!("{name}: by {mode}, within {:.2e} of the exact value", row.value.error_bound));
            }
            if row.dropped > 0 && row.metric == 0 {
                notes.push(format!("{}: {} invalid rows left out", self.head(row), grouped(row.dropped)));
            }
        }
        notes.extend(self.note_on_intervals());
        for (feature, rows) in &self.facts.missing {
            notes.push(format!("feature {feature}: missing in {} rows", grouped(*rows)));
        }
        notes
    }

    /// What the intervals are, or why there are none.
    fn note_on_intervals(&self) -> Option<String> {
        let level = 100.0 * self.plan.interval?;
        let baseline = || self.rows.iter().filter(|row| row.experiment == 0 && row.slice.definition == 0);
        let approximate = baseline().any(|row| {
            let metric = self.plan.metrics.get(row.metric);
            let kind = metric.map(|(metric, _)| metric.profile().interval);
            kind == Some(IntervalKind::Approximate) && row.interval.is_ok()
        });
        let also = if approximate { "; those of ece and mce are approximate" } else { "" };
        if baseline().any(|row| row.interval.is_ok()) {
            return Some(format!(
                "[ ]: {level} % intervals, by leaving out one of 32 folds of segments at a time{also}"
            ));
        }
        let has_interval = |row: &&ResultRow| {
            let metric = self.plan.metrics.get(row.metric);
            row.value.outcome.number().is_some()
                && metric.is_some_and(|(metric, _)| metric.profile().interval != IntervalKind::None)
        };
        let why = baseline().find(has_interval).and_then(|row| row.interval.as_ref().err())?;
        Some(format!("no intervals: {why}"))
    }

    /// Why an experiment has no cost in the table.
    fn notes_on_experiments(&self) -> Vec<String> {
        let first = |row: &&ResultRow| {
            row.experiment > 0 && row.metric == 0 && row.slice.definition == 0 && row.delta.is_none()
        };
        let note = |row: &ResultRow| {
            let why = match &row.value.outcome {
                Outcome::Undefined(why) => format!("undefined, {why}"),
                _ => "not compared with the baseline".to_string(),
            };
            let left_out = if row.dropped > 0 {
                format!("; {} invalid rows left out", grouped(row.dropped))
            } else {
                String::new()
            };
            format!("{} of {}: {why}{left_out}", self.experiment(row), self.head(row))
        };
        self.rows.iter().filter(first).map(note).collect()
    }

    /// The experiments by what they cost: how much worse the first metric gets. Repeats are shown as their mean.
    fn costs(&self, style: TableStyle) -> Option<String> {
        if self.plan.experiments.len() < 2 {
            return None;
        }
        let (metric, _) = self.plan.metrics.first()?;
        let direction = metric.profile().direction;
        let mut base = BTreeMap::new();
        let mut costs: BTreeMap<&str, Cost> = BTreeMap::new();
        for row in self.rows.iter().filter(|row| row.metric == 0 && row.slice.definition == 0) {
            let number = row.value.outcome.number();
            if row.experiment == 0 {
                base.insert(row.head, number);
                continue;
            }
            let group = self.plan.experiments.get(row.experiment).map_or("", |experiment| experiment.group.as_str());
            let cost = costs.entry(group).or_default();
            cost.repeats += u32::from(row.head == 0);
            if let (Some(Some(base)), Some(number), true) = (base.get(&row.head), number, row.delta.is_some()) {
                cost.by_head.entry(row.head).or_default().push(direction.cost(*base, number));
                let half = row.difference.as_ref().ok().map(|found| (found.interval.high - found.interval.low) / 2.0);
                cost.half_widths.insert(row.head, half);
            }
        }
        let mut ranked: Vec<(&str, Cost)> = costs.into_iter().collect();
        let first = |cost: &Cost| cost.mean(0).unwrap_or(f64::NEG_INFINITY);
        ranked.sort_by(|(a, a_cost), (b, b_cost)| first(b_cost).total_cmp(&first(a_cost)).then(a.cmp(b)));
        let mut header = vec!["".to_string(), "experiment".to_string()];
        header.extend(self.plan.heads.iter().map(|head| head.name.clone()));
        let mut table = table(style, &header, 2);
        for (rank, (name, cost)) in ranked.iter().enumerate() {
            let repeats = if cost.repeats > 1 { format!(" (mean of {})", cost.repeats) } else { String::new() };
            let mut cells = vec![(rank + 1).to_string(), format!("{name}{repeats}")];
            let shown = |head| {
                let Some(mean) = cost.mean(head) else { return "-".to_string() };
                let half = cost.half_widths.get(&head).copied().flatten().filter(|_| cost.repeats < 2);
                half.map_or_else(|| format!("{mean:+.6}"), |half| format!("{mean:+.6} ± {half:.6}"))
            };
            cells.extend((0..self.plan.heads.len()).map(shown));
            table.add_row(cells);
        }
        let way = match direction {
            fuseval_core::Direction::Higher => "falls".to_string(),
            fuseval_core::Direction::Lower => "rises".to_string(),
            fuseval_core::Direction::Neither => "moves up".to_string(),
            fuseval_core::Direction::Target(target) => format!("moves away from {target}"),
        };
        Some(format!(
            "Cost of each experiment: by how much {} {way} (positive: worse), ordered by the first head\n{table}",
            metric.id()
        ))
    }
}

/// The costs of an experiment, or of its repeats.
#[derive(Default)]
struct Cost {
    repeats: u32,
    /// Half the width of the interval of the difference.
    half_widths: BTreeMap<usize, Option<f64>>,
    by_head: BTreeMap<usize, Vec<f64>>,
}

impl Cost {
    fn mean(&self, head: usize) -> Option<f64> {
        let costs = self.by_head.get(&head).filter(|costs| !costs.is_empty())?;
        Some(costs.iter().sum::<f64>() / costs.len() as f64)
    }
}

/// Columns apart, a line below the header and nothing else.
fn plain() -> TableStyle {
    presets::NOTHING.header_separator(LineStyle::new('─', '─', '─', '─'))
}

fn table(style: TableStyle, header: &[String], text_columns: usize) -> Table {
    let mut table = Table::new();
    table.load_style(style).set_header(header);
    for column in table.column_iter_mut().skip(text_columns) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// The value, and its interval after `apart`.
fn shown_with_interval(row: &ResultRow, apart: &str) -> String {
    match &row.interval {
        Ok(interval) => format!("{}{apart}[{:.4}, {:.4}]", shown(&row.value.outcome), interval.low, interval.high),
        Err(_) => shown(&row.value.outcome),
    }
}

fn shown(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Number(number) if number.is_finite() => format!("{number:.6}"),
        Outcome::Number(number) => number.to_string(),
        Outcome::Curve(curve) => format!("{} points", curve.points.len()),
        Outcome::Undefined(_) => "-".to_string(),
    }
}

/// An integer with its thousands apart.
pub(crate) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
