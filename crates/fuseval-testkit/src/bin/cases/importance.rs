//! Sampled importances: the same seed gives the same digits on any machine and for any arrangement of the question.

use crate::answers::{Outcome, value};
use crate::case::{Answer, Input, Question};
use crate::check::{Sites, first_site, line};
use crate::runs::{Machine, Site, Way, run};
use crate::tables::Layout;
use crate::vocabulary::{Asked, asked};

/// The experiments with their values, by name.
type Values = Vec<(String, u64)>;

fn values(site: &Site, asked: &Asked, way: Way, threads: usize) -> Result<(Values, serde_json::Value), String> {
    match run(site, asked, way, Machine { threads: Some(threads), bucket_rows: None })? {
        Outcome::Refused { code, message } => Err(format!("exit code {code}: {}", line(&message))),
        Outcome::Done { results, run, .. } => {
            let mut values = Vec::new();
            for record in &results {
                let name = record.get("experiment").and_then(serde_json::Value::as_str).unwrap_or_default();
                match value(record)? {
                    Answer::Number(number) => values.push((name.to_string(), number.to_bits())),
                    Answer::Undefined => return Err(format!("no value of {name}")),
                }
            }
            values.sort();
            Ok((values, run))
        }
    }
}

/// Asks the same question in many ways.
pub fn check(input: &Input, question: &Question, sites: &Sites) -> Result<(), String> {
    let site = first_site(sites)?;
    let asked = asked(input, question, false)?;
    let (expected, told) = values(site, &asked, Way::Library, 1)?;
    let same = |what: &str, values: &Values| {
        let missing = values.iter().find(|value| !expected.contains(value));
        missing.map_or(Ok(()), |(name, _)| Err(format!("importances: another value of {name} {what}")))
    };
    for threads in [1, 2, 8] {
        same(&format!("with {threads} workers"), &values(site, &asked, Way::CommandLine, threads)?.0)?;
    }
    for (site, _) in sites.layouts.iter().filter(|(_, layout)| matches!(layout, Layout::Cut { .. })) {
        same("from several files", &values(site, &asked, Way::Library, 2)?.0)?;
    }
    let mut turned = asked.clone();
    turned.experiments.reverse();
    same("in another order of the sets", &values(site, &turned, Way::Library, 2)?.0)?;
    for experiment in &asked.experiments {
        let alone = Asked { experiments: vec![experiment.clone()], ..asked.clone() };
        same("asked for alone", &values(site, &alone, Way::Library, 2)?.0)?;
    }
    if told.get("seed").and_then(serde_json::Value::as_u64).is_none() {
        return Err("importances: the run does not say its seed".to_string());
    }
    let sampled = |values: &Values| -> Vec<u64> {
        values.iter().filter(|(name, _)| name != "baseline").map(|(_, value)| *value).collect()
    };
    let mut repeats = sampled(&expected);
    repeats.sort_unstable();
    repeats.dedup();
    if repeats.len() < sampled(&expected).len() {
        return Err("importances: two repeats with the same value".to_string());
    }
    let mut other = asked;
    other.experiments.iter_mut().for_each(|experiment| experiment.seed = Some(experiment.seed.unwrap_or(0) + 1));
    if sampled(&values(site, &other, Way::Library, 2)?.0) == sampled(&expected) {
        return Err("importances: another seed gives the same values".to_string());
    }
    Ok(())
}
