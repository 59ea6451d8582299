//! Gradients through windows and attention, against differences of the loss.

use std::path::Path;

use tch::Kind;

use super::*;
use crate::pretrained::HeadForm;
use crate::pretrained::batch::Cut;
use crate::pretrained::choices::example;
use crate::words::golden::step;

/// A network over a random encoder, whose labels have learnt something already.
fn network(form: HeadForm, pooling: Pooling, checkpointing: bool) -> PieceNetwork {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/encoder");
    let mut config = example();
    config.encoder.folder = folder.to_owned();
    config.encoder.layers = 2;
    config.encoder.pooling = pooling;
    config.encoder.checkpointing = checkpointing;
    config.encoder.dropout = 0.0;
    config.document.dropout = 0.0;
    config.head.form = form;
    config.head.bottleneck = 8;
    let counts = [3, 2, 2, 1, 1];
    let facts = LabelFacts {
        train_counts: &counts,
        num_documents: 6,
    };
    let network = PieceNetwork::new(&PieceSetup {
        config: &config,
        architecture: &Architecture::read(Path::new(folder)).unwrap(),
        weights: Weights::Folder(Path::new(folder)),
        labels: facts,
        plan: &match form {
            HeadForm::Attention => HeadPlan::Attention,
            _ => HeadPlan::Flat,
        },
        clusters: facts,
        device: Device::Cpu,
        numbers: Kind::Float.into(),
        start: Start::seeded(plethora_core::SeedStream::new(5)),
        is_trained: true,
    })
    .unwrap();
    let start = Start::seeded(plethora_core::SeedStream::new(6));
    tch::no_grad(|| {
        for (name, value) in network.parameters.dense.iter() {
            if name.starts_with("head") {
                let drawn = start.named(name).normal(&value.size(), 0.3);
                let _ = value.shallow_clone().g_add_(&drawn);
            }
        }
    });
    network
}

/// A network whose eight labels are in groups of two.
fn clustered(negatives: Negatives, dropout: f64) -> PieceNetwork {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/encoder");
    let mut config = example();
    config.encoder.folder = folder.to_owned();
    config.encoder.layers = 2;
    config.encoder.dropout = dropout;
    config.document.dropout = dropout;
    config.head.form = HeadForm::Clustered;
    config.head.negatives = negatives;
    config.head.bottleneck = 8;
    config.clusters.beam = 2;
    let clusters = Clusters::from_cluster_of_label(vec![0, 0, 1, 1, 2, 2, 3, 3]).unwrap();
    let counts = [1; 8];
    let facts = |train_counts| LabelFacts {
        train_counts,
        num_documents: 6,
    };
    let network = PieceNetwork::new(&PieceSetup {
        config: &config,
        architecture: &Architecture::read(Path::new(folder)).unwrap(),
        weights: Weights::Folder(Path::new(folder)),
        labels: facts(&counts),
        plan: &HeadPlan::Clustered(clusters),
        clusters: facts(&counts[..4]),
        device: Device::Cpu,
        numbers: Kind::Float.into(),
        start: Start::seeded(plethora_core::SeedStream::new(5)),
        is_trained: true,
    })
    .unwrap();
    let start = Start::seeded(plethora_core::SeedStream::new(6));
    tch::no_grad(|| {
        for (name, value) in network.parameters.dense.iter() {
            if name.starts_with("head") {
                let drawn = start.named(name).normal(&value.size(), 0.3);
                let _ = value.shallow_clone().g_add_(&drawn);
            }
        }
    });
    network.begin_ranking();
    network
}

/// The labels that each of some documents is compared with, in some draws of what is left out.
fn candidates(network: &PieceNetwork, phase: Phase) -> Vec<Vec<Vec<i64>>> {
    network.set_phase(phase);
    let of_document = |number: u32| {
        let pieces: Vec<u32> = (0..9)
            .map(|piece| (31 * piece + 7 * number) % 200)
            .collect();
        let draw = |seed| {
            tch::manual_seed(seed);
            let batch = PieceBatch::new(&[&pieces], Cut::new(12, 1, Device::Cpu));
            let batch = batch.with_labels([&[0][..]].into_iter());
            let learnt = network.learn(&batch, &step(1.0)).unwrap();
            learnt.rows[0].rows.shallow_clone().try_into().unwrap()
        };
        (1..6).map(draw).collect()
    };
    (0..3).map(of_document).collect()
}

fn largest_gradient(network: &PieceNetwork, is_meant: impl Fn(&str) -> bool) -> f64 {
    let dense = network.parameters.dense.iter();
    let gradients = dense.filter(|(name, _)| is_meant(name));
    gradients
        .map(|(_, leaf)| leaf.grad().abs().max().double_value(&[]))
        .fold(0.0, f64::max)
}

#[test]
fn static_negatives_are_those_of_the_resting_network_whatever_is_left_out() {
    for negatives in [Negatives::Static, Negatives::StaticTwoEncoders] {
        let without = candidates(&clustered(negatives, 0.0), Phase::Rank);
        assert!(
            without.iter().all(|draws| draws[0].len() == 4),
            "{without:?}"
        );
        let network = clustered(negatives, 0.6);
        assert_eq!(candidates(&network, Phase::Rank), without, "{negatives:?}");
        let dynamic = candidates(&network, Phase::Joint);
        assert_ne!(dynamic, without, "what is left out chooses other clusters");
    }
}

#[test]
fn ranking_trains_an_encoder_of_its_own_where_there_is_one() {
    let encoder = |name: &str| !name.starts_with("head") && !name.starts_with(RANKING);
    let ranking = |name: &str| name.starts_with(RANKING);
    let clusters = |name: &str| name.starts_with("head.cluster");
    let others = |name: &str| name.starts_with("head.bottleneck");
    for (negatives, is_double) in [
        (Negatives::Static, false),
        (Negatives::StaticTwoEncoders, true),
    ] {
        let network = clustered(negatives, 0.1);
        network.parameters.dense.clear_gradients();
        candidates(&network, Phase::Rank);
        assert_eq!(largest_gradient(&network, encoder), 0.0);
        assert_eq!(largest_gradient(&network, clusters), 0.0);
        assert!(largest_gradient(&network, others) > 0.0);
        assert_eq!(largest_gradient(&network, ranking) > 0.0, is_double);
        network.parameters.dense.clear_gradients();
        network.set_phase(Phase::Recall);
        network.learn(&batch(), &step(1.0)).unwrap();
        assert!(largest_gradient(&network, encoder) > 0.0);
        assert!(largest_gradient(&network, clusters) > 0.0);
        assert_eq!(largest_gradient(&network, others), 0.0);
        assert_eq!(largest_gradient(&network, ranking), 0.0);
    }
}

/// Documents of one, three and two windows.
fn batch() -> PieceBatch {
    let pieces: Vec<Vec<u32>> = [5, 25, 14]
        .map(|length| {
            (0..length)
                .map(|piece| (7 * piece + length) % 200)
                .collect()
        })
        .into();
    let pieces: Vec<&[u32]> = pieces.iter().map(Vec::as_slice).collect();
    let cut = Cut::new(12, 1, Device::Cpu).with_windows(3, 1);
    let labels: [&[u32]; 3] = [&[0, 3], &[1], &[2, 4]];
    PieceBatch::new(&pieces, cut).with_labels(labels.into_iter())
}

fn loss(network: &PieceNetwork) -> f64 {
    network.parameters.dense.clear_gradients();
    let learnt = network.learn(&batch(), &step(1.0)).unwrap();
    learnt.loss.double_value(&[])
}

#[test]
fn gradients_of_documents_in_windows_equal_differences() {
    for form in [HeadForm::Flat, HeadForm::Attention] {
        for pooling in [Pooling::Cls, Pooling::Mean] {
            for checkpointing in [false, true] {
                let network = network(form, pooling, checkpointing);
                let dense = &network.parameters.dense;
                loss(&network);
                let gradient = dense.gradients().copy();
                let norm = gradient.norm().double_value(&[]);
                let direction = &gradient / norm;
                // Along its gradient the loss grows by its norm.
                let distance = 2e-4;
                let moved = |by: f64| {
                    let change = &direction * by;
                    let _ = tch::no_grad(|| dense.values().shallow_clone().g_add_(&change));
                    let loss = loss(&network);
                    let _ = tch::no_grad(|| dense.values().shallow_clone().g_sub_(&change));
                    loss
                };
                let found = (moved(distance) - moved(-distance)) / (2.0 * distance);
                let context = format!("{form:?} {pooling:?} {checkpointing}: {found} {norm}");
                assert!((found - norm).abs() < 0.02 * norm, "{context}");
            }
        }
    }
}
