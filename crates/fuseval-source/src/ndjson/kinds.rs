//! The kinds of the values of a column, seen row by row.

use std::collections::HashMap;
use std::fmt;

use arrow_schema::DataType;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

/// Integers up to here are floats as well.
const EXACT: u64 = 1 << 53;

/// What all values of a column have been so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) enum Kind {
    #[default]
    Null,
    Bool,
    /// Whether there are negative ones, ones that floats do not have, and ones above the largest 64-bit integer with a sign.
    Integer {
        negative: bool,
        wide: bool,
        large: bool,
    },
    Float,
    Text,
    List(Box<Kind>),
    Object(Columns),
    /// Two kinds that do not go together.
    Mixed(&'static str, &'static str),
}

impl Kind {
    fn name(&self) -> &'static str {
        match self {
            Self::Null => "nulls",
            Self::Bool => "booleans",
            Self::Integer { .. } => "integers",
            Self::Float => "floats",
            Self::Text => "texts",
            Self::List(_) => "lists",
            Self::Object(_) => "objects",
            Self::Mixed(..) => "mixed values",
        }
    }

    /// The type of integers: with a sign where they fit, else without.
    pub(super) fn integer_type(&self) -> DataType {
        if matches!(self, Self::Integer { large: true, .. }) { DataType::UInt64 } else { DataType::Int64 }
    }

    /// Takes another scalar value in.
    fn widen(&mut self, other: Self) {
        let widened = match (&*self, &other) {
            (Self::Null, _) => other,
            (Self::Mixed(..), _) => return,
            (one, other) if one == other => return,
            (
                Self::Integer { negative, wide, large },
                Self::Integer { negative: other_negative, wide: other_wide, large: other_large },
            ) => match (*negative || *other_negative, *large || *other_large) {
                (true, true) => Self::Mixed("negative integers", "integers above 2^63 - 1"),
                (negative, large) => Self::Integer { negative, wide: *wide || *other_wide, large },
            },
            (Self::Integer { wide: true, .. }, Self::Float) | (Self::Float, Self::Integer { wide: true, .. }) => {
                Self::Mixed("integers above 2^53, which floats do not hold,", "floats")
            }
            (Self::Integer { .. }, Self::Float) | (Self::Float, Self::Integer { .. }) => Self::Float,
            (one, other) => Self::Mixed(one.name(), other.name()),
        };
        *self = widened;
    }
}

/// The keys of objects with the kinds of their values, in order of first appearance.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Columns {
    names: Vec<String>,
    kinds: Vec<Kind>,
    places: HashMap<String, usize>,
    /// The number of the last object that had each key, from 1.
    last: Vec<u64>,
    objects: u64,
}

impl Columns {
    /// Takes the object of a line in.
    pub(super) fn add(&mut self, line: &[u8]) -> serde_json::Result<()> {
        let mut deserializer = serde_json::Deserializer::from_slice(line);
        deserializer.deserialize_map(Row(self))?;
        deserializer.end()
    }

    pub(super) fn columns(&self) -> impl Iterator<Item = (&String, &Kind)> {
        self.names.iter().zip(&self.kinds)
    }

    /// The place of a key. Objects mostly have the same keys in the same order: `guess` is where it should be.
    fn place(&mut self, key: &str, guess: usize) -> usize {
        if self.names.get(guess).is_some_and(|name| name == key) {
            return guess;
        }
        if let Some(place) = self.places.get(key) {
            return *place;
        }
        self.places.insert(key.to_string(), self.names.len());
        self.names.push(key.to_string());
        self.kinds.push(Kind::Null);
        self.last.push(0);
        self.names.len() - 1
    }
}

/// A key that is looked up, or becomes a column.
struct Key<'a>(&'a mut Columns, usize);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<usize, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<usize, E> {
        Ok(self.0.place(key, self.1))
    }
}

/// An object that is taken in.
struct Row<'a>(&'a mut Columns);

impl<'de> Visitor<'de> for Row<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut guess = 0;
        self.0.objects += 1;
        while let Some(place) = map.next_key_seed(Key(self.0, guess))? {
            let (Some(kind), Some(last)) = (self.0.kinds.get_mut(place), self.0.last.get_mut(place)) else {
                return Err(A::Error::custom("no such place"));
            };
            if std::mem::replace(last, self.0.objects) == self.0.objects {
                return Err(A::Error::custom("a key that comes twice"));
            }
            map.next_value_seed(Value(kind))?;
            guess = place + 1;
        }
        Ok(())
    }
}

/// A value that is taken in.
struct Value<'a>(&'a mut Kind);

impl<'de> DeserializeSeed<'de> for Value<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        self.0.widen(Kind::Bool);
        Ok(())
    }

    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        let wide = value.unsigned_abs() > EXACT;
        self.0.widen(Kind::Integer { negative: value < 0, wide, large: false });
        Ok(())
    }

    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        let large = i64::try_from(value).is_err();
        self.0.widen(Kind::Integer { negative: false, wide: value > EXACT, large });
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        self.0.widen(Kind::Float);
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        self.0.widen(Kind::Text);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        if !matches!(self.0, Kind::List(_)) {
            self.0.widen(Kind::List(Box::default()));
        }
        let mut ignored = Kind::Null;
        let item = match self.0 {
            Kind::List(item) => item,
            _ => &mut ignored,
        };
        while list.next_element_seed(Value(item))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        if !matches!(self.0, Kind::Object(_)) {
            self.0.widen(Kind::Object(Columns::default()));
        }
        let mut ignored = Columns::default();
        let columns = match self.0 {
            Kind::Object(columns) => columns,
            _ => &mut ignored,
        };
        Row(columns).visit_map(map)
    }
}
