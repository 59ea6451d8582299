//! From documents to their best items, level by level.

use plethora_core::IndexRows;
use tch::{Kind, Tensor};

use super::batch::WordBatch;
use super::levels::Levels;
use super::network::WordNetwork;
use crate::Result;
use crate::head::Ranked;
use crate::systems::ranked_batches::{BatchLimits, RankedBatches, ReadsBatches};
use crate::systems::rankings::flat;

/// Documents that are read together on a GPU.
const ON_GPU: BatchLimits = BatchLimits {
    places: 1 << 15,
    documents: 256,
    is_recurrent: true,
};

/// As [`ON_GPU`], on a processor, whose caches hold fewer.
const ON_CPU: BatchLimits = BatchLimits {
    places: 1 << 13,
    documents: 32,
    is_recurrent: true,
};

/// The best items of one document at one level, best first.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Beam {
    pub(crate) items: Vec<u32>,
    /// Logarithm of the probability of the path to each item.
    pub(crate) log_scores: Vec<f32>,
}

/// A network of one level, ready to rank its items.
pub(crate) struct LevelRanker<'a> {
    pub(crate) network: &'a WordNetwork,
    pub(crate) levels: &'a Levels,
    pub(crate) level: usize,
    /// Items kept per document.
    pub(crate) keep: usize,
    /// Clusters whose labels are ranked, where the network has clusters.
    pub(crate) beam: usize,
}

impl LevelRanker<'_> {
    /// The best items of each document. `above` has the beams of the level above, for all but the
    /// first level. `after_batches` may stop the work.
    pub(crate) fn rank(
        &self,
        sequences: &IndexRows,
        above: Option<&[Beam]>,
        after_batches: impl FnMut(usize) -> Result<()>,
    ) -> Result<Vec<Beam>> {
        RankedBatches {
            sequences,
            device: self.network.device(),
            on_gpu: ON_GPU,
            on_cpu: ON_CPU,
        }
        .rank(
            &LevelReading {
                ranker: self,
                sequences,
                above,
            },
            after_batches,
        )
    }

    fn rank_batch(
        &self,
        documents: &[u32],
        sequences: &IndexRows,
        above: Option<&[Beam]>,
    ) -> Vec<Beam> {
        let words: Vec<&[u32]> = documents
            .iter()
            .map(|&document| sequences.row(document as usize))
            .collect();
        let batch = WordBatch::new(&words);
        let Some(above) = above else {
            let ranked = self.network.rank(&batch, None, self.beam, self.keep);
            return to_beams(&ranked, |_, item| item as u32);
        };
        let beams = documents.iter().map(|&document| &above[document as usize]);
        let (candidates, path_scores) = self.candidates(beams);
        let batch = batch.with_candidates(&candidates);
        let width = batch
            .candidates
            .as_ref()
            .map_or(0, |brought| brought.places.size()[1]);
        let paths = padded(&path_scores, width);
        let ranked = self
            .network
            .rank(&batch, Some(&paths), self.beam, self.keep);
        to_beams(&ranked, |document, column| candidates[document][column])
    }

    /// The children of the items of each beam, and the score of the path to each.
    fn candidates<'b>(
        &self,
        beams: impl Iterator<Item = &'b Beam>,
    ) -> (Vec<Vec<u32>>, Vec<Vec<f32>>) {
        beams
            .map(|beam| {
                let mut candidates = Vec::new();
                let mut path_scores = Vec::new();
                for (&item, &score) in beam.items.iter().zip(&beam.log_scores) {
                    let children = self.levels.children(self.level - 1, item);
                    candidates.extend_from_slice(children);
                    path_scores.extend(children.iter().map(|_| score));
                }
                (candidates, path_scores)
            })
            .unzip()
    }
}

/// A level's network with documents that it is to rank.
struct LevelReading<'a> {
    ranker: &'a LevelRanker<'a>,
    sequences: &'a IndexRows,
    above: Option<&'a [Beam]>,
}

#[expect(unsafe_code, reason = "tch marks no tensor as one that threads share")]
// SAFETY: ranking reads the weights of the network, and writes to tensors of its batch alone; words and
// beams are no tensors.
unsafe impl ReadsBatches for LevelReading<'_> {
    type Said = Beam;

    fn read(&self, documents: &[u32]) -> Result<Vec<Beam>> {
        let ranker = self.ranker;
        Ok(ranker.rank_batch(documents, self.sequences, self.above))
    }
}

/// What was found, without padding, which has no score and comes last.
fn to_beams(ranked: &Ranked, item_of: impl Fn(usize, usize) -> u32) -> Vec<Beam> {
    let width = ranked.labels.size()[1].max(1) as usize;
    let scores: Vec<f32> = flat(&ranked.log_scores.to_kind(Kind::Float));
    let places: Vec<i64> = flat(&ranked.labels);
    scores
        .chunks(width)
        .zip(places.chunks(width))
        .enumerate()
        .map(|(document, (scores, places))| {
            let end = scores.partition_point(|&score| score > f32::NEG_INFINITY);
            let places = places[..end].iter();
            Beam {
                items: places
                    .map(|&place| item_of(document, place as usize))
                    .collect(),
                log_scores: scores[..end].to_vec(),
            }
        })
        .collect()
}

/// Rows of different lengths as a matrix; behind its end a row is zero.
fn padded(rows: &[Vec<f32>], width: i64) -> Tensor {
    let mut values = vec![0.0_f32; rows.len() * width as usize];
    for (line, row) in values.chunks_mut(width.max(1) as usize).zip(rows) {
        line[..row.len()].copy_from_slice(row);
    }
    Tensor::from_slice(&values).view([rows.len() as i64, width])
}

#[cfg(test)]
mod tests {
    use plethora_core::tree::{LabelTree, TreeNode};
    use plethora_core::{LabelId, SeedStream};
    use tch::Device;

    use super::*;
    use crate::head::LabelFacts;
    use crate::start::Start;
    use crate::words::config::settled;
    use crate::words::network::NetworkSetup;

    /// Clusters {0, 1, 2}, {3}, {4, 5}.
    fn levels() -> Levels {
        let leaf = |labels: &[u32]| TreeNode::leaf(labels.iter().map(|&l| LabelId(l)).collect());
        Levels::of_tree(&LabelTree::from(TreeNode {
            labels: Vec::new(),
            children: vec![leaf(&[0, 1, 2]), leaf(&[3]), leaf(&[4, 5])],
        }))
    }

    fn network(num_items: usize, has_candidates: bool) -> WordNetwork {
        let mut config = settled("attentionxml-plt");
        config.vectors.width = 8;
        let start = Start::seeded(SeedStream::new(num_items as u64));
        WordNetwork::new(&NetworkSetup {
            config: &config,
            word_vectors: &start.named("words").normal(&[20, 8], 1.0),
            labels: LabelFacts {
                train_counts: &vec![1; num_items],
                num_documents: 10,
            },
            candidates: has_candidates.then_some(num_items),
            clusters: None,
            device: Device::Cpu,
            start,
        })
        .unwrap()
    }

    fn sequences() -> IndexRows {
        let mut sequences = IndexRows::default();
        sequences.push([3, 4, 5]);
        sequences.push([7]);
        sequences.push([9, 2, 9, 12, 3]);
        sequences
    }

    /// Ranks through both levels, keeping `beam` clusters.
    fn rank(beam: usize, keep: usize) -> Vec<Beam> {
        let levels = levels();
        let (top, bottom) = (network(3, false), network(6, true));
        let ranker = |network, level, keep| LevelRanker {
            network,
            levels: &levels,
            level,
            keep,
            beam: 1,
        };
        let above = ranker(&top, 0, beam).rank(&sequences(), None, |_| Ok(()));
        ranker(&bottom, 1, keep)
            .rank(&sequences(), Some(&above.unwrap()), |_| Ok(()))
            .unwrap()
    }

    #[test]
    fn a_wide_beam_gives_every_label_the_product_of_its_path() {
        let levels = levels();
        let (top, bottom) = (network(3, false), network(6, true));
        let ranked = rank(3, 10);
        for (words, beam) in sequences().rows().zip(&ranked) {
            let batch = WordBatch::new(&[words]);
            let clusters = top.logits(&batch).sigmoid();
            let all: Vec<u32> = (0..6).collect();
            let batch = batch.with_candidates(&[all]);
            let labels = bottom.logits(&batch).sigmoid();
            assert_eq!(beam.items.len(), 6);
            for (&label, &log_score) in beam.items.iter().zip(&beam.log_scores) {
                let cluster = levels.items_of(0, &[label])[0];
                let expected = clusters.double_value(&[0, i64::from(cluster)])
                    * labels.double_value(&[0, i64::from(label)]);
                assert!((f64::from(log_score).exp() - expected).abs() < 1e-6);
            }
            assert!(beam.log_scores.is_sorted_by(|a, b| a >= b));
        }
    }

    #[test]
    fn a_narrow_beam_ranks_the_labels_of_its_clusters_alone() {
        let (wide, narrow) = (rank(3, 10), rank(1, 10));
        for (wide, narrow) in wide.iter().zip(&narrow) {
            assert!([1, 2, 3].contains(&narrow.items.len()));
            let clusters: Vec<Vec<u32>> = narrow
                .items
                .iter()
                .map(|&label| levels().items_of(0, &[label]))
                .collect();
            assert!(clusters.windows(2).all(|pair| pair[0] == pair[1]));
            for (label, score) in narrow.items.iter().zip(&narrow.log_scores) {
                let place = wide.items.iter().position(|item| item == label).unwrap();
                assert!((wide.log_scores[place] - score).abs() < 1e-5);
            }
        }
        assert!(rank(3, 2).iter().all(|beam| beam.items.len() == 2));
    }
}
