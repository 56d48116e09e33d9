//! A catalogue entry, and the look-up of a metric by name in a list of entries.

use crate::nearest::suggestion;
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

/// One line of the catalogue.
#[derive(Clone, Copy)]
pub struct Entry {
    /// The name.
    pub name: &'static str,
    /// One line that says what it is.
    pub summary: &'static str,
    /// Whether `@k` must be given (`true`) or must not (`false`).
    pub cutoff: bool,
    /// The options, in the order in which they print.
    pub options: &'static [OptionEntry],
    /// Makes the metric from checked settings.
    pub build: fn(&Settings<'_>) -> Result<Box<dyn AnyMetric>>,
}

/// The settings of one metric: a name whose cut-off and options fit the entry.
pub struct Settings<'a> {
    id: &'a MetricId,
    entry: &'a Entry,
    k: usize,
}

impl Settings<'_> {
    /// The cut-off; 0 for a metric without one.
    pub fn k(&self) -> usize {
        self.k
    }

    /// The value of an option, if it was given.
    pub fn get(&self, option: &str) -> Option<&OptionValue> {
        self.id.options.iter().find(|(name, _)| name == option).map(|(_, value)| value)
    }

    /// The place of the chosen word in `choices`, in which the first is the default.
    pub fn choice<T: Copy>(&self, option: &str, choices: &[(&str, T)]) -> Result<T> {
        let given = match self.get(option) {
            Some(value) => value.to_string(),
            None => self
                .entry
                .options
                .iter()
                .find(|info| info.name == option)
                .map(|info| info.default)
                .unwrap_or_default()
                .to_string(),
        };
        match choices.iter().find(|(name, _)| *name == given) {
            Some((_, choice)) => Ok(*choice),
            None => Err(Error::usage(
                format!("a value of `{option}`"),
                format!("`{given}`"),
                suggestion(&given, choices.iter().map(|(name, _)| *name)),
            )),
        }
    }

    /// The number given for an option, or its default.
    pub fn number(&self, option: &str, default: f64) -> Result<f64> {
        let Some(value) = self.get(option) else { return Ok(default) };
        match value {
            OptionValue::One(text) if text.parse().is_ok_and(|number: f64| number.is_finite()) => {
                text.parse().map_err(|_| Error::defect("a number", text.clone()))
            }
            _ => {
                let written = self.entry.options.iter().find(|entry| entry.name == option).map(|entry| entry.default);
                let example =
                    written.filter(|text| text.parse::<f64>().is_ok()).map_or(default.to_string(), str::to_string);
                Err(Error::usage(
                    format!("a number for `{option}`"),
                    format!("`{value}`"),
                    format!("write for example `{option}={example}`"),
                ))
            }
        }
    }
}

/// Makes the metric that `id` names, or says what is wrong with it and what was probably meant.
pub fn metric(catalogue: &[Entry], id: &MetricId) -> Result<Box<dyn AnyMetric>> {
    let Some(entry) = catalogue.iter().find(|entry| entry.name == id.name) else {
        return Err(Error::usage(
            "a metric of the catalogue",
            format!("`{}`", id.name),
            suggestion(&id.name, catalogue.iter().map(|entry| entry.name)),
        ));
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
    (entry.build)(&Settings { id, entry, k }).map_err(place)
}

fn cutoff(entry: &Entry, id: &MetricId) -> Result<usize> {
    let name = entry.name;
    match (&id.k, entry.cutoff) {
        (None, false) => Ok(0),
        (None, true) => {
            Err(Error::usage(format!("a cut-off k for `{name}`"), "none", format!("write for example `{name}@10`")))
        }
        (Some(k), false) => {
            Err(Error::usage(format!("no cut-off k for `{name}`"), format!("k = {k}"), format!("write `{name}`")))
        }
        (Some(k), true) => match k.parse::<u32>() {
            Ok(number) if number > 0 => {
                usize::try_from(number).map_err(|_| Error::defect("a cut-off that fits", k.clone()))
            }
            _ => Err(Error::usage(
                "a cut-off k that is a whole number from 1 on",
                format!("k = {k}"),
                format!("write for example `{name}@10`"),
            )),
        },
    }
}
