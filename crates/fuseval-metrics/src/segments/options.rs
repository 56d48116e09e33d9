//! The options that metrics over segments share.

use std::fmt;

use fuseval_core::registry::Settings;
use fuseval_core::{Error, LabelSide, MetricId, OptionEntry, Profile, Result};

use crate::on_scores::rate::{THRESHOLD, UNDEFINED};
use crate::on_scores::{LABELS, MODE};

/// How rows of equal score share the places they hold together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ties {
    /// The mean over all orders.
    Expected,
    /// Higher labels first.
    Optimistic,
    /// Lower labels first.
    Pessimistic,
    /// As in the input.
    Stable,
    /// Items in the order of their bytes.
    KeyAsc,
    /// Items against the order of their bytes.
    KeyDesc,
    /// By a hash of the seed and the identity of the row.
    Random,
}

const TIES_CHOICES: &[(&str, Ties)] = &[
    ("expected", Ties::Expected),
    ("optimistic", Ties::Optimistic),
    ("pessimistic", Ties::Pessimistic),
    ("stable", Ties::Stable),
    ("key_asc", Ties::KeyAsc),
    ("key_desc", Ties::KeyDesc),
    ("random", Ties::Random),
];

/// How rows of equal score share their places.
pub(crate) const TIES: OptionEntry = OptionEntry {
    name: "ties",
    values: &["expected", "optimistic", "pessimistic", "stable", "key_asc", "key_desc", "random"],
    default: "expected",
};

/// What a segment weighs in the mean, times the mean weight of its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Average {
    /// 1.
    Macro,
    /// The number of its rows.
    Rows,
    /// The number of its relevant rows.
    Positives,
}

const AVERAGE_CHOICES: &[(&str, Average)] =
    &[("macro", Average::Macro), ("rows", Average::Rows), ("positives", Average::Positives)];

/// What segments weigh.
pub(crate) const AVERAGE: OptionEntry =
    OptionEntry { name: "average", values: &["macro", "rows", "positives"], default: "macro" };

impl Average {
    /// The factor of a segment with these labels.
    pub(super) fn factor(self, labels: &[f64], options: &SegmentOptions) -> f64 {
        match self {
            Self::Macro => 1.0,
            Self::Rows => labels.len() as f64,
            Self::Positives => labels.iter().filter(|label| options.is_relevant(**label)).count() as f64,
        }
    }
}

/// What a segment without a value gives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Rule {
    /// Nothing: it is counted as undefined.
    Skip,
    /// This value.
    Value(f64),
}

const NO_POSITIVE_CHOICES: &[(&str, Rule)] =
    &[("skip", Rule::Skip), ("zero", Rule::Value(0.0)), ("one", Rule::Value(1.0))];

/// Segments without a relevant row: left out by default.
pub(crate) const NO_POSITIVE_SKIP: OptionEntry =
    OptionEntry { name: "no_positive", values: &["skip", "zero", "one"], default: "skip" };
/// Segments without a relevant row: 0 by default.
pub(crate) const NO_POSITIVE_ZERO: OptionEntry =
    OptionEntry { name: "no_positive", values: &["skip", "zero", "one"], default: "zero" };

const SINGLE_CLASS_CHOICES: &[(&str, Rule)] = &[("skip", Rule::Skip), ("half", Rule::Value(0.5))];
/// Segments of one class.
pub(crate) const SINGLE_CLASS: OptionEntry =
    OptionEntry { name: "single_class", values: &["skip", "half"], default: "skip" };

/// What the preset `trec_eval` sets for the metrics that trec_eval has.
pub(crate) const TREC_EVAL: &[(&str, &str, &str)] =
    &[("trec_eval", "ties", "key_desc"), ("trec_eval", "no_positive", "zero")];

/// From which label on a row is relevant.
pub(crate) const REL_THRESHOLD: OptionEntry = OptionEntry { name: "rel_threshold", values: &[], default: "above 0" };

/// What an item is that comes back within a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Duplicates {
    /// An error, where the data have an item column.
    Error,
    /// A row like any other.
    Rows,
    /// Nothing: only its best rank counts.
    First,
}

const DUPLICATES_CHOICES: &[(&str, Duplicates)] =
    &[("error", Duplicates::Error), ("rows", Duplicates::Rows), ("first", Duplicates::First)];
/// What an item is that comes back within a segment: an error where there is an item column, a row like any other, or counted
/// once, at its best rank.
pub(crate) const DUPLICATES: OptionEntry =
    OptionEntry { name: "duplicates", values: &["error", "rows", "first"], default: "error" };

/// The threshold of the metrics that all rows have under a name which segments have at a cut-off: it must be given.
pub(crate) const GIVEN_THRESHOLD: OptionEntry = OptionEntry { default: "", ..THRESHOLD };
/// The options of these metrics.
const OF_ROWS: [OptionEntry; 4] = [THRESHOLD, UNDEFINED, MODE, LABELS];

/// Whether a metric that segments have at a cut-off, and all rows at a threshold, is asked for at a cut-off. The options of the
/// other form are refused.
pub(crate) fn is_at_cutoff(settings: &Settings<'_>) -> Result<bool> {
    let at_cutoff = settings.k().is_some();
    let metric = settings.entry().name;
    for option in settings.entry().options {
        let of_rows = OF_ROWS.iter().any(|other| other.name == option.name);
        if settings.given(option.name).is_some() && of_rows == at_cutoff {
            let (form, other) = (format!("{metric}@k"), format!("{metric}[threshold=…]"));
            let (form, other) = if at_cutoff { (form, other) } else { (other, form) };
            return Err(Error::usage(
                format!("an option of `{form}`"),
                format!("`{}`", option.name),
                format!("leave it out, or write `{other}`"),
            ));
        }
    }
    Ok(at_cutoff)
}

/// The shared options of one metric.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SegmentOptions {
    /// The cut-off; none for the whole segment.
    pub(crate) k: Option<usize>,
    pub(crate) ties: Ties,
    pub(crate) rule: Rule,
    pub(crate) average: Average,
    pub(crate) rel_threshold: Option<f64>,
    /// Whether only the best-ranked row of an item counts.
    pub(crate) first_of_item: bool,
    pub(crate) seed: u64,
    duplicates: Duplicates,
    rule_entry: OptionEntry,
    average_default: &'static str,
    takes: Takes,
}

/// Which of the shared options a metric takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Takes {
    ties: bool,
    rel_threshold: bool,
    duplicates: bool,
}

impl SegmentOptions {
    /// Reads the options that the metric's entry lists among those of this module.
    pub(crate) fn read(settings: &Settings<'_>) -> Result<Self> {
        let entry = |name: &str| settings.entry().options.iter().find(|option| option.name == name);
        let takes = Takes {
            ties: entry("ties").is_some(),
            rel_threshold: entry("rel_threshold").is_some(),
            duplicates: entry("duplicates").is_some(),
        };
        let rule_entry = entry("no_positive").or(entry("single_class")).copied().unwrap_or(NO_POSITIVE_SKIP);
        let rule = match rule_entry.name {
            name if entry(name).is_none() => Rule::Skip,
            "single_class" => settings.choice("single_class", SINGLE_CLASS_CHOICES)?,
            name => settings.choice(name, NO_POSITIVE_CHOICES)?,
        };
        let duplicates =
            if takes.duplicates { settings.choice("duplicates", DUPLICATES_CHOICES)? } else { Duplicates::Rows };
        Ok(Self {
            k: settings.k(),
            ties: if takes.ties { settings.choice("ties", TIES_CHOICES)? } else { Ties::Expected },
            rule,
            average: match entry("average") {
                Some(_) => settings.choice("average", AVERAGE_CHOICES)?,
                None => Average::Macro,
            },
            rel_threshold: if takes.rel_threshold { settings.optional_number("rel_threshold")? } else { None },
            first_of_item: duplicates == Duplicates::First,
            duplicates,
            seed: settings.defaults().seed,
            rule_entry,
            average_default: entry("average").map_or("macro", |average| average.default),
            takes,
        })
    }

    /// Whether a row with this label is relevant: above 0 is at least the smallest float above 0.
    #[inline]
    pub(crate) fn is_relevant(&self, label: f64) -> bool {
        label >= self.rel_threshold.unwrap_or(f64::from_bits(1))
    }

    /// The number of relevant rows of a segment.
    pub(crate) fn relevant_rows(&self) -> LabelSide {
        let options = *self;
        let name = match self.rel_threshold {
            None => "relevant".to_string(),
            Some(threshold) => format!("relevant[rel_threshold={threshold}]"),
        };
        LabelSide {
            name,
            of: Box::new(move |labels| labels.iter().filter(|label| options.is_relevant(**label)).count() as f64),
        }
    }

    /// The name with the shared options that are not at their default.
    pub(super) fn printed(&self, id: MetricId) -> MetricId {
        let mut id = match self.k {
            Some(k) => id.at(k),
            None => id,
        };
        if self.takes.ties {
            id = id.with("ties", name(TIES_CHOICES, self.ties), "expected");
        }
        let rule = match self.rule_entry.name {
            "single_class" => name(SINGLE_CLASS_CHOICES, self.rule),
            _ => name(NO_POSITIVE_CHOICES, self.rule),
        };
        id = id.with(self.rule_entry.name, rule, self.rule_entry.default);
        id = id.with("average", name(AVERAGE_CHOICES, self.average), self.average_default);
        if let Some(threshold) = self.rel_threshold {
            id = id.with("rel_threshold", threshold, "");
        }
        if self.takes.duplicates {
            id = id.with("duplicates", name(DUPLICATES_CHOICES, self.duplicates), "error");
        }
        id
    }

    /// The profile with what the options need.
    pub(super) fn profile(&self, profile: Profile) -> Profile {
        let mut profile = profile;
        profile.needs.items |= self.first_of_item || matches!(self.ties, Ties::KeyAsc | Ties::KeyDesc);
        profile.needs.distinct_items |= self.duplicates == Duplicates::Error;
        profile.needs.identities |= self.ties == Ties::Random;
        profile
    }
}

/// The probability `p` to go on to the next rank.
pub(crate) fn persistence(settings: &Settings<'_>, default: f64) -> Result<f64> {
    let p = settings.number("p", default)?;
    if p > 0.0 && p < 1.0 {
        return Ok(p);
    }
    Err(Error::usage(
        "a probability between 0 and 1 for `p`",
        p.to_string(),
        format!("write for example `p={default}`"),
    ))
}

/// The name of a choice.
pub(crate) fn name<T: PartialEq>(choices: &[(&'static str, T)], chosen: T) -> impl fmt::Display {
    choices.iter().find(|(_, choice)| *choice == chosen).map_or("", |(name, _)| name)
}
