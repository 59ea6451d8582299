//! Networks against values of `PyTorch`: `testdata/networks/make_golden.py` made them from the
//! formulas, without the rearrangements that this crate is fast by.

use std::collections::BTreeMap;

use plethora_core::SeedStream;
use plethora_core::text::{SkipGramConfig, TokenizerConfig, WordsConfig};
use serde::Deserialize;
use tch::{Device, Kind, Tensor};

use crate::head::LabelFacts;
use crate::parameters::TableRows;
use crate::start::Start;
use crate::systems::{VectorStart, VectorsConfig};
use crate::train::{
    Learnt, LossScale, MomentumStep, Network as _, Precision, StepPart, TrainConfig, example_config,
};
use crate::words::batch::WordBatch;
use crate::words::config::{
    AllLabelsConfig, AttentionConfig, BiLstmConfig, CnnConfig, EncoderConfig, HeadConfig,
    WordConfig,
};
use crate::words::network::{NetworkSetup, WordNetwork};

/// Largest error of a number against the largest number of its kind.
const TOLERANCE: f64 = 1e-4;

#[derive(Deserialize)]
struct Golden {
    sizes: Sizes,
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
    candidates: Option<Vec<Vec<u32>>>,
    parameters: BTreeMap<String, Vec<f32>>,
    logits: Vec<Vec<f64>>,
    loss: f64,
    gradients: BTreeMap<String, Vec<f64>>,
}

#[derive(Deserialize)]
struct Settings {
    layers: Vec<usize>,
    #[serde(default)]
    word_skip: bool,
    #[serde(default)]
    label_outputs: bool,
    #[serde(default)]
    label_bias: bool,
    windows: Option<Vec<usize>>,
    filters: Option<usize>,
    pools: Option<usize>,
}

fn golden() -> Golden {
    serde_json::from_str(include_str!("../../../../testdata/networks/golden.json")).unwrap()
}

fn config(name: &str, settings: &Settings, sizes: Sizes) -> WordConfig {
    let encoder = match &settings.windows {
        Some(windows) => EncoderConfig::Cnn(CnnConfig {
            windows: windows.clone(),
            filters: settings.filters.unwrap(),
            pools: settings.pools.unwrap(),
            word_dropout: 0.0,
        }),
        None => EncoderConfig::Bilstm(BiLstmConfig {
            hidden: sizes.hidden,
            word_dropout: 0.0,
            dropout: 0.0,
            word_skip: settings.word_skip,
        }),
    };
    let layers = settings.layers.clone();
    let head = if name.starts_with("xml_") {
        HeadConfig::AllLabels(AllLabelsConfig {
            layers,
            dropout: 0.0,
        })
    } else {
        HeadConfig::Attention(AttentionConfig {
            layers,
            start_spread: 0.0,
            label_outputs: settings.label_outputs,
            label_bias: settings.label_bias,
        })
    };
    WordConfig {
        system: name.into(),
        seed: 1,
        members: None,
        words: WordsConfig {
            tokenizer: TokenizerConfig::default(),
            max_vocabulary: 100,
            min_df: 1,
            max_length: 100,
            counts_whole_documents: None,
            separator: None,
        },
        vectors: VectorsConfig {
            file: String::new(),
            width: sizes.width,
            start: VectorStart::Random,
            trained: true,
            skip_gram: SkipGramConfig {
                width: sizes.width,
                window: 5,
                negatives: 5,
                epochs: 1,
                learning_rate: 0.025,
                subsample: 1e-3,
            },
        },
        encoder,
        head,
        plt: None,
        clusters: None,
        train: TrainConfig {
            precision: Precision::F32,
            ..example_config()
        },
    }
}

/// The network of a case, with its weights, computing so many labels at a time.
fn network(name: &str, case: &Case, sizes: Sizes, label_chunk: usize) -> WordNetwork {
    network_with(name, case, sizes, |train| train.label_chunk = label_chunk)
}

/// The network of a case, with its weights, and with other settings of training.
fn network_with(
    name: &str,
    case: &Case,
    sizes: Sizes,
    change: impl FnOnce(&mut TrainConfig),
) -> WordNetwork {
    let mut config = config(name, &case.settings, sizes);
    change(&mut config.train);
    let words = Tensor::from_slice(&case.parameters["words"]);
    let network = WordNetwork::new(&NetworkSetup {
        config: &config,
        word_vectors: &words.view([sizes.words, sizes.width as i64]),
        labels: LabelFacts {
            train_counts: &vec![1; sizes.labels],
            num_documents: 3,
        },
        candidates: case.candidates.as_ref().map(|_| sizes.labels),
        clusters: None,
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
        let given = Tensor::from_slice(&case.parameters[name]);
        value.copy_(&given.view(value.size().as_slice()));
        num_found += 1;
    }
    assert_eq!(num_found, case.parameters.len());
    network
}

fn batch(golden: &Golden, case: &Case, documents: &[usize]) -> WordBatch {
    let words: Vec<&[u32]> = documents
        .iter()
        .map(|&number| golden.documents[number].as_slice())
        .collect();
    let truth = documents
        .iter()
        .map(|&number| golden.true_labels[number].as_slice());
    let batch = WordBatch::new(&words);
    match &case.candidates {
        None => batch.with_labels(truth),
        Some(all) => {
            let candidates: Vec<Vec<u32>> = documents
                .iter()
                .map(|&number| all[number].clone())
                .collect();
            batch.with_truth(&candidates, truth)
        }
    }
}

pub(crate) fn assert_close(found: &[f64], expected: &[f64], what: &str) {
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

pub(crate) fn doubles(tensor: &Tensor) -> Vec<f64> {
    tensor
        .to_kind(Kind::Double)
        .flatten(0, -1)
        .try_into()
        .unwrap()
}

fn for_each_case(check: impl Fn(&Golden, &str, &Case)) {
    let golden = golden();
    for (name, case) in &golden.cases {
        check(&golden, name, case);
    }
}

#[test]
fn logits_equal_pytorch_in_a_batch_and_alone() {
    for_each_case(|golden, name, case| {
        for label_chunk in [0, 2] {
            let network = network(name, case, golden.sizes, label_chunk);
            let logits = network.logits(&batch(golden, case, &[0, 1, 2]));
            for (number, expected) in case.logits.iter().enumerate() {
                let of_document = doubles(&logits.select(0, number as i64));
                assert_close(&of_document[..expected.len()], expected, name);
                let alone = network.logits(&batch(golden, case, &[number]));
                assert_close(&doubles(&alone), expected, &format!("{name} alone"));
            }
        }
    });
}

#[test]
fn losses_and_gradients_equal_pytorch_whatever_the_chunk_of_labels() {
    for_each_case(|golden, name, case| {
        for label_chunk in [0, 1, 2, 3, 100] {
            let network = network(name, case, golden.sizes, label_chunk);
            let batch = batch(golden, case, &[0, 1, 2]);
            let Learnt { loss, rows } = network.learn(&batch, &step(1.0)).unwrap();
            assert_close(&doubles(&loss), &[case.loss], name);
            let dense = &network.parameters().dense;
            for (parameter, value) in dense.iter() {
                let gradient = doubles(&value.grad());
                let what = format!("{name} {parameter} by {label_chunk}");
                assert_close(&gradient, &case.gradients[parameter], &what);
            }
            for rows in &rows {
                let table = &network.parameters().tables[rows.table];
                let expected = &case.gradients[table.name()];
                assert_close(&whole(rows, table.values()), expected, table.name());
            }
        }
    });
}

#[test]
fn mean_losses_are_over_labels_and_leave_padding_out() {
    for_each_case(|golden, name, case| {
        let num_scored: usize = match &case.candidates {
            Some(candidates) => candidates.iter().map(Vec::len).sum(),
            None => golden.documents.len() * golden.sizes.labels,
        };
        let share = golden.documents.len() as f64 / num_scored as f64;
        let network = network_with(name, case, golden.sizes, |train| {
            train.loss = LossScale::Mean;
            train.label_chunk = 2;
        });
        let batch = batch(golden, case, &[0, 1, 2]);
        let Learnt { loss, rows } = network.learn(&batch, &step(1.0)).unwrap();
        // The golden loss is a sum over labels, a mean over documents.
        assert_close(&doubles(&loss), &[case.loss * share], name);
        let scaled = |parameter: &str| -> Vec<f64> {
            let gradients = case.gradients[parameter].iter();
            gradients.map(|gradient| gradient * share).collect()
        };
        for (parameter, value) in network.parameters().dense.iter() {
            assert_close(&doubles(&value.grad()), &scaled(parameter), parameter);
        }
        for rows in &rows {
            let table = &network.parameters().tables[rows.table];
            assert_close(&whole(rows, table.values()), &scaled(table.name()), name);
        }
    });
}

#[test]
fn scores_have_more_digits_than_the_numbers_that_attention_is_computed_with() {
    for_each_case(|golden, name, case| {
        if name.starts_with("xml_") {
            return;
        }
        let batch = batch(golden, case, &[0, 1, 2]);
        let logits = |precision| {
            let network = network_with(name, case, golden.sizes, |train| {
                train.precision = precision;
            });
            let logits = network.logits(&batch);
            logits.masked_select(&logits.isfinite())
        };
        let (short, exact) = (logits(Precision::Bf16), logits(Precision::F32));
        assert!(
            short.allclose(&exact, 0.05, 0.05, false),
            "{name}: {short} {exact}"
        );
        let rounded = short.to_kind(Kind::BFloat16).to_kind(Kind::Float);
        let num_rounded = short.eq_tensor(&rounded).sum(Kind::Int64).int64_value(&[]);
        assert!(
            num_rounded * 4 < short.numel() as i64,
            "{name}: {num_rounded}"
        );
    });
}

/// A step of a single batch.
pub(crate) fn step(scale: f64) -> StepPart<'static> {
    StepPart {
        scale,
        seed: 0,
        epoch_progress: 0.0,
        momentum: MomentumStep::none(),
    }
}

/// The gradient of a whole table from that of some rows.
pub(crate) fn whole(rows: &TableRows, values: &Tensor) -> Vec<f64> {
    let mut gradient = values.zeros_like();
    doubles(&gradient.index_copy_(0, &rows.rows, &rows.leaf.grad()))
}

#[test]
fn gradients_equal_finite_differences() {
    let golden = golden();
    let case = &golden.cases["attentionxml_extended"];
    let network = network("attentionxml_extended", case, golden.sizes, 3);
    let batch = batch(&golden, case, &[0, 1, 2]);
    let loss = || doubles(&network.learn(&batch, &step(0.0)).unwrap().loss)[0];
    network.learn(&batch, &step(1.0)).unwrap();
    let dense = &network.parameters().dense;
    let gradients = doubles(dense.gradients());
    let distance = 1e-2;
    // Every 37th number reaches all parameters and keeps the test short.
    for place in (0..gradients.len()).step_by(37) {
        let mut value = dense.values().narrow(0, place as i64, 1);
        let _ = value.g_add_scalar_(distance);
        let above = loss();
        let _ = value.g_add_scalar_(-2.0 * distance);
        let below = loss();
        let _ = value.g_add_scalar_(distance);
        let slope = (above - below) / (2.0 * distance);
        assert!(
            (slope - gradients[place]).abs() < 2e-3,
            "{place}: {slope} is not {}",
            gradients[place]
        );
    }
}

#[test]
fn attention_of_a_label_sums_to_one_and_has_a_weight_a_word() {
    let golden = golden();
    for name in ["attentionxml", "plt_level"] {
        let case = &golden.cases[name];
        let network = network(name, case, golden.sizes, 0);
        let weights = network
            .attention(&batch(&golden, case, &[0, 1]), 4)
            .unwrap();
        assert_eq!(weights.size(), [2, 6]);
        assert_close(
            &doubles(&weights.sum_dim_intlist(1, false, Kind::Double)),
            &[1.0, 1.0],
            name,
        );
        let behind_the_end = doubles(&weights.select(0, 1).narrow(0, 4, 2));
        assert_eq!(behind_the_end, [0.0, 0.0]);
    }
    let case = &golden.cases["xml_cnn"];
    let network = network("xml_cnn", case, golden.sizes, 0);
    let weights = network.attention(&batch(&golden, case, &[0]), 4);
    assert!(weights.is_none());
}
