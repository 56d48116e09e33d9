//! The columns of the outputs that the heads read: found by name before the first row, taken from the tensors after each run.

use fuseval_core::nearest::suggestion;
use fuseval_core::scorer::OutputColumn;
use fuseval_core::{Error, Result};

use crate::graph::Graph;

/// The rows of one batch: all that were run, padding included, and the first ones that are real.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BatchRows {
    pub(crate) all: usize,
    pub(crate) real: usize,
}

/// The outputs to ask for, and the column of each head in them.
#[derive(Debug)]
pub(crate) struct Columns {
    /// Each output that some head reads, once.
    pub(crate) outputs: Vec<String>,
    /// For each head, the place of its output in `outputs` and the column.
    heads: Vec<(usize, Option<usize>)>,
}

impl Columns {
    /// Finds the columns in a model.
    pub(crate) fn find(graph: &Graph, wanted: &[OutputColumn]) -> Result<Self> {
        let mut outputs: Vec<String> = Vec::new();
        let mut heads = Vec::with_capacity(wanted.len());
        for OutputColumn { output: name, column } in wanted {
            let names = || graph.outputs.iter().map(|output| output.name.as_str());
            let Some(place) = names().position(|known| known == name) else {
                return Err(Error::usage("an output of the model", format!("`{name}`"), suggestion(name, names())));
            };
            if let Some(Some((found, help))) = graph.unreadable.get(place) {
                return Err(Error::model("numbers of shape [batch] or [batch, width]", found, *help).at(output(name)));
            }
            if let Some(width) = graph.outputs.get(place).and_then(|output| output.width) {
                check_column(name, width, *column)?;
            }
            let place = outputs.iter().position(|known| known == name).unwrap_or_else(|| {
                outputs.push(name.clone());
                outputs.len() - 1
            });
            heads.push((place, *column));
        }
        Ok(Self { outputs, heads })
    }

    /// Appends the real rows of an output to the scores of the heads that read it. `values` are those of the whole batch, row
    /// after row.
    pub(crate) fn read<T: Copy>(
        &self,
        place: usize,
        shape: &[usize],
        values: &[T],
        rows: BatchRows,
        number: impl Fn(T) -> f64,
        scores: &mut [Vec<f64>],
    ) -> Result<()> {
        let name = self.outputs.get(place).map_or("", String::as_str);
        let batch = rows.all;
        let width = match *shape {
            [n] if n == batch => 1,
            [n, width] if n == batch && width > 0 => width,
            _ => {
                let help = "export the model so that each row of its inputs gives one row of this output";
                let expected = format!("shape [{batch}] or [{batch}, width] from {batch} rows");
                return Err(Error::model(expected, format!("{shape:?}"), help).at(output(name)));
            }
        };
        for ((_, column), scores) in self.heads.iter().zip(scores).filter(|((output, _), _)| *output == place) {
            check_column(name, width, *column)?;
            let values = values.chunks_exact(width).take(rows.real).filter_map(|row| row.get(column.unwrap_or(0)));
            scores.extend(values.map(|value| number(*value)));
        }
        Ok(())
    }
}

fn check_column(name: &str, width: usize, column: Option<usize>) -> Result<()> {
    match column {
        None if width == 1 => Ok(()),
        None => Err(Error::usage(
            "one value to a row",
            format!("{width} values to a row"),
            format!("choose one of them, from 0 to {}, with `score: {name}[column]`", width - 1),
        )
        .at(output(name))),
        Some(column) if column < width => Ok(()),
        Some(column) => Err(Error::usage(
            format!("a column from 0 to {}", width - 1),
            format!("`{name}[{column}]`"),
            format!("the output has {width} values to a row"),
        )
        .at(output(name))),
    }
}

fn output(name: &str) -> String {
    format!("output `{name}`")
}
