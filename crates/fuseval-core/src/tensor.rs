//! Feature values as a model takes them: typed, row-major, contiguous.

use crate::{Error, Result};

/// The element type of a model input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    /// 32-bit float.
    F32,
    /// 64-bit float.
    F64,
    /// 32-bit integer.
    I32,
    /// 64-bit integer.
    I64,
    /// Boolean.
    Bool,
    /// Text.
    Text,
}

impl Element {
    /// The name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "float32",
            Self::F64 => "float64",
            Self::I32 => "int32",
            Self::I64 => "int64",
            Self::Bool => "bool",
            Self::Text => "text",
        }
    }

    /// Whether a missing value can be shown as NaN.
    pub fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }
}

/// The values of a tensor.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// 32-bit floats.
    F32(Vec<f32>),
    /// 64-bit floats.
    F64(Vec<f64>),
    /// 32-bit integers.
    I32(Vec<i32>),
    /// 64-bit integers.
    I64(Vec<i64>),
    /// Booleans.
    Bool(Vec<bool>),
    /// Texts.
    Text(Vec<String>),
}

/// Runs an expression on the vector inside, whatever its type.
macro_rules! on_values {
    ($values:expr, $vector:ident => $body:expr) => {
        match $values {
            Values::F32($vector) => $body,
            Values::F64($vector) => $body,
            Values::I32($vector) => $body,
            Values::I64($vector) => $body,
            Values::Bool($vector) => $body,
            Values::Text($vector) => $body,
        }
    };
}

/// `rows × width` values, row after row.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    values: Values,
    width: usize,
}

impl Tensor {
    /// A tensor of the given values, `width` to a row; `width` is at least 1 and divides their number.
    pub fn new(values: Values, width: usize) -> Result<Self> {
        let len = on_values!(&values, vector => vector.len());
        if width == 0 || len % width != 0 {
            return Err(Error::defect(format!("rows of {width} values"), format!("{len} values")));
        }
        Ok(Self { values, width })
    }

    /// A tensor of `rows` rows of zeros, false or empty text.
    pub fn zeros(element: Element, rows: usize, width: usize) -> Self {
        let len = rows * width;
        let values = match element {
            Element::F32 => Values::F32(vec![0.0; len]),
            Element::F64 => Values::F64(vec![0.0; len]),
            Element::I32 => Values::I32(vec![0; len]),
            Element::I64 => Values::I64(vec![0; len]),
            Element::Bool => Values::Bool(vec![false; len]),
            Element::Text => Values::Text(vec![String::new(); len]),
        };
        Self { values, width: width.max(1) }
    }

    /// The values, row after row.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// Values to a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        on_values!(&self.values, vector => vector.len()) / self.width
    }

    /// The element type.
    pub fn element(&self) -> Element {
        match &self.values {
            Values::F32(_) => Element::F32,
            Values::F64(_) => Element::F64,
            Values::I32(_) => Element::I32,
            Values::I64(_) => Element::I64,
            Values::Bool(_) => Element::Bool,
            Values::Text(_) => Element::Text,
        }
    }

    /// Puts all of row `from_row` of `from` into row `row`, beginning at place `offset`. The element types must agree and
    /// the places exist.
    pub fn copy_row(&mut self, row: usize, offset: usize, from: &Self, from_row: usize) -> Result<()> {
        let (start, width) = (row * self.width + offset, from.width);
        let source = from_row * width;
        fn copy<T: Clone>(to: &mut [T], at: usize, from: &[T], source: usize, width: usize) -> Option<()> {
            to.get_mut(at..at + width)?.clone_from_slice(from.get(source..source + width)?);
            Some(())
        }
        let done = match (&mut self.values, &from.values) {
            (Values::F32(to), Values::F32(from)) => copy(to, start, from, source, width),
            (Values::F64(to), Values::F64(from)) => copy(to, start, from, source, width),
            (Values::I32(to), Values::I32(from)) => copy(to, start, from, source, width),
            (Values::I64(to), Values::I64(from)) => copy(to, start, from, source, width),
            (Values::Bool(to), Values::Bool(from)) => copy(to, start, from, source, width),
            (Values::Text(to), Values::Text(from)) => copy(to, start, from, source, width),
            _ => None,
        };
        done.ok_or_else(|| Error::defect("a place of the same type in the tensor", "none"))
    }

    /// Takes on the content of another tensor, in the memory that is there if the type is the same.
    pub fn assign(&mut self, other: &Self) {
        self.width = other.width;
        match (&mut self.values, &other.values) {
            (Values::F32(to), Values::F32(from)) => to.clone_from(from),
            (Values::F64(to), Values::F64(from)) => to.clone_from(from),
            (Values::I32(to), Values::I32(from)) => to.clone_from(from),
            (Values::I64(to), Values::I64(from)) => to.clone_from(from),
            (Values::Bool(to), Values::Bool(from)) => to.clone_from(from),
            (Values::Text(to), Values::Text(from)) => to.clone_from(from),
            (to, from) => *to = from.clone(),
        }
    }

    /// Appends all rows of another tensor of the same type and width.
    pub fn append(&mut self, other: &Self) -> Result<()> {
        if self.width != other.width {
            return Err(Error::defect(format!("rows of {} values", self.width), other.width.to_string()));
        }
        match (&mut self.values, &other.values) {
            (Values::F32(to), Values::F32(from)) => to.extend_from_slice(from),
            (Values::F64(to), Values::F64(from)) => to.extend_from_slice(from),
            (Values::I32(to), Values::I32(from)) => to.extend_from_slice(from),
            (Values::I64(to), Values::I64(from)) => to.extend_from_slice(from),
            (Values::Bool(to), Values::Bool(from)) => to.extend_from_slice(from),
            (Values::Text(to), Values::Text(from)) => to.extend_from_slice(from),
            _ => return Err(Error::defect(self.element().name(), other.element().name())),
        }
        Ok(())
    }
}
