//! Sparse features with labels in front, with the XMC repository's header or without.

use super::super::lines::Lines;
use super::super::{Content, Label, ReadOptions};
use super::label_file::LabelFile;
use super::svm_line::{IndexRange, parse_features, parse_header, split_label_numbers};
use super::{RawDocument, Row, RowReader};
use crate::{Argument, Message, Result};

/// Reads [`Format::XmcLibsvm`](super::Format::XmcLibsvm) and
/// [`Format::Libsvm`](super::Format::Libsvm).
pub(super) struct Libsvm {
    lines: Lines,
    parser: LineParser,
    /// Number of documents, where a header promises it.
    num_promised: Option<u64>,
    num_read: u64,
    warnings: Vec<Message>,
}

impl Libsvm {
    pub(super) fn open_with_header(mut lines: Lines, options: &ReadOptions) -> Result<Self> {
        let header = lines.next_line()?.and_then(parse_header::<3>);
        let Some([num_documents, num_features, num_labels]) = header else {
            return Err(
                lines.error("expected a header of three numbers: documents features labels")
            );
        };
        let num_columns = u32::try_from(num_features)
            .map_err(|_| lines.error(format!("{num_features} features are more than fit")))?;
        let labels = match LabelFile::open(options)? {
            Some(file) if file.labels().len() as u64 != num_labels => {
                let found = file.labels().len();
                return Err(lines.error(format!(
                    "the header promises {num_labels} labels, but the label file has {found}"
                )));
            }
            Some(file) => LabelNumbers::InFile(file),
            None => LabelNumbers::Below(num_labels),
        };
        let range = IndexRange {
            noun: "feature",
            base: 0,
            num_columns: Some(num_columns),
        };
        Ok(Self {
            lines,
            parser: LineParser { range, labels },
            num_promised: Some(num_documents),
            num_read: 0,
            warnings: Vec::new(),
        })
    }

    pub(super) fn open_without_header(lines: Lines, options: &ReadOptions) -> Result<Self> {
        let Some(base) = options.index_base else {
            let message = Message::new(
                "libsvm without header does not say whether features are counted from 0 or 1; pass ",
            )
            .hint(Argument::INDEX_BASE.value("0"))
            .text(" or ")
            .hint(Argument::INDEX_BASE.value("1"));
            return Err(lines.origin().error(None, message));
        };
        let range = IndexRange {
            noun: "feature",
            base: u32::from(base),
            num_columns: None,
        };
        Ok(Self {
            lines,
            parser: LineParser {
                range,
                labels: LabelNumbers::AsWritten,
            },
            num_promised: None,
            num_read: 0,
            warnings: vec![format!("features are counted from {base}, as asked").into()],
        })
    }
}

impl RowReader for Libsvm {
    fn next_row(&mut self) -> Result<Option<Row>> {
        let is_complete = self.num_promised == Some(self.num_read);
        let Some(line) = self.lines.next_line()? else {
            return match self.num_promised {
                Some(promised) if !is_complete => Err(self.lines.error(format!(
                    "the file ends after {} documents, but its header promises {promised}",
                    self.num_read
                ))),
                _ => Ok(None),
            };
        };
        // With a header, an empty line is a document without labels and features.
        if line.trim_ascii().is_empty() && (is_complete || self.num_promised.is_none()) {
            return Ok(Some(Row::Blank));
        }
        let document = if is_complete {
            Err(format!(
                "more documents than the {} that the header promises",
                self.num_read
            ))
        } else {
            self.parser.document(line)
        };
        self.num_read += 1;
        document
            .map(|row| Some(Row::Document(row)))
            .map_err(|message| self.lines.error(message))
    }

    fn line(&self) -> u64 {
        self.lines.number()
    }

    fn num_features(&self) -> Option<usize> {
        self.parser.range.num_columns.map(|count| count as usize)
    }

    fn vocabulary(&self) -> &[Label] {
        match &self.parser.labels {
            LabelNumbers::InFile(file) => file.labels(),
            _ => &[],
        }
    }

    fn take_warnings(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.warnings)
    }
}

/// Turns a line into a document.
struct LineParser {
    range: IndexRange,
    labels: LabelNumbers,
}

/// What the label numbers of a file mean.
enum LabelNumbers {
    /// They are keys; nothing bounds them.
    AsWritten,
    /// They are keys below the header's number of labels.
    Below(u64),
    /// They count in a label file.
    InFile(LabelFile),
}

impl LineParser {
    fn document(&self, line: &str) -> Result<RawDocument, String> {
        let (numbers, features) = split_label_numbers(line);
        let labels: Result<_, String> = numbers
            .split(',')
            .filter(|number| !number.is_empty())
            .map(|number| self.labels.key(number))
            .collect();
        let content = Content::Features(parse_features(features, self.range)?);
        Ok(RawDocument {
            id: None,
            content,
            labels: labels?,
        })
    }
}

impl LabelNumbers {
    fn key(&self, number: &str) -> Result<String, String> {
        let num_labels = match self {
            Self::AsWritten => return Ok(number.to_owned()),
            Self::InFile(file) => return file.key(number),
            Self::Below(num_labels) => *num_labels,
        };
        match number.parse::<u64>() {
            Ok(index) if index < num_labels => Ok(index.to_string()),
            Ok(index) => Err(format!(
                "label {index} is out of bounds: the header promises {num_labels} labels, \
                 counted from 0"
            )),
            Err(_) => Err(format!("the label number `{number}` is not a whole number")),
        }
    }
}

/// True for a line of labels and features, of which there is at least one.
pub(super) fn is_typical(line: &str) -> bool {
    let (numbers, features) = split_label_numbers(line);
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    // Values may be broken: whoever reads the file will say so.
    let is_feature = |pair: &str| {
        pair.split_once(':')
            .is_some_and(|(index, _)| is_number(index))
    };
    !features.trim_ascii().is_empty()
        && numbers.split(',').all(is_number)
        && features.split_ascii_whitespace().all(is_feature)
}
