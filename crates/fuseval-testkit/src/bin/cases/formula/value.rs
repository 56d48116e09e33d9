//! Values of formulas, and how Python writes them.

use std::rc::Rc;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    None,
    Bool(bool),
    Int(i128),
    Float(f64),
    Text(Rc<str>),
    List(Rc<Vec<Value>>),
}

impl Value {
    pub fn text(text: impl Into<Rc<str>>) -> Self {
        Self::Text(text.into())
    }

    /// A whole number; booleans are 0 and 1.
    pub fn int(&self) -> Option<i128> {
        match self {
            Self::Int(number) => Some(*number),
            Self::Bool(truth) => Some(i128::from(*truth)),
            _ => None,
        }
    }

    /// A number.
    pub fn float(&self) -> Option<f64> {
        match self {
            Self::Float(number) => Some(*number),
            other => other.int().map(|number| number as f64),
        }
    }

    pub fn is_true(&self) -> bool {
        match self {
            Self::None => false,
            Self::Bool(truth) => *truth,
            Self::Int(number) => *number != 0,
            Self::Float(number) => *number != 0.0,
            Self::Text(text) => !text.is_empty(),
            Self::List(items) => !items.is_empty(),
        }
    }

    /// As `str()` writes it.
    pub fn shown(&self) -> String {
        match self {
            Self::Text(text) => text.to_string(),
            other => other.repr(),
        }
    }

    /// As `repr()` writes it.
    pub fn repr(&self) -> String {
        match self {
            Self::None => "None".to_string(),
            Self::Bool(true) => "True".to_string(),
            Self::Bool(false) => "False".to_string(),
            Self::Int(number) => number.to_string(),
            Self::Float(number) => float_repr(*number),
            Self::Text(text) => format!("'{text}'"),
            Self::List(items) => format!("[{}]", items.iter().map(Self::repr).collect::<Vec<_>>().join(", ")),
        }
    }
}

/// The shortest digits that read back the same, with an exponent below 1e-4 and from 1e16 on.
fn float_repr(number: f64) -> String {
    if number.is_nan() {
        return "nan".to_string();
    }
    if number.is_infinite() {
        return if number > 0.0 { "inf" } else { "-inf" }.to_string();
    }
    let scientific = format!("{number:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if number != 0.0 && !(-4..16).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{mantissa}e{sign}{:02}", exponent.abs());
    }
    let plain = format!("{number}");
    if plain.contains('.') { plain } else { format!("{plain}.0") }
}
