//! From the text of a run file to its content, and from its syntax errors to ours.

use std::path::Path;

use fuseval_core::nearest::suggestion;
use fuseval_core::{Error, Result};
use serde::de::DeserializeOwned;

use super::RunFile;

impl RunFile {
    /// Reads a run file and puts `settings` (`key=value`, keys with dots) over it.
    pub fn read(path: &Path, settings: &[String]) -> Result<Self> {
        let place = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| {
            Error::usage("a run file", error.to_string().to_lowercase(), "give the path of a YAML file").at(&place)
        })?;
        let mut run_file = Self::parse(&text, settings).map_err(|error| error.at(&place))?;
        run_file.base = path.parent().unwrap_or(Path::new("")).to_path_buf();
        run_file.name = path.file_stem().map_or_else(|| "run".to_string(), |stem| stem.to_string_lossy().into_owned());
        Ok(run_file)
    }

    /// Parses the text of a run file.
    pub fn parse(text: &str, settings: &[String]) -> Result<Self> {
        // Parsed on its own first, so that an error has a line and a column.
        let run_file: Self = from_yaml(text)?;
        if settings.is_empty() {
            return Ok(run_file);
        }
        let tree: serde_json::Value = from_yaml(text)?;
        Self::from_tree(tree, settings)
    }

    /// This run file with `settings` put over it.
    pub fn with(&self, settings: &[String]) -> Result<Self> {
        if settings.is_empty() {
            return Ok(self.clone());
        }
        let tree =
            serde_json::to_value(self).map_err(|error| Error::defect("a run file as a tree", error.to_string()))?;
        Ok(Self { base: self.base.clone(), name: self.name.clone(), ..Self::from_tree(tree, settings)? })
    }

    fn from_tree(mut tree: serde_json::Value, settings: &[String]) -> Result<Self> {
        let as_written = tree.clone();
        for setting in settings {
            set(&mut tree, setting).map_err(|error| error.at(format!("--set {setting}")))?;
        }
        serde_json::from_value(tree).map_err(|error| {
            // The setting to blame is the one without which the others do.
            let does_without = |blamed: &&String| {
                let mut tree = as_written.clone();
                let mut others = settings.iter().filter(|other| other != blamed);
                others.all(|other| set(&mut tree, other).is_ok()) && serde_json::from_value::<Self>(tree).is_ok()
            };
            let blamed = settings.iter().find(does_without).map(|setting| format!("--set {setting}"));
            explained(&error.to_string()).at(blamed.unwrap_or_else(|| "the run file with --set".to_string()))
        })
    }
}

fn from_yaml<T: DeserializeOwned>(text: &str) -> Result<T> {
    use serde_saphyr::Error as Yaml;
    serde_saphyr::from_str(text).map_err(|error| {
        let place = error.location().map(|location| format!("line {}, column {}", location.line(), location.column()));
        let error = match error.without_snippet() {
            Yaml::SerdeUnknownField { field, expected, .. } => unknown_key(field, expected),
            Yaml::SerdeUnknownVariant { variant, expected, .. } => unknown_word(variant, expected),
            Yaml::SerdeMissingField { field, .. } => missing_key(field),
            other => unreadable(&other.to_string()),
        };
        error.at(place.unwrap_or_else(|| "the run file".to_string()))
    })
}

/// Our error for a message of serde about a tree, in which names stand in back quotes.
fn explained(message: &str) -> Error {
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    match quoted.split_first() {
        Some((key, known)) if message.starts_with("unknown field") => unknown_key(key, known),
        Some((word, known)) if message.starts_with("unknown variant") => unknown_word(word, known),
        Some((key, _)) if message.starts_with("missing field") => missing_key(key),
        _ => unreadable(message),
    }
}

fn unknown_key(key: &str, known: &[&str]) -> Error {
    Error::usage("a key of the run file", format!("`{key}`"), suggestion(key, known.iter().copied()))
}

fn unknown_word(word: &str, known: &[&str]) -> Error {
    let expected = format!("one of {}", fuseval_core::nearest::listed(known));
    Error::usage(expected, format!("`{word}`"), suggestion(word, known.iter().copied()))
}

fn missing_key(key: &str) -> Error {
    Error::usage(format!("the key `{key}`"), "none", "add it; the README shows a run file with every key")
}

/// What a parser says, in our words where it speaks of its own.
const WORDS: &[(&str, &str)] = &[
    (
        "data did not match any variant of untagged enum OneOrMany",
        "something that is neither a text nor a list of texts",
    ),
    ("data did not match any variant of untagged enum Text", "something that is not a single value"),
    (
        "data did not match any variant of untagged enum IntervalEntry",
        "an interval that is neither `{level: 0.95}` nor `false`",
    ),
    ("data did not match any variant of untagged enum MetricEntry", "a metric that is neither a name nor a map"),
    ("expected mapping start", "something that is not a map of keys and values"),
    ("expected sequence start", "something that is not a list"),
    ("struct DataBlock", "a map such as {path: data.parquet}"),
    ("struct ExpectBlock", "a map such as {files: 24}"),
    ("struct HeadBlock", "a map such as {label: click}"),
    ("struct PermuteBlock", "a map such as {features: all}"),
    ("struct FillBlock", "a map such as {feature: price, with: mean}"),
    ("u32", "a whole number from 0 on"),
    ("u64", "a whole number from 0 on"),
    ("f64", "a number"),
    ("set DuplicateKeyPolicy in Options if acceptable", "each key once"),
];

fn unreadable(message: &str) -> Error {
    let first = message.lines().next().unwrap_or_default();
    let first = first.split(" at line ").next().unwrap_or_default();
    let found = WORDS.iter().fold(first.to_string(), |text, (theirs, ours)| text.replace(theirs, ours));
    let parts = ["invalid value: ", "invalid type: "].iter().find_map(|start| found.strip_prefix(start));
    if let Some((found, expected)) = parts.and_then(|rest| rest.split_once(", expected ")) {
        return Error::usage(expected, found, "correct the value; the README shows a run file with every key");
    }
    if first.contains("IntervalEntry") {
        let help = "write `interval: {level: 0.9}` for another level, or `interval: false` for none";
        return Error::usage("a map with the key `level`, or `false`", "another value", help);
    }
    Error::usage(
        "a run file in YAML, as the README shows it",
        found,
        "correct the value; lists stand in brackets, as in `metrics: [roc_auc]`",
    )
}

/// Puts one `key=value` into the tree; the value is read as YAML.
fn set(tree: &mut serde_json::Value, setting: &str) -> Result<()> {
    let Some((key, value)) = setting.split_once('=') else {
        return Err(Error::usage(
            "key=value",
            format!("`{setting}`"),
            "write for example `--set output.predictions=true`",
        ));
    };
    let value: serde_json::Value = from_yaml(value)?;
    let mut at = tree;
    for part in key.split('.') {
        at = match at {
            serde_json::Value::Array(items) => {
                let length = items.len();
                part.parse::<usize>().ok().and_then(|place| items.get_mut(place)).ok_or_else(|| {
                    Error::usage(format!("a place below {length} in the list"), format!("`{part}`"), "count from 0")
                })?
            }
            serde_json::Value::Object(map) => map.entry(part).or_insert(serde_json::Value::Null),
            other => {
                *other = serde_json::Value::Object(serde_json::Map::new());
                match other {
                    serde_json::Value::Object(map) => map.entry(part).or_insert(serde_json::Value::Null),
                    _ => return Err(Error::defect("a map", "another value")),
                }
            }
        };
    }
    *at = value;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = "data: {path: a.parquet}\nheads: {ctr: {label: click}}\nmetrics: [mae]\n";

    #[test]
    fn errors_name_line_column_and_the_nearest_key() {
        let error = RunFile::parse("data: {path: a}\nmetrcs: [mae]\n", &[]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 2, column 1: expected a key of the run file, found `metrcs`; did you mean `metrics`?"
        );
        let error = RunFile::parse("data: {path: a}\nheads:\n  ctr: {label: l, kind: probabilty}\n", &[]).unwrap_err();
        assert!(error.to_string().contains("line 3"), "{error}");
        assert!(error.to_string().ends_with("found `probabilty`; did you mean `probability`?"), "{error}");
        let error = RunFile::parse("data:\n  path: a\n  segmnt: [r]\n", &[]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 3, column 3: expected a key of the run file, found `segmnt`; did you mean `segment`?"
        );
        let error = RunFile::parse("heads: {}\n", &[]).unwrap_err();
        assert!(error.to_string().contains("expected the key `data`, found none"), "{error}");
    }

    #[test]
    fn an_unknown_key_is_named_in_every_block() {
        for (text, place, key) in [
            ("data: {path: a}\nmodel: {path: m, backnd: auto}\n", "line 2", "backend"),
            ("data: {path: a}\nexperiments:\n  - permute: {featurs: all}\n", "line 3", "features"),
            ("data: {path: a}\nheads: {x: {label: l, weigth: w}}\n", "line 2", "weight"),
            ("data: {path: a}\noutput: {dri: x}\n", "line 2", "dir"),
        ] {
            let error = RunFile::parse(text, &[]).unwrap_err().to_string();
            assert!(error.starts_with(place) && error.ends_with(&format!("did you mean `{key}`?")), "{error}");
        }
        let error = RunFile::parse("data: {path: a}\nmodel: {backend: auto}\n", &[]).unwrap_err().to_string();
        assert!(error.contains("expected the key `path`, found none"), "{error}");
    }

    #[test]
    fn settings_change_any_key() {
        let settings = ["output.predictions=true", "metrics.0=rmse", "heads.ctr.kind=logit", "data.segment=[a, b]"];
        let run_file = RunFile::parse(SMALL, &settings.map(str::to_string)).unwrap();
        assert!(run_file.output.predictions);
        assert_eq!(run_file.metrics, [super::super::MetricEntry::Name("rmse".to_string())]);
        assert_eq!(run_file.data.segment.list(), ["a", "b"]);
        let error = RunFile::parse(SMALL, &["output.predcitions=true".to_string()]).unwrap_err();
        assert!(error.to_string().ends_with("found `predcitions`; did you mean `predictions`?"), "{error}");
    }

    #[test]
    fn a_wrong_value_is_named_with_its_place_and_what_it_should_be() {
        let error = |setting: &str| {
            let settings = ["seed=3".to_string(), setting.to_string()];
            RunFile::parse(SMALL, &settings).unwrap_err().to_string()
        };
        assert_eq!(
            error("exact_budget=-1"),
            "--set exact_budget=-1: expected a whole number from 0 on, found integer `-1`; correct the value; the README shows a run file with every key"
        );
        let interval = "expected a map with the key `level`, or `false`, found another value; write `interval: {level: 0.9}` for another level, or `interval: false` for none";
        assert_eq!(error("interval=0.9"), format!("--set interval=0.9: {interval}"));
        let written = RunFile::parse(&format!("{SMALL}interval: 0.9\n"), &[]).unwrap_err().to_string();
        assert!(written.starts_with("line 4") && written.ends_with(interval), "{written}");
        let written = RunFile::parse(&format!("{SMALL}exact_budget: -1\n"), &[]).unwrap_err().to_string();
        assert!(written.starts_with("line 4") && written.contains("a whole number from 0 on"), "{written}");
    }

    #[test]
    fn damaged_text_is_refused_without_a_panic() {
        let readme = include_str!("../../../../README.md");
        let text = readme.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
        assert!(RunFile::parse(text, &[]).is_ok());
        let mut rng = fuseval_core::random::KeyedRng::new(1, &["run file"]);
        let signs = ["{", "}", "[", "]", ":", "-", "\"", "'", "\n", "&a", "*a", "!!x", "|", "\t", "é", ""];
        for _ in 0..2000 {
            let mut damaged: Vec<char> = text.chars().collect();
            for _ in 0..1 + rng.below(4) {
                let place = rng.below(damaged.len() as u64) as usize;
                let end = (place + rng.below(3) as usize).min(damaged.len());
                damaged.splice(place..end, signs[rng.below(signs.len() as u64) as usize].chars());
            }
            let damaged: String = damaged.into_iter().collect();
            if let Err(error) = RunFile::parse(&damaged, &[]) {
                assert!(!error.help().is_empty(), "{damaged}");
            }
        }
    }
}
