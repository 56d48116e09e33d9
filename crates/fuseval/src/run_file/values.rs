//! Values of run files that may be written in more than one way.

use std::fmt;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

use super::{ClusteredWord, ExpectBlock, ModelBlock, ModelEntry};

// By hand, not as an untagged enum: an unknown key in the block keeps its name and its place.
impl<'de> Deserialize<'de> for ModelEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrList;
        impl<'de> Visitor<'de> for OneOrList {
            type Value = ModelEntry;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a model such as {path: model.onnx}")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ModelEntry, A::Error> {
                ModelBlock::deserialize(MapAccessDeserializer::new(map)).map(ModelEntry::One)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<ModelEntry, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(ModelEntry::Many)
            }
        }
        deserializer.deserialize_any(OneOrList)
    }
}

/// What must be there: names, or a map.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ExpectEntry {
    /// Names of partitions or files.
    Names(OneOrMany),
    /// A number of files, names, or both.
    Block(ExpectBlock),
}

impl ExpectEntry {
    /// As a map.
    pub fn block(&self) -> ExpectBlock {
        match self {
            Self::Names(names) => ExpectBlock { files: None, names: names.clone() },
            Self::Block(block) => block.clone(),
        }
    }
}

// By hand, as for the model.
impl<'de> Deserialize<'de> for ExpectEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NamesOrMap;
        impl<'de> Visitor<'de> for NamesOrMap {
            type Value = ExpectEntry;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("names such as [date=2026-11-01], or a map such as {files: 24}")
            }

            fn visit_str<E>(self, name: &str) -> Result<ExpectEntry, E> {
                Ok(ExpectEntry::Names(OneOrMany::One(name.to_string())))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ExpectEntry, A::Error> {
                ExpectBlock::deserialize(MapAccessDeserializer::new(map)).map(ExpectEntry::Block)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<ExpectEntry, A::Error> {
                let names = Vec::deserialize(SeqAccessDeserializer::new(list))?;
                Ok(ExpectEntry::Names(OneOrMany::Many(names)))
            }
        }
        deserializer.deserialize_any(NamesOrMap)
    }
}

// `yes` and `no` are texts in YAML 1.2, truth values in others.
impl<'de> Deserialize<'de> for ClusteredWord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Text::deserialize(deserializer)?.to_string().as_str() {
            "auto" => Ok(Self::Auto),
            "yes" | "true" => Ok(Self::Yes),
            "no" | "false" => Ok(Self::No),
            other => Err(serde::de::Error::unknown_variant(other, &["auto", "yes", "no"])),
        }
    }
}

/// One text or a list of texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum OneOrMany {
    /// One.
    One(String),
    /// A list.
    Many(Vec<String>),
}

impl Default for OneOrMany {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

impl OneOrMany {
    /// The texts.
    pub fn list(&self) -> Vec<String> {
        match self {
            Self::One(one) => vec![one.clone()],
            Self::Many(many) => many.clone(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Many(many) if many.is_empty())
    }
}

impl From<Vec<String>> for OneOrMany {
    fn from(many: Vec<String>) -> Self {
        Self::Many(many)
    }
}

/// A single value: a text, number or truth value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Text {
    /// A truth value.
    Bool(bool),
    /// An integer.
    Integer(i64),
    /// A float.
    Float(f64),
    /// A text.
    Text(String),
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => value.fmt(f),
            Self::Integer(value) => value.fmt(f),
            Self::Float(value) => value.fmt(f),
            Self::Text(value) => value.fmt(f),
        }
    }
}

/// A metric: its name with cut-off and options, or a map of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum MetricEntry {
    /// `name`, `name@k`, `name[option=value,…]` or `name@k[…]`.
    Name(String),
    /// `{name: …, k: …, option: value, …}`.
    Map(IndexMap<String, MetricValue>),
}

/// The value of an option: single, or a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum MetricValue {
    /// One.
    One(Text),
    /// A list.
    Many(Vec<Text>),
}
