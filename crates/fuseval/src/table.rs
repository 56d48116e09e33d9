//! Results for people: the heads × metrics of the baseline, then the experiments by what they cost.

use std::collections::BTreeMap;
use std::fmt::Write;

use comfy_table::{CellAlignment, LineStyle, Table, presets};
use fuseval_core::{IntervalKind, Outcome};
use fuseval_engine::ResultRow;

use crate::Evaluation;
use crate::figures::{at_scale, counted, exponent, grouped, interval, number};
use crate::results::slice_text;

/// A wider table of the baseline becomes a longer one.
const WIDEST: usize = 120;

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
            Format::Table => self.tables(Look::Plain),
            Format::Markdown => self.tables(Look::Markdown),
        }
    }

    fn tables(&self, look: Look) -> String {
        let (bullet, before_notes) = match look {
            Look::Plain => ("", ""),
            Look::Markdown => ("- ", "\n"),
        };
        let mut out = format!("{}\n", self.baseline(look));
        let listed = |notes: &[String]| {
            let list: String = notes.iter().map(|note| format!("{bullet}{note}\n")).collect();
            if list.is_empty() { list } else { format!("{before_notes}{list}") }
        };
        out.push_str(&listed(&self.notes()));
        if let Some(costs) = self.costs(look) {
            let _ = write!(out, "\n{costs}\n");
        }
        out.push_str(&listed(&self.notes_on_experiments()));
        out
    }

    /// One line per slice and head, one column per metric; or one line per number, where that would be too wide.
    fn baseline(&self, look: Look) -> Table {
        let matrix = self.matrix(look);
        let width = matrix.lines().map(|line| line.chars().count()).max().unwrap_or_default();
        if width > WIDEST { self.list(look) } else { matrix }
    }

    fn matrix(&self, look: Look) -> Table {
        let metrics = self.plan.metrics.iter().map(|(metric, _)| metric.id().to_string());
        let mut table = Lines::new(look, self.first_names().chain(["rows".to_string()]).chain(metrics));
        let baseline: Vec<&ResultRow> = self.rows.iter().filter(|row| row.experiment == 0).collect();
        for line in baseline.chunks(self.plan.metrics.len().max(1)) {
            let Some(first) = line.first() else { continue };
            let shown = line.iter().map(|row| match &row.interval {
                Ok(ends) => format!("{}{}{}", self.shown(row), look.apart(), interval(ends.low, ends.high)),
                Err(_) => self.shown(row),
            });
            table.add(self.first_cells(first).chain([grouped(first.rows)]).chain(shown));
        }
        table.finish(1 + usize::from(self.is_sliced()))
    }

    fn list(&self, look: Look) -> Table {
        let header = ["metric", "value", "interval", "n"].map(str::to_string);
        let mut table = Lines::new(look, self.first_names().chain(header));
        for row in self.rows.iter().filter(|row| row.experiment == 0) {
            let ends = row.interval.as_ref().map_or_else(|_| String::new(), |ends| interval(ends.low, ends.high));
            let cells = [self.metric(row), self.shown(row), ends, grouped(row.value.tally.n)];
            table.add(self.first_cells(row).chain(cells));
        }
        table.finish(2 + usize::from(self.is_sliced()))
    }

    fn is_sliced(&self) -> bool {
        self.rows.iter().any(|row| row.slice.definition > 0)
    }

    /// The names of the columns that say what a line is about.
    fn first_names(&self) -> impl Iterator<Item = String> {
        ["head".to_string()].into_iter().chain(self.is_sliced().then(|| "slice".to_string()))
    }

    fn first_cells(&self, row: &ResultRow) -> impl Iterator<Item = String> {
        let slice = self.is_sliced().then(|| match slice_text(&self.plan, &row.slice) {
            text if text.is_empty() => "(all)".to_string(),
            text => text,
        });
        [self.head(row).to_string()].into_iter().chain(slice)
    }

    fn shown(&self, row: &ResultRow) -> String {
        match &row.value.outcome {
            Outcome::Number(count) if self.interval_kind(row) == Some(IntervalKind::None) && count.fract() == 0.0 => {
                at_scale(*count, 0, 1)
            }
            Outcome::Number(value) => number(*value),
            Outcome::Curve(curve) => counted(curve.points.len(), "point"),
            Outcome::Undefined(_) => "-".to_string(),
        }
    }

    pub(crate) fn interval_kind(&self, row: &ResultRow) -> Option<IntervalKind> {
        self.plan.metrics.get(row.metric).map(|(metric, _)| metric.profile().interval)
    }

    /// The experiments by what they cost: how much worse the first metric gets. Repeats are shown as their mean.
    fn costs(&self, look: Look) -> Option<String> {
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
        // Costs have the decimals of the value that they are differences of.
        let scale_of = |head: usize| {
            let base = base.get(&head).copied().flatten().unwrap_or_default();
            let parts = ranked.iter().flat_map(|(_, cost)| [cost.mean(head), cost.half_width(head)]).flatten();
            exponent(parts.fold(base.abs(), |most, part| most.max(part.abs())))
        };
        let scales: Vec<i32> = (0..self.plan.heads.len()).map(scale_of).collect();
        let heads = self.plan.heads.iter().map(|head| head.name.clone());
        let mut table = Lines::new(look, ["".to_string(), "experiment".to_string()].into_iter().chain(heads));
        for (rank, (name, cost)) in ranked.iter().enumerate() {
            let repeats = if cost.repeats > 1 { format!(" (mean of {})", cost.repeats) } else { String::new() };
            let shown = scales.iter().enumerate().map(|(head, scale)| {
                let Some(mean) = cost.mean(head) else { return "-".to_string() };
                let text = at_scale(mean, *scale, 6);
                let sign = if text.starts_with('-') { "" } else { "+" };
                let half = cost.half_width(head).map(|half| format!(" ± {}", at_scale(half, *scale, 6)));
                format!("{sign}{text}{}", half.unwrap_or_default())
            });
            table.add([(rank + 1).to_string(), format!("{name}{repeats}")].into_iter().chain(shown));
        }
        let table = table.finish(2);
        let way = match direction {
            fuseval_core::Direction::Higher => "falls".to_string(),
            fuseval_core::Direction::Lower => "rises".to_string(),
            fuseval_core::Direction::Neither => "moves up".to_string(),
            fuseval_core::Direction::Target(target) => format!("moves away from {target}"),
        };
        Some(format!(
            "Cost of each experiment: by how much {} {way} (positive: worse), ordered by the first head\n{}{table}",
            metric.id(),
            if look == Look::Markdown { "\n" } else { "" },
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

    /// Half the width of the interval of the difference; none for a mean of repeats.
    fn half_width(&self, head: usize) -> Option<f64> {
        self.half_widths.get(&head).copied().flatten().filter(|_| self.repeats < 2)
    }
}

/// How tables look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    /// Columns apart, a line below the header and nothing else.
    Plain,
    Markdown,
}

impl Look {
    /// What stands between a value and its interval.
    fn apart(self) -> &'static str {
        match self {
            Self::Plain => "\n",
            Self::Markdown => " ",
        }
    }
}

/// A table in the making.
struct Lines {
    look: Look,
    table: Table,
}

impl Lines {
    fn new(look: Look, header: impl Iterator<Item = String>) -> Self {
        let mut table = Table::new();
        table.load_style(match look {
            Look::Plain => presets::NOTHING.header_separator(LineStyle::new('─', '─', '─', '─')),
            Look::Markdown => presets::ASCII_MARKDOWN,
        });
        let header: Vec<String> = header.map(|cell| escaped(look, cell)).collect();
        table.set_header(header);
        Self { look, table }
    }

    fn add(&mut self, cells: impl Iterator<Item = String>) {
        let cells: Vec<String> = cells.map(|cell| escaped(self.look, cell)).collect();
        self.table.add_row(cells);
    }

    /// The first columns are text, the others numbers.
    fn finish(mut self, text_columns: usize) -> Table {
        for column in self.table.column_iter_mut().skip(text_columns) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        self.table
    }
}

/// In Markdown a bar within a cell would end it.
fn escaped(look: Look, cell: String) -> String {
    if look == Look::Markdown { cell.replace('|', "\\|") } else { cell }
}
