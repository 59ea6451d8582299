//! Against values of numpy: `testdata/label_attention/make_golden.py` made them document by document and
//! label by label.

use std::collections::BTreeMap;

use serde::Deserialize;
use tch::{Device, Kind};

use super::*;
use crate::head::{LabelPlaces, Phase};
use crate::parameters::Parameters;
use crate::words::golden::{assert_close, doubles, step};

#[derive(Deserialize)]
struct Golden {
    sizes: BTreeMap<String, i64>,
    lengths: Vec<i64>,
    true_labels: Vec<Vec<u32>>,
    values: BTreeMap<String, Vec<f32>>,
    logits: Vec<f64>,
    loss: f64,
    gradients: BTreeMap<String, Vec<f64>>,
}

/// A head with the golden values, and what the encoder gives.
struct Example {
    golden: Golden,
    head: LabelAttention,
    parameters: Parameters,
    vector: Tensor,
    states: Tensor,
    mask: Tensor,
}

fn example(chunk: usize, kind: Kind) -> Example {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../testdata/label_attention/golden.json"
    );
    let golden: Golden = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let size = |name: &str| golden.sizes[name];
    let counts = vec![1; size("labels") as usize];
    let setup = LabelAttentionSetup {
        vector_width: size("vector") as usize,
        state_width: size("state") as usize,
        found_width: size("found") as usize,
        labels: LabelFacts {
            train_counts: &counts,
            num_documents: 9,
        },
        chunk,
    };
    let mut builder = DenseParametersBuilder::default();
    let head = LabelAttention::new(&setup, &mut builder, Start::blank());
    let parameters = Parameters {
        dense: builder.finish_in(Device::Cpu, kind),
        tables: Vec::new(),
    };
    let given = |name: &str, shape: &[i64]| {
        let value = Tensor::from_slice(&golden.values[name]).view(shape);
        value.to_kind(kind).set_requires_grad(true)
    };
    tch::no_grad(|| {
        for (name, value) in parameters.dense.iter() {
            let given = Tensor::from_slice(&golden.values[name]);
            let mut value = value.detach();
            value.copy_(&given.view(value.size().as_slice()));
        }
    });
    let num_documents = golden.lengths.len() as i64;
    let longest = *golden.lengths.iter().max().unwrap();
    let places = Tensor::arange(longest, (Kind::Int64, Device::Cpu));
    let lengths = Tensor::from_slice(&golden.lengths);
    Example {
        vector: given("vector", &[num_documents, size("vector")]),
        states: given("states", &[num_documents, longest, size("state")]),
        mask: places.lt_tensor(&lengths.unsqueeze(1)),
        golden,
        head,
        parameters,
    }
}

impl Example {
    fn input(&self) -> DocumentInput<'_> {
        self.parameters.dense.refresh();
        DocumentInput {
            vector: VectorInput {
                parameters: &self.parameters,
                vector: &self.vector,
                prior: None,
                recall: None,
            },
            states: &self.states,
            mask: Some(&self.mask),
        }
    }

    fn learn(&self, scale: f64) -> f64 {
        let targets = LabelPlaces::new(self.golden.true_labels.iter().map(Vec::as_slice));
        let learnt = self.head.learn(
            &self.input(),
            &HeadStep {
                targets: &targets,
                part: &step(scale),
                loss: LossScale::Sum,
                phase: Phase::Joint,
                drops: false,
            },
        );
        self.parameters.dense.collect();
        learnt.unwrap().loss.double_value(&[])
    }
}

#[test]
fn scores_equal_those_label_by_label() {
    for chunk in [0, 1, 3] {
        let example = example(chunk, Kind::Float);
        let logits = example.head.logits(&example.input());
        assert_close(&doubles(&logits), &example.golden.logits, "logits");
        let ranked = example.head.rank(&example.input(), 0, 3);
        let (best, labels) = logits.topk(3, 1, true, true);
        assert_eq!(ranked.labels, labels);
        assert_close(
            &doubles(&ranked.log_scores),
            &doubles(&best.log_sigmoid()),
            "ranking",
        );
    }
}

#[test]
fn losses_and_gradients_equal_differences() {
    for chunk in [0, 1, 3] {
        let example = example(chunk, Kind::Float);
        let scale = 0.5;
        let loss = example.learn(scale);
        assert!((loss - example.golden.loss).abs() < 1e-5, "{loss}");
        let expected = |name: &str| -> Vec<f64> {
            let values = example.golden.gradients[name].iter();
            values.map(|value| value * scale).collect()
        };
        let dense = &example.parameters.dense;
        let mut names = Vec::new();
        for (name, value) in dense.iter() {
            assert_close(&doubles(&value.grad()), &expected(name), name);
            names.push(name);
        }
        assert_eq!(names.len(), 5, "{names:?}");
        assert_close(
            &doubles(&example.vector.grad()),
            &expected("vector"),
            "vector",
        );
        assert_close(
            &doubles(&example.states.grad()),
            &expected("states"),
            "states",
        );
    }
}

#[test]
fn numbers_of_16_bits_come_near() {
    let example = example(0, Kind::BFloat16);
    let logits = example.head.logits(&example.input());
    assert_eq!(logits.kind(), Kind::Float);
    let found = doubles(&logits);
    for (found, expected) in found.iter().zip(&example.golden.logits) {
        assert!((found - expected).abs() < 0.1, "{found} {expected}");
    }
    let loss = example.learn(1.0);
    assert!((loss - example.golden.loss).abs() < 0.1, "{loss}");
}

#[test]
fn a_fresh_head_is_the_layer_alone() {
    let counts = [3, 1, 2];
    let setup = LabelAttentionSetup {
        vector_width: 4,
        state_width: 6,
        found_width: 5,
        labels: LabelFacts {
            train_counts: &counts,
            num_documents: 9,
        },
        chunk: 0,
    };
    let mut builder = DenseParametersBuilder::default();
    let start = Start::seeded(plethora_core::SeedStream::new(1));
    let head = LabelAttention::new(&setup, &mut builder, start);
    let parameters = Parameters {
        dense: builder.finish(Device::Cpu),
        tables: Vec::new(),
    };
    let draw = |shape: &[i64]| Tensor::randn(shape, (Kind::Float, Device::Cpu));
    let (vector, states) = (draw(&[2, 4]), draw(&[2, 3, 6]));
    let logits = head.logits(&DocumentInput {
        vector: VectorInput {
            parameters: &parameters,
            vector: &vector,
            prior: None,
            recall: None,
        },
        states: &states,
        mask: None,
    });
    let log_odds = setup.labels.log_odds();
    assert_eq!(logits, log_odds.unsqueeze(0).expand([2, 3], false));
    // Other groups than the encoder's, which would leave the layer as it was drawn.
    let groups = parameters.dense.groups();
    assert!(groups.iter().all(|group| group.rate != RateGroup::Shared));
}
