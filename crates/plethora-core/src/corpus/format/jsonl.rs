//! JSON lines: one object a line, with fields for text, labels and id.

use super::super::filter::RowFilter;
use super::super::lines::Lines;
use super::super::{Content, ReadOptions};
use super::json_row::{JsonFields, LabelField};
use super::{RawDocument, Row, RowReader};
use crate::Result;

/// The list of objects in which Annif keeps a document's subjects.
const ANNIF_SUBJECTS: &str = "subjects";

/// Reads [`Format::Jsonl`](super::Format::Jsonl).
pub(super) struct Jsonl {
    lines: Lines,
    fields: JsonFields,
    filter: RowFilter,
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
        let fields = JsonFields {
            text: match options.text_fields.as_slice() {
                [] => vec!["text".into()],
                chosen => chosen.to_vec(),
            },
            labels: label_names.into_iter().map(label_field).collect(),
            id: options.id_field.clone().unwrap_or_else(|| "id".into()),
        };
        Self {
            lines,
            fields,
            filter: RowFilter::new(&options.filters),
        }
    }
}

impl RowReader for Jsonl {
    fn next_row(&mut self) -> Result<Option<Row>> {
        let Some(line) = self.lines.next_line()? else {
            return Ok(None);
        };
        if line.trim_ascii().is_empty() {
            return Ok(Some(Row::Blank));
        }
        let parsed = self.fields.parse(line, &mut self.filter);
        Ok(Some(
            match parsed.map_err(|message| self.lines.error(message))? {
                None => Row::Filtered,
                Some(mut row) => Row::Document(RawDocument {
                    content: Content::Text(row.take_text()),
                    id: row.id,
                    labels: row.labels,
                }),
            },
        ))
    }

    fn line(&self) -> u64 {
        self.lines.number()
    }

    fn explain_filter(&self) -> Option<String> {
        self.filter.fields().next().map(|_| self.filter.explain())
    }
}
