//! One case: its data written, each question asked in all ways, the answers compared.

use std::path::Path;

use crate::answers::{Outcome, compare, found};
use crate::behaviour;
use crate::case::{Case, ExpectedError, Question};
use crate::onnx;
use crate::runs::{DATA, MODEL, Machine, Site, Way, run};
use crate::tables::{Layout, Table, Tables, laid_out, tables};
use crate::vocabulary::{Asked, asked};
use crate::waiting;
use crate::{importance, write};

/// How a case ended.
pub enum Verdict {
    Passed,
    /// What it waits for.
    Waiting(String),
    /// What is wrong.
    Failed(String),
}

/// The data of a case on the disk.
pub struct Sites {
    /// As Parquet, and as CSV where it can carry the values; the first is what further checks use.
    pub formats: Vec<Site>,
    /// The same rows in other layouts.
    pub layouts: Vec<(Site, Layout)>,
    /// Too large to be run more than once.
    large: bool,
}

/// Runs a case in a folder of its own.
pub fn check(case: &Case, folder: &Path) -> Verdict {
    let sites = match sites(case, folder) {
        Ok(sites) => sites,
        Err(problem) => return Verdict::Failed(problem),
    };
    let mut waits: Option<String> = None;
    for question in &case.questions {
        match answer(case, question, &sites) {
            Verdict::Passed => {}
            Verdict::Waiting(reason) => waits = waits.or(Some(reason)),
            Verdict::Failed(problem) => return Verdict::Failed(format!("{}: {problem}", question.title)),
        }
    }
    match waits {
        Some(reason) => Verdict::Waiting(reason),
        None => behaviour::check(case, &sites).map_or_else(Verdict::Failed, |()| Verdict::Passed),
    }
}

fn sites(case: &Case, folder: &Path) -> Result<Sites, String> {
    let input = &case.input;
    let model = onnx::model(input)?;
    let mut formats = Vec::new();
    let mut layouts = Vec::new();
    let site = |name: &str| -> Result<Site, String> {
        let folder = folder.join(name);
        std::fs::create_dir_all(folder.join(DATA)).map_err(|error| error.to_string())?;
        let model = match &model {
            None => None,
            Some((bytes, output)) => {
                std::fs::write(folder.join(MODEL), bytes).map_err(|error| error.to_string())?;
                Some(output.clone())
            }
        };
        Ok(Site { name: name.to_string(), folder, types: Vec::new(), narrow: Vec::new(), model })
    };
    let large = match tables(input)? {
        Tables::Large(generator) => {
            let parquet = site("parquet")?;
            write::generated(&parquet.folder.join(DATA), &generator)?;
            formats.push(parquet);
            true
        }
        Tables::Files(tables) => {
            let (types, narrow) = declared(&tables)?;
            if tables.iter().any(|table| matches!(table, Table::Rows { .. })) {
                let parquet = site("parquet")?;
                write::parquet(&parquet.folder.join(DATA), &tables)?;
                formats.push(Site { types: types.clone(), narrow: narrow.clone(), ..parquet });
            }
            let csv = site("csv")?;
            if write::csv(&csv.folder.join(DATA), &tables)?.is_some() {
                let mut types = types;
                types.extend(write::text_columns(&tables).into_iter().map(|column| (column, "text".to_string())));
                formats.push(Site { types, narrow, ..csv });
            }
            if let [table @ Table::Rows { groups, .. }] = tables.as_slice() {
                let rows: usize = groups.iter().map(|group| group.num_rows()).sum();
                let cut = Layout::Cut { file: (rows / 5).max(3), group: (rows / 13).max(2) };
                for (name, layout) in [("files", cut), ("reversed", Layout::Reversed)] {
                    let site = site(name)?;
                    write::parquet(&site.folder.join(DATA), &laid_out(table, layout)?)?;
                    layouts.push((site, layout));
                }
            }
            false
        }
    };
    Ok(Sites { formats, layouts, large })
}

/// Columns with the names of their types.
type Types = Vec<(String, String)>;

/// The types that CSV files are to be read with, in the words of fuseval; and the columns that are float32.
fn declared(tables: &[Table]) -> Result<(Types, Vec<String>), String> {
    let mut types: Types = Vec::new();
    let mut narrow = Vec::new();
    for table in tables {
        let Table::Text { types: declared, .. } = table else { continue };
        for (column, word) in declared {
            let word = match word.as_str() {
                "string" | "large_string" => "text",
                "float32" => {
                    narrow.push(column.clone());
                    "float"
                }
                "float64" => "float",
                "bool" => "bool",
                "int8" | "int16" | "int32" | "int64" | "uint8" | "uint16" | "uint32" => "int",
                "date32" => "date",
                word if word.starts_with("timestamp") => "timestamp",
                other => return Err(format!("a CSV column of type {other}")),
            };
            if !types.iter().any(|(known, _)| known == column) {
                types.push((column.clone(), word.to_string()));
            }
        }
    }
    Ok((types, narrow))
}

fn answer(case: &Case, question: &Question, sites: &Sites) -> Verdict {
    let rows = match &question.expected {
        Some(crate::case::Expected::Many(entries)) => entries.iter().any(|entry| entry.rows.is_some()),
        _ => false,
    };
    let asked = match asked(&case.input, question, rows) {
        Ok(asked) => asked,
        Err(_) if question.alternative => return Verdict::Passed,
        Err(problem) => return Verdict::Failed(problem),
    };
    if let Some(reason) = waiting::reason(&case.input, question) {
        return Verdict::Waiting(reason.to_string());
    }
    if let (Some(_), Some(error)) = (&question.expected, &question.error) {
        return match right(case, question, &asked, sites) {
            Ok(()) => without_permission(case, question, error, sites),
            Err(problem) => Verdict::Failed(problem),
        };
    }
    let checked = match (&question.expected, &question.error) {
        (None, Some(error)) => refused(&asked, error, sites),
        (Some(_), _) => right(case, question, &asked, sites),
        (None, None) => Ok(()),
    };
    match checked {
        Ok(()) => Verdict::Passed,
        Err(problem) => Verdict::Failed(problem),
    }
}

/// Whether every way to ask gives the right answer.
fn right(case: &Case, question: &Question, asked: &Asked, sites: &Sites) -> Result<(), String> {
    for site in &sites.formats {
        let mut first: Option<Vec<serde_json::Value>> = None;
        for way in [Way::CommandLine, Way::Library] {
            let at = |problem: String| format!("{} {way:?}: {problem}", site.name);
            let results = match run(site, asked, way, Machine::default()).map_err(at)? {
                // What is no option of fuseval is not on offer.
                Outcome::Refused { code: 2, .. } if question.alternative => return Ok(()),
                Outcome::Refused { code, message } => return Err(at(format!("exit code {code}: {}", line(&message)))),
                Outcome::Done { results, predictions, .. } => {
                    compare(case, question, &found(question, asked, &results, &predictions)?).map_err(at)?;
                    without_heads(results)
                }
            };
            match &first {
                Some(first) if *first != results => {
                    return Err(at("other results than on the command line".to_string()));
                }
                _ => first = Some(results),
            }
        }
    }
    if sites.large || question.alternative {
        return Ok(());
    }
    let small = Machine { threads: Some(3), bucket_rows: Some(1) };
    if let Some(site) = sites.formats.first() {
        agrees(case, question, asked, site, small).map_err(|problem| format!("{problem} (buckets of one segment)"))?;
    }
    let by_order = asked.predicts || asked.metrics.iter().any(|metric| metric.contains("ties=stable"));
    for (site, layout) in &sites.layouts {
        if matches!(layout, Layout::Reversed) && by_order || !asked.experiments.is_empty() {
            continue;
        }
        agrees(case, question, asked, site, small).map_err(|problem| format!("{problem} ({layout:?})"))?;
    }
    Ok(())
}

/// The results without the names of heads, which `fuseval score` takes from the score column.
fn without_heads(mut results: Vec<serde_json::Value>) -> Vec<serde_json::Value> {
    for record in results.iter_mut().filter_map(serde_json::Value::as_object_mut) {
        record.remove("head");
    }
    results
}

fn agrees(case: &Case, question: &Question, asked: &Asked, site: &Site, machine: Machine) -> Result<(), String> {
    match run(site, asked, Way::Library, machine)? {
        Outcome::Refused { code, message } => Err(format!("exit code {code}: {}", line(&message))),
        Outcome::Done { results, predictions, .. } => {
            compare(case, question, &found(question, asked, &results, &predictions)?)
        }
    }
}

/// Options that allow what is an error without them.
const PERMISSIONS: &[&str] =
    &["missing", "completeness", "label_clamp", "duplicates", "positive_label", "label_threshold", "score_kind"];

/// Whether the error comes without the option that allows the value.
fn without_permission(case: &Case, question: &Question, error: &ExpectedError, sites: &Sites) -> Verdict {
    let mut strict = question.clone();
    let Some(permission) = PERMISSIONS.iter().find(|name| strict.options.contains_key(**name)) else {
        return Verdict::Failed("no option that could decide between the value and the error".to_string());
    };
    strict.options.remove(*permission);
    if let Some(reason) = waiting::reason(&case.input, &strict) {
        return Verdict::Waiting(reason.to_string());
    }
    match asked(&case.input, &strict, false).and_then(|asked| refused(&asked, error, sites)) {
        Ok(()) => Verdict::Passed,
        Err(problem) => Verdict::Failed(format!("without {permission}: {problem}")),
    }
}

/// Whether every way to ask ends with the error.
fn refused(asked: &Asked, error: &ExpectedError, sites: &Sites) -> Result<(), String> {
    for site in &sites.formats {
        for way in [Way::CommandLine, Way::Library] {
            let at = |problem: String| format!("{} {way:?}: {problem}", site.name);
            let Outcome::Refused { code, message } = run(site, asked, way, Machine::default()).map_err(at)? else {
                return Err(at(format!("no error of class {}", error.class)));
            };
            if !codes(&error.class).contains(&code) {
                return Err(at(format!("exit code {code} for an error of class {}: {}", error.class, line(&message))));
            }
            for text in &error.must_mention {
                // A file keeps its name, but not the end that tells the format.
                let text = if site.name == "csv" { text.replace(".parquet", ".csv") } else { text.clone() };
                if !message.contains(&text) {
                    return Err(at(format!("the message does not mention `{text}`: {}", line(&message))));
                }
            }
        }
    }
    Ok(())
}

/// The exit codes that a class of errors may have.
fn codes(class: &str) -> &'static [i32] {
    match class {
        "invalid argument" | "invalid arguments" | "usage" => &[2],
        "invalid data" | "missing data" | "incomplete data" => &[3],
        "invalid model" | "model" => &[4],
        // The run file asks for what the files do not have.
        "schema" => &[2, 3],
        _ => &[2, 3, 4],
    }
}

/// A message in one line.
pub fn line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The first site, for checks beyond the answers.
pub fn first_site(sites: &Sites) -> Result<&Site, String> {
    sites.formats.first().ok_or_else(|| "no data".to_string())
}

/// Whether importances are the same however they are computed, where a case asks for them with a seed.
pub fn importances(case: &Case, question: &Question, sites: &Sites) -> Result<(), String> {
    importance::check(&case.input, question, sites)
}
