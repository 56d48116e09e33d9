//! What stands below the tables: what the numbers do not say by themselves.

use fuseval_core::{IntervalKind, Outcome};
use fuseval_engine::ResultRow;

use crate::Evaluation;
use crate::figures::{counted, grouped};

impl Evaluation {
    /// What must not pass in silence: values that are missing, segments that are special, rows that were changed or left out.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for row in self.rows.iter().filter(|row| row.experiment == 0 && row.slice.definition == 0) {
            let name = format!("{} of {}", self.metric(row), self.head(row));
            let tally = row.value.tally;
            if let Outcome::Undefined(why) = &row.value.outcome {
                notes.push(format!("{name}: undefined, {why}"));
            }
            let against_itself = self.plan.experiments.len() < 2
                && row.head == 0
                && self.plan.metrics.get(row.metric).is_some_and(|(metric, _)| metric.profile().needs.baseline);
            if against_itself {
                let metric = self.metric(row);
                notes.push(format!("{metric}: compares the baseline with itself: there are no experiments"));
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
        for metric in self.order_dependent() {
            notes.push(format!(
                "{metric}: ties are taken in the order of the data, so another order may give another value"
            ));
        }
        notes.extend(self.note_on_intervals());
        if self.rows.iter().any(|row| row.experiment == 0 && matches!(row.value.outcome, Outcome::Curve(_))) {
            notes.push("points of curves: --format json".to_string());
        }
        notes.extend(self.note_on_topics());
        for (feature, rows) in &self.facts.missing {
            notes.push(format!("feature {feature}: missing in {} rows", grouped(*rows)));
        }
        notes
    }

    /// The metrics whose values depend on the order of the data, by definition.
    pub(crate) fn order_dependent(&self) -> Vec<String> {
        let names = self.plan.metrics.iter().map(|(metric, _)| metric.id().to_string());
        names.filter(|name| name.contains("ties=stable")).collect()
    }

    /// Topics that are in one of two TREC files.
    fn note_on_topics(&self) -> Option<String> {
        let (run_only, qrels_only) = self.facts.topics_left_out;
        let parts = [(run_only, "run without judgements"), (qrels_only, "qrels without retrieved documents")];
        let parts: Vec<String> = parts
            .into_iter()
            .filter(|(topics, _)| *topics > 0)
            .map(|(topics, what)| format!("{} of the {what}", counted(topics, "topic")))
            .collect();
        let are = if run_only + qrels_only == 1 { "is" } else { "are" };
        (!parts.is_empty()).then(|| format!("{} {are} left out", parts.join(" and ")))
    }

    /// What the intervals are, or why there are none.
    fn note_on_intervals(&self) -> Option<String> {
        let level = 100.0 * self.plan.interval?;
        let baseline = || self.rows.iter().filter(|row| row.experiment == 0 && row.slice.definition == 0);
        let approximate =
            baseline().any(|row| self.interval_kind(row) == Some(IntervalKind::Approximate) && row.interval.is_ok());
        let also = if approximate { "; those of ece and mce are approximate" } else { "" };
        if baseline().any(|row| row.interval.is_ok()) {
            let folds = if self.plan.segment_names.is_empty() {
                "32 folds of rows at a time (name the segment if rows depend on each other)"
            } else {
                "32 folds of segments at a time"
            };
            return Some(format!("[ ]: {level} % intervals, by leaving out one of {folds}{also}"));
        }
        let has_interval = |row: &&ResultRow| {
            row.value.outcome.number().is_some() && self.interval_kind(row) != Some(IntervalKind::None)
        };
        let why = baseline().find(has_interval).and_then(|row| row.interval.as_ref().err())?;
        Some(format!("no intervals: {why}"))
    }

    /// Why an experiment has no cost in the table.
    pub(crate) fn notes_on_experiments(&self) -> Vec<String> {
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
}
