//! Reading the keys of a config.json with errors that name them.

use std::ops::RangeInclusive;
use std::path::Path;

use plethora_core::Error;
use serde_json::{Map, Value};

use super::architecture::ArchitectureKind;
use crate::Result;
use crate::curve::Curve;

/// Sizes beyond this are damage, and their products would not fit.
const MAX_SIZE: u64 = 1 << 24;

/// Ten times those of the deepest encoders. Each is an object with a dozen tensors, whatever their size.
const MAX_LAYERS: u64 = 1000;

/// The object in a config.json.
pub(super) struct ConfigKeys<'a> {
    pub(super) path: &'a Path,
    pub(super) object: &'a Map<String, Value>,
}

impl ConfigKeys<'_> {
    /// A size that must be there.
    pub(super) fn size(&self, key: &str) -> Result<i64> {
        match self.get(key) {
            Some(value) => self.size_of(key, value, 1..=MAX_SIZE),
            None => Err(self.missing(key)),
        }
    }

    /// A number of layers, which must be there.
    pub(super) fn layers(&self, key: &str) -> Result<i64> {
        match self.get(key) {
            Some(value) => self.size_of(key, value, 1..=MAX_LAYERS),
            None => Err(self.missing(key)),
        }
    }

    /// A number from 0 that may be left out.
    pub(super) fn count_or(&self, key: &str, default: i64) -> Result<i64> {
        self.get(key)
            .map_or(Ok(default), |value| self.size_of(key, value, 0..=MAX_SIZE))
    }

    fn size_of(&self, key: &str, value: &Value, range: RangeInclusive<u64>) -> Result<i64> {
        value
            .as_u64()
            .filter(|size| range.contains(size))
            .map(|size| size as i64)
            .ok_or_else(|| {
                let (least, most) = (range.start(), range.end());
                self.error(format!(
                    "`{key}` is {value} where a number from {least} to {most} is expected"
                ))
            })
    }

    /// A number that may be left out.
    pub(super) fn float_or(&self, key: &str, default: f64) -> Result<f64> {
        let Some(value) = self.get(key) else {
            return Ok(default);
        };
        value
            .as_f64()
            .ok_or_else(|| self.error(format!("`{key}` is {value} where a number is expected")))
    }

    /// The number `key` inside the object `child` inside the object `parent`, where all are there.
    pub(super) fn float_inside_both(&self, parent: &str, child: &str, key: &str) -> Option<f64> {
        self.get(parent)?.get(child)?.get(key)?.as_f64()
    }

    /// A text that must be there.
    pub(super) fn text(&self, key: &str) -> Result<&str> {
        match self.get(key) {
            Some(Value::String(text)) => Ok(text),
            Some(value) => Err(self.error(format!("`{key}` is {value} where a text is expected"))),
            None => Err(self.missing(key)),
        }
    }

    /// A function's name, `gelu` where it is left out.
    pub(super) fn activation(&self, key: &str) -> Result<Curve> {
        if self.get(key).is_none() {
            return Ok(Curve::Gelu);
        }
        let name = self.text(key)?;
        let known = Curve::NAMES.iter().find(|(known, _)| *known == name);
        known.map(|&(_, activation)| activation).ok_or_else(|| {
            let names = Curve::NAMES.map(|(name, _)| name).join(", ");
            self.unsupported(key, &Value::from(name), &names)
        })
    }

    /// Makes sure that a key is left out or has the one value that is supported.
    pub(super) fn expect(&self, key: &str, supported: impl Into<Value>) -> Result<()> {
        let supported = supported.into();
        match self.get(key) {
            Some(value) if *value != supported => {
                Err(self.unsupported(key, value, &supported.to_string()))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn unsupported(&self, key: &str, value: &Value, supported: &str) -> crate::Error {
        self.error(format!(
            "`{key}` is {value}, which is not supported; supported is {supported}"
        ))
    }

    fn missing(&self, key: &str) -> crate::Error {
        self.error(format!("`{key}` is missing"))
    }

    pub(super) fn error(&self, message: String) -> crate::Error {
        Error::model(self.path, message).into()
    }

    /// What is null is left out.
    fn get(&self, key: &str) -> Option<&Value> {
        self.object.get(key).filter(|value| !value.is_null())
    }
}

/// What the common settings are called.
pub(super) struct KeyNames {
    pub(super) width: &'static str,
    pub(super) num_heads: &'static str,
    pub(super) num_layers: &'static str,
    pub(super) inner_width: &'static str,
    pub(super) activation: &'static str,
}

impl KeyNames {
    pub(super) fn of(kind: ArchitectureKind) -> Self {
        match kind {
            ArchitectureKind::Bert
            | ArchitectureKind::Roberta
            | ArchitectureKind::Electra
            | ArchitectureKind::Mpnet => Self {
                width: "hidden_size",
                num_heads: "num_attention_heads",
                num_layers: "num_hidden_layers",
                inner_width: "intermediate_size",
                activation: "hidden_act",
            },
            ArchitectureKind::Modernbert => Self {
                width: "hidden_size",
                num_heads: "num_attention_heads",
                num_layers: "num_hidden_layers",
                inner_width: "intermediate_size",
                activation: "hidden_activation",
            },
            ArchitectureKind::Distilbert => Self {
                width: "dim",
                num_heads: "n_heads",
                num_layers: "n_layers",
                inner_width: "hidden_dim",
                activation: "activation",
            },
            ArchitectureKind::Xlnet => Self {
                width: "d_model",
                num_heads: "n_head",
                num_layers: "n_layer",
                inner_width: "d_inner",
                activation: "ff_activation",
            },
        }
    }
}
