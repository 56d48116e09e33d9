//! A case file as written: its data, its questions, and the answers. Whatever the README of the cases does not know is an
//! error of the case.

use std::path::Path;

use serde_json::{Map, Value};

/// A case.
pub struct Case {
    pub input: Input,
    /// The main metric and every `also`; then the alternatives, which need not be on offer.
    pub questions: Vec<Question>,
    pub behaviours: Vec<String>,
    /// Wrong answers that are known: how they come about, and the value.
    pub known_wrong: Vec<(String, Answer)>,
}

/// What is to be computed, and the answer.
#[derive(Clone)]
pub struct Question {
    /// How messages call it.
    pub title: String,
    pub metric: String,
    pub options: Map<String, Value>,
    pub expected: Option<Expected>,
    pub error: Option<ExpectedError>,
    /// Another convention: it must be right where fuseval offers it.
    pub alternative: bool,
}

/// An error that the run must end with.
#[derive(Clone)]
pub struct ExpectedError {
    pub class: String,
    pub must_mention: Vec<String>,
}

/// The right answer: one value, or one for each place and no other.
#[derive(Clone)]
pub enum Expected {
    One(Answer),
    Many(Vec<Entry>),
}

/// A value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Answer {
    /// A number; also an infinite one.
    Number(f64),
    /// None, with a reason.
    Undefined,
}

/// The value at a place.
#[derive(Clone)]
pub struct Entry {
    pub place: Place,
    pub rows: Option<u64>,
    pub answer: Answer,
}

/// Where a value belongs: what of this applies.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Place {
    pub k: Option<String>,
    pub head: Option<String>,
    pub row: Option<u64>,
    pub features: Option<Vec<String>>,
    /// Columns in any order, each with its value as text.
    pub slice: Option<Vec<(String, Option<String>)>>,
}

/// The data.
pub struct Input {
    pub data: Data,
    pub roles: Roles,
    pub model: Option<Map<String, Value>>,
    /// The rows that should be there.
    pub expectation: Option<Value>,
}

/// How the data are given.
pub enum Data {
    Columns(Vec<Column>),
    Files(Vec<DataFile>),
    Generator { rows: u64, columns: Vec<Generated> },
}

/// A column with its values.
#[derive(Clone)]
pub struct Column {
    pub name: String,
    pub data_type: String,
    pub values: Vec<Value>,
    pub dictionary: Option<Vec<Value>>,
}

/// A column by formula.
pub struct Generated {
    pub name: String,
    pub data_type: String,
    pub formula: String,
}

/// A file of a data set of several.
pub struct DataFile {
    pub name: String,
    pub content: Content,
}

/// What a file holds.
pub enum Content {
    /// Row groups; the schema where there is none.
    Parquet { schema: Vec<(String, String)>, groups: Vec<Vec<Column>> },
    /// The exact text, and the types to read it with.
    Csv { text: String, schema: Vec<(String, String)> },
    /// Anything else in the folder.
    Raw { text: String },
}

/// Which column is what.
#[derive(Clone, Default)]
pub struct Roles {
    pub score: Option<String>,
    pub label: Option<String>,
    pub request: Option<String>,
    pub segment: Option<String>,
    pub item: Option<String>,
    /// Head, score, label, and the weight if it has one.
    pub heads: Vec<(String, String, String, Option<String>)>,
    pub explode: Vec<String>,
}

type Result<T> = std::result::Result<T, String>;

impl Case {
    /// Reads a case file.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
        let tree: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        let case = Fields::new(
            &tree,
            "the case",
            "id name theme source what_happened why input metric options expected expected_error expected_behaviour also \
             alternatives known_wrong",
        )?;
        let mut questions = vec![question(case.0, "main", None)?];
        let metric = questions[0].metric.clone();
        for (place, other) in case.list("also").iter().enumerate() {
            questions.push(question(map(other)?, &format!("also {}", place + 1), Some(&metric))?);
        }
        for other in case.list("alternatives") {
            let other = map(other)?;
            let title =
                format!("alternative `{}`", other.get("convention").and_then(Value::as_str).unwrap_or_default());
            questions.push(Question { alternative: true, ..question(other, &title, Some(&metric))? });
        }
        let known_wrong = case.list("known_wrong").iter().filter_map(|wrong| {
            let how = wrong.get("how")?.as_str()?.to_string();
            Some((how, answer(wrong.get("expected")?).ok()?))
        });
        Ok(Self {
            input: input(case.required("input")?)?,
            questions,
            behaviours: case.list("expected_behaviour").iter().filter_map(Value::as_str).map(str::to_string).collect(),
            known_wrong: known_wrong.collect(),
        })
    }
}

fn question(fields: &Map<String, Value>, title: &str, metric: Option<&str>) -> Result<Question> {
    let metric = match (fields.get("metric").and_then(Value::as_str), metric) {
        (Some(metric), _) | (None, Some(metric)) => metric.to_string(),
        (None, None) => return Err("no metric".to_string()),
    };
    let options = fields.get("options").map(map).transpose()?.cloned().unwrap_or_default();
    let expected = fields.get("expected").map(expected).transpose()?;
    let error = match fields.get("expected_error") {
        None => None,
        Some(error) => {
            let error = Fields::new(error, "expected_error", "class must_mention")?;
            let texts = error.list("must_mention").iter().filter_map(Value::as_str).map(str::to_string);
            Some(ExpectedError { class: error.text("class")?, must_mention: texts.collect() })
        }
    };
    Ok(Question { title: title.to_string(), metric, options, expected, error, alternative: false })
}

fn expected(tree: &Value) -> Result<Expected> {
    let Some(results) = tree.get("results") else { return answer(tree).map(Expected::One) };
    let results = results.as_array().ok_or("`results` is no list")?;
    results.iter().map(entry).collect::<Result<_>>().map(Expected::Many)
}

fn entry(tree: &Value) -> Result<Entry> {
    let fields = Fields::new(tree, "a result", "k slice head row features rows value digits exact undefined")?;
    let slice = match fields.0.get("slice") {
        None => None,
        Some(slice) => Some(map(slice)?.iter().map(|(column, value)| (column.clone(), key(value))).collect()),
    };
    let place = Place {
        k: fields.0.get("k").and_then(key),
        head: fields.0.get("head").and_then(key),
        row: fields.0.get("row").and_then(Value::as_u64),
        features: fields.0.get("features").map(texts),
        slice,
    };
    Ok(Entry { place, rows: fields.0.get("rows").and_then(Value::as_u64), answer: answer(tree)? })
}

/// A value of a key as text; null stays null.
pub fn key(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

fn answer(tree: &Value) -> Result<Answer> {
    match tree.get("value") {
        Some(Value::Null) => Ok(Answer::Undefined),
        Some(value) => number(value).map(Answer::Number).ok_or_else(|| format!("the value {value}")),
        None => Err(format!("no value in {tree}")),
    }
}

/// A number, also as text and not finite.
pub fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

fn input(tree: &Value) -> Result<Input> {
    let fields = Fields::new(tree, "input", "columns files generator roles model expectation")?;
    let data = match (fields.0.get("columns"), fields.0.get("files"), fields.0.get("generator")) {
        (Some(all), None, None) => Data::Columns(columns(all)?),
        (None, Some(files), None) => {
            Data::Files(files.as_array().ok_or("`files` is no list")?.iter().map(file).collect::<Result<_>>()?)
        }
        (None, None, Some(generator)) => {
            let generator = Fields::new(generator, "generator", "rows columns")?;
            let rows = generator.required("rows")?.as_u64().ok_or("the number of rows")?;
            let columns = map(generator.required("columns")?)?.iter().map(|(name, column)| {
                let column = Fields::new(column, name, "type formula")?;
                Ok(Generated { name: name.clone(), data_type: column.text("type")?, formula: column.text("formula")? })
            });
            Data::Generator { rows, columns: columns.collect::<Result<_>>()? }
        }
        _ => return Err("not one of `columns`, `files` and `generator`".to_string()),
    };
    Ok(Input {
        data,
        roles: fields.0.get("roles").map(roles).transpose()?.unwrap_or_default(),
        model: fields.0.get("model").map(map).transpose()?.cloned(),
        expectation: fields.0.get("expectation").cloned(),
    })
}

fn columns(tree: &Value) -> Result<Vec<Column>> {
    let columns = map(tree)?.iter().map(|(name, column)| {
        let column = Fields::new(column, name, "type values dictionary")?;
        Ok(Column {
            name: name.clone(),
            data_type: column.text("type")?,
            values: column.required("values")?.as_array().ok_or("`values` is no list")?.clone(),
            dictionary: column.0.get("dictionary").and_then(Value::as_array).cloned(),
        })
    });
    columns.collect()
}

fn file(tree: &Value) -> Result<DataFile> {
    let fields = Fields::new(tree, "a file", "name format row_groups schema text columns")?;
    let schema = match fields.0.get("schema") {
        None => Vec::new(),
        Some(schema) => {
            let types = map(schema)?.iter().map(|(name, word)| {
                // Either the type, or a column without values.
                let word = word.as_str().or_else(|| word.get("type").and_then(Value::as_str));
                Ok((name.clone(), word.ok_or("a type")?.to_string()))
            });
            types.collect::<Result<_>>()?
        }
    };
    let content = match fields.text("format")?.as_str() {
        "parquet" => {
            let mut groups = Vec::new();
            for group in fields.list("row_groups") {
                groups.push(columns(Fields::new(group, "a row group", "columns")?.required("columns")?)?);
            }
            if let Some(all) = fields.0.get("columns") {
                groups.push(columns(all)?);
            }
            Content::Parquet { schema, groups }
        }
        "csv" => Content::Csv { text: fields.text("text")?, schema },
        "raw" => Content::Raw { text: fields.text("text").unwrap_or_default() },
        other => return Err(format!("waiting: files of format {other}, which a later issue brings")),
    };
    Ok(DataFile { name: fields.text("name")?, content })
}

fn roles(tree: &Value) -> Result<Roles> {
    let fields = Fields::new(tree, "roles", "score label request segment item heads explode")?;
    let one = |name: &str| fields.0.get(name).and_then(Value::as_str).map(str::to_string);
    let mut heads = Vec::new();
    if let Some(given) = fields.0.get("heads") {
        for (name, head) in map(given)? {
            let head = Fields::new(head, name, "score label weight")?;
            heads.push((name.clone(), head.text("score")?, head.text("label")?, head.text("weight").ok()));
        }
    }
    Ok(Roles {
        score: one("score"),
        label: one("label"),
        request: one("request"),
        segment: one("segment"),
        item: one("item"),
        heads,
        explode: fields.0.get("explode").map(texts).unwrap_or_default(),
    })
}

/// One text or a list of them.
pub fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().filter_map(Value::as_str).map(str::to_string).collect(),
        _ => Vec::new(),
    }
}

fn map(value: &Value) -> Result<&Map<String, Value>> {
    value.as_object().ok_or_else(|| format!("no map: {value}"))
}

/// A map of which all keys are known.
struct Fields<'a>(&'a Map<String, Value>);

impl<'a> Fields<'a> {
    fn new(tree: &'a Value, of: &str, known: &str) -> Result<Self> {
        let fields = map(tree)?;
        match fields.keys().find(|name| !known.split(' ').any(|known| known == name.as_str())) {
            Some(name) => Err(format!("unknown field `{name}` of {of}")),
            None => Ok(Self(fields)),
        }
    }

    fn required(&self, name: &str) -> Result<&'a Value> {
        self.0.get(name).ok_or_else(|| format!("no `{name}`"))
    }

    fn text(&self, name: &str) -> Result<String> {
        self.required(name)?.as_str().map(str::to_string).ok_or_else(|| format!("`{name}` is no text"))
    }

    fn list(&self, name: &str) -> &'a [Value] {
        self.0.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }
}
