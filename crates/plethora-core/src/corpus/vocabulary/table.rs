//! Vocabularies in columns: TSV without header, CSV with one.

use super::super::Label;
use super::super::csv_records::CsvRecords;
use super::super::format::bare_uri;
use super::super::source::Source;
use super::PlacedLabel;
use crate::Result;

/// Columns that may hold the key.
const KEY_COLUMNS: [&str; 3] = ["uri", "key", "id"];

/// Columns that may hold the name, the preferred one first.
const NAME_COLUMNS: [&str; 3] = ["label_en", "label", "name"];

/// Annif has one column of names for each language.
const LANGUAGE_PREFIX: &str = "label_";

/// The label of a line `key<TAB>name`; what follows, as Annif's notation, is left out.
pub(super) fn parse_tsv_line(line: &str) -> Result<Label, String> {
    let mut cells = line.split('\t').map(str::trim);
    let key = cells.next().map(bare_uri).unwrap_or_default();
    let Some(name) = cells.next() else {
        return Err("expected a label key, a tab, and a name".into());
    };
    let name = if name.is_empty() { key } else { name };
    Ok(Label {
        key: key.to_owned(),
        name: name.to_owned(),
        ..Label::default()
    })
}

/// True for a header with a column of keys and one of names.
pub(super) fn is_csv_header(line: &str) -> bool {
    let cells: Vec<&str> = line
        .split(',')
        .map(|cell| cell.trim().trim_matches('"'))
        .collect();
    Columns::find(&cells).is_some()
}

struct Columns {
    key: usize,
    name: usize,
    /// Names in other languages.
    others: Vec<usize>,
}

impl Columns {
    fn find(header: &[&str]) -> Option<Self> {
        let find = |column: &str| header.iter().position(|cell| *cell == column);
        let languages: Vec<usize> = (0..header.len())
            .filter(|&column| header[column].starts_with(LANGUAGE_PREFIX))
            .collect();
        let key = KEY_COLUMNS.into_iter().find_map(find)?;
        let name = NAME_COLUMNS
            .into_iter()
            .find_map(find)
            .or_else(|| languages.first().copied())?;
        let others = languages
            .into_iter()
            .filter(|&column| column != name)
            .collect();
        Some(Self { key, name, others })
    }

    fn label(&self, cells: &[&str]) -> Label {
        let key = bare_uri(cells[self.key]);
        let others = self.others.iter().map(|&column| cells[column]);
        let mut names = std::iter::once(cells[self.name])
            .chain(others)
            .filter(|name| !name.is_empty())
            .map(ToOwned::to_owned);
        let name = names.next().unwrap_or_else(|| key.to_owned());
        let mut alternatives: Vec<String> = names.filter(|other| *other != name).collect();
        alternatives.dedup();
        Label {
            key: key.to_owned(),
            name,
            alternatives,
            parents: Vec::new(),
        }
    }
}

/// Reads a CSV with a header.
pub(super) fn read_csv(source: Source) -> Result<Vec<PlacedLabel>> {
    let mut records = CsvRecords::new(source, b',');
    let mut columns: Option<Columns> = None;
    let mut labels = Vec::new();
    loop {
        let Some(cells) = records.next_record()? else {
            return Ok(labels);
        };
        let cells: Vec<&str> = cells.into_iter().map(str::trim).collect();
        match &columns {
            None => {
                columns = Columns::find(&cells);
                if columns.is_none() {
                    return Err(records.error("expected a header with `uri` and `label`"));
                }
            }
            Some(columns) => {
                let label = columns.label(&cells);
                labels.push((label, Some(records.line())));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::super::tests::read;

    #[test]
    fn tsv_keys_lose_their_brackets_and_notations_are_left_out() {
        let labels = read("<http://a/1>\tsea\tA.1\n<http://a/2>\tair\n").unwrap();
        assert_eq!(
            (labels[0].key.as_str(), labels[0].name.as_str()),
            ("http://a/1", "sea")
        );
        assert_eq!(labels.len(), 2);
    }

    #[test]
    fn a_tsv_line_without_name_is_named() {
        // Far behind what the format is told by.
        let mut text = String::new();
        for index in 0..40_000 {
            writeln!(text, "k{index}\tname").unwrap();
        }
        text.push_str("lonely\n");
        let message = read(&text).unwrap_err().to_string();
        assert!(
            message.ends_with(":40001: expected a label key, a tab, and a name"),
            "{message}"
        );
    }

    #[test]
    fn csv_prefers_english_and_keeps_other_languages() {
        let labels =
            read("uri,label_fi,label_en,notation\n<http://a/1>,meri,sea,1\nhttp://a/2,ilma,,2\n")
                .unwrap();
        assert_eq!(
            (labels[0].key.as_str(), labels[0].name.as_str()),
            ("http://a/1", "sea")
        );
        assert_eq!(labels[0].alternatives, ["meri"]);
        assert_eq!(labels[1].name, "ilma");
    }
}
