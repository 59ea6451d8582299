//! What JSON values may stand in the fields of a corpus row, each with its message for others.

use std::cell::Cell;
use std::fmt;

use serde::de::{Deserialize, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::super::filter::RowFilter;
use super::json_row::LabelField;
use super::label_text::{bare_uri, split_at};

/// Takes a string as text; `null` counts as missing.
pub(super) struct TextSeed<'a> {
    pub(super) slot: &'a mut Option<String>,
    pub(super) field: &'a str,
}

impl Visitor<'_> for TextSeed<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "field `{}` to be a string", self.field)
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        *self.slot = Some(text.to_owned());
        Ok(())
    }

    fn visit_string<E>(self, text: String) -> Result<(), E> {
        *self.slot = Some(text);
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        *self.slot = None;
        Ok(())
    }
}

/// Takes a string or an integer as id; `null` counts as missing.
pub(super) struct IdSeed<'a> {
    pub(super) slot: &'a mut Option<String>,
    pub(super) field: &'a str,
}

impl Visitor<'_> for IdSeed<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "field `{}` to be a string or an integer",
            self.field
        )
    }

    fn visit_str<E>(self, id: &str) -> Result<(), E> {
        *self.slot = Some(id.to_owned());
        Ok(())
    }

    fn visit_u64<E>(self, id: u64) -> Result<(), E> {
        *self.slot = Some(id.to_string());
        Ok(())
    }

    fn visit_i64<E>(self, id: i64) -> Result<(), E> {
        *self.slot = Some(id.to_string());
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        *self.slot = None;
        Ok(())
    }
}

/// Takes a list of labels, or a string of them with a separator; `null` counts as none.
pub(super) struct LabelSeed<'a> {
    pub(super) labels: &'a mut Vec<String>,
    pub(super) field: &'a LabelField,
    /// Set with the message for other values, where a separator would be a way out.
    pub(super) needs_separator: &'a Cell<bool>,
}

impl<'de> Visitor<'de> for LabelSeed<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LabelField {
            name,
            separator,
            allows_objects,
        } = self.field;
        write!(
            formatter,
            "field `{name}` to be a list of strings or integers"
        )?;
        if *allows_objects {
            formatter.write_str(", or of objects with `uri` or `label`")?;
        }
        if separator.is_some() {
            formatter.write_str(", or a string of labels")?;
        }
        self.needs_separator.set(separator.is_none());
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        match &self.field.separator {
            Some(separator) => {
                *self.labels = split_at(text, separator);
                Ok(())
            }
            None => Err(E::invalid_type(serde::de::Unexpected::Str(text), &self)),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(label) = list.next_element::<AnyLabel>()? {
            match label {
                AnyLabel::Key(key) => self.labels.push(key),
                AnyLabel::Object(Some(key)) if self.field.allows_objects => self.labels.push(key),
                AnyLabel::Object(_) => {
                    return Err(A::Error::custom(format_args!(
                        "an object in the list, expected {}",
                        Expectation(&self)
                    )));
                }
            }
        }
        Ok(())
    }
}

/// Shows what a seed expects, inside of another message.
struct Expectation<'a, 'b>(&'a LabelSeed<'b>);

impl fmt::Display for Expectation<'_, '_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        Visitor::expecting(self.0, formatter)
    }
}

/// One label of a list.
enum AnyLabel {
    Key(String),
    /// An object, with its `uri` or else its `label`.
    Object(Option<String>),
}

impl<'de> Deserialize<'de> for AnyLabel {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyLabelVisitor)
    }
}

struct AnyLabelVisitor;

impl<'de> Visitor<'de> for AnyLabelVisitor {
    type Value = AnyLabel;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("labels to be strings or integers")
    }

    fn visit_str<E>(self, label: &str) -> Result<AnyLabel, E> {
        Ok(AnyLabel::Key(label.to_owned()))
    }

    fn visit_string<E>(self, label: String) -> Result<AnyLabel, E> {
        Ok(AnyLabel::Key(label))
    }

    fn visit_u64<E>(self, label: u64) -> Result<AnyLabel, E> {
        Ok(AnyLabel::Key(label.to_string()))
    }

    fn visit_i64<E>(self, label: i64) -> Result<AnyLabel, E> {
        Ok(AnyLabel::Key(label.to_string()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<AnyLabel, A::Error> {
        let (mut uri, mut name) = (None, None);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "uri" => uri = map.next_value::<Option<String>>()?,
                "label" => name = map.next_value::<Option<String>>()?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(AnyLabel::Object(
            uri.map(|uri| bare_uri(&uri).to_owned()).or(name),
        ))
    }
}

/// Shows a value, or each value of a list, to the row filter.
pub(super) struct FilterSeed<'a> {
    pub(super) filter: &'a mut RowFilter,
    pub(super) index: usize,
}

impl<'de> Visitor<'de> for FilterSeed<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value to choose rows by")
    }

    fn visit_str<E>(self, value: &str) -> Result<(), E> {
        self.filter.judge(self.index, value);
        Ok(())
    }

    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        self.filter.judge(self.index, &value.to_string());
        Ok(())
    }

    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        self.filter.judge(self.index, &value.to_string());
        Ok(())
    }

    fn visit_f64<E>(self, value: f64) -> Result<(), E> {
        self.filter.judge(self.index, &value.to_string());
        Ok(())
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.filter
            .judge(self.index, if value { "true" } else { "false" });
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(value) = list.next_element::<serde_json::Value>()? {
            match value {
                serde_json::Value::String(text) => self.filter.judge(self.index, &text),
                other => self.filter.judge(self.index, &other.to_string()),
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(())
    }
}
