//! A document from the cells of a row, for all formats with columns.

use std::borrow::Cow;

use super::super::filter::RowFilter;
use super::super::{Content, Label, ReadOptions};
use super::columns::{ANNIF_URIS, Columns, FlagColumns, LabelColumns, read_flag};
use super::label_file::LabelFile;
use super::label_text::CellSplitter;
use super::{RawDocument, Row};
use crate::{Argument, Error, Message, Result};

/// The cells of a row.
pub(super) trait Cells {
    /// A cell as text; empty where it has nothing.
    fn text(&self, column: usize) -> Result<Cow<'_, str>, Message>;

    /// The labels of a cell that is a list; `None` for text.
    fn list(&self, column: usize) -> Result<Option<Vec<String>>, Message>;
}

impl Cells for [&str] {
    fn text(&self, column: usize) -> Result<Cow<'_, str>, Message> {
        Ok(self[column].into())
    }

    fn list(&self, _: usize) -> Result<Option<Vec<String>>, Message> {
        Ok(None)
    }
}

/// The columns of a table that make up documents.
pub(super) struct Table {
    columns: Columns,
    header: Vec<String>,
    filter: RowFilter,
    splitter: CellSplitter,
    /// What label numbers count in, where labels are numbers.
    label_file: Option<LabelFile>,
    texts_only: bool,
}

impl Table {
    /// Finds the columns in the header, by the names that the caller gives and by the first rows;
    /// `in_header` makes an error of what is wrong with it.
    pub(super) fn open(
        header: &[&str],
        examples: &[Vec<String>],
        options: &ReadOptions,
        in_header: impl FnOnce(Message) -> Error,
    ) -> Result<Self> {
        let filter = RowFilter::new(&options.filters);
        let flags = FlagColumns::of_rows(header.len(), examples);
        let columns = Columns::find(header, &flags, &filter, options).map_err(in_header)?;
        let is_annif = match columns.labels {
            LabelColumns::One(column) => header[column].trim() == ANNIF_URIS,
            _ => false,
        };
        let splitter = match &options.label_separator {
            Some(separator) => CellSplitter::At(separator.clone()),
            None if is_annif => CellSplitter::Uris,
            None => CellSplitter::Undecided,
        };
        Ok(Self {
            columns,
            header: header.iter().map(|name| name.trim().to_owned()).collect(),
            filter,
            splitter,
            label_file: LabelFile::open(options)?,
            texts_only: options.texts_only,
        })
    }

    /// Names for label numbers that the file itself has, where the caller names no file of them.
    #[cfg(feature = "arrow")]
    pub(super) fn set_label_names(&mut self, column: &str, names: Vec<String>) {
        let is_named = match self.columns.labels {
            LabelColumns::One(index) => self.header[index] == column,
            _ => false,
        };
        if is_named && self.label_file.is_none() {
            self.label_file = Some(LabelFile::of_names(column, names));
        }
    }

    /// Number of columns in the header.
    pub(super) fn num_columns(&self) -> usize {
        self.header.len()
    }

    /// The columns that documents are made of, in order.
    #[cfg(feature = "arrow")]
    pub(super) fn used_columns(&self) -> Vec<usize> {
        let columns = &self.columns;
        let labels: &[usize] = match &columns.labels {
            _ if self.texts_only => &[],
            LabelColumns::None => &[],
            LabelColumns::One(column) => std::slice::from_ref(column),
            LabelColumns::Flags(columns) => columns,
        };
        let mut used = [&columns.text, &columns.filtered, labels].concat();
        used.extend(columns.id);
        used.sort_unstable();
        used.dedup();
        used
    }

    /// The document in the cells of a row, of which there are as many as columns.
    pub(super) fn row<C: Cells + ?Sized>(&mut self, cells: &C) -> Result<Row, Message> {
        self.filter.start_row();
        for (index, &column) in self.columns.filtered.iter().enumerate() {
            match cells.list(column)? {
                Some(values) => {
                    for value in values {
                        self.filter.judge(index, &value);
                    }
                }
                None => self.filter.judge(index, &cells.text(column)?),
            }
        }
        if !self.filter.keeps_row() {
            return Ok(Row::Filtered);
        }
        let mut texts = Vec::with_capacity(self.columns.text.len());
        for &column in &self.columns.text {
            let text = cells.text(column)?;
            if !text.is_empty() {
                texts.push(text);
            }
        }
        let content = Content::Text(texts.join("\n"));
        let labels = if self.texts_only {
            Vec::new()
        } else {
            self.labels(cells)?
        };
        let id = match self.columns.id {
            Some(column) => Some(cells.text(column)?.trim().to_owned()),
            None => None,
        };
        Ok(Row::Document(RawDocument {
            id: id.filter(|id| !id.is_empty()),
            content,
            labels,
        }))
    }

    fn labels<C: Cells + ?Sized>(&mut self, cells: &C) -> Result<Vec<String>, Message> {
        let labels = match &self.columns.labels {
            LabelColumns::None => return Ok(Vec::new()),
            LabelColumns::Flags(columns) => return flagged(cells, columns, &self.header),
            &LabelColumns::One(column) => {
                if let Some(labels) = cells.list(column)? {
                    labels
                } else {
                    let cell = cells.text(column)?;
                    let before = self.splitter.told();
                    let labels = self.splitter.split(&cell)?;
                    self.tell_splitting(before);
                    labels
                }
            }
        };
        match &self.label_file {
            None => Ok(labels),
            Some(file) => {
                let keys: Result<_, String> = labels.iter().map(|label| file.key(label)).collect();
                Ok(keys?)
            }
        }
    }

    /// Says how label cells are taken apart, where a cell has just shown it.
    fn tell_splitting(&mut self, before: Option<&str>) {
        if let Some(told) = self.splitter.told().filter(|told| before != Some(*told)) {
            let warning = Message::new(format!("labels are {told}; "))
                .hint(Argument::LABEL_SEPARATOR)
                .text(" chooses another separator");
            self.columns.warnings.push(warning);
        }
    }

    /// True if there are columns that nobody wants.
    pub(super) fn has_other_fields(&self) -> bool {
        let columns = &self.columns;
        let is_wanted = |column: usize| {
            let is_label = match &columns.labels {
                LabelColumns::None => false,
                LabelColumns::One(label) => *label == column,
                LabelColumns::Flags(labels) => labels.contains(&column),
            };
            is_label
                || columns.text.contains(&column)
                || columns.filtered.contains(&column)
                || columns.id == Some(column)
        };
        !(0..self.num_columns()).all(is_wanted)
    }

    pub(super) fn vocabulary(&self) -> &[Label] {
        self.label_file.as_ref().map_or(&[], LabelFile::labels)
    }

    pub(super) fn explain_filter(&self) -> Option<String> {
        self.filter.fields().next().map(|_| self.filter.explain())
    }

    pub(super) fn take_warnings(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.columns.warnings)
    }

    /// Which columns are what, for people.
    pub(super) fn layout(&self) -> Vec<(&'static str, String)> {
        let names = |columns: &[usize]| {
            let names: Vec<&str> = columns
                .iter()
                .map(|&column| &*self.header[column])
                .collect();
            names.join(", ")
        };
        let labels = match &self.columns.labels {
            LabelColumns::None => "none".into(),
            LabelColumns::One(column) => names(&[*column]),
            LabelColumns::Flags(columns) => {
                let shown = &columns[..columns.len().min(8)];
                let more = if shown.len() < columns.len() {
                    ", ..."
                } else {
                    ""
                };
                format!(
                    "{} columns of 0 and 1: {}{more}",
                    columns.len(),
                    names(shown)
                )
            }
        };
        let id = self.columns.id.map_or("position".into(), |id| names(&[id]));
        vec![
            ("columns", self.header.join(", ")),
            ("text from", names(&self.columns.text)),
            ("labels from", labels),
            ("id from", id),
        ]
    }
}

/// The columns whose cell is 1; an empty cell counts as 0.
fn flagged<C: Cells + ?Sized>(
    cells: &C,
    columns: &[usize],
    header: &[String],
) -> Result<Vec<String>, Message> {
    let mut labels = Vec::new();
    for &column in columns {
        let cell = cells.text(column)?;
        match read_flag(&cell) {
            Some(true) => labels.push(header[column].clone()),
            Some(false) => {}
            None if cell.trim().is_empty() => {}
            None => {
                let name = &header[column];
                return Err(format!("column `{name}` has `{cell}`; expected 0 or 1").into());
            }
        }
    }
    Ok(labels)
}
