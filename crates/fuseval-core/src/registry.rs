//! A catalogue entry, and the look-up of a metric by name in a list of entries.

use crate::nearest::{listed, nearest, suggestion};
use crate::{AnyMetric, Error, MetricId, OptionValue, Result};

/// An option of a metric, for messages and the catalogue page.
#[derive(Debug, Clone, Copy)]
pub struct OptionEntry {
    /// The name.
    pub name: &'static str,
    /// The named values; empty when any number or list may be given.
    pub values: &'static [&'static str],
    /// The default, as text.
    pub default: &'static str,
}

/// Whether a metric takes a cut-off `@k`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cutoff {
    /// It must not.
    None,
    /// It may; left out it stands for the whole segment.
    Optional,
    /// It must.
    Required,
}

/// One line of the catalogue.
#[derive(Clone, Copy)]
pub struct Entry {
    /// The name.
    pub name: &'static str,
    /// One line that says what it is.
    pub summary: &'static str,
    /// The text of the metric's file, whose header is the page of the metric.
    pub file: &'static str,
    /// Whether `@k` is given.
    pub cutoff: Cutoff,
    /// The options, in the order in which they print.
    pub options: &'static [OptionEntry],
    /// What presets set: (preset, option, value).
    pub presets: &'static [(&'static str, &'static str, &'static str)],
    /// Makes the metric from checked settings.
    pub build: fn(&Settings<'_>) -> Result<Box<dyn AnyMetric>>,
}

impl Entry {
    /// The page of the metric: the header of its file, without the comment signs.
    pub fn page(&self) -> String {
        let header = self.file.lines().map_while(|line| line.strip_prefix("//!"));
        header.map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line))).collect()
    }
}

/// The presets that there are.
pub const PRESETS: &[&str] = &["sklearn", "trec_eval"];

/// What a run sets for all its metrics.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Defaults {
    /// A named set of options.
    pub preset: Option<String>,
    /// The rule for segments without a positive row: `skip`, `zero` or `one`.
    pub no_positive: Option<String>,
    /// The seed of random ties.
    pub seed: u64,
    /// Distinct scores up to which the score state of one cell is exact; `None` for the default of a single cell.
    pub score_budget: Option<u64>,
}

/// The settings of one metric: a name whose cut-off and options fit the entry.
pub struct Settings<'a> {
    id: &'a MetricId,
    entry: &'a Entry,
    defaults: &'a Defaults,
    k: Option<usize>,
}

impl Settings<'_> {
    /// The cut-off, if one was given.
    pub fn k(&self) -> Option<usize> {
        self.k
    }

    /// The catalogue line.
    pub fn entry(&self) -> &Entry {
        self.entry
    }

    /// What the run sets for all metrics.
    pub fn defaults(&self) -> &Defaults {
        self.defaults
    }

    /// The value of an option, if it was given.
    pub fn given(&self, option: &str) -> Option<&OptionValue> {
        self.id.options.iter().find(|(name, _)| name == option).map(|(_, value)| value)
    }

    /// The value of an option: as given, as the run sets it for all metrics, as its preset has it; `None` for the default.
    pub fn get(&self, option: &str) -> Option<OptionValue> {
        let one = |text: &str| OptionValue::One(text.to_string());
        if let Some(value) = self.given(option) {
            return Some(value.clone());
        }
        if let ("no_positive", Some(rule)) = (option, &self.defaults.no_positive) {
            return Some(one(rule));
        }
        let preset = self.defaults.preset.as_deref()?;
        self.entry.presets.iter().find(|(of, name, _)| *of == preset && *name == option).map(|(.., value)| one(value))
    }

    fn default_of(&self, option: &str) -> &'static str {
        self.entry.options.iter().find(|info| info.name == option).map_or("", |info| info.default)
    }

    /// The choice among `choices` that an option names.
    pub fn choice<T: Copy>(&self, option: &str, choices: &[(&str, T)]) -> Result<T> {
        let given = self.get(option).map_or_else(|| self.default_of(option).to_string(), |value| value.to_string());
        match choices.iter().find(|(name, _)| *name == given) {
            Some((_, choice)) => Ok(*choice),
            None => Err(Error::usage(
                format!("a value of `{option}`"),
                format!("`{given}`"),
                suggestion(&given, choices.iter().map(|(name, _)| *name)),
            )),
        }
    }

    /// The number of an option that may be left out.
    pub fn optional_number(&self, option: &str) -> Result<Option<f64>> {
        if self.get(option).is_none() {
            return Ok(None);
        }
        self.number(option, 1.0).map(Some)
    }

    /// The number given for an option, or its default.
    pub fn number(&self, option: &str, default: f64) -> Result<f64> {
        let Some(value) = self.get(option) else { return Ok(default) };
        match &value {
            OptionValue::One(text) if text.parse().is_ok_and(|number: f64| number.is_finite()) => {
                text.parse().map_err(|_| Error::defect("a number", text.clone()))
            }
            _ => {
                let written = self.default_of(option);
                let example = if written.parse::<f64>().is_ok() { written.to_string() } else { default.to_string() };
                Err(Error::usage(
                    format!("a number for `{option}`"),
                    format!("`{value}`"),
                    format!("write for example `{option}={example}`"),
                ))
            }
        }
    }
}

/// What other tools and people call metrics of the catalogue.
pub const OTHER_NAMES: &[(&str, &str)] = &[
    ("auc", "roc_auc"),
    ("auroc", "roc_auc"),
    ("auc_roc", "roc_auc"),
    ("ap", "pr_auc"),
    ("average_precision", "pr_auc"),
    ("mean_average_precision", "map"),
    ("bce", "log_loss"),
    ("nll", "log_loss"),
    ("cross_entropy", "log_loss"),
    ("logloss", "log_loss"),
    ("p", "precision@k"),
    ("recip_rank", "mrr"),
    ("hr", "hit_rate@k"),
    ("hits", "hit_rate@k"),
    ("ndcg_cut", "ndcg@k"),
];

/// How many names a message lists.
const LISTED: usize = 20;

/// The error for a name that no metric has: with the metric that is known by it elsewhere, or the nearest name.
pub fn unknown(catalogue: &[Entry], name: &str, k: Option<&str>) -> Error {
    let written = name.to_lowercase().replace('-', "_");
    let other = OTHER_NAMES.iter().find(|(other, _)| *other == written).map(|(_, ours)| match k {
        Some(k) => ours.replace("@k", &format!("@{k}")),
        None => (*ours).to_string(),
    });
    let near = other.or_else(|| nearest(name, catalogue.iter().map(|entry| entry.name)).map(str::to_string));
    let help = near.map_or_else(
        || {
            let names: Vec<&str> = catalogue.iter().take(LISTED).map(|entry| entry.name).collect();
            let others = if catalogue.len() > LISTED { " and others" } else { "" };
            format!("choose one of {}{others}; `fuseval metrics` lists them", listed(&names))
        },
        |near| format!("did you mean `{near}`?"),
    );
    Error::usage("a metric of the catalogue", format!("`{name}`"), help)
}

/// Makes the metric that `id` names, or says what is wrong with it and what was probably meant.
pub fn metric(catalogue: &[Entry], id: &MetricId, defaults: &Defaults) -> Result<Box<dyn AnyMetric>> {
    let Some(entry) = catalogue.iter().find(|entry| entry.name == id.name) else {
        return Err(unknown(catalogue, &id.name, id.k.as_deref()));
    };
    let place = |error: Error| error.at(format!("metric `{id}`"));
    for (position, (option, _)) in id.options.iter().enumerate() {
        if !entry.options.iter().any(|info| info.name == option) {
            return Err(place(Error::usage(
                format!("an option of `{}`", entry.name),
                format!("`{option}`"),
                suggestion(option, entry.options.iter().map(|info| info.name)),
            )));
        }
        if id.options.iter().take(position).any(|(other, _)| other == option) {
            return Err(place(Error::usage("each option once", format!("`{option}` twice"), "leave one of them out")));
        }
    }
    let k = cutoff(entry, id).map_err(place)?;
    (entry.build)(&Settings { id, entry, defaults, k }).map_err(place)
}

fn cutoff(entry: &Entry, id: &MetricId) -> Result<Option<usize>> {
    let name = entry.name;
    match (&id.k, entry.cutoff) {
        (None, Cutoff::None | Cutoff::Optional) => Ok(None),
        (None, Cutoff::Required) => {
            let over_rows = if name == "f1" { ", or `f_beta[threshold=0.5]` for all rows" } else { "" };
            let help = format!("write for example `{name}@10`{over_rows}");
            Err(Error::usage(format!("a cut-off k for `{name}`"), "none", help))
        }
        (Some(k), Cutoff::None) => {
            Err(Error::usage(format!("no cut-off k for `{name}`"), format!("k = {k}"), format!("write `{name}`")))
        }
        (Some(k), _) => match k.parse::<u32>() {
            Ok(number) if number > 0 => Ok(usize::try_from(number).ok()),
            _ => Err(Error::usage(
                "a cut-off k that is a whole number from 1 on",
                format!("k = {k}"),
                format!("write for example `{name}@10`"),
            )),
        },
    }
}
