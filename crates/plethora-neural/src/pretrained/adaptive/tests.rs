//! Against values of `PyTorch`, slow references and the paper's counts.

use plethora_core::SeedStream;

use super::*;
use crate::head::Phase;
use crate::head::testing::check_log_odds;
use crate::parameters::{Parameters, RowTable};
use crate::pretrained::config::recipe;
use crate::pretrained::{Projection, TailLoss};
use crate::train::{LossScale, MomentumStep, StepPart};

/// How many products of numbers the scores of tails took.
pub(super) mod counted {
    use std::cell::Cell;

    use tch::Tensor;

    thread_local! {
        static PRODUCTS: Cell<i64> = const { Cell::new(0) };
    }

    pub(in super::super) fn add(narrow: &Tensor, vectors: &Tensor) {
        let products = narrow.size()[0] * vectors.numel() as i64;
        PRODUCTS.set(PRODUCTS.get() + products);
    }

    /// Since the last time.
    pub(super) fn take() -> i64 {
        PRODUCTS.replace(0)
    }
}

mod golden;
mod ranking;
mod sizes;

/// A head with everything around it.
struct Case {
    head: Adaptive,
    parameters: Parameters,
    vector: Tensor,
    targets: LabelPlaces,
    scale: LossScale,
}

/// What a case is made of.
struct Plan<'a> {
    config: AdaptiveConfig,
    counts: &'a [u32],
    num_documents: u64,
    vectors: Tensor,
    true_labels: &'a [&'a [u32]],
    scale: LossScale,
    chunk: usize,
    kind: Kind,
}

fn config() -> AdaptiveConfig {
    let open = recipe("aplc-xlnet").adaptive.unwrap();
    AdaptiveConfig {
        dropout: 0.0,
        negatives: 0,
        ..open.settled(8, vec![5, 9])
    }
}

const COUNTS: [u32; 13] = [3, 40, 7, 7, 1, 22, 2, 7, 15, 1, 30, 2, 9];
/// Training documents of the head and of the tails.
const CLUSTER_COUNTS: [u32; 4] = [80, 20, 6, 3];
const TRUE_LABELS: [&[u32]; 5] = [&[1, 7, 2], &[], &[4, 9, 10, 11], &[5, 8], &[12, 6]];

fn start() -> Start {
    Start::seeded(SeedStream::new(4))
}

impl Plan<'_> {
    fn new() -> Plan<'static> {
        Plan {
            config: config(),
            counts: &COUNTS,
            num_documents: 90,
            vectors: start().named("vectors").normal(&[5, 6], 1.0),
            true_labels: &TRUE_LABELS,
            scale: LossScale::Sum,
            chunk: 0,
            kind: Kind::Float,
        }
    }

    /// The head as it starts.
    fn fresh(&self) -> Case {
        let clusters = frequency_clusters(self.counts, &self.config.cut_offs);
        let facts = |train_counts| LabelFacts {
            train_counts,
            num_documents: self.num_documents,
        };
        let mut builder = DenseParametersBuilder::default();
        let setup = AdaptiveSetup {
            config: &self.config,
            width: self.vectors.size()[1] as usize,
            labels: facts(self.counts),
            clusters: &clusters,
            counts: facts(&CLUSTER_COUNTS[..clusters.num_clusters()]),
            chunk: self.chunk,
            device: Device::Cpu,
        };
        let (head, tails) = Adaptive::new(&setup, &mut builder, start());
        let tables = (1..).zip(&tails).map(|(number, vectors)| {
            RowTable::new(format!("tail-{number}"), vectors, true, Device::Cpu).of_labels()
        });
        let vector = self.vectors.to_kind(self.kind).copy();
        Case {
            head,
            parameters: Parameters {
                tables: tables.collect(),
                dense: builder.finish_in(Device::Cpu, self.kind),
            },
            vector: vector.set_requires_grad(true),
            targets: LabelPlaces::new(self.true_labels.iter().copied()),
            scale: self.scale,
        }
    }

    /// The head with random values everywhere.
    fn case(&self) -> Case {
        let case = self.fresh();
        let dense = case.parameters.dense.iter();
        let tables = (case.parameters.tables.iter()).map(|table| (table.name(), table.values()));
        for (name, value) in dense.chain(tables) {
            let drawn = start().named(name).normal(&value.size(), 0.7);
            tch::no_grad(|| value.shallow_clone().copy_(&drawn));
        }
        case.parameters.dense.refresh();
        case
    }
}

impl Case {
    fn input(&self) -> VectorInput<'_> {
        VectorInput {
            parameters: &self.parameters,
            vector: &self.vector,
            prior: None,
            recall: None,
        }
    }

    fn learn(&self, scale: f64) -> Learnt {
        let part = &StepPart {
            scale,
            seed: 0,
            epoch_progress: 0.0,
            momentum: MomentumStep::none(),
        };
        let step = HeadStep {
            targets: &self.targets,
            part,
            loss: self.scale,
            phase: Phase::Joint,
            drops: true,
        };
        let learnt = self.head.learn(&self.input(), &step).unwrap();
        self.parameters.dense.collect();
        learnt
    }

    /// Gradients of the vector, of the dense parameters and of each whole table.
    fn gradients(&self, learnt: &Learnt) -> Vec<Tensor> {
        let mut tables: Vec<Tensor> = self
            .parameters
            .tables
            .iter()
            .map(|table| table.values().zeros_like())
            .collect();
        for rows in &learnt.rows {
            let _ = tables[rows.table].index_copy_(0, &rows.rows, &rows.leaf.grad());
        }
        let dense = self.parameters.dense.gradients().copy();
        [self.vector.grad().copy(), dense]
            .into_iter()
            .chain(tables)
            .collect()
    }

    /// Probabilities of all labels, straight from the definition.
    fn probabilities(&self) -> Tensor {
        let dense = &self.parameters.dense;
        let input = self.input();
        let hidden = self.head.hidden(&input, false);
        let root = self.head.root_logits(dense, &hidden).sigmoid();
        let num_labels = self.head.places.root.size()[0];
        let all = Tensor::zeros([hidden.size()[0], num_labels], (Kind::Float, Device::Cpu));
        let num_head = self.head.num_head();
        let of_head = root.narrow(1, 0, num_head);
        let mut all = all.index_copy(1, &self.head.labels, &of_head);
        for (number, tail) in self.head.tails.iter().enumerate() {
            let narrow = tail.project(dense, &hidden);
            let vectors = self.parameters.tables[number].values();
            let biases = tail.biases(dense);
            let own = Tail::logits(&narrow, vectors, biases.as_ref()).sigmoid();
            let product = own * root.narrow(1, num_head + number as i64, 1);
            all = all.index_copy(1, tail.labels(), &product);
        }
        all.detach()
    }
}

fn assert_close(found: &Tensor, expected: &Tensor, tolerance: f64, what: &str) {
    assert_eq!(found.size(), expected.size(), "{what}");
    let [found, expected] = [found, expected].map(|tensor| tensor.to_kind(Kind::Double));
    let largest = expected.abs().max().double_value(&[]).max(1e-3);
    let error = (found - expected).abs().max().double_value(&[]) / largest;
    assert!(error < tolerance, "{what} is off by {error}");
}

/// Every way to learn that draws nothing.
fn plans() -> Vec<Plan<'static>> {
    let mut plans = Vec::new();
    for projection in [Projection::Linear, Projection::Normed] {
        for roots in [Roots::All, Roots::Absent, Roots::None] {
            for (tail_loss, negatives, bias, scale) in [
                (TailLoss::Product, 0, true, LossScale::Sum),
                (TailLoss::Product, 1000, false, LossScale::Mean),
                (TailLoss::Conditional, 1000, true, LossScale::Sum),
            ] {
                let config = AdaptiveConfig {
                    projection,
                    bias,
                    roots,
                    tail_loss,
                    negatives,
                    ..config()
                };
                plans.push(Plan {
                    config,
                    scale,
                    ..Plan::new()
                });
            }
        }
    }
    plans
}

#[test]
fn runs_of_labels_change_nothing() {
    for plan in plans() {
        let whole = plan.case();
        let learnt = whole.learn(0.5);
        let gradients = whole.gradients(&learnt);
        for chunk in [1, 2, 3, 100] {
            let plan = Plan {
                chunk,
                config: plan.config.clone(),
                scale: plan.scale,
                ..Plan::new()
            };
            let parts = plan.case();
            let by_parts = parts.learn(0.5);
            assert_close(&by_parts.loss, &learnt.loss, 1e-5, "loss");
            for (found, expected) in parts.gradients(&by_parts).iter().zip(&gradients) {
                assert_close(found, expected, 1e-5, "gradient");
            }
        }
    }
}

#[test]
fn gradients_equal_finite_differences() {
    for plan in plans() {
        let case = plan.case();
        let gradients = case.gradients(&case.learn(1.0));
        let tables = case.parameters.tables.iter().map(RowTable::values);
        let dense = case.parameters.dense.values();
        let values = [case.vector.detach(), dense.shallow_clone()];
        let values = values.into_iter().chain(tables.map(Tensor::shallow_clone));
        let loss = || case.learn(0.0).loss.double_value(&[]);
        let distance = 2e-3;
        for (values, gradients) in values.zip(&gradients) {
            let (values, gradients) = (values.view([-1]), gradients.view([-1]));
            // Every 5th number reaches all parameters and keeps the test short.
            for place in (0..values.size()[0]).step_by(5) {
                let mut value = values.narrow(0, place, 1);
                let _ = value.g_add_scalar_(distance);
                let above = loss();
                let _ = value.g_add_scalar_(-2.0 * distance);
                let below = loss();
                let _ = value.g_add_scalar_(distance);
                let slope = (above - below) / (2.0 * distance);
                let gradient = gradients.double_value(&[place]);
                // A rectifier may turn in between.
                let tolerance = 1e-2 * gradient.abs().max(0.2);
                assert!(
                    (slope - gradient).abs() < tolerance,
                    "{:?} {place}: {slope}, not {gradient}",
                    plan.config
                );
            }
        }
    }
}

#[test]
fn batches_of_a_step_make_the_step_of_their_sum() {
    let whole = Plan::new().case();
    let expected = whole.gradients(&whole.learn(1.0));
    let parts = Plan::new().case();
    let learnt = [parts.learn(0.25), parts.learn(0.75)];
    let dense = parts.parameters.dense.gradients();
    assert_close(dense, &expected[1], 1e-5, "dense");
    let of_first = parts.gradients(&learnt[0]);
    assert_close(&(&of_first[2] * 4.0), &expected[2], 1e-5, "first tail");
}

#[test]
fn sixteen_bits_come_close() {
    for plan in plans() {
        let exact = plan.case();
        let learnt = exact.learn(1.0);
        let gradients = exact.gradients(&learnt);
        let plan = Plan {
            kind: Kind::BFloat16,
            ..plan
        };
        let rounded = plan.case();
        let found = rounded.learn(1.0);
        assert_close(&found.loss, &learnt.loss, 2e-2, "loss");
        for (found, expected) in rounded.gradients(&found).iter().zip(&gradients) {
            assert_close(found, expected, 6e-2, "gradient");
        }
    }
}

#[test]
fn drawn_labels_alone_learn_where_no_document_visits() {
    let plan = Plan {
        true_labels: &[&[1], &[], &[5, 10], &[8], &[1]],
        config: AdaptiveConfig {
            negatives: 3,
            ..config()
        },
        ..Plan::new()
    };
    tch::manual_seed(1);
    let case = plan.case();
    let learnt = case.learn(1.0);
    assert_eq!(learnt.rows.len(), 2);
    for rows in &learnt.rows {
        assert_eq!(rows.rows.size(), [3]);
        assert!(rows.leaf.grad().abs().max().double_value(&[]) > 0.0);
    }
    let nothing = Plan {
        config: config(),
        ..plan
    };
    assert!(nothing.case().learn(1.0).rows.is_empty());
}

#[test]
fn draws_go_all_the_way_to_every_label() {
    // The mean over many draws is what all labels would give, by their share.
    let config = AdaptiveConfig {
        roots: Roots::None,
        negatives: 2,
        ..config()
    };
    let loss_of = |negatives: usize| {
        let config = AdaptiveConfig {
            negatives,
            ..config.clone()
        };
        let plan = Plan {
            true_labels: &[&[1], &[], &[5, 10], &[8], &[1]],
            config,
            ..Plan::new()
        };
        plan.case().learn(1.0).loss.double_value(&[])
    };
    let (none, all) = (loss_of(0), loss_of(1000));
    tch::manual_seed(3);
    let mean = (0..400).map(|_| loss_of(2)).sum::<f64>() / 400.0;
    // Two of four labels of each tail.
    let share = (mean - none) / (all - none);
    assert!((share - 0.5).abs() < 0.05, "{share}");
}

#[test]
fn a_fresh_head_says_how_rare_labels_are() {
    let case = Plan::new().fresh();
    let probabilities = case.probabilities();
    for (label, count) in [(1, 40.0), (10, 30.0), (12, 9.0)] {
        let expected = (count + 1.0) / 92.0;
        let found = probabilities.double_value(&[0, label]);
        assert!((found - expected).abs() < 1e-6, "{label}: {found}");
    }
    // Twenty documents have a label of the first tail, and three of them label 0.
    let found = probabilities.double_value(&[0, 0]);
    let expected = 21.0 / 92.0 * (4.0 / 22.0);
    assert!((found - expected).abs() < 1e-6, "{found}");
}

#[test]
fn log_odds_are_those_of_the_ranking() {
    for plan in plans() {
        let case = plan.case();
        check_log_odds(&case.head, &case.parameters, &case.vector.detach());
    }
}
