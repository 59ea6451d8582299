//! Takes in rankings of validation documents.

use super::score_table::{group, merged, within_bounds};
use super::{FrequencyBands, ScoreCount, ScoreTable};
use crate::metrics::BucketName;
use crate::{LabelId, ScoredLabel};

const NUM_BANDS: usize = BucketName::ALL.len();
/// Set in the bits of a score where the label is true.
const TRUE_BIT: u32 = 1 << 31;

/// Counts the scores of rankings, document after document, in memory that does not grow with their
/// number: eight [`ScoreTable`]s, and if labels are to have thresholds of their own eight bytes per
/// ranked label.
///
/// Every second document goes to a second half, so that what is fitted to one can be measured on the
/// other.
#[derive(Debug)]
pub struct CalibrationCollector {
    bands: FrequencyBands,
    train_counts: Vec<u32>,
    keeps_labels: bool,
    halves: [Half; 2],
    num_documents: u64,
}

#[derive(Debug, Default)]
struct Half {
    tables: [ScoreTable; NUM_BANDS],
    num_true: [u64; NUM_BANDS],
    num_documents: u64,
    /// Label, and the bits of its score with [`TRUE_BIT`].
    pairs: Vec<(LabelId, u32)>,
    true_labels: Vec<LabelId>,
}

/// What was collected.
#[derive(Debug, Clone, Default)]
pub struct CalibrationData {
    /// Documents with at least one true label.
    pub num_documents: u64,
    /// Scores by band, in the order of [`BucketName::ALL`].
    pub(super) tables: [Vec<ScoreCount>; NUM_BANDS],
    /// True labels by band, ranked or not.
    pub(super) num_true: [u64; NUM_BANDS],
    /// Scores by label, where labels were kept; in the order of their ids.
    pub(super) labels: Vec<LabelScores>,
}

/// The scores of one label.
#[derive(Debug, Clone)]
pub(super) struct LabelScores {
    pub(super) label: LabelId,
    pub(super) band: BucketName,
    pub(super) counts: Vec<ScoreCount>,
    /// Documents for which it is true, ranked or not.
    pub(super) num_true: u64,
}

impl CalibrationCollector {
    /// A collector without documents, for labels with these numbers of training documents;
    /// `keeps_labels` if labels are to have thresholds of their own.
    pub fn new(train_counts: &[u32], keeps_labels: bool) -> Self {
        Self {
            bands: FrequencyBands::of(train_counts),
            train_counts: train_counts.to_vec(),
            keeps_labels,
            halves: Default::default(),
            num_documents: 0,
        }
    }

    /// Takes in a document: its true labels, each once, and its ranking with the scores of the model
    /// itself. One without true labels says nothing and is passed over.
    pub fn add(&mut self, truth: &[LabelId], ranking: &[ScoredLabel]) {
        if truth.is_empty() {
            return;
        }
        let half = &mut self.halves[(self.num_documents % 2) as usize];
        self.num_documents += 1;
        half.num_documents += 1;
        let frequency = |label: LabelId| self.train_counts.get(label.index()).copied();
        let bands = self.bands;
        let band_of = |label| bands.band(frequency(label).unwrap_or(0)) as usize;
        for &label in truth {
            half.num_true[band_of(label)] += 1;
        }
        if self.keeps_labels {
            half.true_labels.extend(truth);
        }
        for scored in ranking {
            let is_true = truth.contains(&scored.label);
            half.tables[band_of(scored.label)].add(scored.score, is_true);
            if self.keeps_labels {
                let truth = if is_true { TRUE_BIT } else { 0 };
                let bits = within_bounds(scored.score).to_bits() | truth;
                half.pairs.push((scored.label, bits));
            }
        }
    }

    /// Documents with at least one true label so far.
    pub fn num_documents(&self) -> u64 {
        self.num_documents
    }

    /// The bands of the labels.
    pub fn bands(&self) -> FrequencyBands {
        self.bands
    }

    /// Both halves.
    pub fn finish(self) -> [CalibrationData; 2] {
        let Self {
            bands,
            train_counts,
            halves,
            ..
        } = self;
        let frequency = |label: LabelId| train_counts.get(label.index()).copied();
        halves.map(|half| half.finish(|label| bands.band(frequency(label).unwrap_or(0))))
    }
}

impl Half {
    fn finish(mut self, band_of: impl Fn(LabelId) -> BucketName) -> CalibrationData {
        self.true_labels.sort_unstable();
        self.pairs
            .sort_unstable_by_key(|&(label, bits)| (label, bits & !TRUE_BIT));
        let mut pairs = self.pairs.as_slice();
        let labels = self.true_labels.chunk_by(|left, right| left == right);
        // Labels that are never true need no threshold of their own.
        let labels = labels.map(|run| {
            let label = run[0];
            pairs = &pairs[pairs.partition_point(|pair| pair.0 < label)..];
            let own = &pairs[..pairs.partition_point(|pair| pair.0 == label)];
            let counts = own.iter().map(|&(_, bits)| ScoreCount {
                score: f32::from_bits(bits & !TRUE_BIT),
                num_pairs: 1,
                num_true: u64::from(bits & TRUE_BIT != 0),
            });
            LabelScores {
                label,
                band: band_of(label),
                counts: group(counts.collect()),
                num_true: run.len() as u64,
            }
        });
        let labels = labels.collect();
        CalibrationData {
            num_documents: self.num_documents,
            tables: self.tables.map(ScoreTable::finish),
            num_true: self.num_true,
            labels,
        }
    }
}

impl CalibrationData {
    /// Two halves as one.
    pub fn joined(halves: &[Self; 2]) -> Self {
        let [first, second] = halves;
        let mut labels: Vec<LabelScores> = [&first.labels[..], &second.labels].concat();
        labels.sort_by_key(|scores| scores.label);
        labels.dedup_by(|next, kept| {
            let is_equal = next.label == kept.label;
            if is_equal {
                kept.counts = merged([&kept.counts[..], &next.counts]);
                kept.num_true += next.num_true;
            }
            is_equal
        });
        Self {
            num_documents: first.num_documents + second.num_documents,
            tables: std::array::from_fn(|band| {
                merged([&first.tables[band][..], &second.tables[band]])
            }),
            num_true: std::array::from_fn(|band| first.num_true[band] + second.num_true[band]),
            labels,
        }
    }

    /// All scores, rising.
    pub fn counts(&self) -> Vec<ScoreCount> {
        merged(self.tables.iter().map(Vec::as_slice))
    }

    pub(super) fn table(&self, band: BucketName) -> &[ScoreCount] {
        &self.tables[band as usize]
    }
}

/// Pairs, and those whose label is true.
pub(super) fn totals(counts: &[ScoreCount]) -> (u64, u64) {
    let sum = |of: fn(&ScoreCount) -> u64| counts.iter().map(of).sum();
    (sum(|count| count.num_pairs), sum(|count| count.num_true))
}
