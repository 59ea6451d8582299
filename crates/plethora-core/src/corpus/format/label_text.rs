//! Labels that share one field or line, with something between them.

use super::list_literal::parse_list;
use crate::{Argument, Message};

/// The separators that CSV exports use; without a choice of the caller only the first is taken.
const DEFAULT_SEPARATOR: char = ';';
const DOUBTFUL_SEPARATORS: [char; 3] = [',', '|', '\t'];

/// Labels between a separator, trimmed; empty ones are left out.
pub(super) fn split_at(text: &str, separator: &str) -> Vec<String> {
    text.split(separator)
        .map(str::trim)
        .filter(|label| !label.is_empty())
        .map(Into::into)
        .collect()
}

/// Labels between white space.
pub(super) fn split_words(text: &str) -> Vec<String> {
    text.split_whitespace().map(Into::into).collect()
}

/// URIs between white space, with or without angle brackets.
pub(super) fn split_uris(text: &str) -> Vec<String> {
    text.split_whitespace()
        .map(bare_uri)
        .filter(|uri| !uri.is_empty())
        .map(Into::into)
        .collect()
}

/// A URI without the angle brackets around it.
pub(in crate::corpus) fn bare_uri(text: &str) -> &str {
    text.strip_prefix('<')
        .and_then(|inner| inner.strip_suffix('>'))
        .unwrap_or(text)
}

/// How the label cells of a table are split.
#[derive(Debug, Clone)]
pub(super) enum CellSplitter {
    /// At what the caller named.
    At(String),
    /// White space between URIs, as in Annif's `subject_uris`.
    Uris,
    /// At `;`, which a cell has shown to be right.
    Semicolon,
    /// Lists such as `['a', 'b']`, as a cell has shown.
    Lists,
    /// No cell has shown yet what stands between labels.
    Undecided,
}

impl CellSplitter {
    /// The labels of a cell; an error text where the separator is in doubt.
    pub(super) fn split(&mut self, cell: &str) -> Result<Vec<String>, Message> {
        if let Some(list) = parse_list(cell) {
            if matches!(self, Self::Undecided) {
                *self = Self::Lists;
            }
            return list.map_err(Message::new);
        }
        match self {
            Self::Lists if cell.trim().is_empty() => Ok(Vec::new()),
            Self::Lists => Err(Message::new(format!(
                "`{cell}` is no list, and cells before it are lists such as ['a', 'b']"
            ))),
            Self::At(separator) => Ok(split_at(cell, separator)),
            Self::Uris => Ok(split_uris(cell)),
            Self::Semicolon => Ok(split_at(cell, ";")),
            Self::Undecided => {
                if cell.contains(DEFAULT_SEPARATOR) {
                    *self = Self::Semicolon;
                } else if let Some(found) =
                    cell.chars().find(|char| DOUBTFUL_SEPARATORS.contains(char))
                {
                    return Err(Message::new(format!(
                        "the labels `{cell}` hold `{}`: is it between labels or part of one? \
                         Say what separates labels with ",
                        found.escape_default()
                    ))
                    .hint(Argument::LABEL_SEPARATOR));
                }
                Ok(split_at(cell, ";"))
            }
        }
    }

    /// What cells have shown, for people.
    pub(super) fn told(&self) -> Option<&'static str> {
        match self {
            Self::Semicolon => Some("split at `;`"),
            Self::Lists => Some("read from lists such as ['a', 'b']"),
            Self::At(_) | Self::Uris | Self::Undecided => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_told_and_then_expected() {
        let mut splitter = CellSplitter::Undecided;
        assert_eq!(
            splitter.split("['sea; deep', 'air']").unwrap(),
            ["sea; deep", "air"]
        );
        assert!(splitter.split("").unwrap().is_empty());
        let message = splitter.split("sea").unwrap_err().to_string();
        assert!(message.starts_with("`sea` is no list"), "{message}");
        let mut commas = CellSplitter::At(",".into());
        assert_eq!(commas.split("['sea', 'air']").unwrap(), ["sea", "air"]);
        assert_eq!(commas.split("sea,air").unwrap(), ["sea", "air"]);
    }

    #[test]
    fn a_semicolon_settles_the_doubt() {
        let mut splitter = CellSplitter::Undecided;
        assert_eq!(splitter.split("sea").unwrap(), ["sea"]);
        assert_eq!(splitter.split("sea; air;").unwrap(), ["sea", "air"]);
        assert_eq!(splitter.split("Paris, France").unwrap(), ["Paris, France"]);
    }

    #[test]
    fn a_doubtful_separator_is_not_guessed() {
        let message = CellSplitter::Undecided
            .split("sea,air")
            .unwrap_err()
            .to_string();
        assert!(message.contains("`sea,air` hold `,`"), "{message}");
        assert!(message.ends_with("with label_separator"), "{message}");
        let mut chosen = CellSplitter::At(",".into());
        assert_eq!(chosen.split("sea,air").unwrap(), ["sea", "air"]);
    }

    #[test]
    fn uris_lose_their_brackets() {
        assert_eq!(
            split_uris("<http://a/1> http://a/2"),
            ["http://a/1", "http://a/2"]
        );
    }
}
