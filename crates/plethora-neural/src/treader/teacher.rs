//! What can be read of labels and their parents.

use std::path::Path;

use plethora_core::artifact::{ArrayFileWriter, Dtype, MappedArrays};
use plethora_core::corpus::LabelSpace;
use plethora_core::{Error, IndexRows, LabelId};
use rustc_hash::FxHashMap;

use crate::Result;

/// Votes of all training documents together, as a share of those of the neighbours: by these, labels
/// without votes are as likely as they are frequent.
const VOTES_OF_ALL: f32 = 0.1;

/// Names, parents and frequencies of labels. Beside the labels it knows the parents that no training document has,
/// whose numbers follow theirs: these are read and never predicted.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Teacher {
    /// The parents of each label, rising.
    parents: IndexRows,
    /// The words by which each is read.
    words: IndexRows,
    /// Share of the training documents that have a label, of each label.
    frequencies: Vec<f32>,
}

impl Teacher {
    /// Labels of `space`, which is of so many documents, with their parents and these words.
    pub(crate) fn new((space, num_documents): (&LabelSpace, usize), words: IndexRows) -> Self {
        let num_labels = space.len() as u32;
        let broader: FxHashMap<&str, u32> = (num_labels..)
            .zip(space.broader())
            .map(|(number, label)| (label.key.as_str(), number))
            .collect();
        let number_of = |key: &String| {
            let label = space.id(key).map(|id| id.0);
            label.or_else(|| broader.get(key.as_str()).copied())
        };
        let parents = space.labels().iter().map(|label| {
            let mut parents: Vec<u32> = label.parents.iter().filter_map(number_of).collect();
            parents.sort_unstable();
            parents.dedup();
            parents
        });
        Self {
            parents: parents.collect(),
            words,
            frequencies: (space.train_counts().iter())
                .map(|&count| count.max(1) as f32 / num_documents.max(1) as f32)
                .collect(),
        }
    }

    /// From the parents of each label, the words of each name and the frequency of each label.
    #[cfg(test)]
    pub(super) fn from_parts(parents: IndexRows, words: IndexRows, frequencies: Vec<f32>) -> Self {
        Self {
            parents,
            words,
            frequencies,
        }
    }

    /// Number of labels and of the parents that are none.
    pub(crate) fn num_known(&self) -> usize {
        self.words.num_rows()
    }

    /// The words by which a label or parent is read.
    pub(crate) fn words(&self, known: u32) -> &[u32] {
        self.words.row(known as usize)
    }

    /// Labels and their parents, each once.
    pub(crate) fn with_parents(&self, labels: &[u32]) -> Vec<u32> {
        let parents = labels
            .iter()
            .flat_map(|&label| self.parents.row(label as usize));
        let mut all: Vec<u32> = labels.iter().chain(parents).copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The share of the training documents that have a label.
    pub(crate) fn frequency(&self, label: LabelId) -> f32 {
        self.frequencies[label.index()]
    }

    /// By how much votes raise the logarithm of a label's odds. With v the votes and f the frequency of
    /// the label, it is as likely as v + a f where all documents have the votes a; without votes it
    /// would be as likely as a f.
    pub(crate) fn gain(&self, label: u32, votes: f32) -> f32 {
        (votes / (VOTES_OF_ALL * self.frequencies[label as usize])).ln_1p()
    }

    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let mut file = ArrayFileWriter::create(path)?;
        for (name, rows) in [("parents", &self.parents), ("words", &self.words)] {
            let lengths = file.begin(&format!("{name}.lengths"), Dtype::U32)?;
            let items = file.begin(name, Dtype::U32)?;
            for row in rows.rows() {
                file.append(lengths, &[row.len() as u32])?;
                file.append(items, row)?;
            }
        }
        let frequencies = file.begin("frequencies", Dtype::F32)?;
        file.append(frequencies, &self.frequencies)?;
        file.finish()?;
        Ok(())
    }

    /// Reads what a model folder has of `num_labels` labels and a table of `num_words` words.
    pub(crate) fn open(path: &Path, num_labels: usize, num_words: usize) -> Result<Self> {
        let arrays = MappedArrays::open_own(path)?;
        let read = |name: &str| -> Result<Option<IndexRows>> {
            let lengths: &[u32] = arrays.array(&format!("{name}.lengths"))?;
            let mut items: &[u32] = arrays.array(name)?;
            let mut rows = IndexRows::default();
            for &length in lengths {
                let Some((row, rest)) = items.split_at_checked(length as usize) else {
                    return Ok(None);
                };
                rows.push(row.iter().copied());
                items = rest;
            }
            Ok(items.is_empty().then_some(rows))
        };
        let below = |rows: &IndexRows, bound: usize| {
            rows.rows().flatten().all(|&item| (item as usize) < bound)
        };
        let frequencies: &[f32] = arrays.array("frequencies")?;
        let are_shares = frequencies
            .iter()
            .all(|share| (0.0..=1.0).contains(share) && *share > 0.0);
        match (read("parents")?, read("words")?) {
            (Some(parents), Some(words))
                if are_shares
                    && frequencies.len() == num_labels
                    && parents.num_rows() == num_labels
                    && words.num_rows() >= num_labels
                    && below(&parents, words.num_rows())
                    && below(&words, num_words) =>
            {
                Ok(Self {
                    parents,
                    words,
                    frequencies: frequencies.to_vec(),
                })
            }
            _ => Err(Error::model(path, "the names are of other labels or words").into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use plethora_core::corpus::{Content, Document, Label, LabelSpaceBuilder};
    use plethora_core::text::{TokenizerConfig, Words, WordsBuilder, WordsConfig};

    use super::*;

    fn label(key: &str, name: &str, parents: &[&str]) -> Label {
        Label {
            key: key.into(),
            name: name.into(),
            alternatives: Vec::new(),
            parents: parents.iter().map(ToString::to_string).collect(),
        }
    }

    fn teacher() -> (Teacher, Words) {
        let mut builder = LabelSpaceBuilder::default();
        builder.add(&Document {
            id: String::new(),
            content: Content::Text(String::new()),
            labels: vec!["a".into(), "b".into(), "c".into()],
        });
        let vocabulary = [
            label("a", "the sea", &["c", "x", "nowhere"]),
            label("b", "air and fire", &["x", "c"]),
            label("x", "sea things", &["y"]),
            label("y", "things", &[]),
        ];
        let (space, _) = builder.finish(&vocabulary);
        let mut words = WordsBuilder::new(WordsConfig {
            tokenizer: TokenizerConfig::default(),
            max_vocabulary: 100,
            min_df: 1,
            max_length: 10,
            counts_whole_documents: None,
            separator: None,
        })
        .unwrap();
        words.push_batch(&["the sea air"]);
        let words = words.finish().unwrap().0;
        let all = space.labels().iter().chain(space.broader());
        let names = all.map(|label| {
            let mut name = words.sequence(&label.name);
            name.truncate(2);
            name
        });
        (Teacher::new((&space, 4), names.collect()), words)
    }

    #[test]
    fn parents_are_labels_or_follow_them_and_only_the_nearest_count() {
        let (teacher, words) = teacher();
        assert_eq!(teacher.num_known(), 5, "three labels, x and y");
        assert_eq!(teacher.with_parents(&[0, 1]), [0, 1, 2, 3]);
        assert_eq!(teacher.with_parents(&[2]), [2]);
        let row = |word| words.row(word).unwrap();
        assert_eq!(teacher.words(0), [row("the"), row("sea")]);
        assert_eq!(
            teacher.words(1),
            [row("air"), Words::UNKNOWN],
            "two at most"
        );
        assert_eq!(teacher.words(3), [row("sea"), Words::UNKNOWN]);
    }

    #[test]
    fn votes_raise_rare_labels_more() {
        let (teacher, _) = teacher();
        // One of four documents has the label.
        assert!((teacher.gain(0, 0.5) - (1.0_f32 + 0.5 / 0.025).ln()).abs() < 1e-6);
        assert_eq!(teacher.gain(0, 0.0), 0.0);
        let rarer = Teacher {
            frequencies: vec![0.01; 3],
            ..teacher.clone()
        };
        assert!(rarer.gain(0, 0.5) > teacher.gain(0, 0.5));
    }

    #[test]
    fn names_come_back_from_a_file_and_those_of_others_are_refused() {
        let (teacher, words) = teacher();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("teacher.safetensors");
        teacher.write(&path).unwrap();
        let open = |num_labels, num_words| Teacher::open(&path, num_labels, num_words);
        assert_eq!(open(3, words.num_rows()).unwrap(), teacher);
        assert!(open(4, words.num_rows()).is_err());
        assert!(open(3, 3).is_err());
    }
}
