//! The words by which labels are read: their names, or the most telling words of their documents.

use plethora_core::IndexRows;
use plethora_core::corpus::{Label, LabelSpace};
use plethora_core::text::Words;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::config::{Descriptions, TeacherConfig};

/// From this share of labels without a known word on, reading names is worth a warning.
const WARNED_SHARE: f64 = 0.5;

/// Documents by which words are told apart: those that are trained on.
pub(super) struct DescribingDocuments<'a> {
    /// The words of all documents.
    pub(super) sequences: &'a IndexRows,
    /// Their labels.
    pub(super) labels: &'a IndexRows,
    /// Numbers of those that are trained on.
    pub(super) documents: &'a [u32],
}

/// The words of each label, and then of each parent that is none.
pub(super) fn descriptions(
    config: &TeacherConfig,
    space: &LabelSpace,
    words: &Words,
    documents: &DescribingDocuments<'_>,
) -> IndexRows {
    let name_of = |label: &Label| {
        let mut name = words.sequence(&label.name);
        name.truncate(config.label_words);
        name
    };
    let mut rows: Vec<Vec<u32>> = (space.labels().iter())
        .chain(space.broader())
        .map(name_of)
        .collect();
    let of_labels = &mut rows[..space.len()];
    let wanted: Vec<usize> = (0..of_labels.len())
        .filter(|&label| match config.descriptions {
            Descriptions::Names => false,
            Descriptions::Documents => true,
            Descriptions::Missing => is_unknown(&of_labels[label]),
        })
        .collect();
    if !wanted.is_empty() {
        let telling = documents.telling_words(&wanted, space.len(), config.label_words);
        for (label, words) in wanted.into_iter().zip(telling) {
            if !words.is_empty() {
                of_labels[label] = words;
            }
        }
    }
    warn_of_unknown(config, of_labels);
    rows.into_iter().collect()
}

/// True for words of which none is known.
fn is_unknown(words: &[u32]) -> bool {
    words.iter().all(|&word| word == Words::UNKNOWN)
}

fn warn_of_unknown(config: &TeacherConfig, of_labels: &[Vec<u32>]) {
    let count = of_labels.iter().filter(|words| is_unknown(words)).count();
    if config.reads_descriptions() && count as f64 > WARNED_SHARE * of_labels.len() as f64 {
        tracing::warn!(
            "{count} of {} labels have no name of known words, so that nothing is read of them by name; give a \
             vocabulary with names, or set teacher.descriptions to missing, which describes them by their documents",
            of_labels.len()
        );
    }
}

impl DescribingDocuments<'_> {
    /// For each of these labels the `count` words with the largest weight in the mean of its documents,
    /// the largest first. Weights are those of tf-idf: the logarithm of one more than a word's count,
    /// times that of how few documents have it, of rows that are brought to length 1.
    fn telling_words(&self, labels: &[usize], num_labels: usize, count: usize) -> Vec<Vec<u32>> {
        let rows = self.weights();
        let labels_of = self.documents.iter().map(|&document| {
            let labels = self.labels.row(document as usize);
            labels.iter().copied()
        });
        let documents_of = labels_of.collect::<IndexRows>().transpose(num_labels);
        (labels.par_iter())
            .map(|&label| {
                let mut sums: FxHashMap<u32, f64> = FxHashMap::default();
                for &document in documents_of.row(label) {
                    for &(word, weight) in &rows[document as usize] {
                        *sums.entry(word).or_default() += f64::from(weight);
                    }
                }
                let mut sums: Vec<(u32, f64)> = sums.into_iter().collect();
                sums.sort_unstable_by(|left, right| {
                    right.1.total_cmp(&left.1).then(left.0.cmp(&right.0))
                });
                sums.truncate(count);
                sums.into_iter().map(|(word, _)| word).collect()
            })
            .collect()
    }

    /// The known words of each document that is trained on, and their weights.
    fn weights(&self) -> Vec<Vec<(u32, f32)>> {
        let counted: Vec<Vec<(u32, u32)>> = (self.documents.par_iter())
            .map(|&document| counted(self.sequences.row(document as usize)))
            .collect();
        let mut frequencies: FxHashMap<u32, u32> = FxHashMap::default();
        for &(word, _) in counted.iter().flatten() {
            *frequencies.entry(word).or_default() += 1;
        }
        let total = counted.len() as f32;
        (counted.into_par_iter())
            .map(|row| {
                let weighed = row.into_iter().map(|(word, count)| {
                    let rarity = ((1.0 + total) / frequencies[&word] as f32).ln();
                    (word, (count as f32).ln_1p() * rarity)
                });
                let mut row: Vec<(u32, f32)> = weighed.collect();
                let length = row.iter().map(|(_, weight)| weight * weight).sum::<f32>();
                for (_, weight) in &mut row {
                    *weight /= length.sqrt();
                }
                row
            })
            .collect()
    }
}

/// Each known word once, rising, with how often it occurs.
fn counted(sequence: &[u32]) -> Vec<(u32, u32)> {
    let mut words: Vec<u32> = sequence.to_vec();
    words.retain(|&word| word != Words::UNKNOWN && word != Words::PADDING);
    words.sort_unstable();
    let runs = words.chunk_by(|left, right| left == right);
    runs.map(|run| (run[0], run.len() as u32)).collect()
}

#[cfg(test)]
mod tests {
    use plethora_core::corpus::{Content, Document, LabelSpaceBuilder};
    use plethora_core::text::{TokenizerConfig, WordsBuilder, WordsConfig};

    use super::*;
    use crate::treader::config::TReaderConfig;

    const TEXTS: [(&str, &str); 5] = [
        ("the tide and the tide and the moon", "k1"),
        ("the tide in the harbour", "k1"),
        ("the queen in the hive", "bees"),
        ("the hive of the bees", "bees"),
        ("zebra zebra zebra", "k1"),
    ];

    /// The words of labels, as text; the last document is not trained on.
    fn described(descriptions: Descriptions) -> Vec<String> {
        let mut space = LabelSpaceBuilder::default();
        let mut labels = IndexRows::default();
        for (text, label) in TEXTS {
            labels.push(space.add(&Document {
                id: text.into(),
                content: Content::Text(text.into()),
                labels: vec![label.into()],
            }));
        }
        let parent = Label {
            parents: vec!["above".into()],
            ..Label::from_key("bees")
        };
        let (space, new_ids) = space.finish(&[parent, Label::from_key("above")]);
        labels.remap(|label| new_ids[label as usize].0);
        let mut words = WordsBuilder::new(WordsConfig {
            tokenizer: TokenizerConfig::default(),
            max_vocabulary: 100,
            min_df: 1,
            max_length: 10,
            separator: None,
            counts_whole_documents: None,
        })
        .unwrap();
        words.push_batch(&TEXTS.map(|(text, _)| text));
        let (words, sequences) = words.finish().unwrap();
        let mut config = TReaderConfig::of_system("treaderxml").unwrap().teacher;
        config.descriptions = descriptions;
        config.label_words = 2;
        let documents = DescribingDocuments {
            sequences: &sequences,
            labels: &labels,
            documents: &[0, 1, 2, 3],
        };
        let rows = super::descriptions(&config, &space, &words, &documents);
        let shown = rows.rows().map(|row| {
            let words = row.iter().map(|&word| words.word(word).unwrap_or("?"));
            words.collect::<Vec<_>>().join(" ")
        });
        shown.collect()
    }

    #[test]
    fn labels_are_described_by_names_or_by_the_words_that_tell_their_documents_apart() {
        // By key: bees, k1; the parent has no documents.
        assert_eq!(described(Descriptions::Names), ["bees", "?", "?"]);
        assert_eq!(
            described(Descriptions::Missing),
            ["bees", "tide harbour", "?"]
        );
        assert_eq!(
            described(Descriptions::Documents),
            ["hive queen", "tide harbour", "?"]
        );
    }
}
