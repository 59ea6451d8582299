//! fastText's lines: text with words such as `__label__sea`.

use super::super::ReadOptions;
use super::super::lines::Lines;
use super::{Row, RowReader};
use crate::{Argument, Error, Result};

/// Reads [`Format::FastText`](super::Format::FastText).
pub(super) struct FastText {
    lines: Lines,
    prefix: String,
}

impl FastText {
    pub(super) fn new(lines: Lines, options: &ReadOptions) -> Result<Self> {
        if options.label_prefix.is_empty() {
            return Err(Error::config(
                Argument::LABEL_PREFIX,
                "expected at least one character",
            ));
        }
        Ok(Self {
            lines,
            prefix: options.label_prefix.clone(),
        })
    }
}

impl RowReader for FastText {
    fn next_row(&mut self) -> Result<Option<Row>> {
        self.lines.next_row(|line| {
            let (labels, text) = split_labels(line, &self.prefix);
            if labels.iter().any(String::is_empty) {
                return Err(format!("a label without a name after `{}`", self.prefix));
            }
            Ok(Row::text(None, text, labels))
        })
    }

    fn line(&self) -> u64 {
        self.lines.number()
    }
}

/// The labels of a line, wherever they stand, and the text between them.
fn split_labels(line: &str, prefix: &str) -> (Vec<String>, String) {
    let mut labels = Vec::new();
    let mut rest = line.trim();
    while let Some(after) = rest.strip_prefix(prefix) {
        let end = after.find(char::is_whitespace).unwrap_or(after.len());
        labels.push(after[..end].to_owned());
        rest = after[end..].trim_start();
    }
    // Labels at the start are the rule; only others make it necessary to rebuild the text.
    if !rest.split_whitespace().any(|word| word.starts_with(prefix)) {
        return (labels, rest.to_owned());
    }
    let mut words = Vec::new();
    for word in rest.split_whitespace() {
        match word.strip_prefix(prefix) {
            Some(label) => labels.push(label.to_owned()),
            None => words.push(word),
        }
    }
    (labels, words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_found_at_the_start_and_elsewhere() {
        let (labels, text) = split_labels("__label__sea __label__air The  sea.", "__label__");
        assert_eq!(
            (labels.join("+").as_str(), text.as_str()),
            ("sea+air", "The  sea.")
        );
        let (labels, text) = split_labels("The sea __label__sea and __label__air", "__label__");
        assert_eq!(
            (labels.join("+").as_str(), text.as_str()),
            ("sea+air", "The sea and")
        );
        let (labels, text) = split_labels("#sea waves", "#");
        assert_eq!((labels.join("+").as_str(), text.as_str()), ("sea", "waves"));
    }
}
