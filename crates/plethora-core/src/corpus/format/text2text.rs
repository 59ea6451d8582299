//! PECOS's text2text: label numbers, a tab, text. The numbers count in a label file.

use super::super::lines::Lines;
use super::super::{Label, ReadOptions};
use super::label_file::LabelFile;
use super::{Row, RowReader};
use crate::Result;

/// Between a label number and its relevance.
const RELEVANCE: &str = "::";

/// Reads [`Format::Text2Text`](super::Format::Text2Text).
pub(super) struct Text2Text {
    lines: Lines,
    /// Absent where labels are of no interest.
    label_file: Option<LabelFile>,
}

impl Text2Text {
    pub(super) fn open(lines: Lines, options: &ReadOptions) -> Result<Self> {
        let needs = "the numbers before the tab are line numbers of a label file";
        let label_file = LabelFile::open_required(options, lines.origin(), needs)?;
        Ok(Self { lines, label_file })
    }

    fn row(line: &str, label_file: Option<&LabelFile>) -> Result<Row, String> {
        let (numbers, text) = line
            .split_once('\t')
            .ok_or("expected label numbers, a tab, and text")?;
        let labels: Result<_, String> = numbers
            .split(',')
            .map(|number| number.split(RELEVANCE).next().unwrap_or_default().trim())
            .filter(|number| !number.is_empty())
            .filter_map(|number| label_file.map(|file| file.key(number)))
            .collect();
        Ok(Row::text(None, text, labels?))
    }
}

impl RowReader for Text2Text {
    fn next_row(&mut self) -> Result<Option<Row>> {
        let label_file = self.label_file.as_ref();
        self.lines.next_row(|line| Self::row(line, label_file))
    }

    fn line(&self) -> u64 {
        self.lines.number()
    }

    fn vocabulary(&self) -> &[Label] {
        self.label_file.as_ref().map_or(&[], LabelFile::labels)
    }
}

/// True for a line that starts with label numbers and a tab.
pub(super) fn is_typical(line: &str) -> bool {
    let is_number = |number: &str| {
        let number = number
            .split_once(RELEVANCE)
            .map_or(number, |(number, _)| number);
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    line.split_once('\t')
        .is_some_and(|(numbers, _)| numbers.split(',').all(is_number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typical_lines_start_with_numbers() {
        assert!(is_typical("0,12\tThe sea"));
        assert!(is_typical("3::0.5,4::1\tThe sea"));
        assert!(!is_typical("0 12\tThe sea"));
        assert!(!is_typical("The sea\t3"));
    }
}
