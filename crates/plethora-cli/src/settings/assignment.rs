//! One setting, as somebody wrote it.

use serde_json::Value;

use crate::failure::UsageError;

/// One setting as somebody wrote it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Assignment {
    /// Dotted path of the setting, or the name of an option of its own.
    pub(crate) key: String,
    pub(crate) value: AssignedValue,
    /// Who says so, for messages.
    pub(crate) origin: String,
}

/// A value with a type of its own, text that takes the setting's type, or a group of no settings.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum AssignedValue {
    Typed(Value),
    Text(String),
    EmptyGroup,
}

impl Assignment {
    /// Reads `KEY=VALUE`.
    pub(crate) fn parse(text: &str, origin: &str) -> Result<Self, UsageError> {
        Self::parse_as(text, origin, "tree.max_leaf=50")
    }

    /// As [`parse`](Self::parse), with an example of its own.
    pub(crate) fn parse_as(text: &str, origin: &str, example: &str) -> Result<Self, UsageError> {
        match text.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() => Ok(Self {
                key: key.trim().into(),
                value: AssignedValue::Text(value.trim().into()),
                origin: origin.into(),
            }),
            _ => Err(UsageError::new(format!(
                "{origin}: `{text}`: expected KEY=VALUE, as {example}"
            ))),
        }
    }
}
