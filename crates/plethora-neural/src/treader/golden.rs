//! The network against values of `PyTorch`: `testdata/treaderxml/make_golden.py` made them from the
//! formulas, one document at a time, without the rearrangements that this crate is fast by.

use std::collections::BTreeMap;

use plethora_core::{IndexRows, LabelId, ScoredLabel, SeedStream};
use serde::Deserialize;
use tch::{Device, Kind, Tensor};

use super::batch::{DocumentWords, TReaderBatch};
use super::config::*;
use super::network::{TReaderNetwork, TReaderSetup};
use super::teacher::Teacher;
use super::teacher_rows::TeacherRow;
use crate::head::{Activation, LabelFacts, OutputKind};
use crate::parameters::TableRows;
use crate::start::Start;
use crate::train::{MomentumStep, Network as _, Precision, StepPart};

/// Largest error of a number against the largest number of its kind.
const TOLERANCE: f64 = 1e-4;

#[derive(Deserialize)]
struct Golden {
    sizes: Sizes,
    documents: Vec<Vec<u32>>,
    true_labels: Vec<Vec<u32>>,
    names: Vec<Vec<u32>>,
    tokens: Vec<Vec<(u32, f32)>>,
    votes: Vec<Vec<(u32, f32)>>,
    frequencies: Vec<f32>,
    cases: BTreeMap<String, Case>,
}

#[derive(Deserialize, Clone, Copy)]
struct Sizes {
    words: i64,
    width: usize,
    heads: usize,
    labels: usize,
    bottleneck: usize,
    longest: usize,
}

#[derive(Deserialize)]
struct Case {
    settings: Settings,
    parameters: BTreeMap<String, Vec<f32>>,
    logits: Vec<Vec<f64>>,
    loss: f64,
    gradients: BTreeMap<String, Vec<f64>>,
}

#[expect(
    clippy::struct_excessive_bools,
    reason = "they are switches of the recipe"
)]
#[derive(Deserialize)]
struct Settings {
    used: bool,
    first: Look,
    second: Look,
    residual: Residual,
    norm: bool,
    tanh: bool,
    mask: MaskSide,
    positions: bool,
    cross: bool,
    masked: bool,
    pooling: PoolingKind,
    activation: Activation,
    tokens: TeacherTokens,
    label_text: bool,
    label_vectors: bool,
    weights: bool,
    prior: bool,
    own_scores: bool,
    output: OutputKind,
}

fn golden() -> Golden {
    serde_json::from_str(include_str!("../../../../testdata/treaderxml/golden.json")).unwrap()
}

fn config(settings: &Settings, sizes: Sizes, form: TReaderForm) -> TReaderConfig {
    let mut config = TReaderConfig::of_system("treaderxml").unwrap();
    config.words.max_length = sizes.longest;
    config.vectors.width = sizes.width;
    config.teacher = TeacherConfig {
        used: settings.used,
        read: true,
        tokens: settings.tokens,
        label_text: settings.label_text,
        label_vectors: settings.label_vectors,
        weights: settings.weights,
        prior: settings.prior,
        own_scores: settings.own_scores,
        mixed: false,
        ..config.teacher
    };
    config.reading = ReadingConfig {
        first: settings.first,
        second: settings.second,
        heads: sizes.heads,
        residual: settings.residual,
        norm: settings.norm,
        tanh: settings.tanh,
        mask: settings.mask,
        positions: settings.positions,
        word_dropout: 0.0,
        dropout: 0.0,
    };
    config.interaction = Interaction {
        cross: settings.cross,
        masked: settings.masked,
        pooling: settings.pooling,
    };
    config.head = TReaderHeadConfig {
        form,
        bottleneck: sizes.bottleneck,
        activation: settings.activation,
        dropout: 0.0,
        output: settings.output,
        ..config.head
    };
    config.train.precision = Precision::F32;
    config.validate().unwrap();
    config
}

/// The network of a case with its weights.
fn network(golden: &Golden, case: &Case, form: TReaderForm, label_chunk: usize) -> TReaderNetwork {
    let sizes = golden.sizes;
    let mut config = config(&case.settings, sizes, form);
    config.train.label_chunk = label_chunk;
    let network = TReaderNetwork::new(&TReaderSetup {
        config: &config,
        word_vectors: &Tensor::zeros(
            [sizes.words, sizes.width as i64],
            (Kind::Float, Device::Cpu),
        ),
        labels: LabelFacts {
            train_counts: &vec![1; sizes.labels],
            num_documents: 3,
        },
        num_known: golden.names.len(),
        device: Device::Cpu,
        start: Start::seeded(SeedStream::new(5)),
    })
    .unwrap();
    let dense = network.parameters().dense.iter();
    let tables = network.parameters().tables.iter();
    let all = dense
        .map(|(name, value)| (name, value.detach()))
        .chain(tables.map(|table| (table.name(), table.values().shallow_clone())));
    let mut num_found = 0;
    for (name, mut value) in all {
        // The exact form keeps its labels in tables.
        let name = match name {
            "labels" => "head.outputs",
            "label_bias" => "head.output_bias",
            other => other,
        };
        let given = Tensor::from_slice(&case.parameters[name]);
        value.copy_(&given.view(value.size().as_slice()));
        num_found += 1;
    }
    assert_eq!(num_found, case.parameters.len());
    network
}

fn teacher(golden: &Golden) -> Teacher {
    let words: IndexRows = golden.names.iter().cloned().collect();
    let parents: IndexRows = (0..golden.sizes.labels).map(|_| []).collect();
    Teacher::from_parts(parents, words, golden.frequencies.clone())
}

fn batch(golden: &Golden, case: &Case, documents: &[usize]) -> TReaderBatch {
    let scored = |pairs: &[(u32, f32)]| -> Vec<ScoredLabel> {
        let pairs = pairs.iter();
        pairs
            .map(|&(label, score)| ScoredLabel {
                label: LabelId(label),
                score,
            })
            .collect()
    };
    let rows: Vec<TeacherRow> = documents
        .iter()
        .map(|&number| TeacherRow {
            tokens: scored(&golden.tokens[number]),
            votes: scored(&golden.votes[number]),
            views: Vec::new(),
        })
        .collect();
    let parts: Vec<DocumentWords<'_>> = documents
        .iter()
        .zip(&rows)
        .map(|(&number, row)| DocumentWords {
            words: &golden.documents[number],
            row: case.settings.used.then_some(row),
        })
        .collect();
    let truth = documents
        .iter()
        .map(|&number| golden.true_labels[number].as_slice());
    let teacher = teacher(golden);
    TReaderBatch::new(&parts, case.settings.used.then_some(&teacher)).with_labels(truth)
}

fn assert_close(found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let largest = expected.iter().fold(1e-3, |max: f64, &x| max.max(x.abs()));
    for (place, (found, expected)) in found.iter().zip(expected).enumerate() {
        let error = (found - expected).abs() / largest;
        assert!(
            error < TOLERANCE,
            "{what}[{place}]: {found} is not {expected}"
        );
    }
}

fn doubles(tensor: &Tensor) -> Vec<f64> {
    tensor
        .to_kind(Kind::Double)
        .flatten(0, -1)
        .try_into()
        .unwrap()
}

fn step() -> StepPart<'static> {
    StepPart {
        scale: 1.0,
        seed: 0,
        epoch_progress: 0.0,
        momentum: MomentumStep::none(),
    }
}

/// The gradient of a whole table from that of some rows.
fn whole(rows: &TableRows, values: &Tensor) -> Vec<f64> {
    let mut gradient = values.zeros_like();
    doubles(&gradient.index_copy_(0, &rows.rows, &rows.leaf.grad()))
}

#[test]
fn logits_equal_pytorch_in_a_batch_and_alone() {
    let golden = golden();
    for (name, case) in &golden.cases {
        let network = network(&golden, case, TReaderForm::Flat, 0);
        let logits = network.logits(&batch(&golden, case, &[0, 1, 2]));
        for (number, expected) in case.logits.iter().enumerate() {
            let of_document = doubles(&logits.select(0, number as i64));
            assert_close(&of_document, expected, name);
            let alone = network.logits(&batch(&golden, case, &[number]));
            assert_close(&doubles(&alone), expected, &format!("{name} alone"));
        }
    }
}

#[test]
fn losses_and_gradients_equal_pytorch_in_both_forms() {
    let golden = golden();
    for (name, case) in &golden.cases {
        let mut forms = vec![(TReaderForm::Flat, 0)];
        if case.settings.output == OutputKind::Sigmoid {
            forms.extend([0, 1, 3].map(|chunk| (TReaderForm::Exact, chunk)));
        }
        for (form, chunk) in forms {
            let network = network(&golden, case, form, chunk);
            let batch = batch(&golden, case, &[0, 1, 2]);
            let learnt = network.learn(&batch, &step()).unwrap();
            let what = format!("{name} {form:?} by {chunk}");
            assert_close(&doubles(&learnt.loss), &[case.loss], &what);
            for (parameter, value) in network.parameters().dense.iter() {
                let gradient = doubles(&value.grad());
                let what = format!("{what} {parameter}");
                assert_close(&gradient, &case.gradients[parameter], &what);
            }
            for rows in &learnt.rows {
                let table = &network.parameters().tables[rows.table];
                let expected = &case.gradients[table.name()];
                assert_close(&whole(rows, table.values()), expected, table.name());
            }
        }
    }
}

#[test]
fn the_exact_form_ranks_as_the_flat_one() {
    let golden = golden();
    for (name, case) in &golden.cases {
        if case.settings.output == OutputKind::Softmax {
            continue;
        }
        let batch = batch(&golden, case, &[0, 1, 2]);
        let rank = |form, chunk| network(&golden, case, form, chunk).rank(&batch, 4);
        let flat = rank(TReaderForm::Flat, 0);
        let exact = rank(TReaderForm::Exact, 2);
        assert_eq!(flat.labels, exact.labels, "{name}");
        assert_close(
            &doubles(&flat.log_scores),
            &doubles(&exact.log_scores),
            name,
        );
    }
}

#[test]
fn a_softmax_ranks_by_its_probabilities() {
    let golden = golden();
    let case = &golden.cases["paper"];
    let network = network(&golden, case, TReaderForm::Flat, 0);
    let ranked = network.rank(&batch(&golden, case, &[0, 1, 2]), 7);
    let sums = ranked
        .log_scores
        .exp()
        .sum_dim_intlist(1, false, Kind::Double);
    assert_close(&doubles(&sums), &[1.0, 1.0, 1.0], "probabilities");
}
