//! A file of texts and a file of labels that belong together line by line.

use super::super::ReadOptions;
use super::super::lines::Lines;
use super::super::source::Source;
use super::label_text::{split_at, split_words};
use super::{Row, RowReader};
use crate::Result;

/// Reads [`Format::TextPair`](super::Format::TextPair).
pub(super) struct TextPair {
    texts: Lines,
    labels: Option<Lines>,
    /// Between labels; white space where not given.
    separator: Option<String>,
}

impl TextPair {
    pub(super) fn open(texts: Lines, options: &ReadOptions) -> Result<Self> {
        let labels = match &options.labels_path {
            Some(path) => Some(Lines::new(Source::open(path)?)),
            None => None,
        };
        Ok(Self {
            texts,
            labels,
            separator: options.label_separator.clone(),
        })
    }

    /// Checks that the label file ends where the texts do.
    fn finish(&mut self) -> Result<()> {
        let num_texts = self.texts.number();
        let Some(labels) = &mut self.labels else {
            return Ok(());
        };
        if labels.next_line()?.is_none() {
            return Ok(());
        }
        let texts = self.texts.origin().path().display();
        Err(labels.error(format!("more lines than the {num_texts} texts of {texts}")))
    }
}

impl RowReader for TextPair {
    fn next_row(&mut self) -> Result<Option<Row>> {
        let Some(text) = self.texts.next_line()? else {
            self.finish()?;
            return Ok(None);
        };
        let text = text.to_owned();
        let labels = match &mut self.labels {
            None => Vec::new(),
            Some(lines) => match (lines.next_line()?, &self.separator) {
                (Some(line), Some(separator)) => split_at(line, separator),
                (Some(line), None) => split_words(line),
                (None, _) => {
                    let path = lines.origin().path().display();
                    let num_labels = lines.number();
                    return Err(self.texts.error(format!(
                        "a text without labels: {path} ends after {num_labels} lines"
                    )));
                }
            },
        };
        Ok(Some(Row::text(None, text, labels)))
    }

    fn line(&self) -> u64 {
        self.texts.number()
    }
}
