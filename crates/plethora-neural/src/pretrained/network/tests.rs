//! Gradients through windows and attention, against differences of the loss.

use std::path::Path;

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
        kind: Kind::Float,
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
