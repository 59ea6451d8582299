//! Telling the header of a table, its delimiter, and which columns may be text and labels.

use super::super::csv_records::CsvRecords;
use super::super::{Delimiter, ReadOptions};
use crate::{Argument, Message};

/// Columns that make a line a header where the caller names no fields.
const HEADER_COLUMNS: [&str; 3] = ["text", "labels", "subject_uris"];

/// Rows of a table to look at before reading it.
const MAX_EXAMPLES: usize = 64;

/// Longest name of a column that is no sentence.
const MAX_NAME_CHARS: usize = 60;

/// Columns that usually hold text, and those that usually hold labels. They are proposed, never taken.
const TEXT_NAMES: [&str; 16] = [
    "title",
    "titel",
    "titre",
    "headline",
    "abstract",
    "summary",
    "description",
    "comment_text",
    "content",
    "body",
    "document",
    "sentence",
    "review",
    "question",
    "comment",
    "message",
];
const LABEL_NAMES: [&str; 22] = [
    "label",
    "subjects",
    "subject",
    "keywords",
    "keyword",
    "tags",
    "tag",
    "categories",
    "category",
    "topics",
    "topic",
    "genres",
    "genre",
    "classes",
    "class",
    "codes",
    "descriptors",
    "schlagwörter",
    "schlagworte",
    "schlagwort",
    "themen",
    "target",
];

/// The text of a sample up to its last line end; all of it where there is none.
pub(super) fn whole_lines(sample: &[u8]) -> String {
    let end = sample.iter().rposition(|&byte| byte == b'\n');
    String::from_utf8_lossy(&sample[..end.map_or(sample.len(), |end| end + 1)]).into_owned()
}

/// The rows after the header in a sample, as far as they are whole.
pub(super) fn examples(sample: &str, delimiter: Delimiter) -> Vec<Vec<String>> {
    let mut records = CsvRecords::of_sample(sample, delimiter.byte(), MAX_EXAMPLES + 1);
    if !records.is_empty() {
        records.remove(0);
    }
    records
}

/// The delimiter of a table: the caller's, the one that gives columns of known names, the one that
/// all rows agree on, a comma.
pub(super) fn delimiter(sample: &str, options: &ReadOptions) -> Delimiter {
    let first = first_line(sample);
    (options.delimiter)
        .or_else(|| told_by_names(first, options))
        .or_else(|| guess(sample).map(|guess| guess.delimiter))
        .unwrap_or(Delimiter::COMMA)
}

fn first_line(sample: &str) -> &str {
    let mut lines = sample.lines();
    lines.find(|line| !line.trim().is_empty()).unwrap_or("")
}

/// The delimiter that makes a line a header, because it gives columns that the caller or convention
/// names: the one with most of them.
pub(super) fn told_by_names(line: &str, options: &ReadOptions) -> Option<Delimiter> {
    let mut best = None;
    let mut most = (0, 0);
    for delimiter in Delimiter::TOLD {
        if !may_be_header(line, delimiter, options) {
            continue;
        }
        let columns = columns_of(line, delimiter);
        let num_known = columns
            .iter()
            .filter(|name| is_known(name, options))
            .count();
        // A single column is a table too: CSV, where cells may hold line ends.
        if columns.len() == 1 && delimiter != Delimiter::COMMA {
            continue;
        }
        if num_known > 0 && (num_known, columns.len()) > most {
            most = (num_known, columns.len());
            best = Some(delimiter);
        }
    }
    best
}

fn columns_of(line: &str, delimiter: Delimiter) -> Vec<String> {
    let records = CsvRecords::of_sample(line, delimiter.byte(), 1);
    let columns = records.into_iter().next().unwrap_or_default();
    columns.iter().map(|name| name.trim().to_owned()).collect()
}

fn named_fields(options: &ReadOptions) -> impl Iterator<Item = &str> {
    let filters = options.filters.iter().map(|filter| filter.field.as_str());
    (options.text_fields.iter().map(String::as_str))
        .chain(options.label_field.as_deref())
        .chain(options.id_field.as_deref())
        .chain(options.label_columns.iter().map(String::as_str))
        .chain(filters)
}

fn is_known(name: &str, options: &ReadOptions) -> bool {
    HEADER_COLUMNS.contains(&name)
        || named_fields(options).any(|field| field == name)
        || options.usual_text_fields.iter().any(|field| field == name)
}

/// Where plain texts are expected too and the caller names no field, a header must look like names and
/// not like a sentence.
fn may_be_header(line: &str, delimiter: Delimiter, options: &ReadOptions) -> bool {
    let texts_are_expected = options.texts_only || options.labels_path.is_some();
    let is_named = named_fields(options).next().is_some();
    !texts_are_expected || is_named || is_row_of_names(line, delimiter)
}

/// True for several cells, all quoted or without blanks in or before them.
fn is_row_of_names(line: &str, delimiter: Delimiter) -> bool {
    let delimiter = delimiter.char();
    let is_name = |cell: &str| {
        let is_quoted = cell.len() > 1 && cell.starts_with('"') && cell.ends_with('"');
        is_quoted || !cell.contains(char::is_whitespace)
    };
    line.contains(delimiter) && line.trim_end().split(delimiter).all(is_name)
}

/// A table whose columns have names that say nothing.
pub(super) struct Guess {
    pub(super) delimiter: Delimiter,
    columns: Vec<String>,
}

/// The table that a file seems to be: several columns with names, and rows that have as many.
pub(super) fn guess(sample: &str) -> Option<Guess> {
    let mut best: Option<Guess> = None;
    for delimiter in Delimiter::TOLD {
        let records = CsvRecords::of_sample(sample, delimiter.byte(), MAX_EXAMPLES);
        let num_lines = sample.lines().filter(|line| !line.is_empty()).count();
        // Fewer rows than lines have cells with line ends, or end at one with other columns.
        if records.len() < 2 || records.len() < num_lines.min(4) {
            continue;
        }
        let columns: Vec<String> = (records[0].iter())
            .map(|name| name.trim().to_owned())
            .collect();
        let is_better = best
            .as_ref()
            .is_none_or(|best| columns.len() > best.columns.len());
        if columns.len() > 1 && is_better && columns.iter().all(|name| is_name(name)) {
            best = Some(Guess { delimiter, columns });
        }
    }
    best
}

fn is_name(cell: &str) -> bool {
    let has_letter = cell.chars().any(char::is_alphabetic);
    has_letter && cell.chars().count() <= MAX_NAME_CHARS && !cell.ends_with(['.', '!', '?'])
}

impl Guess {
    /// True if columns have names that are usual for text or labels.
    pub(super) fn has_usual_names(&self) -> bool {
        let columns: Vec<&str> = self.columns.iter().map(String::as_str).collect();
        !usual(&columns, &TEXT_NAMES).is_empty() || !usual(&columns, &LABEL_NAMES).is_empty()
    }

    /// Asks which columns are what.
    pub(super) fn question(&self) -> Message {
        let columns: Vec<&str> = self.columns.iter().map(String::as_str).collect();
        let found = columns.join(", ");
        let delimiter = self.delimiter;
        let message = Message::new(format!(
            "a table with the columns {found} (between them: {delimiter}), and none of them is \
             named `text`. Name the columns of text and labels with "
        ));
        let message = propose_text(message, &columns).text(" and ");
        propose_labels(message, &columns)
    }
}

/// The option that names columns of text, with those that may be.
pub(super) fn propose_text(message: Message, columns: &[&str]) -> Message {
    let mut proposed = usual(columns, &TEXT_NAMES);
    proposed.truncate(2);
    match proposed.as_slice() {
        [] => message.hint(Argument::TEXT_FIELD),
        names => message.hint(Argument::TEXT_FIELD.value(names.join(","))),
    }
}

/// The option that names the column of labels, with the one that may be.
pub(super) fn propose_labels(message: Message, columns: &[&str]) -> Message {
    match usual(columns, &LABEL_NAMES).first() {
        None => message.hint(Argument::LABEL_FIELD),
        Some(name) => message.hint(Argument::LABEL_FIELD.value(*name)),
    }
}

/// Columns with a usual name, the most usual first.
fn usual<'a>(columns: &[&'a str], names: &[&str]) -> Vec<&'a str> {
    let find = |name: &&str| {
        let mut columns = columns.iter().map(|column| column.trim());
        columns.find(|column| column.to_lowercase() == **name)
    };
    names.iter().filter_map(find).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delimiter_is_told_by_names_then_by_agreement() {
        let of = |sample: &str| delimiter(sample, &ReadOptions::default()).char();
        assert_eq!(of("text;labels\nsea, air;x\n"), ';');
        assert_eq!(of("id|text|labels\n1|sea; air|x;y\n"), '|');
        assert_eq!(of("\"text, long\",labels\nsea,x\n"), ',');
        assert_eq!(of("id\ttext\n1\tsea\n"), '\t');
        assert_eq!(of("title;keywords\nsea, air;x\nair;y\n"), ';');
        assert_eq!(of("nothing\n"), ',');
        let named = ReadOptions {
            text_fields: vec!["Titel".into()],
            ..ReadOptions::default()
        };
        assert_eq!(delimiter("Nr;Titel,lang;Titel\n", &named).char(), ';');
    }

    #[test]
    fn a_question_names_columns_and_proposes_usual_ones() {
        let guessed = guess("Title;Abstract;Keywords;Year\nSea;About, sea;a, b;1999\n").unwrap();
        assert!(guessed.has_usual_names());
        assert_eq!(
            guessed.question().to_string(),
            "a table with the columns Title, Abstract, Keywords, Year (between them: ;), and none \
             of them is named `text`. Name the columns of text and labels with \
             text_field=Title,Abstract and label_field=Keywords"
        );
        assert!(guess("One sentence, and more.\nAnother, too.\n").is_none());
        assert!(guess("1,2\n3,4\n").is_none());
    }
}
