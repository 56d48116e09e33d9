//! Metric names: `name`, `name@k`, `name[option=value,…]`, `name@k[…]`. They print as they parse.

use std::fmt;

use crate::{Error, Result};

/// The value of an option, as written: a word or number, or a list of them in brackets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OptionValue {
    /// A single value.
    One(String),
    /// A list.
    List(Vec<String>),
}

impl fmt::Display for OptionValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(value) => f.write_str(value),
            Self::List(values) => write!(f, "[{}]", values.join(",")),
        }
    }
}

/// A metric by name: what was asked for, before any registry has looked at it, and what a metric says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetricId {
    /// The name in the catalogue.
    pub name: String,
    /// The cut-off after `@`.
    pub k: Option<String>,
    /// The options in brackets, in the order given. A metric prints them in the order of its catalogue entry and leaves
    /// out those at their default.
    pub options: Vec<(String, OptionValue)>,
}

impl MetricId {
    /// The bare name.
    pub fn new(name: &str) -> Self {
        Self { name: name.to_string(), k: None, options: Vec::new() }
    }

    /// With a cut-off.
    #[must_use]
    pub fn at(mut self, k: usize) -> Self {
        self.k = Some(k.to_string());
        self
    }

    /// With an option, unless it stands at its default.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl fmt::Display, default: impl fmt::Display) -> Self {
        let value = value.to_string();
        if value != default.to_string() {
            self.options.push((name.to_string(), OptionValue::One(value)));
        }
        self
    }

    /// Parses one name.
    pub fn parse(text: &str) -> Result<Self> {
        let text = text.trim();
        let wrong = |found: String| {
            Error::usage(
                "a metric as `name`, `name@k`, `name[option=value,…]` or `name@k[…]`",
                format!("{found} in `{text}`"),
                "write for example `precision@10[ties=optimistic]`",
            )
        };
        let (head, bracket) = match text.split_once('[') {
            None => (text, None),
            Some((head, rest)) => match rest.strip_suffix(']') {
                Some(inside) => (head, Some(inside)),
                None => return Err(wrong("an open `[`".to_string())),
            },
        };
        let (name, k) = match head.split_once('@') {
            None => (head, None),
            Some((name, k)) => (name, Some(k.trim().to_string())),
        };
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(wrong(format!("the name `{name}`")));
        }
        let mut options = Vec::new();
        for part in split_outside_brackets(bracket.unwrap_or_default()) {
            let Some((option, value)) = part.split_once('=') else {
                return Err(wrong(format!("the option `{part}` without a value")));
            };
            options.push((option.trim().to_string(), parse_value(value.trim())));
        }
        if bracket.is_some() && options.is_empty() {
            return Err(wrong("empty brackets".to_string()));
        }
        Ok(Self { name: name.trim().to_string(), k, options })
    }

    /// Parses a list, split at commas outside brackets.
    pub fn parse_list(text: &str) -> Result<Vec<Self>> {
        split_outside_brackets(text).into_iter().map(Self::parse).collect()
    }
}

impl fmt::Display for MetricId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if let Some(k) = &self.k {
            write!(f, "@{k}")?;
        }
        if !self.options.is_empty() {
            let options: Vec<String> = self.options.iter().map(|(name, value)| format!("{name}={value}")).collect();
            write!(f, "[{}]", options.join(","))?;
        }
        Ok(())
    }
}

fn parse_value(text: &str) -> OptionValue {
    match text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(inside) => OptionValue::List(split_outside_brackets(inside).into_iter().map(str::to_string).collect()),
        None => OptionValue::One(text.to_string()),
    }
}

/// The parts between commas that stand in no bracket, trimmed; empty parts are left out.
pub fn split_outside_brackets(text: &str) -> Vec<&str> {
    let mut depth = 0i32;
    text.split(|c| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        c == ',' && depth == 0
    })
    .map(str::trim)
    .filter(|part| !part.is_empty())
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_print_as_they_parse() {
        for name in [
            "mae",
            "precision@10",
            "roc_auc[thresholds=100]",
            "precision@10[ties=stable,denominator=min_k_n]",
            "roc_auc[thresholds=[0,0.25,1]]",
        ] {
            assert_eq!(MetricId::parse(name).unwrap().to_string(), name);
        }
        let spaced = MetricId::parse(" roc_auc[ thresholds = [0, 0.5] ] ").unwrap();
        assert_eq!(spaced.to_string(), "roc_auc[thresholds=[0,0.5]]");
    }

    #[test]
    fn lists_split_at_commas_outside_brackets() {
        let list =
            MetricId::parse_list("mae,roc_auc[thresholds=[0,1]],precision@2[ties=stable,denominator=k]").unwrap();
        assert_eq!(list.len(), 3);
    }

    #[test]
    fn other_forms_are_refused() {
        for text in ["", "@3", "mae[", "mae[]", "mae[x]", "ma e", "mae]"] {
            assert!(MetricId::parse(text).is_err(), "{text}");
        }
    }
}
