//! What JSON values may stand in the fields of a corpus row, each with its message for others.

use serde::de::Unexpected;
use serde_json::{Map, Value};

use super::super::filter::RowFilter;
use super::json_row::LabelField;
use super::label_text::{bare_uri, split_at};
use super::list_literal::parse_list;

/// A string as text; `null` counts as missing.
pub(super) fn text_in(value: Value, field: &str) -> Result<Option<String>, String> {
    match value {
        Value::String(text) => Ok(Some(text)),
        Value::Null => Ok(None),
        other => Err(wrong(&other, &format!("field `{field}` to be a string"))),
    }
}

/// A string or an integer as id; `null` counts as missing.
pub(super) fn id_in(value: &Value, field: &str) -> Result<Option<String>, String> {
    let expected = || format!("field `{field}` to be a string or an integer");
    match value {
        Value::Null => Ok(None),
        value => key_in(value)
            .map(Some)
            .ok_or_else(|| wrong(value, &expected())),
    }
}

impl LabelField {
    /// A list of labels, or a string of them with a separator; `null` counts as none. `needs_separator` is set
    /// where a separator would be a way out for other values.
    pub(super) fn labels_in(
        &self,
        value: &Value,
        needs_separator: &mut bool,
    ) -> Result<Vec<String>, String> {
        let mut refuse = |found: String| {
            *needs_separator = self.separator.is_none();
            Err(format!("{found}, expected {}", self.expected()))
        };
        match (value, &self.separator) {
            (Value::Null, _) => Ok(Vec::new()),
            (Value::String(text), separator) if separator.is_some() || has_list(text) => {
                match (parse_list(text), separator) {
                    (Some(list), _) => list,
                    (None, Some(separator)) => Ok(split_at(text, separator)),
                    (None, None) => Ok(Vec::new()),
                }
            }
            (Value::Array(list), _) => {
                let mut labels = Vec::with_capacity(list.len());
                for label in list {
                    let key = match label {
                        Value::Object(object) if self.allows_objects => subject_in(object)?,
                        Value::Object(_) => None,
                        other => match key_in(other) {
                            None => return Err(wrong(other, "labels to be strings or integers")),
                            key => key,
                        },
                    };
                    match key {
                        Some(key) => labels.push(key),
                        None => return refuse("an object in the list".into()),
                    }
                }
                Ok(labels)
            }
            _ => refuse(invalid(value)),
        }
    }

    fn expected(&self) -> String {
        let name = &self.name;
        let objects = if self.allows_objects {
            ", or of objects with `uri` or `label`"
        } else {
            ""
        };
        let string = match self.separator {
            Some(_) => ", or a string of labels",
            None => "",
        };
        format!("field `{name}` to be a list of strings or integers{objects}{string}")
    }
}

/// True for a list written as a string, and for an empty one.
fn has_list(text: &str) -> bool {
    text.trim().is_empty() || parse_list(text).is_some()
}

/// Shows a value, or each value of a list, to the row filter.
pub(super) fn judge(filter: &mut RowFilter, index: usize, value: &Value) {
    match value {
        Value::Null | Value::Object(_) => {}
        Value::String(text) => filter.judge(index, text),
        Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(number) => filter.judge(index, &number.to_string()),
            None => filter.judge(index, &number.to_string()),
        },
        Value::Array(list) => {
            for value in list {
                match value {
                    Value::String(text) => filter.judge(index, text),
                    other => filter.judge(index, &other.to_string()),
                }
            }
        }
        Value::Bool(_) => filter.judge(index, &value.to_string()),
    }
}

/// A string or an integer as a key.
fn key_in(value: &Value) -> Option<String> {
    match value {
        Value::String(key) => Some(key.clone()),
        Value::Number(number) if !number.is_f64() => Some(number.to_string()),
        _ => None,
    }
}

/// The `uri` of one of Annif's subjects, or else its `label`.
fn subject_in(object: &Map<String, Value>) -> Result<Option<String>, String> {
    let string = |name: &str| match object.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str())),
        Some(other) => Err(wrong(other, "a string")),
    };
    let (uri, name) = (string("uri")?, string("label")?);
    Ok(uri.map(bare_uri).or(name).map(str::to_owned))
}

fn wrong(value: &Value, expected: &str) -> String {
    format!("{}, expected {expected}", invalid(value))
}

/// As the parser says it of values that it refuses itself.
fn invalid(value: &Value) -> String {
    let found = match value {
        Value::Null => return "invalid type: null".into(),
        Value::Bool(value) => Unexpected::Bool(*value),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => Unexpected::Unsigned(number),
            (_, Some(number)) => Unexpected::Signed(number),
            _ => Unexpected::Float(number.as_f64().unwrap_or_default()),
        },
        Value::String(text) => Unexpected::Str(text),
        Value::Array(_) => Unexpected::Seq,
        Value::Object(_) => Unexpected::Map,
    };
    format!("invalid type: {found}")
}
