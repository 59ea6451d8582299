//! The lines that a document becomes in each format.

use std::fmt::Write;

use serde::Serialize;

use super::super::format::parse_list;
use super::super::{Content, Document, Format, WriteOptions};
use super::LabelNumbers;
use crate::{Argument, Message, SparseVector};

/// The separator of label cells that readers take without being told.
const CELL_SEPARATOR: &str = ";";

/// What a document becomes: a line of the main file and one of the labels' file.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pub(super) main: String,
    pub(super) labels: String,
}

impl Lines {
    pub(super) fn clear(&mut self) {
        self.main.clear();
        self.labels.clear();
    }

    pub(super) fn end(&mut self) {
        self.main.push('\n');
        self.labels.push('\n');
    }
}

/// The first line of tables.
pub(super) fn table_header(format: Format) -> Option<&'static str> {
    match format {
        Format::Csv => Some("id,text,labels\n"),
        Format::Tsv => Some("id\ttext\tlabels\n"),
        _ => None,
    }
}

/// Turns documents into lines of one format.
#[derive(Debug)]
pub(super) struct Encoder {
    format: Format,
    separator: Option<String>,
    prefix: String,
    index_base: u32,
    flattens_text: bool,
    /// Number of feature columns that may not be exceeded.
    max_features: Option<usize>,
    num_features: usize,
    numbers: LabelNumbers,
}

impl Encoder {
    pub(super) fn new(format: Format, options: &WriteOptions, numbers: LabelNumbers) -> Self {
        Self {
            format,
            separator: options.label_separator.clone(),
            prefix: options.label_prefix.clone(),
            index_base: u32::from(options.index_base.unwrap_or(0)),
            flattens_text: options.flatten_text,
            max_features: options.num_features,
            num_features: 0,
            numbers,
        }
    }

    /// Number of feature columns, as given or as met.
    pub(super) fn num_features(&self) -> usize {
        self.max_features.unwrap_or(self.num_features)
    }

    pub(super) fn numbers(&self) -> &LabelNumbers {
        &self.numbers
    }

    /// Appends a document to `lines`; the error says why the format cannot hold it.
    pub(super) fn encode(&mut self, document: &Document, lines: &mut Lines) -> Result<(), Message> {
        match (&document.content, self.format.has_features()) {
            (Content::Text(text), false) => self.encode_text(document, text, lines),
            (Content::Features(features), true) => {
                Ok(self.encode_features(document, features, lines)?)
            }
            (Content::Text(_), true) => Err("it has text, and the format holds features".into()),
            (Content::Features(_), false) => {
                Err("it has features, and the format holds text".into())
            }
        }
    }

    /// The lines of the label file.
    pub(super) fn label_file_lines(&self) -> Result<Vec<String>, String> {
        if self.numbers.keys().is_empty() {
            let reason = "no document has labels, so there is nothing to put in the label file";
            return Err(reason.into());
        }
        self.numbers
            .keys()
            .iter()
            .map(|key| {
                if self.format == Format::XmcRaw {
                    return to_json(&XmcLabel {
                        uid: key,
                        title: key,
                    })
                    .map(|line| line + "\n");
                }
                if key.trim() != key || key.contains(['\n', '\r', '\t']) {
                    return Err(format!(
                        "the label `{}` does not fit a line",
                        key.escape_debug()
                    ));
                }
                Ok(format!("{key}\n"))
            })
            .collect()
    }

    fn encode_text(
        &mut self,
        document: &Document,
        text: &str,
        lines: &mut Lines,
    ) -> Result<(), Message> {
        let labels = &document.labels;
        let id = &document.id;
        let main = &mut lines.main;
        match self.format {
            Format::Jsonl => *main = to_json(&JsonDocument { id, text, labels })?,
            Format::XmcRaw => {
                let target_ind = self.label_numbers(labels)?;
                *main = to_json(&XmcDocument {
                    uid: id,
                    title: "",
                    content: text,
                    target_ind,
                })?;
            }
            Format::Csv => {
                let separator = self.separator.as_deref().unwrap_or(CELL_SEPARATOR);
                let cell = join_in_cell(labels, separator)?;
                *main = [id, text, &cell].map(csv_cell).join(",");
            }
            Format::Tsv => {
                let separator = self.separator.as_deref().unwrap_or(CELL_SEPARATOR);
                let labels = join_in_cell(labels, separator)?;
                let text = self.line_text(text, true)?;
                *main = format!("{}\t{text}\t{}", one_cell(id)?, one_cell(&labels)?);
            }
            Format::TextPair => {
                *main = self.line_text(text, false)?;
                lines.labels = self.join(labels)?;
            }
            Format::FastText => self.encode_fasttext(text, labels, main)?,
            Format::AnnifTsv => {
                let uris: Result<Vec<String>, String> = labels.iter().map(|key| uri(key)).collect();
                *main = format!("{}\t{}", self.line_text(text, true)?, uris?.join(" "));
            }
            Format::LibMultiLabelTsv => {
                let labels = self.join(labels)?;
                let text = self.line_text(text, true)?;
                *main = format!("{}\t{}\t{text}", one_cell(id)?, one_cell(&labels)?);
            }
            Format::Text2Text => {
                let numbers: Vec<String> = self
                    .label_numbers(labels)?
                    .iter()
                    .map(ToString::to_string)
                    .collect();
                *main = format!("{}\t{}", numbers.join(","), self.line_text(text, true)?);
            }
            Format::Document | Format::Parquet | Format::Arrow => {
                return Err("the format is read and not written".into());
            }
            Format::XmcLibsvm | Format::Libsvm | Format::XmcPair => {
                return Err("the format takes features, and the document is a text".into());
            }
        }
        // Readers skip such lines, save where another file counts on them.
        if self.format != Format::TextPair && main.trim_ascii().is_empty() {
            return Err("it has neither text nor labels".into());
        }
        Ok(())
    }

    fn encode_fasttext(
        &self,
        text: &str,
        labels: &[String],
        line: &mut String,
    ) -> Result<(), Message> {
        let text = self.line_text(text, false)?;
        if text
            .split_whitespace()
            .any(|word| word.starts_with(&self.prefix))
        {
            let prefix = &self.prefix;
            return Err(format!("its text has a word that starts with `{prefix}`").into());
        }
        for label in labels {
            if label.contains(char::is_whitespace) {
                return Err(format!("the label `{label}` has a blank").into());
            }
            line.push_str(&self.prefix);
            line.push_str(label);
            line.push(' ');
        }
        line.push_str(&text);
        Ok(())
    }

    fn encode_features(
        &mut self,
        document: &Document,
        features: &SparseVector,
        lines: &mut Lines,
    ) -> Result<(), String> {
        let labels = &document.labels;
        match self.format {
            Format::Libsvm => {
                if let Some(label) = labels.iter().find(|label| !is_number_like(label)) {
                    return Err(format!("the label `{label}` is not a number"));
                }
                lines.main = labels.join(",");
            }
            Format::XmcPair => {
                let mut numbers = self.label_numbers(labels)?;
                numbers.sort_unstable();
                let pairs: Vec<String> =
                    numbers.iter().map(|number| format!("{number}:1")).collect();
                lines.labels = pairs.join(" ");
            }
            _ => {
                let numbers: Vec<String> = self
                    .label_numbers(labels)?
                    .iter()
                    .map(ToString::to_string)
                    .collect();
                lines.main = numbers.join(",");
            }
        }
        for (column, value) in features.as_row().iter() {
            if !value.is_finite() {
                return Err(format!(
                    "the value {value} of feature {column} is not finite"
                ));
            }
            if self.max_features.is_some_and(|count| column >= count) {
                return Err(format!(
                    "feature {column} is beyond the header's number of features"
                ));
            }
            self.num_features = self.num_features.max(column + 1);
            let blank = if self.format == Format::XmcPair && lines.main.is_empty() {
                ""
            } else {
                " "
            };
            let index = column + self.index_base as usize;
            write!(lines.main, "{blank}{index}:{value}").expect("writing to a string cannot fail");
        }
        if self.format == Format::Libsvm && lines.main.is_empty() {
            return Err("it has neither features nor labels".into());
        }
        Ok(())
    }

    fn label_numbers(&mut self, labels: &[String]) -> Result<Vec<u64>, String> {
        labels
            .iter()
            .map(|label| self.numbers.number(label))
            .collect()
    }

    /// Labels on a line: between what the caller chose, or else blanks.
    fn join(&self, labels: &[String]) -> Result<String, Message> {
        if let Some(separator) = &self.separator {
            return join_at(labels, separator);
        }
        match labels
            .iter()
            .find(|label| label.contains(char::is_whitespace))
        {
            Some(label) => Err(Message::new(format!(
                "the label `{label}` has a blank, and blanks separate labels; \
                 choose another separator with "
            ))
            .hint(Argument::LABEL_SEPARATOR)),
            None => Ok(labels.join(" ")),
        }
    }

    /// Text that fits a line and, with `is_cell`, a tab-separated cell.
    fn line_text(&self, text: &str, is_cell: bool) -> Result<String, Message> {
        let breaks = |char: char| matches!(char, '\n' | '\r') || (is_cell && char == '\t');
        if !text.contains(breaks) {
            return Ok(text.to_owned());
        }
        if self.flattens_text {
            return Ok(text.replace(breaks, " "));
        }
        let what = if is_cell {
            "line ends or tabs"
        } else {
            "line ends"
        };
        Err(Message::new(format!("its text has {what}; "))
            .hint(Argument::FLATTEN.on())
            .text(" replaces them with blanks"))
    }
}

#[derive(Serialize)]
struct JsonDocument<'a> {
    id: &'a str,
    text: &'a str,
    labels: &'a [String],
}

#[derive(Serialize)]
struct XmcDocument<'a> {
    uid: &'a str,
    title: &'a str,
    content: &'a str,
    target_ind: Vec<u64>,
}

#[derive(Serialize)]
struct XmcLabel<'a> {
    uid: &'a str,
    title: &'a str,
}

fn to_json(row: &impl Serialize) -> Result<String, String> {
    serde_json::to_string(row).map_err(|error| error.to_string())
}

fn join_at(labels: &[String], separator: &str) -> Result<String, Message> {
    let is_unfit = |label: &&String| {
        label.contains(separator) || label.trim() != label.as_str() || label.contains(['\n', '\r'])
    };
    match labels.iter().find(is_unfit) {
        Some(label) => Err(Message::new(format!(
            "the label `{}` cannot stand between `{separator}`; choose another separator with ",
            label.escape_debug()
        ))
        .hint(Argument::LABEL_SEPARATOR)),
        None => Ok(labels.join(separator)),
    }
}

/// The labels of a cell, which must not look like a list of them.
fn join_in_cell(labels: &[String], separator: &str) -> Result<String, Message> {
    let cell = join_at(labels, separator)?;
    match parse_list(&cell) {
        None => Ok(cell),
        Some(_) => Err(format!("the labels `{cell}` would be read as a list").into()),
    }
}

fn csv_cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// A cell of a TSV as it is, if it fits.
fn one_cell(text: &str) -> Result<&str, String> {
    if text.contains(['\t', '\n', '\r']) {
        return Err(format!("`{}` has tabs or line ends", text.escape_debug()));
    }
    Ok(text)
}

fn uri(label: &str) -> Result<String, String> {
    if label.contains(|char: char| char.is_whitespace() || matches!(char, '<' | '>')) {
        return Err(format!(
            "the label `{label}` has blanks or brackets, and cannot be a URI"
        ));
    }
    Ok(format!("<{label}>"))
}

fn is_number_like(label: &str) -> bool {
    !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_digit())
}
