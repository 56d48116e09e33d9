//! The models of cases as ONNX files: the few messages of the format that they need, written by hand.
//!
//! A message is a row of fields, each a number (field << 3 | kind) and its content: kind 0 a varint, kind 2 a length and bytes.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::case::{Column, Data, Input, number, texts};

type Result<T> = std::result::Result<T, String>;

/// Codes of element types.
const FLOAT: u64 = 1;
const INT64: u64 = 7;
const STRING: u64 = 8;
const DOUBLE: u64 = 11;

/// A message under construction.
#[derive(Default, Clone)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn int(mut self, field: u64, value: u64) -> Self {
        self.varint(field << 3);
        self.varint(value);
        self
    }

    fn bytes(mut self, field: u64, bytes: &[u8]) -> Self {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    fn text(self, field: u64, text: &str) -> Self {
        self.bytes(field, text.as_bytes())
    }

    fn message(self, field: u64, message: Self) -> Self {
        self.bytes(field, &message.0)
    }
}

/// An input as the case declares it.
struct Declared {
    name: String,
    element: u64,
    /// A second dimension of one.
    matrix: bool,
}

fn element(word: &str) -> Result<u64> {
    let codes = [
        ("float32", FLOAT),
        ("float", FLOAT),
        ("int32", 6),
        ("int64", INT64),
        ("string", STRING),
        ("bool", 9),
        ("float64", DOUBLE),
        ("double", DOUBLE),
    ];
    codes
        .iter()
        .find(|(name, _)| *name == word)
        .map(|(_, code)| *code)
        .ok_or_else(|| format!("an input of type {word}"))
}

/// The features of a model, in the order of its inputs.
pub fn features(input: &Input) -> Result<Vec<String>> {
    let Some(model) = &input.model else { return Ok(Vec::new()) };
    Ok(declared(input, model)?.into_iter().map(|input| input.name).collect())
}

fn declared(input: &Input, model: &Map<String, Value>) -> Result<Vec<Declared>> {
    if let Some(inputs) = model.get("inputs").and_then(Value::as_array) {
        let inputs = inputs.iter().map(|declared| {
            let text =
                |key: &str| declared.get(key).and_then(Value::as_str).ok_or_else(|| format!("no `{key}` of an input"));
            let shape = declared.get("shape").and_then(Value::as_array).map_or(1, Vec::len);
            Ok(Declared { name: text("name")?.to_string(), element: element(text("type")?)?, matrix: shape == 2 })
        });
        return inputs.collect();
    }
    // Without declared inputs there is one for each feature: float32, unless that would change a weight or a value.
    let names: Vec<String> = match (model.get("weights").and_then(Value::as_object), model.get("feature")) {
        (Some(weights), _) => weights.keys().cloned().collect(),
        (None, Some(feature)) => texts(feature),
        (None, None) => return Err("a model without features".to_string()),
    };
    let weights = model.get("weights").and_then(Value::as_object);
    let narrow = weights.is_none_or(|weights| weights.values().filter_map(number).all(is_narrow))
        && match &input.data {
            Data::Columns(columns) => columns.iter().filter(|column| names.contains(&column.name)).all(fits),
            _ => true,
        };
    let column = |name: &str| match &input.data {
        Data::Columns(columns) => {
            columns.iter().find(|column| column.name == name).map(|column| column.data_type.clone())
        }
        _ => None,
    };
    let element = |name: &str| match column(name).as_deref() {
        Some("string" | "large_string") => STRING,
        _ if narrow => FLOAT,
        _ => DOUBLE,
    };
    Ok(names.into_iter().map(|name| Declared { element: element(&name), matrix: false, name }).collect())
}

fn is_narrow(value: f64) -> bool {
    f64::from(value as f32) == value || value.is_nan()
}

fn fits(column: &Column) -> bool {
    column.values.iter().filter_map(number).all(is_narrow)
}

/// The graph while it grows; values are named by number.
struct Graph {
    nodes: Vec<Message>,
    constants: Vec<Message>,
    /// What is computed in.
    element: u64,
    named: u64,
}

impl Graph {
    fn fresh(&mut self) -> String {
        self.named += 1;
        format!("v{}", self.named)
    }

    fn node(&mut self, operator: &str, inputs: &[&str], attributes: Vec<Message>, domain: &str) -> String {
        let output = self.fresh();
        let mut node = Message::default();
        for input in inputs {
            node = node.text(1, input);
        }
        node = node.text(2, &output).text(4, operator);
        for attribute in attributes {
            node = node.message(5, attribute);
        }
        self.nodes.push(if domain.is_empty() { node } else { node.text(7, domain) });
        output
    }

    fn op(&mut self, operator: &str, inputs: &[&str]) -> String {
        self.node(operator, inputs, Vec::new(), "")
    }

    /// A constant of one dimension or none.
    fn constant(&mut self, element: u64, bytes: &[u8], shape: &[u64]) -> String {
        let name = self.fresh();
        let mut tensor = Message::default();
        for size in shape {
            tensor = tensor.int(1, *size);
        }
        self.constants.push(tensor.int(2, element).text(8, &name).bytes(9, bytes));
        name
    }

    /// A number of the type that is computed in.
    fn number(&mut self, value: f64) -> String {
        match self.element {
            DOUBLE => self.constant(DOUBLE, &value.to_le_bytes(), &[1]),
            other => self.constant(other, &(value as f32).to_le_bytes(), &[1]),
        }
    }

    /// An input as a vector of numbers.
    fn vector(&mut self, input: &Declared) -> String {
        let mut name = input.name.clone();
        if input.matrix {
            let shape = self.constant(INT64, &(-1_i64).to_le_bytes(), &[1]);
            name = self.op("Reshape", &[&name, &shape]);
        }
        if input.element == self.element || input.element == STRING {
            return name;
        }
        let to = attribute_int("to", self.element);
        self.node("Cast", &[&name], vec![to], "")
    }
}

fn attribute_int(name: &str, value: u64) -> Message {
    Message::default().text(1, name).int(3, value).int(20, 2)
}

/// An input or output.
fn value_info(name: &str, element: u64, matrix: bool) -> Message {
    let mut shape = Message::default().message(1, Message::default().text(2, "batch"));
    if matrix {
        shape = shape.message(1, Message::default().int(1, 1));
    }
    let tensor = Message::default().int(1, element).message(2, shape);
    Message::default().text(1, name).message(2, Message::default().message(1, tensor))
}

/// The bytes of the model of a case, and the name of its output.
pub fn model(input: &Input) -> Result<Option<(Vec<u8>, String)>> {
    let Some(model) = &input.model else { return Ok(None) };
    let known = "inputs output kind weights bias intercept feature threshold left right missing table default unknown";
    if let Some(name) = model.keys().find(|name| !known.split(' ').any(|known| known == name.as_str())) {
        return Err(format!("unknown field `{name}` of the model"));
    }
    let inputs = declared(input, model)?;
    let wide = inputs.iter().any(|input| input.element == DOUBLE);
    let mut graph =
        Graph { nodes: Vec::new(), constants: Vec::new(), element: if wide { DOUBLE } else { FLOAT }, named: 0 };
    let computed = match model.get("kind").and_then(Value::as_str) {
        Some("linear") => linear(&mut graph, &inputs, model)?,
        Some("stump") => stump(&mut graph, &inputs, model)?,
        Some("lookup") => lookup(&mut graph, &inputs, model)?,
        other => return Err(format!("a model of kind {other:?}")),
    };
    let output = model.get("output").and_then(Value::as_str).unwrap_or("score").to_string();
    let last = Message::default().text(1, &computed).text(2, &output).text(4, "Identity");
    let mut body = Message::default();
    for node in graph.nodes.into_iter().chain([last]) {
        body = body.message(1, node);
    }
    body = body.text(2, "case");
    for constant in graph.constants {
        body = body.message(5, constant);
    }
    for input in &inputs {
        body = body.message(11, value_info(&input.name, input.element, input.matrix));
    }
    body = body.message(12, value_info(&output, graph.element, false));
    let opset = |domain: &str, version| Message::default().text(1, domain).int(2, version);
    let file =
        Message::default().int(1, 8).message(7, body).message(8, opset("", 17)).message(8, opset("ai.onnx.ml", 3));
    Ok(Some((file.0, output)))
}

/// A number of the model, as text or number.
fn parameter(model: &Map<String, Value>, key: &str) -> Result<f64> {
    model.get(key).and_then(number).ok_or_else(|| format!("no number `{key}` of the model"))
}

/// The weighted sum.
fn linear(graph: &mut Graph, inputs: &[Declared], model: &Map<String, Value>) -> Result<String> {
    let weights = model.get("weights").and_then(Value::as_object).ok_or("no weights")?;
    let weights: BTreeMap<&str, f64> = weights
        .iter()
        .map(|(name, weight)| Ok((name.as_str(), number(weight).ok_or_else(|| format!("the weight of {name}"))?)))
        .collect::<Result<_>>()?;
    let mut sum: Option<String> = None;
    for input in inputs {
        let weight = weights.get(input.name.as_str()).copied().unwrap_or_default();
        let (vector, weight) = (graph.vector(input), graph.number(weight));
        let product = graph.op("Mul", &[&vector, &weight]);
        sum = Some(match sum {
            None => product,
            Some(sum) => graph.op("Add", &[&sum, &product]),
        });
    }
    let sum = sum.ok_or("a model without inputs")?;
    match model.get("bias").or(model.get("intercept")) {
        None => Ok(sum),
        Some(bias) => {
            let bias = graph.number(number(bias).ok_or("the bias")?);
            Ok(graph.op("Add", &[&sum, &bias]))
        }
    }
}

/// One branch up to the threshold, the other above; NaN takes the branch that is named.
fn stump(graph: &mut Graph, inputs: &[Declared], model: &Map<String, Value>) -> Result<String> {
    let feature = model.get("feature").and_then(Value::as_str).ok_or("no feature")?;
    let input = inputs.iter().find(|input| input.name == feature).ok_or("no input for the feature")?;
    let vector = graph.vector(input);
    let (threshold, left, right) = (
        graph.number(parameter(model, "threshold")?),
        graph.number(parameter(model, "left")?),
        graph.number(parameter(model, "right")?),
    );
    let mut below = graph.op("LessOrEqual", &[&vector, &threshold]);
    if model.get("missing").and_then(Value::as_str) == Some("left") {
        let missing = graph.op("IsNaN", &[&vector]);
        below = graph.op("Or", &[&below, &missing]);
    }
    Ok(graph.op("Where", &[&below, &left, &right]))
}

/// A table of scores by category, of texts or whole numbers.
fn lookup(graph: &mut Graph, inputs: &[Declared], model: &Map<String, Value>) -> Result<String> {
    let table = model.get("table").and_then(Value::as_object).ok_or("no table")?;
    let feature = model.get("feature").and_then(Value::as_str);
    let input = inputs.iter().find(|input| feature.is_none_or(|feature| input.name == feature)).ok_or("no input")?;
    let default = model.get("default").or(model.get("unknown")).and_then(number).unwrap_or(f64::NAN);
    let score = |value: &Value| number(value).ok_or_else(|| format!("the score {value}"));
    if input.element == STRING {
        graph.element = FLOAT;
        let mut keys = Message::default().text(1, "keys_strings");
        let mut values = Message::default().text(1, "values_floats");
        for (category, value) in table {
            keys = keys.text(9, category);
            values = values.bytes(7, &(score(value)? as f32).to_le_bytes());
        }
        let (keys, values) = (keys.int(20, 8), values.int(20, 6));
        let mut default_value = Message::default().text(1, "default_float");
        default_value.varint(2 << 3 | 5);
        default_value.0.extend_from_slice(&(default as f32).to_le_bytes());
        let mut name = input.name.clone();
        if input.matrix {
            let shape = graph.constant(INT64, &(-1_i64).to_le_bytes(), &[1]);
            name = graph.op("Reshape", &[&name, &shape]);
        }
        return Ok(graph.node("LabelEncoder", &[&name], vec![keys, values, default_value.int(20, 1)], "ai.onnx.ml"));
    }
    let vector = graph.vector(input);
    let mut chosen = graph.number(default);
    for (category, value) in table {
        let category: f64 = category.parse().map_err(|_| format!("the category {category}"))?;
        let (category, value) = (graph.number(category), graph.number(score(value)?));
        let equal = graph.op("Equal", &[&vector, &category]);
        chosen = graph.op("Where", &[&equal, &value, &chosen]);
    }
    Ok(chosen)
}
