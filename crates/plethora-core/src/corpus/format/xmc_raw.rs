//! The XMC repository's raw texts: JSON lines whose `target_ind` counts in a label file.

use super::super::filter::RowFilter;
use super::super::lines::Lines;
use super::super::{Label, ReadOptions};
use super::json_row::{JsonFields, LabelField};
use super::label_file::LabelFile;
use super::{Format, Row, RowReader};
use crate::{Message, Result};

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
}

impl RowReader for XmcRaw {
    fn next_row(&mut self) -> Result<Option<Row>> {
        self.lines.next_row(|line| {
            let Some(mut row) = self.fields.parse(line, &mut self.filter)? else {
                return Ok(Row::Filtered);
            };
            let keys: Result<_, String> = match &self.label_file {
                Some(file) => row.labels.iter().map(|number| file.key(number)).collect(),
                None => Ok(Vec::new()),
            };
            row.labels = keys?;
            Ok::<_, Message>(row.into())
        })
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
