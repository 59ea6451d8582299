//! The documents of a search: those to learn from, and those to measure on, which are chosen once.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use plethora_core::corpus::{Content, CorpusReader, Document, Sample};
use plethora_core::{Error, Result};

use crate::Session;
use crate::corpus_reading::{no_labels, tell_warnings};
use crate::training::Corpus;

/// Documents between two reports of progress.
const DOCUMENTS_PER_STEP: u64 = 256;

/// The documents of a search. No others are ever read.
#[derive(Debug)]
pub struct Documents {
    data: Corpus,
    /// Given by the user; otherwise a part of the data is held back.
    valid: Option<Corpus>,
    seed: u64,
    /// Share of the data that is held back.
    held_back: f64,
}

/// What is known of documents after they were read once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentFacts {
    /// Documents with labels to learn from.
    pub num_train: u64,
    /// Documents to measure on.
    pub num_valid: u64,
    /// A fingerprint of all of them, so that a search is resumed with the same ones only.
    pub fingerprint: String,
}

/// Counts of one corpus.
#[derive(Default)]
struct Counts {
    num_documents: u64,
    num_with_labels: u64,
}

impl Documents {
    /// The documents of `data`, of which the share `held_back` is to be measured on unless `valid`
    /// is.
    pub fn new(data: Corpus, valid: Option<Corpus>, seed: u64, held_back: f64) -> Self {
        Self {
            data,
            held_back: if valid.is_some() { 0.0 } else { held_back },
            valid,
            seed,
        }
    }

    /// A share of the documents to learn from; smaller shares are parts of larger ones.
    pub fn train(&self, share: f64) -> Corpus {
        let mut corpus = self.data.clone();
        if self.held_back > 0.0 || share < 1.0 {
            let end = if share < 1.0 {
                self.held_back + share * (1.0 - self.held_back)
            } else {
                1.0
            };
            corpus.options.sample = Some(Sample::new(self.seed, self.held_back..end));
        }
        corpus
    }

    /// The documents to measure on.
    pub fn valid(&self) -> Corpus {
        self.valid.clone().unwrap_or_else(|| {
            let mut corpus = self.data.clone();
            corpus.options.sample = Some(self.held_back_sample());
            corpus
        })
    }

    fn held_back_sample(&self) -> Sample {
        Sample::new(self.seed, 0.0..self.held_back)
    }

    /// Reads all documents once, and refuses those that no search can use.
    pub fn read(&self, session: &Session) -> Result<DocumentFacts> {
        session.progress().start("reading", None);
        let mut hasher = DefaultHasher::new();
        let held_back = self.held_back_sample();
        let (mut train, mut valid) = (Counts::default(), Counts::default());
        let reader = read_all(&self.data, session, |document| {
            hash(document, &mut hasher);
            if self.held_back > 0.0 && held_back.contains(&document.id) {
                valid.add(document);
            } else {
                train.add(document);
            }
        })?;
        if train.num_with_labels + valid.num_with_labels == 0 {
            return Err(no_labels(&self.data.path, reader.format(), "to learn from"));
        }
        tell_warnings(&reader, session.progress());
        match &self.valid {
            Some(corpus) => {
                let reader = read_all(corpus, session, |document| {
                    hash(document, &mut hasher);
                    valid.add(document);
                })?;
                if valid.num_with_labels == 0 {
                    return Err(no_labels(&corpus.path, reader.format(), "to compare with"));
                }
            }
            None => self.check_held_back(&train, &valid)?,
        }
        session.progress().finish(&format!(
            "{} documents with labels to learn from, {} to measure on",
            train.num_with_labels, valid.num_documents
        ));
        Ok(DocumentFacts {
            num_train: train.num_with_labels,
            num_valid: valid.num_documents,
            fingerprint: format!("{:016x}", hasher.finish()),
        })
    }

    fn check_held_back(&self, train: &Counts, valid: &Counts) -> Result<()> {
        let total = train.num_with_labels + valid.num_with_labels;
        let of_which = match (train.num_with_labels, valid.num_with_labels) {
            (0, _) => "left to learn from",
            (_, 0) => "held back to measure on",
            _ => return Ok(()),
        };
        let message = format!(
            "none of the {total} documents with labels is {of_which} with --valid-share {}; \
             choose another share, or documents of their own with --valid",
            self.held_back
        );
        Err(Error::input(Path::new(&self.data.path), None, message))
    }
}

impl Counts {
    fn add(&mut self, document: &Document) {
        self.num_documents += 1;
        self.num_with_labels += u64::from(!document.labels.is_empty());
    }
}

fn read_all(
    corpus: &Corpus,
    session: &Session,
    mut add: impl FnMut(&Document),
) -> Result<CorpusReader> {
    let mut reader = corpus.open()?;
    let mut num_documents = 0;
    while let Some(document) = reader.next().transpose()? {
        add(&document);
        num_documents += 1;
        if num_documents % DOCUMENTS_PER_STEP == 0 {
            session.progress().advance(DOCUMENTS_PER_STEP);
            session.check_interrupt()?;
        }
    }
    Ok(reader)
}

fn hash(document: &Document, hasher: &mut DefaultHasher) {
    document.id.hash(hasher);
    document.labels.hash(hasher);
    match &document.content {
        Content::Text(text) => text.hash(hasher),
        Content::Features(features) => {
            features.columns.hash(hasher);
            for value in &features.values {
                value.to_bits().hash(hasher);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use plethora_core::corpus::{DocumentList, ReadOptions};

    use super::*;

    fn corpus(path: &Path) -> Corpus {
        Corpus::of_file(path.to_owned(), ReadOptions::default())
    }

    fn ids(corpus: &Corpus) -> Vec<String> {
        let documents = corpus.open().unwrap();
        documents.map(|document| document.unwrap().id).collect()
    }

    #[test]
    fn what_is_held_back_is_in_no_share_of_the_rest() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("books.jsonl");
        let line =
            |number| format!("{{\"id\": \"d{number}\", \"text\": \"a\", \"labels\": [\"l\"]}}\n");
        std::fs::write(&path, (0..400).map(line).collect::<String>()).unwrap();
        let documents = Documents::new(corpus(&path), None, 1, 0.2);
        let valid = ids(&documents.valid());
        let (third, whole) = (ids(&documents.train(1.0 / 3.0)), ids(&documents.train(1.0)));
        assert!((50..110).contains(&valid.len()), "{}", valid.len());
        assert!((80..130).contains(&third.len()), "{}", third.len());
        assert_eq!(whole.len() + valid.len(), 400);
        assert!(!valid.iter().any(|id| whole.contains(id)));
        assert!(third.iter().all(|id| whole.contains(id)));
        let list = corpus(&path).open().unwrap().map(Result::unwrap).collect();
        let memory = Corpus::of_documents("books", DocumentList::new(list, None));
        let memory = Documents::new(memory, None, 1, 0.2);
        assert_eq!(ids(&memory.valid()), valid);
        assert_eq!(ids(&memory.train(1.0)), whole);
        let own = Documents::new(corpus(&path), Some(corpus(&path)), 1, 0.2);
        assert_eq!(ids(&own.train(1.0)).len(), 400);
        assert_eq!(ids(&own.valid()).len(), 400);
    }
}
