//! `count`: how many rows, positives or segments there are.
//!
//! **Definition** a whole number, exact up to 2^53; `n` is the same number.
//! **Relevant** rows that are not masked, do not weigh 0 and were not dropped. `of=positives` counts those with a label
//! above 0.
//! **Ties** play no part.
//! **Weights** do not matter: whatever weighs more than 0 counts 1.
//! **Undefined** never: without rows it is 0.
//! **Options** `of`: `rows` (default), `positives`, or `segments`, which are those with at least one row that counts.
//! **State** `sums`: the count alone.
//! **Oracle** none needed. It has no interval.

use fuseval_core::{
    Cutoff, Direction, Entry, IntervalKind, LabelRange, Layout, Metric, MetricId, Needs, OptionEntry, Outcome, Profile,
    Result, ScoreNeed, Tally, Value, View,
};

use crate::segments::options::name;
use crate::states::sums::Sums;

const OF: &[(&str, Of)] = &[("rows", Of::Rows), ("positives", Of::Positives), ("segments", Of::Segments)];

/// The catalogue line.
pub const ENTRY: Entry = Entry {
    name: "count",
    summary: "number of rows, positives or segments",
    file: include_str!("count.rs"),
    cutoff: Cutoff::None,
    options: &[OptionEntry { name: "of", values: &["rows", "positives", "segments"], default: "rows" }],
    presets: &[],
    build: |settings| Ok(Box::new(Count { of: settings.choice("of", OF)? })),
};

const PROFILE: Profile =
    Profile::rows(Direction::Neither, (0.0, f64::INFINITY), Needs::new(ScoreNeed::Order, LabelRange::Any))
        .with_interval(IntervalKind::None);

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    Rows,
    Positives,
    Segments,
}

/// The metric.
#[derive(Debug, Clone, Copy)]
struct Count {
    of: Of,
}

impl Metric for Count {
    type State = Sums<0>;

    fn id(&self) -> MetricId {
        MetricId::new(ENTRY.name).with("of", name(OF, self.of), "rows")
    }

    fn profile(&self) -> Profile {
        let layout = if self.of == Of::Segments { Layout::Segments } else { Layout::Rows };
        Profile { layout, ..PROFILE }
    }

    fn empty(&self) -> Sums<0> {
        Sums::default()
    }

    fn update(&self, state: &mut Sums<0>, view: &View<'_>) -> Result<()> {
        let n = match self.of {
            Of::Rows => view.rows(),
            Of::Positives => view.labels.iter().filter(|label| **label > 0.0).count(),
            Of::Segments => view.segments.len().saturating_sub(1),
        };
        state.count(&Tally { n: n as u64, ..Tally::default() }, None);
        Ok(())
    }

    fn finish(&self, state: &Sums<0>) -> Value {
        let tally = state.tally();
        Value::exact(Outcome::Number(tally.n as f64), tally.n as f64, tally)
    }
}

#[cfg(test)]
mod tests {
    use crate::over_rows::tests::*;
    use fuseval_core::View;

    #[test]
    fn of_rows_positives_and_segments() {
        let labels = [0.0, 2.0, 0.5, -1.0, 0.0];
        let view = View { weights: Some(&[0.5; 5]), segments: &[0, 2, 5], ..rows(&labels, &[0.1; 5]) };
        has_values(&view, &[("count", Ok(5.0)), ("count[of=positives]", Ok(2.0)), ("count[of=segments]", Ok(2.0))]);
        assert_eq!(value("count[of=positives]", None, &view).tally.n, 2);
        let none = View::default();
        has_values(&none, &[("count", Ok(0.0)), ("count[of=positives]", Ok(0.0)), ("count[of=segments]", Ok(0.0))]);
    }
}
