//! Beam search down a trained tree, for many documents at once.
//!
//! Documents that visit the same node are scored together: the node's features are laid out in a
//! table once and then looked up by each of them, and the weights of few classes in whole rows.

use half::bf16;
use plethora_core::tree::LabelTree;
use plethora_core::{LabelId, SparseRow};

use crate::trees::chunk::CHUNK_CLASSES;
use crate::trees::config::Loss;
use crate::trees::dense_rows::{DENSE_FROM, DenseRows, MOST_CLASSES};
use crate::trees::feature_table::FeatureTable;
use crate::trees::tree_weights::{ChunkView, TreeWeights};

/// Documents searched together: enough to share the nodes' tables, few enough to stay in cache.
pub(crate) const DOCUMENTS_PER_SEARCH: usize = 1024;

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

/// The chunk at hand as it is looked up. Reused from search to search.
#[derive(Default)]
pub(crate) struct ChunkLayout {
    table: FeatureTable,
    rows: DenseRows,
}

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
        layout: &mut ChunkLayout,
    ) -> Vec<Vec<Reached>> {
        let mut found: Vec<Vec<Reached>> = vec![Vec::new(); documents.len()];
        let mut visits = roots(documents.len());
        while !visits.is_empty() {
            visits = self.step(documents, &visits, layout, &mut found);
        }
        found
    }

    /// Takes `visits`, sorted by node, one level down; adds the labels met to `found`.
    pub(crate) fn step(
        &self,
        documents: &[SparseRow<'_>],
        visits: &[Visit],
        layout: &mut ChunkLayout,
        found: &mut [Vec<Reached>],
    ) -> Vec<Visit> {
        layout.table.resize(self.num_features);
        let mut next: Vec<Vec<Visit>> = vec![Vec::new(); documents.len()];
        for group in visits.chunk_by(|left, right| left.node == right.node) {
            let mut first_class = 0;
            for chunk in self
                .weights
                .chunks(group[0].node as usize - self.first_node)
            {
                let by_table = group.len() >= TABLE_FROM;
                let by_dense_rows = group.len() >= DENSE_FROM && chunk.biases.len() <= MOST_CLASSES;
                if by_table {
                    layout.table.fill(chunk.features);
                }
                if by_dense_rows {
                    layout.rows.fill(&chunk);
                }
                for visit in group {
                    let mut scores = chunk.bias_scores();
                    let document = documents[visit.document as usize];
                    if by_dense_rows {
                        layout.rows.add(document, &layout.table, &mut scores);
                    } else if by_table {
                        chunk.score_by_table(document, &layout.table, &mut scores);
                    } else {
                        chunk.score_by_search(document, &mut scores);
                    }
                    let scores = &scores[..chunk.biases.len()];
                    let number = visit.document as usize;
                    let (next, reached) = (&mut next[number], &mut found[number]);
                    self.follow(*visit, first_class, scores, next, reached);
                }
                if by_table {
                    layout.table.clear(chunk.features);
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
    fn keep_best(&self, mut candidates: Vec<Vec<Visit>>) -> Vec<Visit> {
        for visits in &mut candidates {
            if visits.len() > self.beam {
                visits.select_nth_unstable_by(self.beam - 1, |left, right| {
                    right
                        .log_score
                        .total_cmp(&left.log_score)
                        .then(left.node.cmp(&right.node))
                });
                visits.truncate(self.beam);
            }
        }
        let mut best: Vec<Visit> = candidates.into_iter().flatten().collect();
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
        for (&feature, &value) in document.columns.iter().zip(document.values) {
            if let Some(row) = table.row(feature) {
                self.add_row(row, value, scores);
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
