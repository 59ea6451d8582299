//! Encoders against values of `transformers`: `testdata/transformers/make_golden.py` made small
//! random ones of each architecture.

use std::collections::BTreeMap;
use std::path::PathBuf;

use tch::{Device, Kind, Tensor};

use super::{Architecture, PieceInput, Pooling, Transformer, TransformerConfig, Weights};
use crate::parameters::{DenseParameters, DenseParametersBuilder};

pub(super) const KINDS: [&str; 7] = [
    "bert",
    "roberta",
    "mpnet",
    "distilbert",
    "xlnet",
    "electra",
    "modernbert",
];

/// Largest error of a state.
const STATE_TOLERANCE: f64 = 1e-4;

/// Largest error of a gradient against the largest number of its parameter.
const GRADIENT_TOLERANCE: f64 = 1e-3;

pub(super) fn folder(kind: &str) -> PathBuf {
    PathBuf::from("../../testdata/transformers").join(kind)
}

/// Values of a golden file by name.
struct Golden(BTreeMap<String, Tensor>);

impl Golden {
    fn open(kind: &str) -> Self {
        let path = folder(kind).join("golden.safetensors");
        Self(
            Tensor::read_safetensors(path)
                .unwrap()
                .into_iter()
                .collect(),
        )
    }

    /// Pieces of each document.
    fn documents(&self) -> Vec<Vec<i64>> {
        let ids: Vec<i64> = (&self.0["ids"]).try_into().unwrap();
        let lengths: Vec<i64> = (&self.0["lengths"]).try_into().unwrap();
        let mut rest = ids.as_slice();
        let documents = lengths.iter().map(|&length| {
            let (document, others) = rest.split_at(length as usize);
            rest = others;
            document.to_vec()
        });
        documents.collect()
    }

    fn gradients(&self) -> impl Iterator<Item = (&str, &Tensor)> {
        self.0
            .iter()
            .filter_map(|(name, value)| Some((name.strip_prefix("gradient.")?, value)))
    }
}

pub(super) fn config() -> TransformerConfig {
    TransformerConfig {
        folder: String::new(),
        layers: 2,
        pooling: Pooling::Cls,
        dropout: 0.0,
        attention_dropout: 0.0,
        train_distances: true,
        checkpointing: false,
    }
}

/// An encoder with its parameters.
struct Case {
    transformer: Transformer,
    parameters: DenseParameters,
}

impl Case {
    fn open(kind: &str, config: &TransformerConfig) -> Self {
        Self::open_in(kind, config, Kind::Float)
    }

    fn open_in(kind: &str, config: &TransformerConfig, numbers: Kind) -> Self {
        let folder = folder(kind);
        let architecture = Architecture::read(&folder).unwrap();
        let mut builder = DenseParametersBuilder::default();
        let weights = Weights::Folder(&folder);
        let transformer = Transformer::new(&architecture, config, &mut builder, weights).unwrap();
        Self {
            transformer,
            parameters: builder.finish_in(Device::Cpu, numbers),
        }
    }

    fn vector(&self, pieces: &Pieces, is_training: bool) -> Tensor {
        let input = pieces.input(is_training);
        self.transformer.forward(&self.parameters, &input).vector
    }

    /// Gradients of all parameters by the projected vectors' sum.
    fn gradients(&self, pieces: &Pieces, projection: &Tensor) -> BTreeMap<String, Tensor> {
        let input = pieces.input(true);
        let trace = self.transformer.forward(&self.parameters, &input);
        (&trace.vector * projection).sum(None).backward();
        self.transformer.backward(&self.parameters, &input, trace);
        self.parameters.collect();
        self.parameters
            .iter()
            .map(|(name, leaf)| (name.to_owned(), leaf.grad().copy()))
            .collect()
    }
}

/// Documents padded to the same length.
struct Pieces {
    ids: Tensor,
    lengths: Tensor,
    mask: Option<Tensor>,
}

impl Pieces {
    fn of(documents: &[Vec<i64>]) -> Self {
        let longest = documents.iter().map(Vec::len).max().unwrap();
        Self::padded(documents, longest, 0)
    }

    fn padded(documents: &[Vec<i64>], length: usize, pad: i64) -> Self {
        let rows = documents.iter().map(|document| {
            let mut row = document.clone();
            row.resize(length, pad);
            Tensor::from_slice(&row)
        });
        let ids = Tensor::stack(&rows.collect::<Vec<_>>(), 0);
        let lengths: Vec<i64> = documents
            .iter()
            .map(|document| document.len() as i64)
            .collect();
        let lengths = Tensor::from_slice(&lengths);
        let places = Tensor::arange(length as i64, (Kind::Int64, Device::Cpu));
        let mask = places.lt_tensor(&lengths.unsqueeze(1));
        let is_full = documents.iter().all(|document| document.len() == length);
        Self {
            ids,
            lengths,
            mask: (!is_full).then_some(mask),
        }
    }

    fn input(&self, is_training: bool) -> PieceInput<'_> {
        PieceInput {
            ids: &self.ids,
            lengths: &self.lengths,
            mask: self.mask.as_ref(),
            is_training,
            drops: is_training,
            seed: 1000,
        }
    }
}

fn difference(left: &Tensor, right: &Tensor) -> f64 {
    assert_eq!(left.size(), right.size());
    let difference = left.to_kind(Kind::Double) - right.to_kind(Kind::Double);
    difference.abs().max().double_value(&[])
}

fn assert_close(actual: &Tensor, expected: &Tensor, tolerance: f64, what: &str) {
    let difference = difference(actual, expected);
    assert!(difference <= tolerance, "{what}: off by {difference}");
}

/// By the largest number of the parameter. Differences of numbers that cancel are measured by what
/// is common in a gradient.
fn assert_gradient(actual: &Tensor, expected: &Tensor, tolerance: f64, what: &str) {
    let largest = expected.abs().max().double_value(&[]);
    assert_close(actual, expected, tolerance * largest.max(1e-2), what);
}

#[test]
fn states_of_all_layers_equal_those_of_transformers() {
    for kind in KINDS {
        let golden = Golden::open(kind);
        let case = Case::open(kind, &config());
        let documents = golden.documents();
        let pieces = Pieces::of(&documents);
        let input = pieces.input(false);
        let states = case.transformer.hidden_states(&case.parameters, &input);
        assert_eq!(states.len(), case.transformer.layers.len() + 1);
        for (number, states) in states.iter().enumerate() {
            let real: Vec<Tensor> = documents
                .iter()
                .enumerate()
                .map(|(row, document)| states.get(row as i64).narrow(0, 0, document.len() as i64))
                .collect();
            let expected = &golden.0[&format!("states.{number}")];
            let what = format!("{kind} layer {number}");
            assert_close(&Tensor::cat(&real, 0), expected, STATE_TOLERANCE, &what);
        }
        let vector = case.vector(&pieces, false);
        assert_eq!(vector.size()[1], case.transformer.width() as i64);
        assert_close(&vector, &golden.0["vector"], STATE_TOLERANCE, kind);
    }
}

#[test]
fn gradients_equal_those_of_transformers_with_and_without_checkpointing() {
    for kind in KINDS {
        let golden = Golden::open(kind);
        let pieces = Pieces::of(&golden.documents());
        for checkpointing in [false, true] {
            let config = TransformerConfig {
                checkpointing,
                ..config()
            };
            let case = Case::open(kind, &config);
            let gradients = case.gradients(&pieces, &golden.0["projection"]);
            for (name, expected) in golden.gradients() {
                let what = format!("{kind} {name}, checkpointing {checkpointing}");
                assert_gradient(&gradients[name], expected, GRADIENT_TOLERANCE, &what);
            }
        }
    }
}

#[test]
fn biases_by_distance_that_are_not_trained_change_no_other_gradient() {
    let golden = Golden::open("mpnet");
    let pieces = Pieces::of(&golden.documents());
    for checkpointing in [false, true] {
        let config = TransformerConfig {
            train_distances: false,
            checkpointing,
            ..config()
        };
        let case = Case::open("mpnet", &config);
        let gradients = case.gradients(&pieces, &golden.0["projection"]);
        for (name, expected) in golden.gradients() {
            if name == "encoder.distances" {
                assert_eq!(gradients[name], expected.zeros_like());
            } else {
                assert_gradient(&gradients[name], expected, GRADIENT_TOLERANCE, name);
            }
        }
    }
}

#[test]
fn golden_files_have_gradients_of_every_kind_of_parameter() {
    for kind in KINDS {
        let golden = Golden::open(kind);
        let case = Case::open(kind, &config());
        let names: Vec<&str> = golden.gradients().map(|(name, _)| name).collect();
        for (name, _) in case.parameters.iter() {
            let is_of_first_layer = !name.contains("layer.") || name.contains("layer.0.");
            assert!(!is_of_first_layer || names.contains(&name), "{kind} {name}");
        }
    }
}

#[test]
fn a_document_alone_and_with_more_padding_has_the_same_vector() {
    for kind in KINDS {
        let golden = Golden::open(kind);
        let documents = golden.documents();
        for pooling in [Pooling::Cls, Pooling::Mean] {
            let config = TransformerConfig {
                pooling,
                ..config()
            };
            let case = Case::open(kind, &config);
            let together = case.vector(&Pieces::of(&documents), false);
            let longer = case.vector(&Pieces::padded(&documents, 43, 7), false);
            assert_close(&longer, &together, 1e-5, kind);
            for (row, document) in documents.iter().enumerate() {
                let pieces = Pieces::of(std::slice::from_ref(document));
                assert!(pieces.mask.is_none());
                let alone = case.vector(&pieces, false).get(0);
                assert_close(&alone, &together.get(row as i64), 1e-5, kind);
            }
        }
    }
}

#[test]
fn means_are_those_of_the_states_of_real_pieces() {
    for kind in KINDS {
        let documents = Golden::open(kind).documents();
        let config = TransformerConfig {
            pooling: Pooling::Mean,
            ..config()
        };
        let case = Case::open(kind, &config);
        let pieces = Pieces::of(&documents);
        let input = pieces.input(false);
        let states = case.transformer.hidden_states(&case.parameters, &input);
        let vector = case.vector(&pieces, false);
        for (row, document) in documents.iter().enumerate() {
            let of_layer = |states: &Tensor| {
                let real = states.get(row as i64).narrow(0, 0, document.len() as i64);
                real.mean_dim(0, false, Kind::Float)
            };
            let means: Vec<Tensor> = states.iter().rev().take(2).map(of_layer).collect();
            let expected = Tensor::cat(&means, 0);
            assert_close(&vector.get(row as i64), &expected, 1e-5, kind);
        }
    }
}

#[test]
fn checkpointing_changes_no_gradient_whatever_is_dropped_and_pooled() {
    for kind in KINDS {
        let golden = Golden::open(kind);
        let documents = golden.documents();
        for (pooling, layers) in [(Pooling::Cls, 1), (Pooling::Cls, 2), (Pooling::Mean, 2)] {
            let gradients = [false, true].map(|checkpointing| {
                let config = TransformerConfig {
                    layers,
                    pooling,
                    dropout: 0.2,
                    attention_dropout: 0.3,
                    train_distances: true,
                    checkpointing,
                    ..config()
                };
                let projection = golden.0["projection"].narrow(1, 0, 32 * layers as i64);
                Case::open(kind, &config).gradients(&Pieces::of(&documents), &projection)
            });
            let [kept, recomputed] = &gradients;
            for (name, expected) in kept {
                assert_gradient(&recomputed[name], expected, 1e-5, &format!("{kind} {name}"));
            }
        }
    }
}

#[test]
fn dropout_is_drawn_by_the_seed_and_only_in_training() {
    let config = TransformerConfig {
        dropout: 0.2,
        attention_dropout: 0.3,
        train_distances: true,
        ..config()
    };
    for kind in KINDS {
        let case = Case::open(kind, &config);
        let pieces = Pieces::of(&Golden::open(kind).documents());
        let drawn = case.vector(&pieces, true);
        assert_eq!(case.vector(&pieces, true), drawn);
        let other = PieceInput {
            seed: 5,
            ..pieces.input(true)
        };
        let other = case.transformer.forward(&case.parameters, &other).vector;
        assert!(difference(&other, &drawn) > 0.1, "{kind}");
        let golden = &Golden::open(kind).0["vector"];
        assert_close(&case.vector(&pieces, false), golden, STATE_TOLERANCE, kind);
    }
}

#[test]
fn sixteen_bits_come_close() {
    for kind in KINDS {
        let golden = Golden::open(kind);
        let pieces = Pieces::of(&golden.documents());
        let case = Case::open_in(kind, &config(), Kind::BFloat16);
        let vector = case.vector(&pieces, false);
        assert_eq!(vector.kind(), Kind::BFloat16);
        // States before the last norm of `ModernBERT` are several times as large as those of others.
        let largest = golden.0["vector"].abs().max().double_value(&[]);
        assert_close(&vector, &golden.0["vector"], 0.03 * largest, kind);
        let projection = golden.0["projection"].to_kind(Kind::BFloat16);
        let gradients = case.gradients(&pieces, &projection);
        for (name, expected) in golden.gradients() {
            assert_gradient(&gradients[name], expected, 0.1, &format!("{kind} {name}"));
        }
    }
}

#[test]
fn ids_may_have_thirty_two_bits() {
    let case = Case::open("bert", &config());
    let mut pieces = Pieces::of(&Golden::open("bert").documents());
    let expected = case.vector(&pieces, false);
    pieces.ids = pieces.ids.to_kind(Kind::Int);
    assert_eq!(case.vector(&pieces, false), expected);
}
