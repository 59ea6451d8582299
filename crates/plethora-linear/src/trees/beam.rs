//! Beam search down a trained tree, for many documents at once.
//!
//! Documents that visit the same node are scored together: the node's features are laid out in a
//! table once and then looked up by each of them.

use half::bf16;
use plethora_core::tree::LabelTree;
use plethora_core::{LabelId, SparseRow};

use crate::trees::chunk::CHUNK_CLASSES;
use crate::trees::config::Loss;
use crate::trees::tree_weights::{ChunkView, TreeWeights};

/// Documents searched together: enough to share the nodes' tables, few enough to stay in cache.
pub(crate) const DOCUMENTS_PER_SEARCH: usize = 512;

/// From this many documents on, laying out a node's features pays for itself.
const TABLE_FROM: usize = 3;

/// A document, numbered within its search, at a node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Visit {
    pub(crate) document: u32,
    pub(crate) node: u32,
    /// Sum of the log scores on the way here.
    pub(crate) log_score: f32,
}

/// A label that a search came to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reached {
    pub(crate) label: LabelId,
    /// Log score of the node that holds the label.
    pub(crate) path_log_score: f32,
    /// Log score of the label at that node.
    pub(crate) log_score: f32,
}

/// By feature: row in the chunk at hand, plus one; 0 where the chunk has none. Reused from search
/// to search, all zero between chunks.
#[derive(Default)]
pub(crate) struct FeatureTable(Vec<u32>);

/// A tree, or some of its nodes, to be searched.
#[derive(Clone, Copy)]
pub(crate) struct BeamSearch<'a> {
    pub(crate) tree: &'a LabelTree,
    pub(crate) weights: TreeWeights<'a>,
    /// The node whose weights come first; 0 where the whole tree is searched.
    pub(crate) first_node: usize,
    pub(crate) num_features: usize,
    pub(crate) loss: Loss,
    /// Nodes kept per document and level.
    pub(crate) beam: usize,
}

impl BeamSearch<'_> {
    /// All labels that each document comes to, in no order.
    pub(crate) fn run(
        &self,
        documents: &[SparseRow<'_>],
        table: &mut FeatureTable,
    ) -> Vec<Vec<Reached>> {
        let mut found: Vec<Vec<Reached>> = vec![Vec::new(); documents.len()];
        let mut visits = roots(documents.len());
        while !visits.is_empty() {
            visits = self.step(documents, &visits, table, &mut found);
        }
        found
    }

    /// Takes `visits`, sorted by node, one level down; adds the labels met to `found`.
    pub(crate) fn step(
        &self,
        documents: &[SparseRow<'_>],
        visits: &[Visit],
        table: &mut FeatureTable,
        found: &mut [Vec<Reached>],
    ) -> Vec<Visit> {
        table.0.resize(self.num_features, 0);
        let mut next = Vec::new();
        for group in visits.chunk_by(|left, right| left.node == right.node) {
            let mut first_class = 0;
            for chunk in self
                .weights
                .chunks(group[0].node as usize - self.first_node)
            {
                let by_table = group.len() >= TABLE_FROM;
                if by_table {
                    table.fill(&chunk);
                }
                for visit in group {
                    let mut scores = chunk.bias_scores();
                    let document = documents[visit.document as usize];
                    if by_table {
                        chunk.score_by_table(document, table, &mut scores);
                    } else {
                        chunk.score_by_search(document, &mut scores);
                    }
                    let scores = &scores[..chunk.biases.len()];
                    let reached = &mut found[visit.document as usize];
                    self.follow(*visit, first_class, scores, &mut next, reached);
                }
                if by_table {
                    table.clear(&chunk);
                }
                first_class += chunk.biases.len();
            }
        }
        self.keep_best(next)
    }

    /// Sorts the classes of a chunk into nodes to visit next and labels found.
    fn follow(
        &self,
        visit: Visit,
        first_class: usize,
        scores: &[f32],
        next: &mut Vec<Visit>,
        found: &mut Vec<Reached>,
    ) {
        let children = self.tree.children(visit.node as usize);
        let labels = self.tree.labels(visit.node as usize);
        let num_children = children.len().saturating_sub(first_class).min(scores.len());
        let (child_scores, label_scores) = scores.split_at(num_children);
        for (node, &score) in (children.start + first_class..).zip(child_scores) {
            let log_score = visit.log_score + self.loss.log_probability(score);
            next.push(Visit {
                document: visit.document,
                node: node as u32,
                log_score,
            });
        }
        let first_label = (first_class + num_children).saturating_sub(children.len());
        found.extend(
            labels[first_label.min(labels.len())..]
                .iter()
                .zip(label_scores)
                .map(|(&label, &score)| Reached {
                    label,
                    path_log_score: visit.log_score,
                    log_score: self.loss.log_probability(score),
                }),
        );
    }

    /// The best visits of each document, sorted by node.
    fn keep_best(&self, mut candidates: Vec<Visit>) -> Vec<Visit> {
        // Visits come node by node, so a stable sort by document leaves nodes in rising order.
        candidates.sort_by_key(|visit| visit.document);
        let mut best = Vec::new();
        for visits in candidates.chunk_by_mut(|left, right| left.document == right.document) {
            if visits.len() > self.beam {
                visits.select_nth_unstable_by(self.beam - 1, |left, right| {
                    right
                        .log_score
                        .total_cmp(&left.log_score)
                        .then(left.node.cmp(&right.node))
                });
            }
            best.extend_from_slice(&visits[..visits.len().min(self.beam)]);
        }
        best.sort_unstable_by_key(|visit| (visit.node, visit.document));
        best
    }
}

/// Every document at the root.
pub(crate) fn roots(num_documents: usize) -> Vec<Visit> {
    (0..num_documents as u32)
        .map(|document| Visit {
            document,
            node: 0,
            log_score: 0.0,
        })
        .collect()
}

impl Loss {
    /// How well a score keeps its margin, in the log domain: 0 where it does.
    #[inline]
    pub(crate) fn log_probability(self, score: f32) -> f32 {
        match self {
            Self::SquaredHinge => {
                let violation = (1.0 - score).max(0.0);
                -violation * violation
            }
            // The log of the sigmoid, written so that neither side overflows.
            Self::Log => score.min(0.0) - (-score.abs()).exp().ln_1p(),
        }
    }
}

impl FeatureTable {
    fn fill(&mut self, chunk: &ChunkView<'_>) {
        for (row, &feature) in (1..).zip(chunk.features) {
            self.0[feature as usize] = row;
        }
    }

    fn clear(&mut self, chunk: &ChunkView<'_>) {
        for &feature in chunk.features {
            self.0[feature as usize] = 0;
        }
    }
}

/// A score for every class that a byte can name, so that look-ups need no bounds check.
type ChunkScores = [f32; CHUNK_CLASSES];

impl ChunkView<'_> {
    /// What every document starts from.
    fn bias_scores(&self) -> ChunkScores {
        let mut scores = [0.0; CHUNK_CLASSES];
        scores[..self.biases.len()].copy_from_slice(self.biases);
        scores
    }

    fn score_by_table(
        &self,
        document: SparseRow<'_>,
        table: &FeatureTable,
        scores: &mut ChunkScores,
    ) {
        for (feature, value) in document.iter() {
            let row = table.0[feature];
            if row != 0 {
                self.add_row(row as usize - 1, value, scores);
            }
        }
    }

    /// Both sides rise, so each search starts where the last one ended.
    fn score_by_search(&self, document: SparseRow<'_>, scores: &mut ChunkScores) {
        let mut from = 0;
        for (&feature, &value) in document.columns.iter().zip(document.values) {
            from += self.features[from..].partition_point(|&other| other < feature);
            if self.features.get(from) == Some(&feature) {
                self.add_row(from, value, scores);
            }
        }
    }

    #[inline]
    fn add_row(&self, row: usize, value: f32, scores: &mut ChunkScores) {
        let (classes, weights) = self.entries(row);
        for (&class, &weight) in classes.iter().zip(weights) {
            scores[class as usize] += value * bf16::from_bits(weight).to_f32();
        }
    }
}
