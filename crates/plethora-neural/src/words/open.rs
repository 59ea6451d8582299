//! The networks of a model folder.

use plethora_core::Error;
use plethora_core::artifact::ModelReader;
use plethora_core::text::Words;

use super::config::WordConfig;
use super::levels::Levels;
use super::model::{TrainedTree, levels_file_name, network_file_name};
use super::network::{NetworkSetup, WordNetwork};
use crate::Result;
use crate::head::Clusters;
use crate::precision::prediction_numbers;
use crate::start::zeros;
use crate::systems::label_clusters::{blank, open_clusters};
use crate::systems::network_file;
use crate::train::Network as _;

/// The networks of one tree.
pub(super) fn open_tree(
    folder: &ModelReader,
    (config, words): (&WordConfig, &Words),
    num_labels: usize,
    tree: usize,
    device: tch::Device,
) -> Result<TrainedTree> {
    let levels: Levels = folder.read_json(&levels_file_name(tree))?;
    let levels = levels.complete(num_labels).map_err(|error| {
        let path = folder.folder().join(levels_file_name(tree));
        Error::model(&path, error.to_string())
    })?;
    let clusters = match &config.clusters {
        Some(_) => Some(open_clusters(folder, tree, num_labels)?),
        None => None,
    };
    let cluster_counts = vec![0; clusters.as_ref().map_or(0, Clusters::num_clusters)];
    let shape = [words.num_rows() as i64, config.vectors.width as i64];
    let blank_words = zeros(&shape);
    let networks = (0..levels.len())
        .map(|level| {
            let counts = vec![0; levels.num_items(level)];
            let name = network_file_name(tree, level);
            let mut network = WordNetwork::new(&NetworkSetup {
                config,
                word_vectors: &blank_words,
                labels: blank(&counts),
                candidates: (level > 0).then(|| levels.num_items(level)),
                clusters: (clusters.as_ref()).map(|clusters| (clusters, blank(&cluster_counts))),
                device,
                start: network_file::start(folder, &name)?,
            })?;
            network_file::load(network.parameters(), folder, &name)?;
            network.only_read(prediction_numbers(config.train.precision, device));
            Ok(network)
        })
        .collect::<Result<_>>()?;
    Ok(TrainedTree {
        levels,
        networks,
        clusters,
    })
}
