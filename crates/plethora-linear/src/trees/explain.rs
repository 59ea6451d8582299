//! Why a label has its score: what each feature of a document adds to the label's own classifier.

use half::bf16;
use plethora_core::{LabelId, SparseMatrix, SparseRow, TermId};
use plethora_system::{FeatureContribution, RankOptions};

use crate::trees::config::LinearConfig;
use crate::trees::model::{CANDIDATES_PER_TREE, LinearModel};
use crate::trees::tree_file::TreeFile;
use crate::trees::tree_weights::ChunkView;

/// The label's own classifier, averaged over the trees and laid open for one document. Its margin is
/// the bias plus all contributions.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelExplanation {
    /// The score that ranking gives; where ranking does not come to the label, the one it would
    /// give if it followed every path.
    pub score: f32,
    /// What every document starts from.
    pub bias: f32,
    /// The document's features that have a weight, in their order.
    pub features: Vec<FeatureContribution>,
}

impl LinearModel {
    /// Why `label` has its score for a document.
    ///
    /// A tree that has no weights for the label adds nothing; if none has, neither bias nor
    /// features remain.
    ///
    /// # Panics
    /// If the document has features that the model does not know.
    pub fn explain(&self, document: SparseRow<'_>, label: LabelId) -> LabelExplanation {
        let share = 1.0 / self.trees.len() as f32;
        let mut weights = vec![0.0; document.columns.len()];
        let mut bias = 0.0;
        let mut path_score = 0.0;
        let places = self.trees.iter().filter_map(|tree| Place::of(tree, label));
        for place in places {
            bias += share * place.own.bias();
            for (sum, weight) in weights.iter_mut().zip(place.own.weights(document)) {
                *sum += share * weight;
            }
            path_score += share * place.score(document, &self.config);
        }
        let entries = document.columns.iter().zip(document.values).zip(weights);
        LabelExplanation {
            score: self.ranked_score(document, label).unwrap_or(path_score),
            bias,
            features: entries
                .filter(|&(_, weight)| weight != 0.0)
                .map(|((&column, &value), weight)| FeatureContribution {
                    feature: TermId(column),
                    value,
                    weight,
                })
                .collect(),
        }
    }

    /// The score of a label that ranking comes to.
    fn ranked_score(&self, document: SparseRow<'_>, label: LabelId) -> Option<f32> {
        let mut rows = SparseMatrix::builder(self.num_features());
        rows.push(document);
        let options = RankOptions {
            top_k: CANDIDATES_PER_TREE,
            beam: None,
        };
        let rankings = self.rank(&rows.finish(), options);
        let mut scored = rankings.iter().flatten();
        scored
            .find(|scored| scored.label == label)
            .map(|scored| scored.score)
    }
}

/// Where a label hangs in a tree.
struct Place<'a> {
    /// From the root down; absent where a node on the way has no weights, so that nothing passes.
    path: Option<Vec<Classifier<'a>>>,
    own: Classifier<'a>,
}

impl<'a> Place<'a> {
    /// None where the tree has no weights for the label.
    fn of(file: &'a TreeFile, label: LabelId) -> Option<Self> {
        let tree = file.tree();
        let position = |node: usize| tree.labels(node).iter().position(|&other| other == label);
        let (mut node, position) =
            (0..tree.num_nodes()).find_map(|node| Some((node, position(node)?)))?;
        let own = Classifier::of(file, node, tree.children(node).len() + position)?;
        let parents = tree.parents();
        let mut path = Vec::new();
        while node != 0 {
            let parent = parents[node] as usize;
            let class = node - tree.children(parent).start;
            path.push(Classifier::of(file, parent, class));
            node = parent;
        }
        Some(Self {
            path: path.into_iter().rev().collect(),
            own,
        })
    }

    /// The score that the tree gives to the label.
    fn score(&self, document: SparseRow<'_>, config: &LinearConfig) -> f32 {
        let log_score = |classifier: &Classifier<'_>| {
            let margin = classifier.margin(document);
            config.solver.loss.log_probability(margin)
        };
        self.path.as_ref().map_or(0.0, |path| {
            let path_log_score: f32 = path.iter().map(log_score).sum();
            (config.path_weight * path_log_score + log_score(&self.own)).exp()
        })
    }
}

/// One class of one node.
struct Classifier<'a> {
    chunk: ChunkView<'a>,
    /// Counted within the chunk.
    class: usize,
}

impl<'a> Classifier<'a> {
    /// None where the node has no weights.
    fn of(file: &'a TreeFile, node: usize, class: usize) -> Option<Self> {
        let mut class = class;
        for chunk in file.weights().chunks(node) {
            match class.checked_sub(chunk.biases.len()) {
                Some(beyond) => class = beyond,
                None => return Some(Self { chunk, class }),
            }
        }
        None
    }

    fn bias(&self) -> f32 {
        self.chunk.biases[self.class]
    }

    /// The weight of each of the document's features.
    fn weights<'b>(&'b self, document: SparseRow<'b>) -> impl Iterator<Item = f32> + use<'a, 'b> {
        (document.columns.iter()).map(|feature| {
            let row = self.chunk.features.binary_search(feature);
            row.map_or(0.0, |row| self.weight_at(row))
        })
    }

    fn weight_at(&self, row: usize) -> f32 {
        let (classes, weights) = self.chunk.entries(row);
        let mut entries = classes.iter().zip(weights);
        entries
            .find(|&(&class, _)| usize::from(class) == self.class)
            .map_or(0.0, |(_, &weight)| bf16::from_bits(weight).to_f32())
    }

    fn margin(&self, document: SparseRow<'_>) -> f32 {
        let products = (document.values.iter()).zip(self.weights(document));
        self.bias() + products.map(|(value, weight)| value * weight).sum::<f32>()
    }
}

#[cfg(test)]
mod tests {
    use plethora_core::SparseVector;
    use plethora_core::artifact::WorkFolder;
    use plethora_core::tree::{LabelTree, TreeNode};

    use super::*;
    use crate::trees::chunk::Chunk;
    use crate::trees::tree_file::TreeFileWriter;

    const NUM_FEATURES: usize = 4;

    fn chunk(biases: &[f32], entries: &[(u32, u8, f32)]) -> Chunk {
        let mut chunk = Chunk {
            biases: biases.to_vec(),
            ..Chunk::default()
        };
        for entries in entries.chunk_by(|left, right| left.0 == right.0) {
            chunk.features.push(entries[0].0);
            for &(_, class, weight) in entries {
                chunk.classes.push(class);
                chunk.weights.push(bf16::from_f32(weight).to_bits());
            }
            chunk.entry_ends.push(chunk.classes.len() as u32);
        }
        chunk
    }

    /// Three leaves: labels 0 and 1, label 2, and label 3 without weights. The classes of the first
    /// leaf are in chunks of one. All weights are multiples of `scale`.
    fn write_tree(work: &WorkFolder, name: &str, scale: f32) {
        let leaf = |labels: &[u32]| TreeNode::leaf(labels.iter().copied().map(LabelId).collect());
        let tree = LabelTree::from(TreeNode {
            children: vec![leaf(&[0, 1]), leaf(&[2]), leaf(&[3])],
            labels: Vec::new(),
        });
        let mut writer = TreeFileWriter::create(&work.path(name), &tree).unwrap();
        let root = [
            (0, 0, scale),
            (0, 1, -scale),
            (1, 1, scale),
            (3, 2, 2.0 * scale),
        ];
        for node in [
            &[chunk(&[0.5, -0.5, 0.0], &root)][..],
            &[
                chunk(&[-1.0], &[(0, 0, 2.0 * scale), (1, 0, -scale)]),
                chunk(&[-0.5], &[(1, 0, scale), (2, 0, 3.0 * scale)]),
            ],
            &[chunk(&[0.25], &[(3, 0, scale)])],
            &[],
        ] {
            for chunk in node {
                writer.push_chunk(chunk.view()).unwrap();
            }
            writer.end_node().unwrap();
        }
        writer.finish().unwrap();
    }

    fn model(scales: &[f32]) -> (LinearModel, tempfile::TempDir) {
        let scratch = tempfile::tempdir().unwrap();
        let work = WorkFolder::open(&scratch.path().join("model"), "x", false).unwrap();
        let mut config = LinearConfig::of_system("parabel").unwrap();
        config.num_trees = scales.len();
        config.path_weight = 0.5;
        for (name, &scale) in LinearModel::file_names(&config).iter().zip(scales) {
            write_tree(&work, name, scale);
        }
        let model = LinearModel::open_unsaved(&work, config, NUM_FEATURES, 4).unwrap();
        (model, scratch)
    }

    fn document() -> SparseVector {
        SparseVector::from_entries(vec![(0, 0.5), (1, 0.25), (2, 0.75)])
    }

    fn shown(explanation: &LabelExplanation) -> Vec<(u32, f32, f32)> {
        let features = explanation.features.iter();
        features
            .map(|feature| (feature.feature.0, feature.weight, feature.contribution()))
            .collect()
    }

    #[test]
    fn contributions_are_values_times_weights_averaged_over_trees() {
        let (model, _files) = model(&[1.0, 2.0]);
        let document = document();
        let first = model.explain(document.as_row(), LabelId(0));
        assert_eq!(first.bias, -1.0);
        assert_eq!(shown(&first), [(0, 3.0, 1.5), (1, -1.5, -0.375)]);
        let second = model.explain(document.as_row(), LabelId(1));
        assert_eq!(second.bias, -0.5);
        assert_eq!(shown(&second), [(1, 1.5, 0.375), (2, 4.5, 3.375)]);
    }

    #[test]
    fn a_label_without_weights_has_no_contributions() {
        let (model, _files) = model(&[1.0]);
        let explanation = model.explain(document().as_row(), LabelId(3));
        let nothing = LabelExplanation {
            score: 0.0,
            bias: 0.0,
            features: Vec::new(),
        };
        assert_eq!(explanation, nothing);
    }

    #[test]
    fn scores_are_those_of_the_ranking_or_of_the_full_walk() {
        for scales in [&[1.0][..], &[1.0, 0.5, 2.0]] {
            let (mut model, _files) = model(scales);
            let document = document();
            let mut rows = SparseMatrix::builder(NUM_FEATURES);
            rows.push(document.as_row());
            let rows = rows.finish();
            let everywhere = RankOptions {
                top_k: 4,
                beam: Some(100),
            };
            let full = model.rank(&rows, everywhere).remove(0);
            assert_eq!(full.len(), 3);
            // One node per level: the other leaf's label is explained but not ranked.
            for beam in [100, 1] {
                model.config.beam = beam;
                for scored in &full {
                    let score = model.explain(document.as_row(), scored.label).score;
                    assert!((score - scored.score).abs() < 1e-6, "{scored:?} {score}");
                }
            }
        }
    }

    #[test]
    fn contributions_and_bias_sum_to_the_margin() {
        let (model, _files) = model(&[1.0]);
        let document = document();
        for label in 0..3 {
            let explanation = model.explain(document.as_row(), LabelId(label));
            let contributions = explanation.features.iter();
            let sum: f32 = contributions.map(FeatureContribution::contribution).sum();
            let place = Place::of(&model.trees[0], LabelId(label)).unwrap();
            let margin = place.own.margin(document.as_row());
            assert!((explanation.bias + sum - margin).abs() < 1e-6);
        }
    }
}
