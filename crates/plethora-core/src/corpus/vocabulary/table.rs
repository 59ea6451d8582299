//! Vocabularies in columns: TSV without header, CSV with one.

use super::super::Label;
use super::super::csv_records::CsvRecords;
use super::super::format::bare_uri;
use super::super::source::Source;
use super::PlacedLabel;
use super::languages::{Name, NameLanguages, Names};
use crate::Result;

/// Columns that may hold the key.
const KEY_COLUMNS: [&str; 3] = ["uri", "key", "id"];

/// Columns that may hold the name where its language is not told, the preferred one first.
const NAME_COLUMNS: [&str; 2] = ["label", "name"];

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
    /// The name in a language that is not told.
    name: Option<usize>,
    /// Names by language.
    languages: Vec<(usize, String)>,
}

impl Columns {
    fn find(header: &[&str]) -> Option<Self> {
        let find = |column: &str| header.iter().position(|cell| *cell == column);
        let key = KEY_COLUMNS.into_iter().find_map(find)?;
        let name = NAME_COLUMNS.into_iter().find_map(find);
        let tags = header.iter().map(|cell| cell.strip_prefix(LANGUAGE_PREFIX));
        let languages: Vec<(usize, String)> = (tags.enumerate())
            .filter_map(|(column, tag)| Some((column, tag?.to_ascii_lowercase())))
            .collect();
        (name.is_some() || !languages.is_empty()).then_some(Self {
            key,
            name,
            languages,
        })
    }

    fn label(&self, cells: &[&str], languages: &NameLanguages) -> Label {
        let key = bare_uri(cells[self.key]).to_owned();
        let plain = self.name.iter().map(|&column| (column, ""));
        let tagged = self
            .languages
            .iter()
            .map(|(column, tag)| (*column, tag.as_str()));
        let own: Vec<Name> = plain
            .chain(tagged)
            .filter(|&(column, _)| !cells[column].is_empty())
            .map(|(column, language)| Name {
                text: cells[column].to_owned(),
                language: language.to_owned(),
            })
            .collect();
        if languages.is_empty() {
            return Self::label_in_all(key, &own);
        }
        let names = Names {
            own,
            alternatives: Vec::new(),
        };
        languages.label(key, &names, Vec::new())
    }

    /// Columns are few, so that names in all languages are kept: the English one, or else the first, calls
    /// the label.
    fn label_in_all(key: String, names: &[Name]) -> Label {
        let is_english = |name: &&Name| name.language == "en";
        let chosen = names.iter().find(is_english).or(names.first());
        let name = chosen.map_or_else(|| key.clone(), |name| name.text.clone());
        let mut alternatives: Vec<String> = Vec::new();
        for other in names {
            if other.text != name && !alternatives.contains(&other.text) {
                alternatives.push(other.text.clone());
            }
        }
        Label {
            key,
            name,
            alternatives,
            parents: Vec::new(),
        }
    }
}

/// Reads a CSV with a header.
pub(super) fn read_csv(source: Source, languages: &NameLanguages) -> Result<Vec<PlacedLabel>> {
    let origin = source.origin().clone();
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
                let Some(found) = Columns::find(&cells) else {
                    return Err(records.error("expected a header with `uri` and `label`"));
                };
                let tags = found.languages.iter().map(|(_, tag)| tag.clone());
                languages.check(&tags.collect(), &origin)?;
                columns = Some(found);
            }
            Some(columns) => {
                let label = columns.label(&cells, languages);
                labels.push((label, Some(records.line())));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::super::tests::{read, read_in};

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
        let finnish = read_in("fi", "uri,label_fi,label_en\na,meri,sea\nb,,air\n").unwrap();
        assert_eq!(finnish[0].name, "meri");
        assert!(finnish[0].alternatives.is_empty());
        assert_eq!(finnish[1].name, "air");
    }
}
