//! Groups of labels by what their documents read.

use plethora_core::tree::{TreeConfig, build, label_features};
use plethora_core::{Progress, SeedStream};

use super::piece_features::piece_features;
use super::training_set::NeuralSet;
use crate::Result;
use crate::head::Clusters;

/// Groups the labels of a set by the words or pieces of their documents, of which there are
/// `num_known`: the leaves of a tree.
pub(super) fn label_clusters(
    set: &NeuralSet,
    num_known: usize,
    tree: &TreeConfig,
    seed: SeedStream,
    progress: &dyn Progress,
) -> Result<Clusters> {
    progress.start("label clusters", None);
    let features = piece_features(set.sequences.rows(), num_known);
    let documents_of_labels = set.labels_of_documents.transpose(set.space.len());
    let vectors = label_features(&features, &documents_of_labels, tree.max_label_features);
    let clusters = Clusters::of_tree(&build(&vectors, &set.space, tree, seed)?);
    progress.finish(&format!(
        "{} clusters of {} labels",
        clusters.num_clusters(),
        set.space.len()
    ));
    Ok(clusters)
}
