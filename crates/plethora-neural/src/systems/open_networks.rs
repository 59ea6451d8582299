//! The networks of a model folder.

use plethora_core::Error as CoreError;
use plethora_core::artifact::ModelReader;
use plethora_core::text::Words;
use tch::{Kind, Tensor};

use super::levels::Levels;
use super::model::{
    ARCHITECTURE_FILE, TrainedTree, clusters_file_name, levels_file_name, member_file_name,
    network_file_name,
};
use super::network_file;
use super::piece_run::PieceMember;
use crate::Result;
use crate::head::{Clusters, LabelFacts};
use crate::piece_config::{HeadForm, PieceConfig};
use crate::piece_network::{PieceNetwork, PieceSetup};
use crate::precision::prediction_kind;
use crate::start::Start;
use crate::train::Network as _;
use crate::transformer::{Architecture, Weights};
use crate::word_config::WordConfig;
use crate::word_network::{NetworkSetup, WordNetwork};

/// The networks of one tree.
pub(super) fn open_tree(
    folder: &ModelReader,
    config: &WordConfig,
    words: &Words,
    num_labels: usize,
    tree: usize,
    device: tch::Device,
) -> Result<TrainedTree> {
    let levels: Levels = folder.read_json(&levels_file_name(tree))?;
    let levels = levels.complete(num_labels).map_err(|error| {
        let path = folder.folder().join(levels_file_name(tree));
        plethora_core::Error::model(&path, error.to_string())
    })?;
    let clusters = match &config.clusters {
        Some(_) => Some(open_clusters(folder, tree, num_labels)?),
        None => None,
    };
    let cluster_counts = vec![0; clusters.as_ref().map_or(0, Clusters::num_clusters)];
    let shape = [words.num_rows() as i64, config.vectors.width as i64];
    let blank_words = Tensor::zeros(shape, (Kind::Float, tch::Device::Cpu));
    let networks = (0..levels.len())
        .map(|level| {
            let counts = vec![0; levels.num_items(level)];
            let network = WordNetwork::new(&NetworkSetup {
                config,
                word_vectors: &blank_words,
                labels: blank(&counts),
                has_candidates: level > 0,
                clusters: (clusters.as_ref()).map(|clusters| (clusters, blank(&cluster_counts))),
                device,
                start: Start::blank(),
            });
            let name = network_file_name(tree, level);
            let arrays = folder.map(&name)?;
            network_file::load(network.parameters(), &arrays, &folder.path(&name)?)?;
            Ok(network)
        })
        .collect::<Result<_>>()?;
    Ok(TrainedTree {
        levels,
        networks,
        clusters,
    })
}

/// The groups of labels of a network, by the number of its member or tree.
fn open_clusters(folder: &ModelReader, number: usize, num_labels: usize) -> Result<Clusters> {
    let name = clusters_file_name(number);
    let clusters: Clusters = folder.read_json(&name)?;
    let path = folder.folder().join(name);
    let complete = clusters.complete(num_labels);
    Ok(complete.map_err(|error| CoreError::model(&path, error.to_string()))?)
}

/// What labels start from where their weights come from a file.
fn blank(train_counts: &[u32]) -> LabelFacts<'_> {
    LabelFacts {
        train_counts,
        num_documents: 1,
    }
}

/// The networks of a system of pieces, with their encoder.
pub(super) fn open_members(
    folder: &ModelReader,
    config: &PieceConfig,
    num_labels: usize,
    device: tch::Device,
) -> Result<(Architecture, Vec<PieceMember>)> {
    let architecture = Architecture::read(&folder.path(ARCHITECTURE_FILE)?)?;
    let is_clustered = matches!(config.head.form, HeadForm::Clustered | HeadForm::Adaptive);
    let members = (0..config.num_members())
        .map(|member| {
            let clusters = if is_clustered {
                Some(open_clusters(folder, member, num_labels)?)
            } else {
                None
            };
            let counts = vec![0; num_labels];
            let cluster_counts = vec![0; clusters.as_ref().map_or(0, Clusters::num_clusters)];
            let network = PieceNetwork::new(&PieceSetup {
                config,
                architecture: &architecture,
                weights: Weights::Start(Start::blank()),
                labels: blank(&counts),
                clusters: clusters
                    .as_ref()
                    .map(|clusters| (clusters, blank(&cluster_counts))),
                device,
                kind: prediction_kind(config.train.precision, device),
                start: Start::blank(),
                is_trained: false,
            })?;
            let name = member_file_name(member);
            let arrays = folder.map(&name)?;
            network_file::load(network.parameters(), &arrays, &folder.path(&name)?)?;
            Ok(PieceMember { clusters, network })
        })
        .collect::<Result<_>>()?;
    Ok((architecture, members))
}
