//! Telling a corpus format by the first lines of a file.

use serde_json::{Map, Value};

use super::super::source::Source;
use super::super::{Delimiter, ReadOptions};
use super::running_text::is_running_text;
use super::svm_line::parse_header;
use super::xmc_raw::LABEL_NUMBERS;
use super::{Format, annif_tsv, header, libsvm, text2text};
use crate::{Argument, Message, Result};

/// Lines that must agree on a format without header.
const MAX_LINES: usize = 100;

/// The format of an opened file; an error that explains the argument `format` where nothing fits.
pub(in crate::corpus) fn detect(source: &Source, options: &ReadOptions) -> Result<Format> {
    let sample = header::whole_lines(source.sample());
    let lines = first_lines(&sample);
    match lines.as_slice() {
        // Empty texts, one per line.
        [] if options.texts_only => Ok(Format::TextPair),
        [] => Err(source.origin().error(None, "only blank lines")),
        lines => match detect_lines(lines, &sample, options) {
            // What comes through a pipe is one text per line, always.
            Ok(Format::TextPair)
                if options.labels_path.is_none()
                    && source.origin().is_file()
                    && is_running_text(&sample) =>
            {
                Ok(Format::Document)
            }
            Ok(format) => Ok(format),
            Err(message) => Err(source.origin().error(1, message)),
        },
    }
}

/// The first lines with anything in them.
fn first_lines(sample: &str) -> Vec<&str> {
    sample
        .lines()
        .filter(|line| !line.trim().is_empty())
        .take(MAX_LINES)
        .collect()
}

fn detect_lines(lines: &[&str], sample: &str, options: &ReadOptions) -> Result<Format, Message> {
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
    if options.delimiter.is_some() {
        return Ok(Format::Csv);
    }
    let table = header::told_by_names(first, options).map(|delimiter| match delimiter {
        Delimiter::TAB => Format::Tsv,
        _ => Format::Csv,
    });
    if let Some(format) = table.filter(|_| options.labels_path.is_some()) {
        return Ok(format);
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
    if let Some(format) = table {
        return Ok(format);
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
    let guess = header::guess(sample);
    // Texts may have commas, and tabs may stand between columns without names.
    let needs_names =
        |guess: &header::Guess| options.texts_only || guess.delimiter == Delimiter::TAB;
    if let Some(guess) = guess.filter(|guess| !needs_names(guess) || guess.has_usual_names()) {
        return Err(guess.question());
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
        detect_lines(&first_lines(text), text, options).map_err(|message| message.to_string())
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
