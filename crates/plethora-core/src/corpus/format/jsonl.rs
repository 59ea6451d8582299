//! JSON lines: one object per line, with fields for text, labels and id.

use super::super::ReadOptions;
use super::super::filter::RowFilter;
use super::super::lines::Lines;
use super::json_row::{JsonFields, JsonRow, LabelField};
use super::{Format, Row, RowReader};
use crate::{Message, Result};

/// The list of objects in which Annif keeps a document's subjects.
const ANNIF_SUBJECTS: &str = "subjects";

/// Reads [`Format::Jsonl`](super::Format::Jsonl).
pub(super) struct Jsonl {
    lines: Lines,
    fields: JsonFields,
    filter: RowFilter,
    /// True if the caller named the field of ids, so that all rows must have it.
    requires_id: bool,
    /// For each text field, whether any row had it.
    found_texts: Vec<bool>,
    has_other_fields: bool,
    warnings: Vec<Message>,
}

impl Jsonl {
    pub(super) fn new(lines: Lines, options: &ReadOptions) -> Self {
        let label_names = match &options.label_field {
            Some(name) => vec![name.clone()],
            None => vec!["labels".into(), ANNIF_SUBJECTS.into()],
        };
        let label_field = |name: String| LabelField {
            separator: options.label_separator.clone(),
            allows_objects: name == ANNIF_SUBJECTS,
            name,
        };
        let (text, num_first_texts) = JsonFields::text_fields(Format::Jsonl, options);
        let fields = JsonFields {
            text,
            num_first_texts,
            labels: label_names.into_iter().map(label_field).collect(),
            id: options.id_field.clone().unwrap_or_else(|| "id".into()),
        };
        Self {
            lines,
            found_texts: vec![false; fields.text.len()],
            fields,
            filter: RowFilter::new(&options.filters),
            requires_id: options.id_field.is_some(),
            has_other_fields: false,
            warnings: Vec::new(),
        }
    }

    fn row(&mut self, row: JsonRow) -> Result<Row, Message> {
        for (was_found, text) in self.found_texts.iter_mut().zip(&row.texts) {
            *was_found |= text.is_some();
        }
        self.has_other_fields |= row.has_other_fields;
        if self.requires_id && row.id.is_none() {
            return Err(format!("no field `{}` for the id", self.fields.id).into());
        }
        Ok(row.into())
    }

    /// Text fields may be missing in some rows; in all rows it is likely a slip of the pen.
    fn warn_of_missing_fields(&mut self) {
        if !self.found_texts.contains(&true) {
            return;
        }
        let found = self.fields.text.iter().zip(&self.found_texts);
        for (field, was_found) in found.take(self.fields.num_first_texts) {
            if !was_found {
                self.warnings
                    .push(format!("no row has the text field `{field}`").into());
            }
        }
    }
}

impl RowReader for Jsonl {
    fn next_row(&mut self) -> Result<Option<Row>> {
        let Some(line) = self.lines.next_line()? else {
            self.warn_of_missing_fields();
            return Ok(None);
        };
        if line.trim_ascii().is_empty() {
            return Ok(Some(Row::Blank));
        }
        let parsed = self.fields.parse(line, &mut self.filter);
        let row = parsed.and_then(|row| match row {
            None => Ok(Row::Filtered),
            Some(row) => self.row(row),
        });
        row.map(Some).map_err(|message| self.lines.error(message))
    }

    fn line(&self) -> u64 {
        self.lines.number()
    }

    fn raw_line(&self) -> Option<&str> {
        Some(self.lines.line())
    }

    fn has_other_fields(&self) -> bool {
        self.has_other_fields
    }

    fn explain_filter(&self) -> Option<String> {
        self.filter.fields().next().map(|_| self.filter.explain())
    }

    fn take_warnings(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.warnings)
    }
}
