//! One setting, as somebody wrote it.

use serde_json::Value;

use plethora_core::{Error, Result};

/// One setting as somebody wrote it.
#[derive(Debug, Clone, PartialEq)]
pub struct Assignment {
    /// Dotted path of the setting, or the name of an option of its own.
    pub key: String,
    /// What it is set to.
    pub value: AssignedValue,
    /// Who says so, for messages.
    pub origin: String,
}

/// A value with a type of its own, text that takes the setting's type, or a group of no settings.
#[derive(Debug, Clone, PartialEq)]
pub enum AssignedValue {
    /// A value with a type of its own.
    Typed(Value),
    /// Text that takes the setting's type.
    Text(String),
    /// A group without settings.
    EmptyGroup,
}

impl Assignment {
    /// Reads `KEY=VALUE`.
    pub fn parse(text: &str, origin: &str) -> Result<Self> {
        Self::parse_as(text, origin, "tree.max_leaf=50")
    }

    /// As [`parse`](Self::parse), with an example of its own.
    pub fn parse_as(text: &str, origin: &str, example: &str) -> Result<Self> {
        match text.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() => Ok(Self {
                key: key.trim().into(),
                value: AssignedValue::Text(value.trim().into()),
                origin: origin.into(),
            }),
            _ => Err(Error::usage(format!(
                "{origin}: `{text}`: expected KEY=VALUE, as {example}"
            ))),
        }
    }
}
