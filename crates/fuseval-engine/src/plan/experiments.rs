//! Experiments: every entry of the run file becomes one experiment or several, each with a name of its own.

use fuseval_core::nearest::suggestion;
use fuseval_core::{Error, Result};

use super::{Change, Experiment, FeaturePlace};
use crate::specification::{ExperimentSpecification, FeatureChoice, Filling, Scalar, Specification};

impl Experiment {
    /// An experiment without repeats.
    fn new(name: String, change: Change) -> Self {
        Self { group: name.clone(), name, change }
    }
}

pub(super) fn resolve(asked: &Specification, features: &[FeaturePlace]) -> Result<Vec<Experiment>> {
    if !asked.experiments.is_empty() && asked.scores_are_columns {
        return Err(Error::usage(
            "a model for experiments on features",
            "scores that are columns",
            "name the model: `model: {path: model.onnx}`, or leave `experiments` out",
        ));
    }
    let mut experiments = vec![Experiment::new("baseline".to_string(), Change::None)];
    for (place, entry) in asked.experiments.iter().enumerate() {
        let made = match entry {
            ExperimentSpecification::Permute { features: choice, together, repeats, seed, name } => {
                permutations(choice, *together, *repeats, seed.unwrap_or(asked.seed), name.as_deref(), features)
            }
            ExperimentSpecification::Fill { features: choice, with, name } => {
                fills(choice, with, name.as_deref(), features)
            }
        };
        experiments.extend(made.map_err(|error| error.at(format!("experiments[{place}]")))?);
    }
    for (place, experiment) in experiments.iter().enumerate() {
        if experiments.iter().take(place).any(|other| other.name == experiment.name) {
            return Err(Error::usage(
                "experiments with different names",
                format!("`{}` twice", experiment.name),
                "give one of them a `name`",
            ));
        }
    }
    Ok(experiments)
}

fn permutations(
    choice: &FeatureChoice,
    together: bool,
    repeats: u32,
    seed: u64,
    name: Option<&str>,
    features: &[FeaturePlace],
) -> Result<Vec<Experiment>> {
    if repeats == 0 {
        return Err(Error::usage("one repeat or more", "`repeats: 0`", "leave `repeats` out for one"));
    }
    let chosen = chosen(choice, features)?;
    let groups: Vec<Vec<String>> =
        if together { vec![chosen] } else { chosen.into_iter().map(|feature| vec![feature]).collect() };
    let single = groups.len() == 1;
    let mut experiments = Vec::new();
    for group in groups {
        let default = format!("permute:{}", group.join("+"));
        let base = match name {
            None => default,
            Some(name) if single => name.to_string(),
            Some(name) => format!("{name}:{}", group.join("+")),
        };
        let mut names = group.clone();
        names.sort();
        for repeat in 0..repeats {
            let name = if repeats == 1 { base.clone() } else { format!("{base}#{}", repeat + 1) };
            let change = Change::Permute { features: places(&group, features), names: names.clone(), seed, repeat };
            experiments.push(Experiment { name, group: base.clone(), change });
        }
    }
    Ok(experiments)
}

fn fills(
    choice: &FeatureChoice,
    with: &Filling,
    name: Option<&str>,
    features: &[FeaturePlace],
) -> Result<Vec<Experiment>> {
    let chosen = chosen(choice, features)?;
    let single = chosen.len() == 1;
    let mut experiments = Vec::new();
    for feature in chosen {
        let mut filled = Vec::new();
        for place in places(std::slice::from_ref(&feature), features) {
            let Some(at) = features.get(place) else { continue };
            filled.push((place, value(with, at)?));
        }
        let name = match name {
            None => format!("fill:{feature}={}", written(with)),
            Some(name) if single => name.to_string(),
            Some(name) => format!("{name}:{feature}"),
        };
        experiments.push(Experiment::new(name, Change::Fill { features: filled }));
    }
    Ok(experiments)
}

/// What is filled with, as it is written.
fn written(with: &Filling) -> String {
    match with {
        Filling::Mean => "mean".to_string(),
        Filling::Missing => "missing".to_string(),
        Filling::Constant(Scalar::Integer(number)) => number.to_string(),
        Filling::Constant(Scalar::Number(number)) => number.to_string(),
        Filling::Constant(Scalar::Bool(truth)) => truth.to_string(),
        Filling::Constant(Scalar::Text(text)) => text.clone(),
    }
}

/// The value to fill with, checked against the type of the feature; `None` for the mean.
fn value(with: &Filling, feature: &FeaturePlace) -> Result<Option<Scalar>> {
    let element = feature.element;
    let wrong = |expected: &str| {
        Error::usage(
            format!("{expected} to fill feature `{}`", feature.name),
            format!("an input of type {}", element.name()),
            "fill it with a constant: `with: VALUE`",
        )
    };
    match with {
        Filling::Mean if element.is_float() => Ok(None),
        Filling::Mean => Err(wrong("a float feature when the mean is")),
        Filling::Missing => match &feature.fill_null {
            Some(value) => Ok(Some(value.clone())),
            None if element.is_float() => Ok(Some(Scalar::Number(f64::NAN))),
            None => Err(wrong("a float feature or one with `fill_null` when a missing value is")),
        },
        Filling::Constant(value) => {
            crate::features::constant(value, element, feature.width)?;
            Ok(Some(value.clone()))
        }
    }
}

fn chosen(choice: &FeatureChoice, features: &[FeaturePlace]) -> Result<Vec<String>> {
    let mut names: Vec<String> = Vec::new();
    match choice {
        FeatureChoice::All => {
            for feature in features {
                if !names.contains(&feature.name) {
                    names.push(feature.name.clone());
                }
            }
        }
        FeatureChoice::Named(asked) => {
            for name in asked {
                if !features.iter().any(|feature| feature.name == *name) {
                    let known = features.iter().map(|feature| feature.name.as_str());
                    return Err(Error::usage("a feature of the model", format!("`{name}`"), suggestion(name, known)));
                }
                if names.contains(name) {
                    return Err(Error::usage("each feature once", format!("`{name}` twice"), "leave one of them out"));
                }
                names.push(name.clone());
            }
        }
    }
    if names.is_empty() {
        return Err(Error::usage("one feature or more", "none", "write `features: all` or a list of columns"));
    }
    Ok(names)
}

/// All places of the named features; a column that feeds two inputs has two.
fn places(names: &[String], features: &[FeaturePlace]) -> Vec<usize> {
    (0..features.len())
        .filter(|place| features.get(*place).is_some_and(|feature| names.contains(&feature.name)))
        .collect()
}
