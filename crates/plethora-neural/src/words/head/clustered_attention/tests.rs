//! The head in its network: against values of `PyTorch`, which `testdata/lightattention/make_golden.py`
//! made from the formulas, against AttentionXML where it is the same, and against finite
//! differences.

mod equalities;
mod golden;

use std::collections::BTreeMap;

use plethora_core::SeedStream;
use serde::Deserialize;

use super::*;
use crate::head::Activation;
use crate::parameters::Parameters;
use crate::train::{Network as _, Precision};
use crate::words::batch::WordBatch;
use crate::words::clustered_attention_config::{DiscriminatorConfig, LabelContext};
use crate::words::config::{EncoderConfig, HeadConfig, WordConfig, settled};
use crate::words::network::{NetworkSetup, WordNetwork};

/// What is said of a batch in training.
pub(crate) struct Said {
    /// documents x clusters, before the sigmoid.
    pub(crate) of_clusters: Tensor,
    pub(crate) lists: DocumentLists,
    /// documents x candidates, before the sigmoid.
    pub(crate) of_labels: Tensor,
}

impl ClusteredAttention {
    /// What is said of a batch in training.
    pub(crate) fn said(
        &self,
        input: &StatesInput<'_>,
        targets: &LabelPlaces,
        scale: LossScale,
    ) -> Said {
        let _no_grad = tch::no_grad_guard();
        let of_clusters = self.generator.logits(input, &Scored::All);
        let recalled = self.choice.recalled(&of_clusters, targets);
        let candidates = self.choice.choose(&recalled, targets, scale);
        let listed = self.choice.listed(&candidates, targets);
        let clusters = self.choice.clusters_of(&targets.labels());
        let asked = Asked {
            rows: &self.gather(input, candidates.labels()),
            places: &listed.places,
            lists: &listed.lists,
            chosen: candidates.chosen(),
            beside: Some(&(targets.documents(), clusters)),
        };
        Said {
            of_labels: self.label_logits(input, &asked),
            of_clusters,
            lists: listed.lists,
        }
    }
}

#[derive(Deserialize)]
struct Golden {
    sizes: Sizes,
    cluster_of_label: Vec<u32>,
    documents: Vec<Vec<u32>>,
    true_labels: Vec<Vec<u32>>,
    cases: BTreeMap<String, Case>,
}

#[derive(Deserialize, Clone, Copy)]
struct Sizes {
    words: i64,
    width: usize,
    hidden: usize,
    labels: usize,
}

#[derive(Deserialize)]
struct Case {
    settings: Settings,
    parameters: BTreeMap<String, Vec<f32>>,
    cluster_logits: Vec<Vec<f64>>,
    candidates: Vec<Vec<u32>>,
    candidate_logits: Vec<Vec<f64>>,
    /// Labels with their scores, the best first.
    scores: Vec<Vec<(u32, f64)>>,
    loss: f64,
    gradients: BTreeMap<String, Vec<f64>>,
}

#[derive(Deserialize)]
struct Settings {
    context: LabelContext,
    layers: Vec<usize>,
    activation: Activation,
    shared_output: bool,
    beam: usize,
    loss: LossScale,
}

fn golden() -> Golden {
    let text = include_str!("../../../../../../testdata/lightattention/golden.json");
    serde_json::from_str(text).unwrap()
}

/// Settings of a small network without dropout.
fn config(sizes: Sizes) -> WordConfig {
    let mut config = settled("lightattention");
    config.vectors.width = sizes.width;
    let EncoderConfig::Bilstm(lstm) = &mut config.encoder else {
        panic!("lightattention has an LSTM");
    };
    lstm.hidden = sizes.hidden;
    (lstm.word_dropout, lstm.dropout) = (0.0, 0.0);
    config.train.precision = Precision::F32;
    head_of(&mut config).discriminator.path_weight = 1.0;
    config
}

fn head_of(config: &mut WordConfig) -> &mut ClusteredAttentionConfig {
    let HeadConfig::ClusteredAttention(head) = &mut config.head else {
        panic!("lightattention has clusters");
    };
    head
}

/// Settings of a case, computing so many labels at a time.
fn config_of(case: &Case, sizes: Sizes, label_chunk: usize) -> WordConfig {
    let mut config = config(sizes);
    config.train.label_chunk = label_chunk;
    config.train.loss = case.settings.loss;
    config.clusters.as_mut().unwrap().beam = case.settings.beam;
    let head = head_of(&mut config);
    head.generator.layers = vec![4, 3];
    head.discriminator = DiscriminatorConfig {
        context: case.settings.context,
        layers: case.settings.layers.clone(),
        activation: case.settings.activation,
        start_spread: 0.1,
        shared_output: case.settings.shared_output,
        path_weight: 1.0,
    };
    config
}

/// A network with random weights over labels in these clusters.
fn network(config: &WordConfig, sizes: Sizes, clusters: Option<&Clusters>) -> WordNetwork {
    let start = Start::seeded(SeedStream::new(5));
    let counts = vec![1; sizes.labels];
    let cluster_counts = vec![1; clusters.map_or(0, Clusters::num_clusters)];
    let facts = |train_counts| LabelFacts {
        train_counts,
        num_documents: 3,
    };
    let shape = [sizes.words, sizes.width as i64];
    let network = WordNetwork::new(&NetworkSetup {
        config,
        word_vectors: &start.named("words").normal(&shape, 1.0),
        labels: facts(&counts),
        candidates: None,
        clusters: clusters.map(|clusters| (clusters, facts(&cluster_counts))),
        device: Device::Cpu,
        start,
    })
    .unwrap();
    for (name, mut value) in values(network.parameters()) {
        if name != "words" {
            value.copy_(&start.named(&name).normal(&value.size(), 0.6));
        }
    }
    network
}

/// Names and values of all parameters; a change there is a change of the network.
fn values(parameters: &Parameters) -> Vec<(String, Tensor)> {
    let dense = parameters.dense.iter();
    let tables = parameters.tables.iter();
    dense
        .map(|(name, value)| (name.to_owned(), value.detach()))
        .chain(tables.map(|table| (table.name().to_owned(), table.values().shallow_clone())))
        .collect()
}

fn batch(golden: &Golden, documents: &[usize]) -> WordBatch {
    let words: Vec<&[u32]> = documents
        .iter()
        .map(|&number| golden.documents[number].as_slice())
        .collect();
    let truth = documents
        .iter()
        .map(|&number| golden.true_labels[number].as_slice());
    WordBatch::new(&words).with_labels(truth)
}
