//! The XMC repository's raw texts: JSON lines whose `target_ind` counts in a label file.

use super::super::filter::RowFilter;
use super::super::lines::Lines;
use super::super::{Content, Label, ReadOptions};
use super::json_row::{JsonFields, JsonRow, LabelField};
use super::label_file::LabelFile;
use super::{Format, RawDocument, Row, RowReader};
use crate::Result;

/// The field of label numbers, which also tells the format.
pub(super) const LABEL_NUMBERS: &str = "target_ind";

/// Reads [`Format::XmcRaw`](super::Format::XmcRaw).
pub(super) struct XmcRaw {
    lines: Lines,
    fields: JsonFields,
    filter: RowFilter,
    /// Absent where labels are of no interest.
    label_file: Option<LabelFile>,
}

impl XmcRaw {
    pub(super) fn open(lines: Lines, options: &ReadOptions) -> Result<Self> {
        let needs = "its `target_ind` are line numbers of a label file";
        let label_file = LabelFile::open_required(options, lines.origin(), needs)?;
        let labels = options
            .label_field
            .clone()
            .unwrap_or_else(|| LABEL_NUMBERS.into());
        let (text, num_first_texts) = JsonFields::text_fields(Format::XmcRaw, options);
        let fields = JsonFields {
            text,
            num_first_texts,
            labels: vec![LabelField {
                name: labels,
                separator: None,
                allows_objects: false,
            }],
            id: options.id_field.clone().unwrap_or_else(|| "uid".into()),
        };
        Ok(Self {
            lines,
            fields,
            filter: RowFilter::new(&options.filters),
            label_file,
        })
    }

    fn document(&self, mut row: JsonRow) -> Result<RawDocument, String> {
        let labels: Result<_, String> = match &self.label_file {
            Some(file) => row.labels.iter().map(|number| file.key(number)).collect(),
            None => Ok(Vec::new()),
        };
        Ok(RawDocument {
            content: Content::Text(row.take_text()),
            id: row.id,
            labels: labels?,
        })
    }
}

impl RowReader for XmcRaw {
    fn next_row(&mut self) -> Result<Option<Row>> {
        let Some(line) = self.lines.next_line()? else {
            return Ok(None);
        };
        if line.trim_ascii().is_empty() {
            return Ok(Some(Row::Blank));
        }
        let parsed = self.fields.parse(line, &mut self.filter);
        match parsed.map_err(|message| self.lines.error(message))? {
            None => Ok(Some(Row::Filtered)),
            Some(row) => {
                let document = self
                    .document(row)
                    .map_err(|message| self.lines.error(message))?;
                Ok(Some(Row::Document(document)))
            }
        }
    }

    fn line(&self) -> u64 {
        self.lines.number()
    }

    fn vocabulary(&self) -> &[Label] {
        self.label_file.as_ref().map_or(&[], LabelFile::labels)
    }

    fn explain_filter(&self) -> Option<String> {
        self.filter.fields().next().map(|_| self.filter.explain())
    }
}
