//! What a model remembers of its training documents: who they are and which labels they have.

use std::path::Path;

use crate::artifact::{ArrayFileWriter, Dtype, MappedArray, MappedArrays};
use crate::{Error, IndexRows, Result};

/// Characters of a title at most: a line for people to recognise a document by.
const TITLE_LENGTH: usize = 80;

/// Ids and titles of documents, as they are read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DocumentNames {
    ids: Vec<String>,
    titles: Vec<String>,
}

/// Ids, titles and labels of training documents, mapped from a file.
#[derive(Debug)]
pub struct KnownDocuments {
    ids: MappedTexts,
    titles: MappedTexts,
    label_starts: MappedArray<u64>,
    labels: MappedArray<u32>,
}

/// Texts one behind the other, all of them UTF-8.
#[derive(Debug)]
struct MappedTexts {
    starts: MappedArray<u64>,
    bytes: MappedArray<u8>,
}

impl DocumentNames {
    /// Adds a document. Its title is the first line of its text with words in it, or the beginning of
    /// that; documents without text have none.
    pub fn push(&mut self, id: &str, text: Option<&str>) {
        self.ids.push(id.to_owned());
        self.titles.push(text.map_or_else(String::new, title_of));
    }

    /// Adds a document whose title is known.
    pub fn push_titled(&mut self, id: &str, title: &str) {
        self.ids.push(id.to_owned());
        self.titles.push(title.to_owned());
    }

    /// All but these documents, which rise.
    #[must_use]
    pub fn without(&self, documents: &[u32]) -> Self {
        let others = |texts: &[String]| {
            let texts = (0..).zip(texts);
            let others = texts.filter(|(number, _)| documents.binary_search(number).is_err());
            others.map(|(_, text)| text.clone()).collect()
        };
        Self {
            ids: others(&self.ids),
            titles: others(&self.titles),
        }
    }

    /// Number of documents.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// True without documents.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }
}

/// The beginning of a text, cut between words where it can be.
fn title_of(text: &str) -> String {
    let mut lines = text.lines().map(str::trim);
    let line = lines
        .find(|line| line.contains(char::is_alphanumeric))
        .unwrap_or_default();
    let Some((end, _)) = line.char_indices().nth(TITLE_LENGTH) else {
        return line.to_owned();
    };
    let cut = &line[..end];
    let cut = cut.rfind(' ').map_or(cut, |space| &cut[..space]);
    format!("{} ...", cut.trim_end())
}

impl KnownDocuments {
    /// Writes the documents with these numbers in `names` and `labels`, in this order.
    pub fn write(
        path: &Path,
        names: &DocumentNames,
        labels: &IndexRows,
        documents: impl Iterator<Item = usize> + Clone,
    ) -> Result<()> {
        let mut file = ArrayFileWriter::create(path)?;
        for (name, texts) in [("ids", &names.ids), ("titles", &names.titles)] {
            let starts = file.begin(&format!("{name}.starts"), Dtype::U64)?;
            let bytes = file.begin(name, Dtype::U8)?;
            file.append(starts, &[0_u64])?;
            for document in documents.clone() {
                file.append(bytes, texts[document].as_bytes())?;
                file.append(starts, &[file.len(bytes)])?;
            }
        }
        let starts = file.begin("labels.starts", Dtype::U64)?;
        let array = file.begin("labels", Dtype::U32)?;
        file.append(starts, &[0_u64])?;
        for document in documents {
            file.append(array, labels.row(document))?;
            file.append(starts, &[file.len(array)])?;
        }
        file.finish()
    }

    /// Maps documents whose labels are among `num_labels`.
    ///
    /// # Errors
    /// [`Error::Model`] if the arrays do not fit together.
    pub fn open(path: &Path, num_labels: usize) -> Result<Self> {
        let arrays = MappedArrays::open(path)?;
        let documents = Self {
            ids: MappedTexts::open(&arrays, "ids")?,
            titles: MappedTexts::open(&arrays, "titles")?,
            label_starts: arrays.owned("labels.starts")?,
            labels: arrays.owned("labels")?,
        };
        let fits = documents.ids.is_consistent()
            && documents.titles.is_consistent()
            && documents.ids.starts.len() == documents.titles.starts.len()
            && documents.ids.starts.len() == documents.label_starts.len()
            && covers(&documents.label_starts, documents.labels.len())
            && (documents.labels.iter()).all(|&label| (label as usize) < num_labels);
        if fits {
            Ok(documents)
        } else {
            Err(Error::model(
                path,
                "the arrays of the documents do not fit together",
            ))
        }
    }

    /// Number of documents.
    pub fn len(&self) -> usize {
        self.label_starts.len() - 1
    }

    /// True without documents.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The labels of a document, rising.
    pub fn labels(&self, document: u32) -> &[u32] {
        let document = document as usize;
        &self.labels[self.label_starts[document] as usize..self.label_starts[document + 1] as usize]
    }

    /// What the corpus calls a document.
    pub fn id(&self, document: u32) -> &str {
        self.ids.text(document)
    }

    /// The beginning of a document's text.
    pub fn title(&self, document: u32) -> &str {
        self.titles.text(document)
    }
}

impl MappedTexts {
    fn open(arrays: &MappedArrays, name: &str) -> Result<Self> {
        Ok(Self {
            starts: arrays.owned(&format!("{name}.starts"))?,
            bytes: arrays.owned(name)?,
        })
    }

    fn is_consistent(&self) -> bool {
        covers(&self.starts, self.bytes.len())
            && (self.starts.windows(2)).all(|range| {
                str::from_utf8(&self.bytes[range[0] as usize..range[1] as usize]).is_ok()
            })
    }

    fn text(&self, place: u32) -> &str {
        let place = place as usize;
        let bytes = &self.bytes[self.starts[place] as usize..self.starts[place + 1] as usize];
        str::from_utf8(bytes).expect("texts are checked when they are opened")
    }
}

/// True where starts rise from 0 to the end of their array.
fn covers(starts: &[u64], len: usize) -> bool {
    starts.first() == Some(&0) && starts.is_sorted() && starts.last() == Some(&(len as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_come_back_with_their_names_and_labels() {
        let mut names = DocumentNames::default();
        names.push("a1", Some("Tides\nof the sea"));
        names.push("b2", None);
        names.push("c3 é", Some("日本"));
        let labels: IndexRows = [vec![2, 5], vec![], vec![0]].into_iter().collect();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("documents.safetensors");
        KnownDocuments::write(&path, &names, &labels, [2, 0, 1].into_iter()).unwrap();
        let known = KnownDocuments::open(&path, 6).unwrap();
        assert_eq!(known.len(), 3);
        assert_eq!((known.id(0), known.title(0)), ("c3 é", "日本"));
        assert_eq!((known.id(1), known.title(1)), ("a1", "Tides"));
        assert_eq!((known.id(2), known.title(2)), ("b2", ""));
        assert_eq!(known.labels(1), [2, 5]);
        assert!(known.labels(2).is_empty());
        let message = KnownDocuments::open(&path, 5).unwrap_err().to_string();
        assert!(message.ends_with("do not fit together"), "{message}");
    }

    #[test]
    fn titles_are_short_and_cut_between_words() {
        assert_eq!(title_of(" \n ... \n A line \nmore"), "A line");
        assert_eq!(title_of(""), "");
        let long = "word ".repeat(40);
        let title = title_of(&long);
        assert!(title.chars().count() <= TITLE_LENGTH + 4, "{title}");
        assert!(title.ends_with("word ..."), "{title}");
        let title = title_of(&"é".repeat(200));
        assert_eq!(title.chars().count(), TITLE_LENGTH + 4);
    }
}
