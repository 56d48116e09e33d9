//! Model inputs: which columns feed them, and where each feature stands in them. Scores that are columns take the same path
//! through a model that hands its inputs on.

use arrow_schema::DataType;
use fuseval_core::scorer::{Input, Output, OutputColumn};
use fuseval_core::tensor::Values;
use fuseval_core::{Element, Error, Model, Result, Scorer, Source, Tensor};

use super::{ColumnIndex, Requests};
use crate::specification::{Scalar, Specification};

/// The place of a feature in a model input.
#[derive(Debug, Clone, PartialEq)]
pub struct FeaturePlace {
    /// The name: that of its column.
    pub name: String,
    /// The column.
    pub column: ColumnIndex,
    /// The input.
    pub input: usize,
    /// Where it begins in a row of the input.
    pub offset: usize,
    /// How many values it has in a row.
    pub width: usize,
    /// The element type of the input.
    pub element: Element,
    /// What nulls become, if it was said.
    pub fill_null: Option<Scalar>,
}

pub(super) fn resolve(
    asked: &Specification,
    source: &dyn Source,
    model: &dyn Model,
    requests: &mut Requests,
) -> Result<(Vec<FeaturePlace>, Vec<usize>)> {
    for (name, _) in &asked.inputs {
        if !model.inputs().iter().any(|input| input.name == *name) {
            let known = model.inputs().iter().map(|input| input.name.as_str());
            return Err(Error::usage(
                "an input of the model",
                format!("`{name}`"),
                fuseval_core::nearest::suggestion(name, known),
            )
            .at("model.inputs"));
        }
    }
    let mut features: Vec<FeaturePlace> = Vec::new();
    let mut widths = Vec::new();
    for (place, input) in model.inputs().iter().enumerate() {
        let columns = match asked.inputs.iter().find(|(name, _)| *name == input.name) {
            Some((_, columns)) => columns.clone(),
            None => vec![input.name.clone()],
        };
        let mut offset = 0;
        for name in &columns {
            let feature = feature(asked, source, input, name, columns.len(), requests)?;
            let width = feature.width;
            features.push(FeaturePlace { input: place, offset, ..feature });
            offset += width;
        }
        if input.width.is_some_and(|width| width != offset) {
            return Err(Error::usage(
                format!("{} values to a row for input `{}`", input.width.unwrap_or_default(), input.name),
                format!("{offset} from the columns {}", columns.join(", ")),
                format!(
                    "list the columns of the input in their order: `model: {{inputs: {{{}: [a, b, …]}}}}`",
                    input.name
                ),
            ));
        }
        widths.push(offset);
    }
    for (name, _) in &asked.fill_null {
        if !features.iter().any(|feature| feature.name == *name) {
            let known = features.iter().map(|feature| feature.name.as_str());
            return Err(Error::usage(
                "a feature of the model",
                format!("`{name}`"),
                fuseval_core::nearest::suggestion(name, known),
            )
            .at("model.fill_null"));
        }
    }
    Ok((features, widths))
}

fn feature(
    asked: &Specification,
    source: &dyn Source,
    input: &Input,
    name: &str,
    columns: usize,
    requests: &mut Requests,
) -> Result<FeaturePlace> {
    let from_model = !asked.scores_are_columns;
    let known = source.columns();
    if from_model && !known.iter().any(|column| column == name) {
        return Err(Error::usage(
            format!("a column for input `{}` of the model", input.name),
            format!("no column `{name}`"),
            format!(
                "{}; map inputs to columns with `model: {{inputs: {{{}: column}}}}`",
                fuseval_core::nearest::suggestion(name, known.iter().map(String::as_str)).trim_end_matches('?'),
                input.name
            ),
        ));
    }
    let column = requests.column(source, name, if from_model { "feature" } else { "score" })?;
    let data_type = source.column_type(name)?;
    let (value_type, width) = match &data_type {
        DataType::FixedSizeList(field, width) => {
            (field.data_type().clone(), usize::try_from(*width).unwrap_or_default())
        }
        DataType::List(field) | DataType::LargeList(field) => {
            let Some(width) = input.width.filter(|_| columns == 1) else {
                return Err(Error::data(
                    format!("a known number of values in the list column `{name}`"),
                    format!("{data_type} for input `{}` of free width", input.name),
                    "store it as a fixed-size list",
                ));
            };
            (field.data_type().clone(), width)
        }
        other => (other.clone(), 1),
    };
    if !crate::features::is_convertible(&value_type, input.element) {
        let expected = match from_model {
            true => format!("{} values for input `{}`", input.element.name(), input.name),
            false => "numbers in the score column".to_string(),
        };
        let found = format!("column `{name}` of type {}", crate::columns::type_name(&data_type));
        let help = format!(
            "choose another column, or derive one of a type that fits; a column of CSV or of folder names is read as a \
             number when its type is declared: `data: {{types: {{{name}: float}}}}`"
        );
        return Err(Error::usage(expected, found, help));
    }
    let fill_null = asked.fill_null.iter().find(|(feature, _)| feature == name).map(|(_, value)| value.clone());
    if let Some(value) = &fill_null {
        crate::features::constant(value, input.element, width)
            .map_err(|error| error.at(format!("model.fill_null.{name}")))?;
    }
    Ok(FeaturePlace { name: name.to_string(), column, input: 0, offset: 0, width, element: input.element, fill_null })
}

/// The model of a run without a model: its inputs are the score columns, its outputs the same.
pub struct ColumnScores {
    inputs: Vec<Input>,
    outputs: Vec<Output>,
}

impl ColumnScores {
    /// For the score columns of the heads.
    pub fn new(asked: &Specification) -> Self {
        let mut names: Vec<&String> = asked.heads.iter().map(|head| &head.score).collect();
        names.sort();
        names.dedup();
        Self {
            inputs: names
                .iter()
                .map(|name| Input { name: name.to_string(), element: Element::F64, width: Some(1) })
                .collect(),
            outputs: names.iter().map(|name| Output { name: name.to_string(), width: Some(1) }).collect(),
        }
    }
}

impl Model for ColumnScores {
    fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    fn backend(&self) -> &str {
        "columns"
    }

    fn scorer(&self, columns: &[OutputColumn]) -> Result<Box<dyn Scorer>> {
        let places = columns
            .iter()
            .map(|wanted| {
                self.outputs
                    .iter()
                    .position(|output| output.name == wanted.output)
                    .ok_or_else(|| Error::defect("a score column", wanted.output.clone()))
            })
            .collect::<Result<_>>()?;
        Ok(Box::new(HandOn { places }))
    }
}

struct HandOn {
    places: Vec<usize>,
}

impl Scorer for HandOn {
    fn score(&mut self, inputs: &[Tensor], scores: &mut [Vec<f64>]) -> Result<()> {
        for (place, scores) in self.places.iter().zip(scores) {
            let Some(Values::F64(values)) = inputs.get(*place).map(Tensor::values) else {
                return Err(Error::defect("float64 scores", "another type"));
            };
            scores.clone_from(values);
        }
        Ok(())
    }
}
