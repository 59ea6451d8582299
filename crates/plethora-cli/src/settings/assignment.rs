//! One setting, as somebody wrote it.

use serde_json::Value;

use crate::failure::UsageError;

/// One setting as somebody wrote it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Assignment {
    /// Dotted path of the setting, or the name of an option of its own.
    pub(super) key: String,
    pub(super) value: AssignedValue,
    /// Who says so, for messages.
    pub(super) origin: String,
}

/// A value with a type of its own, text that takes the setting's type, or a group of no settings.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum AssignedValue {
    Typed(Value),
    Text(String),
    EmptyGroup,
}

impl Assignment {
    /// Reads `KEY=VALUE`.
    pub(super) fn parse(text: &str, origin: &str) -> Result<Self, UsageError> {
        match text.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() => Ok(Self {
                key: key.trim().into(),
                value: AssignedValue::Text(value.trim().into()),
                origin: origin.into(),
            }),
            _ => Err(UsageError::new(format!(
                "{origin}: `{text}`: expected KEY=VALUE, as tree.max_leaf=50"
            ))),
        }
    }
}
