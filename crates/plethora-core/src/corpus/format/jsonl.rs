//! JSON lines: one object per line, with fields for text, labels and id.

use super::super::filter::RowFilter;
use super::super::lines::Lines;
use super::super::{Label, ReadOptions};
use super::json_row::{JsonFields, JsonRow, LabelField};
use super::label_file::LabelFile;
use super::{Format, Row, RowReader};
use crate::{Argument, Message, Result};

/// The list of objects in which Annif keeps a document's subjects.
const ANNIF_SUBJECTS: &str = "subjects";

/// Reads [`Format::Jsonl`](super::Format::Jsonl).
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says one thing about the file"
)]
pub(super) struct Jsonl {
    lines: Lines,
    fields: JsonFields,
    filter: RowFilter,
    /// True if the caller named the field of ids, so that all rows must have it.
    requires_id: bool,
    /// True if the caller named the fields of the text, and some row must have each of them.
    requires_texts: bool,
    /// Names of the fields of the first row.
    first_fields: Option<String>,
    /// For each text field, whether any row had it.
    found_texts: Vec<bool>,
    has_other_fields: bool,
    /// What label numbers count in, where labels are numbers.
    label_file: Option<LabelFile>,
    texts_only: bool,
    warnings: Vec<Message>,
}

impl Jsonl {
    pub(super) fn open(lines: Lines, options: &ReadOptions) -> Result<Self> {
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
        Ok(Self {
            lines,
            found_texts: vec![false; fields.text.len()],
            fields,
            filter: RowFilter::new(&options.filters),
            requires_id: options.id_field.is_some(),
            requires_texts: !options.text_fields.is_empty() && !options.texts_only,
            first_fields: None,
            has_other_fields: false,
            label_file: LabelFile::open(options)?,
            texts_only: options.texts_only,
            warnings: Vec::new(),
        })
    }

    fn row(&mut self, mut row: JsonRow) -> Result<Row, Message> {
        if self.first_fields.is_none() {
            let line =
                serde_json::from_str::<serde_json::Map<_, serde_json::Value>>(self.lines.line());
            let keys = line.map(|fields| fields.keys().cloned().collect::<Vec<_>>());
            self.first_fields = Some(keys.unwrap_or_default().join(", "));
        }
        for (was_found, text) in self.found_texts.iter_mut().zip(&row.texts) {
            *was_found |= text.is_some();
        }
        self.has_other_fields |= row.has_other_fields;
        if self.requires_id && row.id.is_none() {
            return Err(format!("no field `{}` for the id", self.fields.id).into());
        }
        if let Some(file) = self.label_file.as_ref().filter(|_| !self.texts_only) {
            let keys: Result<_, String> = row.labels.iter().map(|label| file.key(label)).collect();
            row.labels = keys?;
        }
        Ok(row.into())
    }

    /// Text fields may be missing in some rows; in all rows it is likely a slip of the pen, and a
    /// mistake where users named the fields of a whole corpus.
    fn check_fields(&mut self) -> Result<()> {
        if !self.found_texts.contains(&true) {
            return Ok(());
        }
        let found = self.fields.text.iter().zip(&self.found_texts);
        for (field, was_found) in found.take(self.fields.num_first_texts) {
            let message = format!("no row has the text field `{field}`");
            if !was_found && self.requires_texts {
                let found = self.first_fields.as_deref().unwrap_or_default();
                let message = Message::new(format!("{message}; the first row has {found}. Check "));
                let message = message.hint(Argument::TEXT_FIELD);
                return Err(self.lines.origin().error(None, message));
            }
            if !was_found {
                self.warnings.push(message.into());
            }
        }
        Ok(())
    }
}

impl RowReader for Jsonl {
    fn next_row(&mut self) -> Result<Option<Row>> {
        let Some(line) = self.lines.next_line()? else {
            self.check_fields()?;
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

    fn vocabulary(&self) -> &[Label] {
        self.label_file.as_ref().map_or(&[], LabelFile::labels)
    }

    fn layout(&self) -> Vec<(&'static str, String)> {
        let labels: Vec<&str> = (self.fields.labels.iter())
            .map(|field| field.name.as_str())
            .collect();
        vec![
            ("text from", self.fields.text.join(", ")),
            ("labels from", labels.join(" or ")),
            ("id from", self.fields.id.clone()),
        ]
    }

    fn take_warnings(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.warnings)
    }
}
