//! The names of all labels as phrases, and together with what was counted the phrases of a model.

use std::cmp::Reverse;

use plethora_core::corpus::{Label, LabelSpace};
use plethora_core::{Error, Result};
use rayon::prelude::*;

use super::config::LexicalConfig;
use super::mining::PhraseCounts;
use super::names;
use super::phrases::{Entry, PhraseColumns};
use super::words::{Word, WordReader, phrase_of};

/// Longer names are descriptions, which no text repeats word by word.
pub(super) const MAX_NAME_WORDS: usize = 16;

/// Labels that one name may stand for; of more, those of most training documents stay.
pub(super) const MAX_SHARED: usize = 32;

/// Labels whose names are read together.
const LABELS_PER_BATCH: usize = 4096;

/// A name of a label as a phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Name {
    key: u64,
    label: u32,
    kind: u8,
    spelling: u32,
    /// The first words, as many as phrases are counted with.
    counted: u64,
}

/// The names of all labels.
#[derive(Debug, Default)]
pub(super) struct NameTable {
    names: Vec<Name>,
    /// Beginnings of names that are too long to be counted as wholes: without them nobody would look
    /// further.
    beginnings: Vec<u64>,
    /// Names that are longer than any text repeats.
    pub(super) num_long: usize,
    /// Labels without any name in words.
    pub(super) num_without: usize,
    /// Entries dropped since too many labels share a name.
    pub(super) num_crowded: usize,
}

impl NameTable {
    /// Reads the names of all labels of a space.
    pub(super) fn of_space(space: &LabelSpace, config: &LexicalConfig) -> Self {
        let labels: Vec<(u32, &Label)> = (0..).zip(space.labels()).collect();
        Self::new(&labels, space.train_counts(), config)
    }

    /// Reads the names of labels, which come with their ids.
    pub(super) fn new(
        labels: &[(u32, &Label)],
        train_counts: &[u32],
        config: &LexicalConfig,
    ) -> Self {
        let batches: Vec<Self> = (labels.par_chunks(LABELS_PER_BATCH))
            .map(|labels| {
                let mut table = Self::default();
                let mut reader = WordReader::new(&config.language);
                for &(id, label) in labels {
                    let before = table.names.len();
                    for (name, kind) in names::forms(label) {
                        let words = reader.read(&name, MAX_NAME_WORDS + 1).words;
                        table.add(&words, id, kind, config.learnt.max_ngram);
                    }
                    table.num_without += usize::from(table.names.len() == before);
                }
                table
            })
            .collect();
        let mut all = Self::default();
        for batch in batches {
            all.names.extend(batch.names);
            all.beginnings.extend(batch.beginnings);
            all.num_long += batch.num_long;
            all.num_without += batch.num_without;
        }
        all.sort(train_counts);
        all
    }

    fn add(&mut self, words: &[Word], label: u32, kind: u8, max_ngram: usize) {
        if words.len() > MAX_NAME_WORDS {
            self.num_long += 1;
            return;
        }
        if words.is_empty() {
            return;
        }
        for length in max_ngram..words.len() {
            self.beginnings.push(phrase_of(&words[..length]).stem);
        }
        let phrase = phrase_of(words);
        self.names.push(Name {
            key: phrase.stem,
            label,
            kind,
            spelling: phrase.spelling as u32,
            counted: phrase_of(&words[..words.len().min(max_ngram)]).stem,
        });
    }

    /// One entry per phrase and label, with the spelling of the best name; not too many per phrase.
    fn sort(&mut self, train_counts: &[u32]) {
        self.names.par_sort_unstable();
        self.names.dedup_by(|next, kept| {
            let is_same = next.key == kept.key && next.label == kept.label;
            if is_same {
                kept.kind |= next.kind;
            }
            is_same
        });
        let mut kept = Vec::with_capacity(self.names.len());
        for shared in self.names.chunk_by(|left, right| left.key == right.key) {
            let mut shared = shared.to_vec();
            if shared.len() > MAX_SHARED {
                self.num_crowded += shared.len() - MAX_SHARED;
                shared.sort_by_key(|name| (Reverse(train_counts[name.label as usize]), name.label));
                shared.truncate(MAX_SHARED);
                shared.sort_unstable();
            }
            kept.append(&mut shared);
        }
        self.names = kept;
        self.beginnings.par_sort_unstable();
        self.beginnings.dedup();
    }

    /// Number of different names of labels.
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// Phrases to count with the labels that they name, rising.
    pub(super) fn counted(&self) -> Vec<(u64, u32)> {
        let pairs = self.names.iter().map(|name| (name.counted, name.label));
        let mut pairs: Vec<(u64, u32)> = pairs.collect();
        pairs.par_sort_unstable();
        pairs.dedup();
        pairs
    }

    /// Each name's key and what it says of its label where no document was counted.
    pub(super) fn entries(&self) -> impl Iterator<Item = (u64, Entry)> + '_ {
        self.names.iter().map(|name| {
            let entry = Entry {
                label: name.label,
                count: 0,
                spelling: name.spelling,
                kind: name.kind,
            };
            (name.key, entry)
        })
    }

    /// Beginnings of long names, rising.
    pub(super) fn beginnings(&self) -> &[u64] {
        &self.beginnings
    }

    /// Names and learnt names together.
    pub(super) fn join(
        &self,
        counts: &PhraseCounts,
        config: &LexicalConfig,
    ) -> Result<PhraseColumns> {
        let mut keys: Vec<u64> = (self.names.iter().map(|name| name.key))
            .chain(self.beginnings.iter().copied())
            .chain(counts.keys.iter().copied())
            .collect();
        keys.par_sort_unstable();
        keys.dedup();
        let mut columns = PhraseColumns::default();
        let (mut rest, mut entries) = (&self.names[..], Vec::new());
        for key in keys {
            let num_names = rest.partition_point(|name| name.key == key);
            let (names, others) = rest.split_at(num_names);
            rest = others;
            let counted = names.first().map_or(key, |name| name.counted);
            let place = counts.find(counted);
            let documents = place.map_or(0, |place| counts.documents[place]);
            let pairs = place.map_or(&[][..], |place| counts.pairs(place));
            entries.clear();
            entries.extend(names.iter().map(|name| {
                let pair = pairs.binary_search_by_key(&name.label, |&(label, _)| label);
                Entry {
                    label: name.label,
                    count: pair.map_or(0, |pair| pairs[pair].1),
                    spelling: name.spelling,
                    kind: name.kind,
                }
            }));
            if counted == key {
                let is_name = |label: u32| names.iter().any(|name| name.label == label);
                let others = documents.saturating_sub(1);
                let learnt = pairs.iter().filter(|&&(label, count)| {
                    !is_name(label) && config.learnt.is_learnt(count, others.max(count))
                });
                entries.extend(learnt.map(|&(label, count)| Entry {
                    label,
                    count,
                    spelling: 0,
                    kind: 0,
                }));
            }
            columns.push(key, documents, &entries);
        }
        if u32::try_from(columns.labels.len()).is_err() {
            return Err(Error::data("there are more than 4 billion names of labels"));
        }
        Ok(columns)
    }
}

#[cfg(test)]
mod tests {
    use super::super::family::recipe;
    use super::super::names::kind;
    use super::*;

    fn config() -> LexicalConfig {
        recipe().settled(|| "english".parse().unwrap()).unwrap()
    }

    fn named(key: &str, name: &str, alternatives: &[&str]) -> Label {
        Label {
            key: key.into(),
            name: name.into(),
            alternatives: alternatives.iter().map(ToString::to_string).collect(),
            ..Label::default()
        }
    }

    fn table(labels: Vec<Label>) -> NameTable {
        let counts = (0..labels.len() as u32).collect();
        NameTable::of_space(&LabelSpace::new(labels, counts), &config())
    }

    #[test]
    fn a_phrase_that_names_a_label_twice_has_one_entry() {
        let table = table(vec![named("1", "Whales", &["whale", "Cetacea"])]);
        let kinds: Vec<u8> = table.entries().map(|(_, entry)| entry.kind).collect();
        assert_eq!(table.len(), 2);
        assert!(
            kinds.contains(&(kind::OWN | kind::ALTERNATIVE)),
            "{kinds:?}"
        );
    }

    #[test]
    fn names_without_words_and_endless_ones_are_counted_and_left_out() {
        let endless = "word ".repeat(2000);
        let labels = vec![
            named("1", "", &[]),
            named("2", "...", &["!"]),
            named("3", &endless, &["short"]),
            named("gnd:4", "gnd:4", &[]),
        ];
        let table = table(labels);
        assert_eq!((table.len(), table.num_without, table.num_long), (1, 3, 1));
    }

    #[test]
    fn of_many_labels_with_one_name_the_most_frequent_stay() {
        let labels = (0..100).map(|number| named(&format!("{number:03}"), "Sea", &[]));
        let table = table(labels.collect());
        assert_eq!(
            (table.len(), table.num_crowded),
            (MAX_SHARED, 100 - MAX_SHARED)
        );
        assert!(table.entries().all(|(_, entry)| entry.label >= 68));
    }

    #[test]
    fn long_names_are_reached_by_their_beginnings() {
        let table = table(vec![named("1", "history of the decline of Rome", &[])]);
        assert_eq!(table.beginnings().len(), 3);
    }
}
