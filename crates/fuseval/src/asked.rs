//! From the run file as written to what is asked of source, model and engine.

use std::path::Path;

use fuseval_core::registry::PRESETS;
use fuseval_core::{Error, MetricId, OptionValue, Result, ScoreKind, Source};
use fuseval_engine::Specification;
use fuseval_engine::specification::{
    ExperimentSpecification, FeatureChoice, Filling, HeadSpecification, OnInvalid, Scalar, SliceSpecification,
};
use fuseval_source::{Expected, SourceOptions, TrecOptions};

use crate::RunFile;
use crate::run_file::{
    ExpectEntry, ExperimentBlock, IntervalEntry, KindWord, MetricEntry, MetricValue, ModelBlock, ModelEntry,
    OnInvalidWord, OneOrMany, Text,
};

/// Refuses keys that a later version will bring: they are never ignored.
pub(crate) fn refuse_not_yet(run_file: &RunFile) -> Result<()> {
    let data = &run_file.data;
    let keys = [
        ("gates", run_file.gates.is_some()),
        ("data.row_key", !data.row_key.is_empty()),
        ("model as a list", matches!(run_file.model, Some(ModelEntry::Many(_)))),
    ];
    match keys.iter().find(|(_, given)| *given) {
        Some((key, _)) => Err(Error::usage(
            "keys that this version knows",
            format!("`{key}`, which is not yet one of them"),
            "leave it out",
        )),
        None => Ok(()),
    }
}

/// The model block, if there is one.
pub(crate) fn model(run_file: &RunFile) -> Option<&ModelBlock> {
    match &run_file.model {
        Some(ModelEntry::One(model)) => Some(model),
        _ => None,
    }
}

/// A path of the run file, relative to its folder.
pub(crate) fn resolved(run_file: &RunFile, path: &str) -> String {
    let is_url = path.contains("://");
    if is_url || Path::new(path).is_absolute() || run_file.base.as_os_str().is_empty() {
        return path.to_string();
    }
    run_file.base.join(path).to_string_lossy().into_owned()
}

/// The source: files, or a pair of TREC files; with the topics that these leave out, of the run and of the qrels.
pub(crate) fn source(run_file: &RunFile, inputs: &[&str]) -> Result<(Box<dyn Source>, (usize, usize))> {
    let data = &run_file.data;
    let Some(trec) = &data.trec else {
        return Ok((Box::new(fuseval_source::open(source_options(run_file, inputs)?)?), (0, 0)));
    };
    let keys = [
        ("path", !data.path.is_empty()),
        ("filter", data.filter.is_some()),
        ("derive", !data.derive.is_empty()),
        ("explode", !data.explode.is_empty()),
        ("expect", data.expect.is_some()),
    ];
    if let Some((key, _)) = keys.iter().find(|(_, given)| *given) {
        return Err(Error::usage(
            "TREC files alone",
            format!("`data.{key}` beside them"),
            "leave one of them out; convert the TREC files to a table to filter it",
        )
        .at("data.trec"));
    }
    let source = fuseval_source::open_trec(TrecOptions {
        qrels: resolved(run_file, &trec.qrels),
        run: resolved(run_file, &trec.run),
        complete: trec.complete,
        depth: trec.depth,
    })?;
    let topics = source.topics();
    let left_out = (topics.run_only, if trec.complete { 0 } else { topics.qrels_only });
    Ok((Box::new(source), left_out))
}

/// What the source is opened with. `inputs` are those of the model: a CSV column that feeds one is not read as text,
/// even if it is also a segment or slice key.
pub(crate) fn source_options(run_file: &RunFile, inputs: &[&str]) -> Result<SourceOptions> {
    let data = &run_file.data;
    let paths: Vec<String> = data.path.list().iter().map(|path| resolved(run_file, path)).collect();
    if paths.is_empty() {
        return Err(Error::usage("one path or more in `data.path`", "none", "name a file, a glob or a directory"));
    }
    // A slice that is not a column is a predicate; the source ignores names that are no columns.
    let mut text_columns = data.segment.list();
    text_columns.extend(data.item.clone());
    text_columns.extend(run_file.slices.iter().flat_map(OneOrMany::list));
    let mut numbers: Vec<String> = inputs.iter().map(ToString::to_string).collect();
    numbers.extend(model(run_file).iter().flat_map(|model| model.inputs.values()).flat_map(OneOrMany::list));
    for (name, head) in &run_file.heads {
        numbers.push(head.label.clone());
        numbers.push(head.score.clone().unwrap_or_else(|| name.clone()));
        numbers.extend(head.weight.clone());
    }
    text_columns.retain(|column| !numbers.contains(column));
    Ok(SourceOptions {
        paths,
        filter: data.filter.clone(),
        derive: data.derive.iter().map(|(name, sql)| (name.clone(), sql.clone())).collect(),
        text_columns,
        types: data.types.iter().map(|(name, word)| (name.clone(), word.clone())).collect(),
        explode: data.explode.list(),
        expect: data
            .expect
            .as_ref()
            .map(ExpectEntry::block)
            .map_or_else(Expected::default, |block| Expected { files: block.files, names: block.names.list() }),
    })
}

pub(crate) fn specification(run_file: &RunFile, source: &dyn Source) -> Result<Specification> {
    let columns = source.columns();
    let model = model(run_file);
    let inputs = model.map(|model| model.inputs.iter().map(|(name, columns)| (name.clone(), columns.list())).collect());
    let fill_null =
        model.map(|model| model.fill_null.iter().map(|(name, value)| (name.clone(), scalar(value))).collect());
    let mut metrics = Vec::new();
    for (place, entry) in run_file.metrics.iter().enumerate() {
        metrics.extend(metric(entry).map_err(|error| error.at(format!("metrics[{place}]")))?);
    }
    // Topics and documents of TREC files have fixed names.
    let fixed = |name: &str| run_file.data.trec.as_ref().map(|_| name.to_string());
    let segment = match fixed("topic") {
        Some(topic) if run_file.data.segment.is_empty() => vec![topic],
        _ => run_file.data.segment.list(),
    };
    Ok(Specification {
        segment,
        carryover: run_file.data.carryover.list(),
        inputs: inputs.unwrap_or_default(),
        fill_null: fill_null.unwrap_or_default(),
        heads: run_file
            .heads
            .iter()
            .map(|(name, head)| HeadSpecification {
                name: name.clone(),
                score: head.score.clone().unwrap_or_else(|| name.clone()),
                label: head.label.clone(),
                kind: match head.kind {
                    KindWord::Probability => ScoreKind::Probability,
                    KindWord::Logit => ScoreKind::Logit,
                    KindWord::Raw => ScoreKind::Raw,
                },
                weight: head.weight.clone(),
                mask: head.mask.clone(),
                positive: head.positive.as_ref().map(Text::to_string),
                label_threshold: head.label_threshold,
            })
            .collect(),
        metrics,
        slices: run_file.slices.iter().map(|slice| self::slice(slice, &columns)).collect(),
        experiments: run_file
            .experiments
            .iter()
            .enumerate()
            .map(|(place, block)| experiment(block).map_err(|error| error.at(format!("experiments[{place}]"))))
            .collect::<Result<_>>()?,
        seed: run_file.seed,
        scores_are_columns: model.is_none(),
        interval: interval(&run_file.interval)?,
        item: run_file.data.item.clone().or_else(|| fixed("docno")),
        unranked: run_file.data.trec.is_some(),
        preset: preset(run_file.preset.as_deref())?,
        no_positive: no_positive(run_file.no_positive.as_deref())?,
        exact_budget: run_file.exact_budget,
        on_invalid: match run_file.on_invalid {
            OnInvalidWord::Error => OnInvalid::Error,
            OnInvalidWord::Drop => OnInvalid::Drop,
        },
    })
}

/// The level of the intervals.
fn interval(entry: &IntervalEntry) -> Result<Option<f64>> {
    match entry {
        IntervalEntry::Switch(on) => Ok(on.then_some(0.95)),
        IntervalEntry::Block(block) if block.level > 0.0 && block.level < 1.0 => Ok(Some(block.level)),
        IntervalEntry::Block(block) => Err(Error::usage(
            "a level between 0 and 1",
            block.level.to_string(),
            "write for example `interval: {level: 0.95}`, or `interval: false` for none",
        )
        .at("interval.level")),
    }
}

fn preset(name: Option<&str>) -> Result<Option<String>> {
    word("preset", name, PRESETS)
}

fn no_positive(rule: Option<&str>) -> Result<Option<String>> {
    word("no_positive", rule, &["skip", "zero", "one"])
}

/// One of the few words that a key takes.
fn word(key: &str, given: Option<&str>, known: &[&str]) -> Result<Option<String>> {
    match given {
        Some(given) if !known.contains(&given) => Err(Error::usage(
            format!("one of {}", fuseval_core::nearest::listed(known)),
            format!("`{given}`"),
            "write one of them",
        )
        .at(key)),
        given => Ok(given.map(str::to_string)),
    }
}

fn slice(entry: &OneOrMany, columns: &[String]) -> SliceSpecification {
    match entry {
        OneOrMany::Many(names) => SliceSpecification::Columns(names.clone()),
        OneOrMany::One(text) if is_name(text) || columns.contains(text) => {
            SliceSpecification::Columns(vec![text.clone()])
        }
        OneOrMany::One(sql) => SliceSpecification::Predicate(sql.clone()),
    }
}

/// Whether a text can only be the name of a column: then an unknown one is an unknown column, not bad SQL.
fn is_name(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

fn metric(entry: &MetricEntry) -> Result<Vec<MetricId>> {
    let map = match entry {
        MetricEntry::Name(names) => return MetricId::parse_list(names),
        MetricEntry::Map(map) => map,
    };
    let mut id = MetricId::new("");
    for (key, value) in map {
        let value = match value {
            MetricValue::One(value) => OptionValue::One(value.to_string()),
            MetricValue::Many(values) => OptionValue::List(values.iter().map(Text::to_string).collect()),
        };
        match key.as_str() {
            "name" => id.name = value.to_string(),
            "k" => id.k = Some(value.to_string()),
            _ => id.options.push((key.clone(), value)),
        }
    }
    if id.name.is_empty() {
        return Err(Error::usage("the key `name` in a metric", "none", "write for example `{name: precision, k: 10}`"));
    }
    Ok(vec![id])
}

fn experiment(block: &ExperimentBlock) -> Result<ExperimentSpecification> {
    match (&block.permute, &block.fill) {
        (Some(permute), None) => Ok(ExperimentSpecification::Permute {
            features: features(&permute.features),
            together: permute.together,
            repeats: permute.repeats,
            seed: permute.seed,
            name: permute.name.clone(),
        }),
        (None, Some(fill)) => {
            let chosen = match (&fill.feature, fill.features.is_empty()) {
                (Some(feature), true) => FeatureChoice::Named(vec![feature.clone()]),
                (None, _) => features(&fill.features),
                (Some(_), false) => {
                    return Err(Error::usage("`feature` or `features`", "both", "leave one of them out"));
                }
            };
            let with = match &fill.with {
                Text::Text(word) if word == "mean" => Filling::Mean,
                Text::Text(word) if word == "missing" => Filling::Missing,
                value => Filling::Constant(scalar(value)),
            };
            Ok(ExperimentSpecification::Fill { features: chosen, with, name: fill.name.clone() })
        }
        _ => Err(Error::usage(
            "one of `permute` and `fill`",
            if block.permute.is_some() { "both" } else { "none" },
            "write one entry of the list for each experiment",
        )),
    }
}

fn features(entry: &OneOrMany) -> FeatureChoice {
    match entry {
        OneOrMany::One(word) if word == "all" => FeatureChoice::All,
        other => FeatureChoice::Named(other.list()),
    }
}

fn scalar(value: &Text) -> Scalar {
    match value {
        Text::Bool(truth) => Scalar::Bool(*truth),
        Text::Integer(number) => Scalar::Integer(*number),
        Text::Float(number) => Scalar::Number(*number),
        Text::Text(text) => Scalar::Text(text.clone()),
    }
}
