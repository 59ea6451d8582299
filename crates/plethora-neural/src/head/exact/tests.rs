//! Against autograd over all labels at once, in 64 bits.

use plethora_core::SeedStream;
use tch::Reduction;

use super::*;
use crate::head::Phase;
use crate::head::testing::check_log_odds;
use crate::parameters::Parameters;
use crate::train::MomentumStep;

const NUM_LABELS: usize = 11;
const WIDTH: usize = 4;
const DOCUMENTS: [&[u32]; 3] = [&[0, 7, 3], &[], &[10, 7]];

mod shards;

struct Case {
    head: Exact,
    parameters: Parameters,
    vector: Tensor,
    targets: LabelPlaces,
}

fn config(bottleneck: usize, chunk: usize) -> ExactConfig {
    ExactConfig {
        bottleneck,
        learning_rate: 0.2,
        momentum: 0.9,
        weight_decay: 0.1,
        chunk,
    }
}

fn start() -> Start {
    Start::seeded(SeedStream::new(2))
}

fn case(config: &ExactConfig, kind: Kind) -> Case {
    let mut builder = DenseParametersBuilder::default();
    let setup = ExactSetup {
        config,
        width: WIDTH,
        labels: LabelFacts {
            train_counts: &[1; NUM_LABELS],
            num_documents: 8,
        },
        first_table: 0,
        device: Device::Cpu,
    };
    let (head, tables) = Exact::new(&setup, &mut builder, start());
    assert!(tables[0].values().is_contiguous());
    assert_eq!(tables[0].values().abs().max().double_value(&[]), 0.0);
    let drawn = start().normal(&tables[0].values().size(), 0.8);
    tables[0].values().shallow_clone().copy_(&drawn);
    let shape = [DOCUMENTS.len() as i64, WIDTH as i64];
    let vector = start().named("vector").normal(&shape, 1.0).to_kind(kind);
    Case {
        head,
        parameters: Parameters {
            dense: builder.finish_in(Device::Cpu, kind),
            tables,
        },
        vector: vector.set_requires_grad(true),
        targets: LabelPlaces::new(DOCUMENTS.into_iter()),
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

    fn learn(&self, momentum: MomentumStep<'_>, step_scale: f64, scale: LossScale) -> Tensor {
        let part = &StepPart {
            scale: step_scale,
            seed: 0,
            epoch_progress: 0.0,
            momentum,
        };
        let step = HeadStep {
            targets: &self.targets,
            part,
            loss: scale,
            phase: Phase::Joint,
            drops: true,
        };
        let learnt = self.head.learn(&self.input(), &step).unwrap();
        assert!(learnt.rows.is_empty());
        self.parameters.dense.collect();
        learnt.loss
    }

    fn values(&self, table: usize) -> Tensor {
        self.parameters.tables[table].values().copy()
    }

    /// Loss, gradients of vector, labels and biases, by autograd over all labels at once.
    fn reference(&self, step_scale: f64, scale: LossScale) -> [Tensor; 4] {
        let leaf = |tensor: &Tensor| {
            let copy = tensor.detach().to_kind(Kind::Double).copy();
            copy.set_requires_grad(true)
        };
        let leaves = [&self.vector, &self.values(0), &self.values(1)].map(leaf);
        let [vector, labels, biases] = &leaves;
        let dense: Vec<Tensor> = self.parameters.dense.iter().map(|(_, l)| leaf(l)).collect();
        let hidden = match dense.as_slice() {
            [weights, bias] => vector.linear(weights, Some(bias)),
            _ => vector.shallow_clone(),
        };
        let logits = hidden.linear(labels, Some(&biases.squeeze_dim(1)));
        let truth = logits.detach().zeros_like();
        for (number, labels) in DOCUMENTS.iter().enumerate() {
            for &label in *labels {
                let _ = truth.get(number as i64).get(i64::from(label)).fill_(1.0);
            }
        }
        let reduction = match scale {
            LossScale::Sum => Reduction::Sum,
            LossScale::Mean => Reduction::Mean,
        };
        let loss = logits.binary_cross_entropy_with_logits::<Tensor>(&truth, None, None, reduction);
        let loss = match scale {
            LossScale::Sum => loss / DOCUMENTS.len() as f64,
            LossScale::Mean => loss,
        };
        (&loss * step_scale).backward();
        let [of_vector, of_labels, of_biases] = leaves.map(|leaf| leaf.grad());
        // Labels learn from the sum whatever the loss.
        let per_document = match scale {
            LossScale::Sum => 1,
            LossScale::Mean => logits.size()[1],
        } as f64;
        [
            loss,
            of_vector,
            of_labels * per_document,
            of_biases * per_document,
        ]
    }
}

fn assert_close(found: &Tensor, expected: &Tensor, tolerance: f64) {
    let error = (found.to_kind(Kind::Double) - expected).abs().max();
    let largest = expected.abs().max().double_value(&[]).max(1e-3);
    let error = error.double_value(&[]) / largest;
    assert!(error < tolerance, "{found:?} is off by {error}");
}

#[test]
fn losses_gradients_and_steps_equal_autograd_whatever_the_chunk() {
    for (bottleneck, scale) in [
        (0, LossScale::Sum),
        (3, LossScale::Sum),
        (3, LossScale::Mean),
    ] {
        for chunk in [0, 1, 2, 4, 100] {
            let case = case(&config(bottleneck, chunk), Kind::Float);
            let [loss, of_vector, of_labels, of_biases] = case.reference(0.5, scale);
            let before = [case.values(0), case.values(1)];
            let momenta = case.parameters.trained().zeros_like();
            let momentum = MomentumStep::new(&momenta, 0.5, (0, 1));
            assert_close(&case.learn(momentum, 0.5, scale), &loss, 1e-5);
            assert_close(&case.vector.grad(), &of_vector, 1e-4);
            // Half the rate of 0.2, and weights decay by a tenth of it; biases do not.
            let labels = &before[0] * (1.0 - 0.1 * 0.1) - &of_labels * 0.1;
            assert_close(&case.values(0), &labels, 1e-5);
            assert_close(&case.values(1), &(&before[1] - &of_biases * 0.1), 1e-5);
            // A second step keeps nine tenths of the momentum.
            let [_, _, again, _] = case.reference(0.5, scale);
            let before = case.values(0);
            let _ = case.learn(momentum, 0.5, scale);
            let labels = &before * (1.0 - 0.1 * 0.1) - (again + of_labels * 0.9) * 0.1;
            assert_close(&case.values(0), &labels, 1e-5);
        }
    }
}

#[test]
fn batches_of_a_step_make_the_step_of_their_sum() {
    let whole = case(&config(3, 2), Kind::Float);
    let momenta = whole.parameters.trained().zeros_like();
    let momentum = MomentumStep::new(&momenta, 1.0, (0, 1));
    let _ = whole.learn(momentum, 1.0, LossScale::Sum);
    let parts = case(&config(3, 2), Kind::Float);
    let momenta = parts.parameters.trained().zeros_like();
    for part in 0..2 {
        let momentum = MomentumStep::new(&momenta, 1.0, (part, 2));
        let _ = parts.learn(momentum, 0.5, LossScale::Sum);
    }
    assert_close(&parts.values(0), &whole.values(0), 1e-5);
    assert_close(&parts.values(1), &whole.values(1), 1e-5);
    assert_close(&parts.vector.grad(), &whole.vector.grad(), 1e-5);
    let [one, other] = [&parts, &whole].map(|case| case.parameters.dense.gradients());
    assert_close(one, other, 1e-5);
}

#[test]
fn looking_at_the_loss_changes_no_label() {
    let case = case(&config(0, 3), Kind::Float);
    let before = case.values(0);
    let _ = case.learn(MomentumStep::none(), 1.0, LossScale::Sum);
    assert_eq!(case.values(0), before);
    assert!(case.vector.grad().defined());
}

#[test]
fn gradients_equal_finite_differences() {
    let case = case(&config(3, 4), Kind::Float);
    let loss = || {
        let loss = case.learn(MomentumStep::none(), 0.0, LossScale::Sum);
        loss.double_value(&[])
    };
    let _ = case.learn(MomentumStep::none(), 1.0, LossScale::Sum);
    let dense = &case.parameters.dense;
    let gradients = [case.vector.grad().copy(), dense.gradients().copy()];
    let values = [case.vector.detach(), dense.values().shallow_clone()];
    let distance = 1e-2;
    for (values, gradients) in values.iter().zip(&gradients) {
        let (values, gradients) = (values.view([-1]), gradients.view([-1]));
        for place in 0..values.size()[0] {
            let mut value = values.narrow(0, place, 1);
            let _ = value.g_add_scalar_(distance);
            let above = loss();
            let _ = value.g_add_scalar_(-2.0 * distance);
            let below = loss();
            let _ = value.g_add_scalar_(distance);
            let slope = (above - below) / (2.0 * distance);
            let gradient = gradients.double_value(&[place]);
            assert!((slope - gradient).abs() < 5e-3, "{slope}, not {gradient}");
        }
    }
}

#[test]
fn sixteen_bits_come_close() {
    let case = case(&config(0, 3), Kind::BFloat16);
    let [loss, of_vector, of_labels, _] = case.reference(1.0, LossScale::Sum);
    let before = case.values(0);
    let momenta = case.parameters.trained().zeros_like();
    let momentum = MomentumStep::new(&momenta, 1.0, (0, 1));
    assert_close(&case.learn(momentum, 1.0, LossScale::Sum), &loss, 1e-2);
    assert_close(&case.vector.grad(), &of_vector, 2e-2);
    let moved = &before * (1.0 - 0.2 * 0.1) - case.values(0);
    assert_close(&(moved / 0.2), &of_labels, 2e-2);
}

#[test]
fn rankings_equal_those_of_all_logits_whatever_the_chunk() {
    for chunk in [0, 1, 3, 100] {
        for keep in [1, 4, NUM_LABELS, 50] {
            let case = case(&config(0, chunk), Kind::Float);
            let ranked = case.head.rank(&case.input(), 1, keep);
            let biases = case.values(1).squeeze_dim(1);
            let logits = case.vector.detach().linear(&case.values(0), Some(&biases));
            let (scores, labels) = logits.topk(keep.min(NUM_LABELS) as i64, 1, true, true);
            assert_eq!(ranked.labels, labels);
            let scores = scores.to_kind(Kind::Double).sigmoid();
            assert_close(&ranked.log_scores.exp(), &scores, 1e-5);
        }
    }
}

#[test]
fn log_odds_are_those_of_the_ranking() {
    for bottleneck in [0, 3] {
        let case = case(&config(bottleneck, 0), Kind::Float);
        check_log_odds(&case.head, &case.parameters, &case.vector.detach());
    }
}
