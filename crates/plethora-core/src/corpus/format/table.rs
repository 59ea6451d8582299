//! What CSV and TSV share: which column is what, and a document from the cells of a row.

use super::super::filter::RowFilter;
use super::super::{Content, ReadOptions};
use super::label_text::CellSplitter;
use super::{RawDocument, Row};
use crate::{Argument, Message};

/// The column that holds the text where nobody names others.
const TEXT: &str = "text";

/// Columns that hold labels where the caller names none: ours, then Annif's.
const LABELS: &str = "labels";
const ANNIF_URIS: &str = "subject_uris";

/// The columns of a table that make up documents.
pub(super) struct Table {
    text: Vec<usize>,
    labels: Option<usize>,
    id: Option<usize>,
    /// One column for each deciding field of the filter.
    filtered: Vec<usize>,
    filter: RowFilter,
    splitter: CellSplitter,
    warnings: Vec<Message>,
    num_columns: usize,
}

impl Table {
    /// Finds the columns in the header; the error says which is missing.
    pub(super) fn new(header: &[&str], options: &ReadOptions) -> Result<Self, Message> {
        let find = |name: &str| header.iter().position(|column| column.trim() == name);
        let require = |name: &str, argument: Argument| {
            find(name).ok_or_else(|| {
                let found = header.join(", ");
                Message::new(format!(
                    "no column `{name}`; columns found: {found}. Name another with "
                ))
                .hint(argument)
            })
        };
        let mut warnings = Vec::new();
        let text = match options.text_fields.as_slice() {
            [] => match usual_text(header, options, &mut warnings) {
                columns if columns.is_empty() => vec![require(TEXT, Argument::TEXT_FIELD)?],
                columns => columns,
            },
            chosen => chosen
                .iter()
                .map(|name| require(name, Argument::TEXT_FIELD))
                .collect::<Result<_, _>>()?,
        };
        let labels = match &options.label_field {
            Some(name) => Some(require(name, Argument::LABEL_FIELD)?),
            None => find(LABELS).or_else(|| find(ANNIF_URIS)),
        };
        let id = match &options.id_field {
            Some(name) => Some(require(name, Argument::ID_FIELD)?),
            None => find("id"),
        };
        let filter = RowFilter::new(&options.filters);
        let filtered: Result<_, _> = filter
            .fields()
            .map(|name| require(name, Argument::WHERE))
            .collect();
        let is_annif = labels.is_some_and(|column| header[column].trim() == ANNIF_URIS);
        let splitter = match &options.label_separator {
            Some(separator) => CellSplitter::At(separator.clone()),
            None if is_annif => CellSplitter::Uris,
            None => CellSplitter::Undecided,
        };
        if labels.is_none() && !options.texts_only {
            let found = header.join(", ");
            let warning = format!("no column `{LABELS}`, so no labels; columns found: {found}");
            warnings.push(warning.into());
        }
        let num_columns = header.len();
        Ok(Self {
            text,
            labels,
            id,
            filtered: filtered?,
            filter,
            splitter,
            warnings,
            num_columns,
        })
    }

    /// Number of columns in the header.
    pub(super) fn num_columns(&self) -> usize {
        self.num_columns
    }

    /// The document in the cells of a row, of which there are as many as columns.
    pub(super) fn row(&mut self, cells: &[&str]) -> Result<Row, Message> {
        self.filter.start_row();
        for (index, &column) in self.filtered.iter().enumerate() {
            self.filter.judge(index, cells[column]);
        }
        if !self.filter.keeps_row() {
            return Ok(Row::Filtered);
        }
        let texts: Vec<&str> = (self.text.iter().map(|&column| cells[column]))
            .filter(|text| !text.is_empty())
            .collect();
        let was_undecided = matches!(self.splitter, CellSplitter::Undecided);
        let labels = match self.labels {
            Some(column) => self.splitter.split(cells[column])?,
            None => Vec::new(),
        };
        if was_undecided && matches!(self.splitter, CellSplitter::Semicolon) {
            let warning = Message::new("labels are split at `;`; ")
                .hint(Argument::LABEL_SEPARATOR)
                .text(" chooses another");
            self.warnings.push(warning);
        }
        let id = self
            .id
            .map(|column| cells[column].trim())
            .filter(|id| !id.is_empty());
        Ok(Row::Document(RawDocument {
            id: id.map(Into::into),
            content: Content::Text(texts.join("\n")),
            labels,
        }))
    }

    /// True if there are columns that nobody wants.
    pub(super) fn has_other_fields(&self) -> bool {
        let is_wanted = |column: usize| {
            self.text.contains(&column)
                || self.filtered.contains(&column)
                || self.labels == Some(column)
                || self.id == Some(column)
        };
        !(0..self.num_columns).all(is_wanted)
    }

    pub(super) fn explain_filter(&self) -> Option<String> {
        self.filter.fields().next().map(|_| self.filter.explain())
    }

    pub(super) fn take_warnings(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.warnings)
    }
}

/// The usual columns of the text that are there, else the one of all tables; none if there is
/// neither. Any that is missing gives a warning.
fn usual_text(header: &[&str], options: &ReadOptions, warnings: &mut Vec<Message>) -> Vec<usize> {
    let find = |name: &str| header.iter().position(|column| column.trim() == name);
    let usual = &options.usual_text_fields;
    let mut columns: Vec<usize> = usual.iter().filter_map(|name| find(name)).collect();
    if columns.is_empty() {
        columns.extend(find(TEXT));
    }
    if !columns.is_empty() {
        let missing = usual.iter().filter(|name| find(name).is_none());
        warnings.extend(missing.map(|name| format!("no row has the text field `{name}`").into()));
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_text_columns_are_taken_where_they_are_there() {
        let columns = |header: &[&str], named: &[&str]| {
            let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect();
            let options = ReadOptions {
                text_fields: owned(named),
                usual_text_fields: owned(&["title", "abstract"]),
                texts_only: true,
                ..ReadOptions::default()
            };
            Table::new(header, &options).map(|table| (table.text, table.warnings.len()))
        };
        let all = ["text", "abstract", "title"];
        assert_eq!(columns(&all, &[]), Ok((vec![2, 1], 0)));
        assert_eq!(columns(&all, &["text"]), Ok((vec![0], 0)));
        assert_eq!(columns(&["text", "title"], &[]), Ok((vec![1], 1)));
        assert_eq!(columns(&["id", "text"], &[]), Ok((vec![1], 2)));
        assert!(columns(&["id", "body"], &[]).is_err());
    }

    #[test]
    fn a_missing_column_is_named_with_those_found() {
        let message = Table::new(&["id", "body"], &ReadOptions::default())
            .err()
            .unwrap();
        assert_eq!(
            message,
            "no column `text`; columns found: id, body. Name another with text_field"
        );
        let options = ReadOptions {
            filters: vec!["split=train".parse().unwrap()],
            ..ReadOptions::default()
        };
        let message = Table::new(&["text"], &options).err().unwrap().to_string();
        assert!(message.starts_with("no column `split`"), "{message}");
    }

    #[test]
    fn a_table_without_labels_says_so() {
        let mut table = Table::new(&["text"], &ReadOptions::default()).unwrap();
        let warnings = table.take_warnings();
        assert_eq!(
            warnings,
            ["no column `labels`, so no labels; columns found: text"]
        );
    }
}
