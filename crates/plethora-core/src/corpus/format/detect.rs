//! Telling a corpus format by the first lines of a file.

use serde_json::{Map, Value};

use super::super::ReadOptions;
use super::super::source::Source;
use super::svm_line::parse_header;
use super::xmc_raw::LABEL_NUMBERS;
use super::{Format, annif_tsv, libsvm, text2text};
use crate::{Argument, Message, Result};

/// Lines that must agree on a format without header.
const MAX_LINES: usize = 100;

/// Columns that make a line a header where the caller names no fields.
const HEADER_COLUMNS: [&str; 3] = ["text", "labels", "subject_uris"];

/// The format of an opened file; an error that explains the argument `format` where nothing fits.
pub(in crate::corpus) fn detect(source: &Source, options: &ReadOptions) -> Result<Format> {
    let sample = String::from_utf8_lossy(source.sample());
    let lines = first_lines(&sample);
    match lines.as_slice() {
        [] => Err(source.origin().error(None, "only blank lines")),
        lines => match detect_lines(lines, options) {
            Ok(format) => Ok(format),
            Err(message) => Err(source.origin().error(1, message)),
        },
    }
}

/// The first lines with anything in them; a last line that the sample cuts off is left out.
fn first_lines(sample: &str) -> Vec<&str> {
    let whole = match sample.rfind('\n') {
        Some(end) => &sample[..end],
        None => sample,
    };
    whole
        .lines()
        .filter(|line| !line.trim().is_empty())
        .take(MAX_LINES)
        .collect()
}

fn detect_lines(lines: &[&str], options: &ReadOptions) -> Result<Format, Message> {
    let first = lines[0];
    let all = |is_typical: fn(&str) -> bool| lines.iter().all(|line| is_typical(line));
    match first.trim_start().chars().next() {
        Some('{') => return Ok(json_format(first)),
        Some('[') => {
            return Err(
                "a JSON array; expected one JSON object per line (jq -c '.[]' makes them)".into(),
            );
        }
        _ => {}
    }
    if parse_header::<3>(first).is_some() {
        return Ok(Format::XmcLibsvm);
    }
    if parse_header::<2>(first).is_some() && is_sparse_matrix(&lines[1..]) {
        return Ok(Format::XmcPair);
    }
    if options.labels_path.is_some() {
        // What has its labels in a second file has none in the first.
        let has_numbers = all(text2text::is_typical);
        return Ok(if has_numbers {
            Format::Text2Text
        } else {
            Format::TextPair
        });
    }
    if lines
        .iter()
        .any(|line| has_fasttext_label(line, &options.label_prefix))
    {
        return Ok(Format::FastText);
    }
    if is_header(first, '\t', options) {
        return Ok(Format::Tsv);
    }
    if is_header(first, ',', options) {
        return Ok(Format::Csv);
    }
    if all(libsvm::is_typical) {
        return Ok(Format::Libsvm);
    }
    if all(annif_tsv::is_typical) {
        return Ok(Format::AnnifTsv);
    }
    if all(text2text::is_typical) {
        return Ok(Format::Text2Text);
    }
    // Tabs would be columns, and which of them is the text cannot be told.
    if options.texts_only && !lines.iter().all(|line| line.contains('\t')) {
        return Ok(Format::TextPair);
    }
    Err(unknown(lines))
}

fn json_format(line: &str) -> Format {
    // A line that does not parse is read as JSON lines, whose reader says what is wrong with it.
    match serde_json::from_str::<Map<String, Value>>(line) {
        Ok(fields) if fields.contains_key(LABEL_NUMBERS) => Format::XmcRaw,
        Err(_) if line.contains(&format!("\"{LABEL_NUMBERS}\"")) => Format::XmcRaw,
        _ => Format::Jsonl,
    }
}

fn is_sparse_matrix(rows: &[&str]) -> bool {
    rows.iter()
        .all(|row| libsvm::is_typical(&format!(" {}", row.trim_start())))
}

fn has_fasttext_label(line: &str, prefix: &str) -> bool {
    !prefix.is_empty() && line.trim_start().starts_with(prefix)
}

/// True if one of the columns is a field that the caller or convention names. Where plain texts are
/// expected too and the caller names none, the line must look like names and not like a sentence.
fn is_header(line: &str, delimiter: char, options: &ReadOptions) -> bool {
    let mut fields: Vec<&str> = options.text_fields.iter().map(String::as_str).collect();
    fields.extend(options.label_field.as_deref());
    fields.extend(options.id_field.as_deref());
    fields.extend(options.filters.iter().map(|filter| filter.field.as_str()));
    if options.texts_only && fields.is_empty() && !is_row_of_names(line, delimiter) {
        return false;
    }
    fields.extend(options.usual_text_fields.iter().map(String::as_str));
    fields.extend(HEADER_COLUMNS);
    let mut columns = line
        .split(delimiter)
        .map(|column| column.trim().trim_matches('"').trim());
    // A single column is a table too: CSV, where cells may hold line ends.
    let is_table = line.contains(delimiter) || delimiter == ',';
    is_table && columns.any(|column| fields.contains(&column))
}

/// True for several cells, all quoted or without blanks in or before them.
fn is_row_of_names(line: &str, delimiter: char) -> bool {
    let is_name = |cell: &str| {
        let is_quoted = cell.len() > 1 && cell.starts_with('"') && cell.ends_with('"');
        is_quoted || !cell.contains(char::is_whitespace)
    };
    line.contains(delimiter) && line.trim_end().split(delimiter).all(is_name)
}

/// What to do about lines that fit nothing, or more than one thing.
fn unknown(lines: &[&str]) -> Message {
    let names = Format::names();
    if lines.iter().all(|line| line.contains('\t')) {
        let found = "lines with tabs, but neither a header with a column `text` nor <uri>s in the \
                     last column. Pass ";
        return Message::new(found)
            .hint(Argument::FORMAT.value(Format::LibMultiLabelTsv.name()))
            .text(" for labels before text, ")
            .hint(Argument::FORMAT.value(Format::AnnifTsv.name()))
            .text(" for text before <uri>s, or ")
            .hint(Argument::FORMAT.value(Format::Tsv.name()))
            .text(" and ")
            .hint(Argument::TEXT_FIELD)
            .text(format!(
                " for a header with other names (all formats: {names})"
            ));
    }
    Message::new("cannot tell the format of this file by its first lines. Pass ")
        .hint(Argument::FORMAT)
        .text(format!(" with one of {names}; "))
        .hint(Argument::LABELS_FILE)
        .text(" names the labels of a file of texts, and ")
        .hint(Argument::FORMAT.value(Format::TextPair.name()))
        .text(" alone reads one text per line")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detect_text(text: &str, options: &ReadOptions) -> Result<Format, String> {
        detect_lines(&first_lines(text), options).map_err(|message| message.to_string())
    }

    #[test]
    fn every_format_is_told_by_its_content() {
        let table = [
            (
                Format::Jsonl,
                "{\"text\": \"The sea\", \"labels\": [\"sea\"]}\n",
            ),
            (Format::Jsonl, "\n  {\"text\": \"broken\n"),
            (
                Format::XmcRaw,
                "{\"uid\": \"1\", \"title\": \"The sea\", \"target_ind\": [0]}\n",
            ),
            (Format::Csv, "id,text,labels\n1,The sea,sea\n"),
            (
                Format::Csv,
                "\"text\",\"subject_uris\"\n\"The sea\",\"<http://a/1>\"\n",
            ),
            (Format::Csv, "text\nThe sea\n"),
            (Format::Tsv, "id\ttext\tlabels\n1\tThe sea\tsea\n"),
            (Format::Tsv, "text, long\tlabels\nThe sea\tsea\n"),
            (Format::XmcLibsvm, "2 10 5\n0,1 3:0.5\n 4:1\n"),
            (Format::XmcPair, "2 10\n3:0.5\n\n"),
            (Format::Libsvm, "0,1 3:0.5\n4 3:1 7:2\n"),
            (Format::Libsvm, "0,1 3:0.5\n 3:nan 7:2\n"),
            (
                Format::FastText,
                "__label__sea __label__air The sea\nno label here\n",
            ),
            (
                Format::AnnifTsv,
                "The sea\t<http://a/1>\nAir\t<http://a/2>\t<http://a/3>\n",
            ),
            (Format::Text2Text, "0,12\tThe sea\n3\tAir\n"),
            (Format::Text2Text, "0::0.5\tThe sea\n"),
        ];
        for (expected, text) in table {
            assert_eq!(
                detect_text(text, &ReadOptions::default()),
                Ok(expected),
                "{text}"
            );
        }
    }

    #[test]
    fn named_fields_make_a_header() {
        let text = "isbn,abstract\n1,The sea\n";
        assert!(detect_text(text, &ReadOptions::default()).is_err());
        let options = ReadOptions {
            text_fields: vec!["abstract".into()],
            ..ReadOptions::default()
        };
        assert_eq!(detect_text(text, &options), Ok(Format::Csv));
    }

    #[test]
    fn plain_lines_are_texts_only_beside_a_label_file() {
        let text = "The sea\nThe air, too\n";
        let message = detect_text(text, &ReadOptions::default()).unwrap_err();
        assert!(
            message.contains("Pass format with one of jsonl, csv"),
            "{message}"
        );
        let options = ReadOptions {
            labels_path: Some("labels".into()),
            ..ReadOptions::default()
        };
        assert_eq!(detect_text(text, &options), Ok(Format::TextPair));
    }

    #[test]
    fn plain_lines_are_texts_where_labels_are_of_no_interest() {
        let options = ReadOptions {
            texts_only: true,
            ..ReadOptions::default()
        };
        assert_eq!(detect_text("The sea\n", &options), Ok(Format::TextPair));
        assert!(detect_text("sea\tThe sea\n", &options).is_err());
        let json = "{\"text\": \"The sea\"}\n";
        assert_eq!(detect_text(json, &options), Ok(Format::Jsonl));
    }

    #[test]
    fn a_sentence_is_no_header_where_texts_are_expected() {
        let options = ReadOptions {
            texts_only: true,
            ..ReadOptions::default()
        };
        for text in [
            "Labels, text, and images\nA history of glass, text, b\n",
            "labels,text,and more\n",
            "text\n",
            "text\tand images\nOn glass\n",
        ] {
            assert_eq!(detect_text(text, &options), Ok(Format::TextPair), "{text}");
        }
        for (expected, header) in [
            (Format::Csv, "id,text"),
            (Format::Csv, "\"call number\",\"text\""),
            (Format::Tsv, "id\ttext"),
        ] {
            let text = format!("{header}\n1\tThe sea\n");
            assert_eq!(detect_text(&text, &options), Ok(expected), "{text}");
        }
        let named = ReadOptions {
            text_fields: vec!["text".into()],
            ..options
        };
        assert_eq!(detect_text("text\nThe sea\n", &named), Ok(Format::Csv));
    }

    #[test]
    fn column_orders_are_not_confused() {
        let labels_first = "sea air\tThe sea\nair\tThe air\n";
        let message = detect_text(labels_first, &ReadOptions::default()).unwrap_err();
        assert!(
            message.contains("format=libmultilabel-tsv for labels before text"),
            "{message}"
        );
        let mixed = "The sea\t<http://a/1>\nair\tThe air\n";
        assert!(detect_text(mixed, &ReadOptions::default()).is_err());
    }

    #[test]
    fn a_json_array_is_explained() {
        let message = detect_text("[{\"text\": \"a\"}]", &ReadOptions::default()).unwrap_err();
        assert!(
            message.starts_with("a JSON array; expected one JSON object per line"),
            "{message}"
        );
    }
}
