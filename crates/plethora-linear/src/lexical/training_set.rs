//! From a stream of documents to rows of words and labels, in one pass.

use plethora_core::corpus::{Document, Label, LabelSpace, LabelSpaceBuilder};
use plethora_core::text::Tokenizer;
use plethora_core::{Error, IndexRows, Result};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::config::LexicalConfig;
use super::language::{Endings, Languages};
use super::words::{Word, title_end};
use crate::fingerprint::fingerprint_of_rows;

/// Documents as the system learns from them.
#[derive(Debug)]
pub(super) struct LexicalSet {
    /// The words of each document, by their numbers.
    pub(super) words: IndexRows,
    /// How many of these are in the first line.
    pub(super) num_title: Vec<u32>,
    /// The labels of each document; empty rows where no document has any.
    pub(super) labels: IndexRows,
    /// All labels of the vocabulary and of the documents.
    pub(super) space: LabelSpace,
    /// The words by their numbers.
    spellings: Vec<String>,
    /// How often each word occurs.
    counts: Vec<u64>,
}

impl LexicalSet {
    pub(super) fn num_documents(&self) -> usize {
        self.words.num_rows()
    }

    /// The languages of documents and names.
    pub(super) fn languages(&self) -> Languages {
        let words = self.spellings.iter().map(String::as_str);
        let names = self.space.labels().iter();
        let names = names.flat_map(|label| label.name.split_whitespace());
        Languages::of_words(
            (words.zip(self.counts.iter().copied())).chain(names.map(|word| (word, 1))),
        )
    }

    /// Says which data and settings a run has.
    pub(super) fn fingerprint(&self, config: &LexicalConfig) -> Result<String> {
        let settings = (config, self.space.labels(), &self.spellings);
        fingerprint_of_rows(&settings, [&self.words, &self.labels])
    }

    /// What each word is known by.
    pub(super) fn known_by(&self, languages: &Languages) -> Vec<Word> {
        (self.spellings.par_chunks(4096))
            .map_init(
                || languages.stemmer(),
                |endings: &mut Endings, words| {
                    let known = words.iter().map(|word| Word::new(word, endings));
                    known.collect::<Vec<Word>>()
                },
            )
            .flatten_iter()
            .collect()
    }
}

/// Takes documents one by one; of their texts only the numbers of words stay.
#[derive(Debug, Default)]
pub(super) struct LexicalSetBuilder {
    max_words: usize,
    tokenizer: Tokenizer,
    numbers: FxHashMap<String, u32>,
    counts: Vec<u64>,
    words: IndexRows,
    num_title: Vec<u32>,
    labels: IndexRows,
    space: LabelSpaceBuilder,
    /// True once a document had labels; those without do not count from then on.
    is_labelled: bool,
}

impl LexicalSetBuilder {
    pub(super) fn new(max_words: usize) -> Self {
        Self {
            max_words,
            ..Self::default()
        }
    }

    /// Adds a document. Those without labels tell which phrases are rare where no document has labels,
    /// and are left out elsewhere.
    pub(super) fn add(&mut self, document: &Document) -> Result<()> {
        let Some(text) = document.text() else {
            return Err(Error::data(format!(
                "document `{}` has features, but names of labels can be found in texts only",
                document.id
            )));
        };
        if document.labels.is_empty() && self.is_labelled {
            return Ok(());
        }
        if !document.labels.is_empty() && !self.is_labelled {
            self.is_labelled = true;
            self.words = IndexRows::default();
            self.labels = IndexRows::default();
            self.num_title.clear();
        }
        let mut row = Vec::new();
        let (title_end, mut num_title) = (title_end(text), 0);
        for (word, place) in self.tokenizer.words(text).take(self.max_words) {
            let next = self.counts.len() as u32;
            let number = if let Some(&number) = self.numbers.get(word.as_ref()) {
                number
            } else {
                self.numbers.insert(word.into_owned(), next);
                self.counts.push(0);
                next
            };
            self.counts[number as usize] += 1;
            num_title += u32::from(place.start < title_end);
            row.push(number);
        }
        self.words.push(row);
        self.num_title.push(num_title);
        self.labels.push(self.space.add(document));
        Ok(())
    }

    /// Puts labels in order: all that the vocabulary has, and those of documents.
    pub(super) fn finish(mut self, vocabulary: &[Label]) -> LexicalSet {
        for label in vocabulary {
            self.space.add_unused(&label.key);
        }
        let (space, final_ids) = self.space.finish(vocabulary);
        self.labels.remap(|label| final_ids[label as usize].0);
        let mut spellings = vec![String::new(); self.counts.len()];
        for (word, number) in self.numbers {
            spellings[number as usize] = word;
        }
        LexicalSet {
            words: self.words,
            num_title: self.num_title,
            labels: self.labels,
            space,
            spellings,
            counts: self.counts,
        }
    }
}
