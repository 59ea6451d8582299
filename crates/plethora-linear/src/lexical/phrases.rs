//! All phrases that speak for labels: names, and what training has learnt to take for names.

use std::path::Path;

use plethora_core::artifact::{ArrayFileWriter, Dtype, MappedArray, MappedArrays};
use plethora_core::{Error, Result};

/// Name of the file in a model folder.
pub(super) const PHRASES_FILE: &str = "phrases.safetensors";

/// What a phrase says of a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) label: u32,
    /// Training documents that have the phrase and the label.
    pub(super) count: u32,
    /// Half the bits of the name as it is spelt; 0 where the phrase was learnt.
    pub(super) spelling: u32,
    /// Bits of [`kind`](super::names::kind).
    pub(super) kind: u8,
}

/// Phrases as they are collected: in the order of their keys, entries that are names before others.
#[derive(Debug, Default)]
pub(super) struct PhraseColumns {
    pub(super) keys: Vec<u64>,
    pub(super) documents: Vec<u32>,
    pub(super) num_names: Vec<u8>,
    pub(super) starts: Vec<u32>,
    pub(super) labels: Vec<u32>,
    pub(super) counts: Vec<u32>,
    pub(super) spellings: Vec<u32>,
    pub(super) kinds: Vec<u8>,
}

impl PhraseColumns {
    /// Adds a phrase that so many training documents have, behind all with a lower key.
    pub(super) fn push(&mut self, key: u64, documents: u32, entries: &[Entry]) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        self.keys.push(key);
        self.documents.push(documents);
        let names = entries.iter().filter(|entry| entry.kind != 0);
        self.num_names.push(names.count() as u8);
        for entry in entries {
            self.labels.push(entry.label);
            self.counts.push(entry.count);
            self.spellings.push(entry.spelling);
            self.kinds.push(entry.kind);
        }
        self.starts.push(self.labels.len() as u32);
    }

    pub(super) fn write(&self, path: &Path) -> Result<()> {
        let mut file = ArrayFileWriter::create(path)?;
        let array = file.begin("keys", Dtype::U64)?;
        file.append(array, &self.keys)?;
        let starts = if self.starts.is_empty() {
            &[0][..]
        } else {
            &self.starts
        };
        for (name, values) in [
            ("documents", &self.documents[..]),
            ("starts", starts),
            ("labels", &self.labels),
            ("counts", &self.counts),
            ("spellings", &self.spellings),
        ] {
            let array = file.begin(name, Dtype::U32)?;
            file.append(array, values)?;
        }
        for (name, values) in [("num_names", &self.num_names), ("kinds", &self.kinds)] {
            let array = file.begin(name, Dtype::U8)?;
            file.append(array, values)?;
        }
        file.finish()
    }
}

/// The phrases of a model, used where they lie on disk.
#[derive(Debug)]
pub(super) struct Phrases {
    keys: MappedArray<u64>,
    documents: MappedArray<u32>,
    num_names: MappedArray<u8>,
    starts: MappedArray<u32>,
    labels: MappedArray<u32>,
    counts: MappedArray<u32>,
    spellings: MappedArray<u32>,
    kinds: MappedArray<u8>,
    /// For the leading bits of a key, the first phrase that has them: keys are spread evenly, so a
    /// search ends after a step or two.
    buckets: Vec<u32>,
    shift: u32,
}

impl Phrases {
    /// Opens a file whose labels are below `num_labels`.
    ///
    /// # Errors
    /// [`Error::Model`] if its parts do not fit each other.
    pub(super) fn open(path: &Path, num_labels: usize) -> Result<Self> {
        let file = MappedArrays::open(path)?;
        let mut phrases = Self {
            keys: file.owned("keys")?,
            documents: file.owned("documents")?,
            num_names: file.owned("num_names")?,
            starts: file.owned("starts")?,
            labels: file.owned("labels")?,
            counts: file.owned("counts")?,
            spellings: file.owned("spellings")?,
            kinds: file.owned("kinds")?,
            buckets: Vec::new(),
            shift: 0,
        };
        if !phrases.fit(num_labels) {
            let message = "the phrases do not fit each other or the labels of the model";
            return Err(Error::model(path, message));
        }
        let bits = phrases.len().max(2).ilog2();
        phrases.shift = u64::BITS - bits;
        phrases.buckets = (0..1_u64 << bits)
            .scan(0, |first, bucket| {
                while *first < phrases.len() && phrases.keys[*first] >> phrases.shift < bucket {
                    *first += 1;
                }
                Some(*first as u32)
            })
            .chain([phrases.len() as u32])
            .collect();
        Ok(phrases)
    }

    fn fit(&self, num_labels: usize) -> bool {
        let (num_phrases, num_entries) = (self.keys.len(), self.labels.len());
        let sizes_fit = [self.documents.len(), self.num_names.len()] == [num_phrases; 2]
            && [self.counts.len(), self.spellings.len(), self.kinds.len()] == [num_entries; 3]
            && self.starts.len() == num_phrases + 1
            && u32::try_from(num_phrases).is_ok();
        sizes_fit
            && self.keys.is_sorted_by(|left, right| left < right)
            && self.starts[0] == 0
            && self.starts[num_phrases] as usize == num_entries
            && (self.starts.windows(2).zip(self.num_names.iter()))
                .all(|(row, &names)| row[0] <= row[1] && u32::from(names) <= row[1] - row[0])
            && self
                .labels
                .iter()
                .all(|&label| (label as usize) < num_labels)
    }

    /// Number of phrases.
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Number of entries that are names, and of those that were learnt.
    pub(super) fn num_entries(&self) -> (usize, usize) {
        let names = self.num_names.iter().map(|&names| usize::from(names)).sum();
        (names, self.labels.len() - names)
    }

    /// The phrase with this key.
    pub(super) fn find(&self, key: u64) -> Option<u32> {
        let bucket = (key >> self.shift) as usize;
        let range = self.buckets[bucket] as usize..self.buckets[bucket + 1] as usize;
        let first = range.start as u32;
        let mut keys = self.keys[range].iter().zip(first..);
        let (&found, phrase) = keys.find(|&(&known, _)| known >= key)?;
        (found == key).then_some(phrase)
    }

    /// Training documents that have a phrase.
    pub(super) fn num_documents(&self, phrase: u32) -> u32 {
        self.documents[phrase as usize]
    }

    /// How many labels a phrase is a name of.
    pub(super) fn num_names(&self, phrase: u32) -> usize {
        usize::from(self.num_names[phrase as usize])
    }

    /// What a phrase says of labels: names first.
    pub(super) fn entries(&self, phrase: u32) -> impl Iterator<Item = Entry> + '_ {
        let row = phrase as usize;
        let starts = &self.starts[row..row + 2];
        let range = starts[0] as usize..starts[1] as usize;
        let (labels, counts) = (&self.labels[range.clone()], &self.counts[range.clone()]);
        let (spellings, kinds) = (&self.spellings[range.clone()], &self.kinds[range]);
        (labels.iter().zip(counts).zip(spellings).zip(kinds)).map(
            |(((&label, &count), &spelling), &kind)| Entry {
                label,
                count,
                spelling,
                kind,
            },
        )
    }

    /// All phrases with their keys, in the order of these.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        self.keys.iter().copied().zip(0..)
    }
}

#[cfg(test)]
mod tests {
    use super::super::names::kind;
    use super::*;

    fn entry(label: u32, kind: u8) -> Entry {
        Entry {
            label,
            count: label + 1,
            spelling: 7,
            kind,
        }
    }

    fn opened(columns: &PhraseColumns, num_labels: usize) -> Result<Phrases> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(PHRASES_FILE);
        columns.write(&path).unwrap();
        Phrases::open(&path, num_labels)
    }

    #[test]
    fn phrases_are_found_by_their_keys() {
        let keys: Vec<u64> = (0..500)
            .map(|index| index * 0x0080_2008_0200_8003)
            .collect();
        let mut columns = PhraseColumns::default();
        for (&key, label) in keys.iter().zip(0..) {
            columns.push(key, label, &[entry(label, kind::OWN), entry(3, 0)]);
        }
        let phrases = opened(&columns, 500).unwrap();
        for (&key, label) in keys.iter().zip(0..) {
            let phrase = phrases.find(key).unwrap();
            assert_eq!(phrases.num_documents(phrase), label);
            assert_eq!(phrases.num_names(phrase), 1);
            let entries: Vec<Entry> = phrases.entries(phrase).collect();
            assert_eq!(entries, [entry(label, kind::OWN), entry(3, 0)]);
            assert_eq!(phrases.find(key + 1), None);
        }
        assert_eq!(phrases.find(u64::MAX), None);
        assert_eq!(phrases.num_entries(), (500, 500));
    }

    #[test]
    fn no_phrases_and_one_are_tables_too() {
        let empty = opened(&PhraseColumns::default(), 0).unwrap();
        assert_eq!((empty.find(0), empty.find(u64::MAX)), (None, None));
        let mut columns = PhraseColumns::default();
        columns.push(u64::MAX, 1, &[]);
        let one = opened(&columns, 0).unwrap();
        assert_eq!(one.find(u64::MAX), Some(0));
    }

    #[test]
    fn damaged_tables_are_refused() {
        type Damage = fn(&mut PhraseColumns);
        let damages: [Damage; 7] = [
            |columns| columns.keys.swap(0, 1),
            |columns| columns.starts[1] = 9,
            |columns| columns.labels[0] = 2,
            |columns| columns.num_names[0] = 2,
            |columns| columns.counts.truncate(1),
            |columns| columns.documents.truncate(1),
            |columns| columns.starts.clear(),
        ];
        for damage in damages {
            let mut columns = PhraseColumns::default();
            columns.push(1, 1, &[entry(0, kind::OWN)]);
            columns.push(2, 1, &[entry(1, 0)]);
            opened(&columns, 2).unwrap();
            damage(&mut columns);
            let error = opened(&columns, 2).unwrap_err();
            assert!(matches!(error, Error::Model { .. }), "{error}");
        }
    }
}
