//! Descriptions of labels - key, name, other names, parents - from the formats they come in.

mod entities;
mod json;
mod languages;
mod lines;
mod mistakes;
mod skos;
mod table;

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use serde::Deserialize;

use super::Label;
use super::source::{Origin, Source};
use crate::Result;

pub use languages::NameLanguages;
pub use mistakes::VocabularyMistakes;

/// How labels are described, told by content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum VocabularyFormat {
    /// One JSON object that maps keys to descriptions.
    JsonMap,
    /// One JSON object per line.
    JsonLines,
    /// `key<TAB>name`, the key with or without angle brackets.
    Tsv,
    /// Comma-separated with a header.
    Csv,
    /// One name per line.
    Names,
    Turtle,
    RdfXml,
}

/// A label and the line it stands on, where lines mean something.
type PlacedLabel = (Label, Option<u64>);

/// A file with names of labels, and which of them are taken.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct VocabularyFile {
    /// Where it is.
    pub path: PathBuf,
    /// Languages of the names, where it tells them.
    pub languages: NameLanguages,
}

impl VocabularyFile {
    /// Reads it, told by content: TSV (`key<TAB>name`, Annif's `<uri><TAB>label`), CSV with a
    /// header (Annif's `uri,label_en,...`), a JSON object of keys with
    /// `{"label", "alt_labels", "parents"}`, JSON lines of [`Label`] or of `{"uid", "title"}`, names
    /// one per line, and SKOS as Turtle or RDF/XML.
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) with file and line for what cannot be read, and for
    /// languages that no name is in.
    pub fn read(&self) -> Result<Vec<Label>> {
        let source = Source::open(&self.path)?;
        let format = VocabularyFormat::detect(source.sample());
        read_as(format, source, &self.languages)
    }
}

impl From<PathBuf> for VocabularyFile {
    fn from(path: PathBuf) -> Self {
        Self {
            path,
            languages: NameLanguages::default(),
        }
    }
}

/// Reads a vocabulary whose order gives labels their numbers.
pub(super) fn read_numbered_labels(path: &Path) -> Result<Vec<Label>> {
    let source = Source::open(path)?;
    let format = VocabularyFormat::detect(source.sample());
    if matches!(
        format,
        VocabularyFormat::JsonLines | VocabularyFormat::Tsv | VocabularyFormat::Names
    ) {
        return read_as(format, source, &NameLanguages::default());
    }
    Err(source.origin().error(
        None,
        "label numbers are line numbers, but this file does not have one label per line",
    ))
}

fn read_as(
    format: VocabularyFormat,
    source: Source,
    languages: &NameLanguages,
) -> Result<Vec<Label>> {
    let origin = source.origin().clone();
    if !matches!(
        format,
        VocabularyFormat::Csv | VocabularyFormat::Turtle | VocabularyFormat::RdfXml
    ) {
        languages.check(&BTreeSet::new(), &origin)?;
    }
    let labels = match format {
        VocabularyFormat::JsonMap => json::read_map(source)?,
        VocabularyFormat::JsonLines => lines::read(source, json::parse_line)?,
        VocabularyFormat::Tsv => lines::read(source, table::parse_tsv_line)?,
        VocabularyFormat::Csv => table::read_csv(source, languages)?,
        VocabularyFormat::Names => lines::read_names(source)?,
        VocabularyFormat::Turtle => skos::read_turtle(source, languages)?,
        VocabularyFormat::RdfXml => skos::read_rdf_xml(source, languages)?,
    };
    check_keys(labels, &origin)
}

impl VocabularyFormat {
    fn detect(sample: &[u8]) -> Self {
        let sample = String::from_utf8_lossy(sample);
        let text = sample.trim_start();
        let first = text.lines().next().unwrap_or_default();
        if text.starts_with('{') {
            return if json::is_label_line(first) {
                Self::JsonLines
            } else {
                Self::JsonMap
            };
        }
        if text.starts_with("<?xml") || text.starts_with("<rdf:RDF") || text.starts_with("<!--") {
            return Self::RdfXml;
        }
        if skos::is_turtle(text) {
            return Self::Turtle;
        }
        // The last line may be cut off.
        let whole = text.rfind('\n').map_or(text, |end| &text[..end]);
        let mut lines = whole.lines().filter(|line| !line.trim().is_empty());
        if lines.all(|line| line.contains('\t')) {
            return Self::Tsv;
        }
        if table::is_csv_header(first) {
            return Self::Csv;
        }
        Self::Names
    }
}

/// Refuses keys that are empty or name two labels.
fn check_keys(labels: Vec<PlacedLabel>, origin: &Origin) -> Result<Vec<Label>> {
    if labels.is_empty() {
        return Err(origin.error(None, "the file has no labels"));
    }
    let mut lines_by_key: HashMap<&str, Option<u64>, FxBuildHasher> = HashMap::default();
    for (label, line) in &labels {
        if label.key.is_empty() {
            return Err(origin.error(*line, "a label without a key"));
        }
        if let Some(first) = lines_by_key.insert(&label.key, *line) {
            let place = first
                .map(|line| format!(" (first on line {line})"))
                .unwrap_or_default();
            let message = format!("the label key `{}` occurs twice{place}", label.key);
            return Err(origin.error(*line, message));
        }
    }
    drop(lines_by_key);
    Ok(labels.into_iter().map(|(label, _)| label).collect())
}

/// Longest vocabulary in one piece: ten times the largest authority files.
const MAX_WHOLE_BYTES: u64 = 2 << 30;

/// All of a file as text, for formats that are not made of lines.
fn read_whole(source: Source) -> Result<(String, Origin)> {
    let (mut reader, origin) = source.into_reader();
    let mut bytes = Vec::new();
    (&mut reader)
        .take(MAX_WHOLE_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| origin.read_error(error, None))?;
    if bytes.len() as u64 > MAX_WHOLE_BYTES {
        let message = format!(
            "longer than {} MiB in one piece; expected a label per line",
            MAX_WHOLE_BYTES >> 20
        );
        return Err(origin.error(None, message));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok((text, origin)),
        Err(error) => {
            let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = good.split(|&byte| byte == b'\n').count() as u64;
            Err(origin.error(line, "not valid UTF-8; convert the file to UTF-8"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn read(text: &str) -> Result<Vec<Label>> {
        read_in("", text)
    }

    pub(super) fn read_in(languages: &str, text: &str) -> Result<Vec<Label>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vocabulary");
        std::fs::write(&path, text).unwrap();
        let languages = languages.parse()?;
        VocabularyFile { path, languages }.read()
    }

    #[test]
    fn every_format_is_told_by_its_content() {
        let table = [
            (VocabularyFormat::JsonMap, "{\"1\": {\"label\": \"sea\"}}"),
            (
                VocabularyFormat::JsonMap,
                "{\n  \"1\": {\"label\": \"sea\"}\n}\n",
            ),
            (
                VocabularyFormat::JsonLines,
                "{\"uid\": \"1\", \"title\": \"sea\"}\n",
            ),
            (
                VocabularyFormat::JsonLines,
                "{\"name\": \"Sea\", \"key\": \"sea\"}\n",
            ),
            (VocabularyFormat::Tsv, "gnd:1\tsea\ngnd:2\tair\n"),
            (
                VocabularyFormat::Tsv,
                "<http://a/1>\tsea\n<http://a/2>\tair\n",
            ),
            (
                VocabularyFormat::Csv,
                "uri,label_en,label_fi\nhttp://a/1,sea,meri\n",
            ),
            (VocabularyFormat::Names, "sea\nair, thin\n"),
            (
                VocabularyFormat::Turtle,
                "# SKOS\n@prefix skos: <http://s> .\n",
            ),
            (
                VocabularyFormat::Turtle,
                "<http://a/1> <http://p> \"sea\"@en .\n",
            ),
            (
                VocabularyFormat::RdfXml,
                "<?xml version=\"1.0\"?>\n<rdf:RDF/>\n",
            ),
        ];
        for (expected, text) in table {
            assert_eq!(
                VocabularyFormat::detect(text.as_bytes()),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn languages_that_a_file_does_not_have_are_refused() {
        let turtle = "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n\
            <http://a/1> skos:prefLabel \"Meer\"@de, \"mer\"@fr ; skos:altLabel \"See\"@de .\n";
        let label = &read_in("fr,de", turtle).unwrap()[0];
        assert_eq!(label.name, "mer");
        assert_eq!(label.alternatives, ["Meer", "See"]);
        for (languages, text, expected) in [
            (
                "de,it",
                turtle,
                "no name in the language `it`; the file has names in de, fr",
            ),
            (
                "it",
                "uri,label_fi,label_en\na,meri,sea\n",
                "no name in the language `it`; the file has names in en, fi",
            ),
            (
                "de",
                "a\tsea\n",
                "no name in the language `de`; the file does not tell languages",
            ),
        ] {
            let message = read_in(languages, text).unwrap_err().to_string();
            assert!(message.ends_with(expected), "{message}");
        }
    }

    #[test]
    fn a_key_that_occurs_twice_is_refused_with_both_lines() {
        let message = read("a\tsea\nb\tair\na\tfire\n").unwrap_err().to_string();
        assert!(
            message.ends_with(":3: the label key `a` occurs twice (first on line 1)"),
            "{message}"
        );
    }

    #[test]
    fn only_files_of_one_label_a_line_give_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("labels");
        std::fs::write(&path, "{\"1\": {\"label\": \"sea\"}}").unwrap();
        let message = read_numbered_labels(&path).unwrap_err().to_string();
        assert!(
            message.contains("label numbers are line numbers"),
            "{message}"
        );
        std::fs::write(&path, "sea\nair\nsea\n\n").unwrap();
        let keys: Vec<String> = read_numbered_labels(&path)
            .unwrap()
            .into_iter()
            .map(|label| label.key)
            .collect();
        assert_eq!(keys, ["sea", "air", "sea [line 3]", "[line 4]"]);
    }
}
