//! The counts of one corpus.

use plethora_core::Result;
use plethora_core::corpus::{Content, CorpusReader, Document, LabelSpace, LabelSpaceBuilder};
use plethora_core::text::{TermRuns, TermSelection, Tokenizer, TokenizerConfig, VocabularyBuilder};
use plethora_system::TrainingSize;
use serde::Serialize;

use super::content_hashes::{ContentHashes, Duplicates};
use crate::{Session, tell_warnings};

/// Texts that are cut into words together.
const TEXTS_PER_BATCH: usize = 4096;

/// Terms that training keeps by default: those of two documents or more.
const KEPT_TERMS: TermSelection = TermSelection {
    min_df: 2,
    max_df: 1.0,
    max_terms: None,
    min_part_df: 1,
};

/// Bounds of the histogram of label frequencies; the last range is open.
const RANGE_STARTS: [u32; 5] = [1, 2, 6, 11, 101];

/// Everything counted in one pass over a corpus.
#[derive(Debug)]
pub struct CorpusProfile {
    pub(super) format: String,
    pub(super) num_documents: u64,
    pub(super) num_without_labels: u64,
    pub(super) num_empty: u64,
    pub(super) num_assignments: u64,
    pub(super) max_labels: usize,
    pub(super) duplicates: Duplicates,
    /// Documents whose content is in the corpus this one is held against.
    pub(super) shared: Duplicates,
    pub(super) space: LabelSpace,
    /// Features and their entries, as training would have them.
    pub(super) num_features: u64,
    pub(super) num_entries: u64,
    contents: ContentHashes,
}

/// How many labels have a frequency of this range.
#[derive(Debug, Clone, Serialize)]
pub(super) struct FrequencyRange {
    /// `2-5`, or `101+`.
    pub(super) documents: String,
    #[serde(rename = "n_labels")]
    pub(super) num_labels: u64,
    #[serde(rename = "n_assignments")]
    pub(super) num_assignments: u64,
}

impl CorpusProfile {
    /// Reads a corpus; `against` is another whose documents should not be in this one.
    pub fn read(
        mut reader: CorpusReader,
        against: Option<&Self>,
        session: &Session,
    ) -> Result<Self> {
        let mut counts = Counts::new(against);
        session.progress().start("reading", None);
        while let Some(document) = reader.next().transpose()? {
            session.check_interrupt()?;
            counts.add(document);
            session.progress().advance(1);
        }
        tell_warnings(&reader, session.progress());
        let profile = counts.finish(&reader);
        session
            .progress()
            .finish(&format!("{} documents", profile.num_documents));
        Ok(profile)
    }

    /// Labels by the number of documents that have them.
    pub(super) fn histogram(&self) -> Vec<FrequencyRange> {
        let ends = RANGE_STARTS.iter().skip(1).map(|&next| Some(next - 1));
        RANGE_STARTS
            .into_iter()
            .zip(ends.chain([None]))
            .map(|(start, end)| {
                let counts = self.space.train_counts().iter();
                let in_range =
                    counts.filter(|&&count| count >= start && end.is_none_or(|end| count <= end));
                FrequencyRange {
                    documents: match end {
                        Some(end) if end == start => start.to_string(),
                        Some(end) => format!("{start}-{end}"),
                        None => format!("{start}+"),
                    },
                    num_labels: in_range.clone().count() as u64,
                    num_assignments: in_range.map(|&count| u64::from(count)).sum(),
                }
            })
            .collect()
    }

    /// The most frequent labels with their frequencies; equal ones by key.
    pub(super) fn most_frequent(&self, limit: usize) -> Vec<(&str, u32)> {
        let counts = self.space.train_counts().iter().copied();
        let mut labels: Vec<(&str, u32)> = self
            .space
            .labels()
            .iter()
            .map(|label| label.key.as_str())
            .zip(counts)
            .collect();
        labels.sort_by_key(|&(key, count)| (std::cmp::Reverse(count), key));
        labels.truncate(limit);
        labels
    }

    /// Keys of the labels with the number of documents of each.
    pub(crate) fn label_counts(&self) -> impl Iterator<Item = (&str, u32)> {
        let counts = self.space.train_counts().iter().copied();
        let keys = self.space.labels().iter();
        keys.map(|label| label.key.as_str()).zip(counts)
    }

    /// True where the corpus itself names some label otherwise than by its key.
    pub(crate) fn has_names(&self) -> bool {
        let mut labels = self.space.labels().iter();
        labels.any(|label| label.name != label.key || !label.alternatives.is_empty())
    }

    /// What decides the cost of training.
    pub(crate) fn training_size(&self) -> TrainingSize {
        TrainingSize {
            num_documents: self.num_documents - self.num_without_labels,
            num_entries: self.num_entries,
            num_features: self.num_features,
            num_labels: self.space.len() as u64,
            num_assignments: self.num_assignments,
        }
    }
}

/// A profile in the making.
struct Counts<'a> {
    against: Option<&'a CorpusProfile>,
    num_documents: u64,
    num_without_labels: u64,
    num_empty: u64,
    num_assignments: u64,
    max_labels: usize,
    contents: ContentHashes,
    duplicates: Duplicates,
    shared: Duplicates,
    space: LabelSpaceBuilder,
    terms: VocabularyBuilder,
    texts: Vec<String>,
    /// Of documents that come as features.
    num_given_features: u64,
    num_given_entries: u64,
}

impl<'a> Counts<'a> {
    fn new(against: Option<&'a CorpusProfile>) -> Self {
        Self {
            against,
            num_documents: 0,
            num_without_labels: 0,
            num_empty: 0,
            num_assignments: 0,
            max_labels: 0,
            contents: ContentHashes::default(),
            duplicates: Duplicates::default(),
            shared: Duplicates::default(),
            space: LabelSpaceBuilder::default(),
            terms: VocabularyBuilder::new(
                Tokenizer::new(TokenizerConfig::default()),
                TermRuns::WORDS,
            ),
            texts: Vec::new(),
            num_given_features: 0,
            num_given_entries: 0,
        }
    }

    fn add(&mut self, document: Document) {
        self.num_documents += 1;
        self.num_without_labels += u64::from(document.labels.is_empty());
        self.num_empty += u64::from(document.content_hash().is_none());
        self.num_assignments += self.space.add(&document).len() as u64;
        self.max_labels = self.max_labels.max(document.labels.len());
        if !self.contents.insert(&document) {
            self.duplicates.add(&document);
        }
        if self
            .against
            .is_some_and(|other| other.contents.contains(&document))
        {
            self.shared.add(&document);
        }
        match document.content {
            Content::Text(text) => {
                self.texts.push(text);
                if self.texts.len() == TEXTS_PER_BATCH {
                    self.count_terms();
                }
            }
            Content::Features(features) => {
                self.num_given_entries += features.columns.len() as u64;
                let end = features
                    .columns
                    .last()
                    .map_or(0, |&last| u64::from(last) + 1);
                self.num_given_features = self.num_given_features.max(end);
            }
        }
    }

    fn count_terms(&mut self) {
        self.terms.push_batch(&self.texts);
        self.texts.clear();
    }

    fn finish(mut self, reader: &CorpusReader) -> CorpusProfile {
        self.count_terms();
        // It fails where no term occurs twice; then there are no features.
        let (num_terms, num_occurrences) = self.terms.finish(KEPT_TERMS).map_or((0, 0), |terms| {
            let frequencies = terms.document_frequencies().iter();
            (
                terms.len() as u64,
                frequencies.map(|&frequency| u64::from(frequency)).sum(),
            )
        });
        CorpusProfile {
            format: reader.format().to_string(),
            num_documents: self.num_documents,
            num_without_labels: self.num_without_labels,
            num_empty: self.num_empty,
            num_assignments: self.num_assignments,
            max_labels: self.max_labels,
            duplicates: self.duplicates,
            shared: self.shared,
            space: self.space.finish(reader.vocabulary()).0,
            num_features: num_terms.max(self.num_given_features),
            num_entries: num_occurrences + self.num_given_entries,
            contents: self.contents,
        }
    }
}
