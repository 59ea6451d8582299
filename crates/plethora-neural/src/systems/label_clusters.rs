//! Groups of labels by what their documents read, and their file in a model folder.

use plethora_core::artifact::ModelReader;
use plethora_core::checks::check;
use plethora_core::corpus::LabelSpace;
use plethora_core::tree::{TreeConfig, build, label_features};
use plethora_core::{Error, IndexRows, Progress, SeedStream, SparseMatrix};

use super::piece_features::piece_features;
use crate::Result;
use crate::head::{Clusters, LabelFacts};

/// Groups labels by the words or pieces of their documents, of which there are `num_known`: the leaves
/// of a tree.
pub(crate) fn label_clusters<'a>(
    (sequences, num_known): (impl Iterator<Item = &'a [u32]>, usize),
    (space, labels_of_documents): (&LabelSpace, &IndexRows),
    tree: &TreeConfig,
    seed: SeedStream,
    progress: &dyn Progress,
) -> Result<Clusters> {
    let features = piece_features(sequences, num_known);
    clusters_by(
        &features,
        (space, labels_of_documents),
        tree,
        seed,
        progress,
    )
}

/// Groups labels by a row of features for each document.
pub(crate) fn clusters_by(
    features: &SparseMatrix,
    (space, labels_of_documents): (&LabelSpace, &IndexRows),
    tree: &TreeConfig,
    seed: SeedStream,
    progress: &dyn Progress,
) -> Result<Clusters> {
    check(
        tree.label_text_weight <= 0.0,
        "clusters.tree.label_text_weight",
        "must be 0: labels are grouped by what their documents read, in which names have no part",
    )?;
    progress.start("label clusters", None);
    let documents_of_labels = labels_of_documents.transpose(space.len());
    let vectors = label_features(features, &documents_of_labels, tree.max_label_features);
    let clusters = Clusters::of_tree(&build(&vectors, space, tree, seed)?);
    progress.finish(&format!(
        "{} clusters of {} labels",
        clusters.num_clusters(),
        space.len()
    ));
    Ok(clusters)
}

/// Documents of each item.
pub(crate) fn counts(truth: &IndexRows, num_items: usize) -> Vec<u32> {
    let mut counts = vec![0; num_items];
    for items in truth.rows() {
        for &item in items {
            counts[item as usize] += 1;
        }
    }
    counts
}

/// Name of the clusters of a network in a model folder, by the number of its member or tree.
pub(crate) fn clusters_file_name(number: usize) -> String {
    format!("clusters-{number}.json")
}

/// The clusters of a network in a model folder, by the number of its member or tree.
pub(crate) fn open_clusters(
    folder: &ModelReader,
    number: usize,
    num_labels: usize,
) -> Result<Clusters> {
    let name = clusters_file_name(number);
    let clusters: Clusters = folder.read_json(&name)?;
    let path = folder.folder().join(name);
    let complete = clusters.complete(num_labels);
    Ok(complete.map_err(|error| Error::model(&path, error.to_string()))?)
}

/// What labels start from where their weights come from a file.
pub(crate) fn blank(train_counts: &[u32]) -> LabelFacts<'_> {
    LabelFacts {
        train_counts,
        num_documents: 1,
    }
}
