//! The wanted fields of one JSON object per line, taken while parsing, without a tree of the rest.

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::super::ReadOptions;
use super::super::filter::RowFilter;
use super::json_value::{id_in, judge, text_in};
use super::{Format, Row};
use crate::{Argument, Message};

/// Which fields to take, and what they hold.
#[derive(Debug, Clone)]
pub(super) struct JsonFields {
    /// Fields that make up the text, in this order; then those that make it up in rows without any
    /// of the former.
    pub(super) text: Vec<String>,
    /// How many of `text` are of the former kind.
    pub(super) num_first_texts: usize,
    /// Fields of which the first present gives the labels.
    pub(super) labels: Vec<LabelField>,
    /// Field of the id.
    pub(super) id: String,
}

/// A field of labels.
#[derive(Debug, Clone)]
pub(super) struct LabelField {
    pub(super) name: String,
    /// Splits a string into labels; without it a string is of the wrong type.
    pub(super) separator: Option<String>,
    /// Accepts objects with `uri` or `label`, as Annif writes them.
    pub(super) allows_objects: bool,
}

/// What the wanted fields of a line hold.
#[derive(Debug, Default)]
pub(super) struct JsonRow {
    /// One entry per text field.
    pub(super) texts: Vec<Option<String>>,
    pub(super) labels: Vec<String>,
    pub(super) id: Option<String>,
    /// True if there were fields that nobody wants.
    pub(super) has_other_fields: bool,
    /// True if a text field is there without a text in it.
    has_null_text: bool,
    /// True if labels were refused that might be a string of them.
    needs_separator: bool,
}

impl JsonFields {
    /// The fields of the text, and how many of them come first.
    pub(super) fn text_fields(format: Format, options: &ReadOptions) -> (Vec<String>, usize) {
        let own = format.text_fields().iter().map(ToString::to_string);
        let mut fields = match options.text_fields.as_slice() {
            [] => options.usual_text_fields.clone(),
            named => return (named.to_vec(), named.len()),
        };
        if fields.is_empty() {
            fields.extend(own);
            let num_fields = fields.len();
            return (fields, num_fields);
        }
        let num_first = fields.len();
        for field in own {
            if !fields.contains(&field) {
                fields.push(field);
            }
        }
        (fields, num_first)
    }

    /// Parses a line; `None` if the filter leaves it out. The error says what is wrong with it.
    pub(super) fn parse(
        &self,
        line: &str,
        filter: &mut RowFilter,
    ) -> Result<Option<JsonRow>, Message> {
        let mut row = JsonRow {
            texts: vec![None; self.text.len()],
            ..JsonRow::default()
        };
        filter.start_row();
        let seed = RowSeed {
            fields: self,
            filter,
            row: &mut row,
            is_rejected: false,
        };
        let mut deserializer = serde_json::Deserializer::from_str(line);
        let parsed = seed.deserialize(&mut deserializer);
        let keeps = parsed
            .and_then(|keeps| deserializer.end().map(|()| keeps))
            .map_err(|error| explain(&error, line, row.needs_separator))?;
        if !keeps {
            return Ok(None);
        }
        // A field without a text in it is an empty cell; none at all is a slip of the pen.
        if row.texts.iter().all(Option::is_none) && !row.has_null_text {
            return Err(self.missing_text(line));
        }
        if row.texts[..self.num_first_texts]
            .iter()
            .any(Option::is_some)
        {
            row.texts.truncate(self.num_first_texts);
        }
        Ok(Some(row))
    }

    fn missing_text(&self, line: &str) -> Message {
        // Only now is it worth to parse all of the line.
        let found = match serde_json::from_str::<serde_json::Map<String, Value>>(line) {
            Ok(fields) if !fields.is_empty() => {
                fields.keys().cloned().collect::<Vec<_>>().join(", ")
            }
            _ => "none".into(),
        };
        let wanted = self.text.join("`, `");
        Message::new(format!(
            "no text in field `{wanted}`; fields found: {found}. Name the text with "
        ))
        .hint(Argument::TEXT_FIELD)
    }

    fn roles(&self, key: &str, filter: &RowFilter) -> Roles {
        Roles {
            text: self.text.iter().position(|field| field == key),
            labels: self.labels.iter().position(|field| field.name == key),
            is_id: self.id == key,
            filter: filter.index_of(key),
        }
    }
}

impl From<JsonRow> for Row {
    /// The texts that are there and not empty are joined with newlines.
    fn from(row: JsonRow) -> Self {
        let mut texts = row.texts.into_iter().flatten();
        let mut joined = texts.find(|text| !text.is_empty()).unwrap_or_default();
        for text in texts.filter(|text| !text.is_empty()) {
            joined.push('\n');
            joined.push_str(&text);
        }
        Self::text(row.id.as_deref(), joined, row.labels)
    }
}

/// What a field is wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Roles {
    text: Option<usize>,
    labels: Option<usize>,
    is_id: bool,
    filter: Option<usize>,
}

/// Fills a [`JsonRow`] from a JSON object; gives whether the filter keeps the row.
struct RowSeed<'a> {
    fields: &'a JsonFields,
    filter: &'a mut RowFilter,
    row: &'a mut JsonRow,
    is_rejected: bool,
}

impl<'de> DeserializeSeed<'de> for RowSeed<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for RowSeed<'_> {
    type Value = bool;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<bool, A::Error> {
        let (fields, mut labels_from) = (self.fields, usize::MAX);
        while let Some(mut roles) = map.next_key_seed(KeySeed {
            fields,
            filter: self.filter,
        })? {
            self.row.has_other_fields |= roles == Roles::default();
            // An earlier name in the list of label fields wins, wherever it stands in the object.
            roles.labels = roles.labels.filter(|&index| index <= labels_from);
            labels_from = roles.labels.unwrap_or(labels_from);
            if self.is_rejected || roles == Roles::default() {
                map.next_value::<IgnoredAny>()?;
            } else {
                let value = map.next_value()?;
                self.take(roles, value).map_err(A::Error::custom)?;
            }
        }
        Ok(!self.is_rejected && self.filter.keeps_row())
    }
}

impl RowSeed<'_> {
    /// Takes a value for what its field is wanted for.
    fn take(&mut self, roles: Roles, value: Value) -> Result<(), String> {
        let (fields, row) = (self.fields, &mut *self.row);
        if let Some(index) = roles.labels {
            let field = &fields.labels[index];
            row.labels = field.labels_in(&value, &mut row.needs_separator)?;
        }
        if roles.is_id {
            row.id = id_in(&value, &fields.id)?;
        }
        if let Some(index) = roles.filter {
            judge(self.filter, index, &value);
            self.is_rejected |= !self.filter.accepts(index);
        }
        if let Some(index) = roles.text {
            row.has_null_text |= value.is_null();
            row.texts[index] = text_in(value, &fields.text[index])?;
        }
        Ok(())
    }
}

/// Looks a key up without keeping it.
struct KeySeed<'a> {
    fields: &'a JsonFields,
    filter: &'a RowFilter,
}

impl<'de> DeserializeSeed<'de> for KeySeed<'_> {
    type Value = Roles;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Roles, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for KeySeed<'_> {
    type Value = Roles;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a field name")
    }

    fn visit_str<E>(self, key: &str) -> Result<Roles, E> {
        Ok(self.fields.roles(key, self.filter))
    }
}

/// The parser's message, with the column and without its line, which is always the first.
fn explain(error: &serde_json::Error, line: &str, needs_separator: bool) -> Message {
    if error.is_eof() && line.trim_start().starts_with('{') {
        return "the JSON object does not end on its line; expected one object per line".into();
    }
    let message = error.to_string();
    let text = message
        .rfind(" at line ")
        .map_or(message.as_str(), |end| &message[..end]);
    let kind = if error.is_syntax() {
        "not valid JSON: "
    } else {
        ""
    };
    let mut message = Message::new(format!("{kind}{text}"));
    if needs_separator {
        message = message
            .text(" (a string of labels needs ")
            .hint(Argument::LABEL_SEPARATOR)
            .text(")");
    }
    // An error made for a value that was read already has no place.
    match error.column() {
        0 => message,
        column => message.text(format!(" (column {column})")),
    }
}
