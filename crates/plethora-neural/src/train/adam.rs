//! The optimizer: `AdamW` over all dense parameters at once, and over the rows of tables that a step
//! has met.

use tch::Tensor;

use super::config::TrainConfig;
use super::row_gradients::RowGradients;
use crate::parameters::{Parameters, RateGroup, TrainedTensors};

/// Share of the first moment that a step keeps.
const BETA_1: f64 = 0.9;

/// Share of the second moment that a step keeps.
const BETA_2: f64 = 0.999;

/// Adam with weight decay apart from the gradient (Loshchilov and Hutter, 2019).
///
/// Rows of tables that a step has not met keep their values and moments, and the bias correction
/// counts all steps, as `PyTorch`'s `SparseAdam` has it (whose epsilon is not corrected). Weight
/// decay reaches matrices, and of tables the rows met alone; biases and norms are left alone.
#[derive(Debug)]
pub(super) struct Adam {
    first: TrainedTensors,
    second: TrainedTensors,
    hidden_rate: f64,
    label_rate: f64,
    word_rate: f64,
    weight_decay: f64,
    epsilon: f64,
}

impl Adam {
    pub(super) fn new(config: &TrainConfig, parameters: &Parameters) -> Self {
        Self {
            first: parameters.trained().zeros_like(),
            second: parameters
                .trained()
                .without_tables(|table| parameters.tables[table].is_changed_in_passing())
                .zeros_like(),
            hidden_rate: config.hidden_rate,
            label_rate: config.label_rate,
            word_rate: config.word_rate,
            weight_decay: config.weight_decay,
            epsilon: config.epsilon,
        }
    }

    /// First and second moments, for checkpoints.
    pub(super) fn moments(&self) -> [(&'static str, &TrainedTensors); 2] {
        [
            ("first_moment", &self.first),
            ("second_moment", &self.second),
        ]
    }

    /// First moments, which are the momenta of tables that networks change themselves.
    pub(super) fn momenta(&self) -> &TrainedTensors {
        &self.first
    }

    /// Takes a step, counted from 0, with the gradients of the dense parameters and of `rows`. The
    /// gradients are used up: their memory is that of the computation, and those of the dense
    /// parameters are zero afterwards.
    pub(super) fn update(
        &self,
        parameters: &Parameters,
        rows: &[RowGradients],
        step: u64,
        rate: f64,
    ) {
        let rule = self.rule(step, rate);
        for group in parameters.dense.groups() {
            let range = &group.range;
            let part = |buffer: &Tensor| buffer.narrow(0, range.start, range.end - range.start);
            let factor = match group.rate {
                RateGroup::Shared => 1.0,
                RateGroup::Hidden => self.hidden_rate,
                RateGroup::Labels => self.label_rate,
            };
            let rule = if group.decays {
                rule
            } else {
                rule.without_decay()
            };
            rule.at(factor).apply(
                part(parameters.dense.values()),
                part(parameters.dense.gradients()),
                part(self.first.dense()),
                part(self.second.dense()),
            );
        }
        parameters.dense.clear_gradients();
        for part in rows {
            self.update_rows(parameters, part, &rule);
        }
    }

    fn rule(&self, step: u64, rate: f64) -> Rule {
        // Powers this high are zero anyway.
        let count = i32::try_from(step + 1).unwrap_or(i32::MAX);
        Rule {
            rate,
            weight_decay: self.weight_decay,
            epsilon: self.epsilon,
            first_correction: 1.0 - BETA_1.powi(count),
            second_correction: 1.0 - BETA_2.powi(count),
        }
    }

    fn update_rows(&self, parameters: &Parameters, part: &RowGradients, rule: &Rule) {
        let table = &parameters.tables[part.table];
        let (Some(first), Some(second)) =
            (self.first.table(part.table), self.second.table(part.table))
        else {
            return;
        };
        let whole = [table.values(), first, second];
        let [values, first, second] = whole.map(|whole| whole.index_select(0, &part.rows));
        let factor = if table.is_label_matrix() {
            self.label_rate
        } else {
            self.word_rate
        };
        rule.at(factor).apply(
            values.shallow_clone(),
            part.gradient.shallow_clone(),
            first.shallow_clone(),
            second.shallow_clone(),
        );
        for (whole, changed) in whole.into_iter().zip([values, first, second]) {
            let _ = whole.shallow_clone().index_copy_(0, &part.rows, &changed);
        }
    }
}

/// The numbers of one step.
#[derive(Debug, Clone, Copy)]
struct Rule {
    rate: f64,
    weight_decay: f64,
    /// Keeps the division by small second moments finite.
    epsilon: f64,
    /// One less the share of the moments that is still the zeros of the start.
    first_correction: f64,
    second_correction: f64,
}

impl Rule {
    fn at(self, factor: f64) -> Self {
        Self {
            rate: self.rate * factor,
            ..self
        }
    }

    fn without_decay(self) -> Self {
        Self {
            weight_decay: 0.0,
            ..self
        }
    }

    /// Changes `values` and moments in place. With m, v the moments and c1, c2 the corrections,
    ///
    /// ```text
    /// values -= rate * (m / c1) / (sqrt(v / c2) + epsilon)
    ///         = m / ((sqrt(v) + epsilon * sqrt(c2)) * c1 / (rate * sqrt(c2)))
    /// ```
    ///
    /// of which the divisor takes the place of the gradient.
    fn apply(&self, mut values: Tensor, gradient: Tensor, mut first: Tensor, mut second: Tensor) {
        let mut scratch = gradient;
        let _ = first.lerp_(&scratch, 1.0 - BETA_1);
        let _ = scratch.square_();
        let _ = second.lerp_(&scratch, 1.0 - BETA_2);
        if self.rate == 0.0 {
            return;
        }
        if self.weight_decay > 0.0 {
            let _ = values.g_mul_scalar_(1.0 - self.rate * self.weight_decay);
        }
        let root = self.second_correction.sqrt();
        let _ = second.sqrt_out(&scratch);
        let _ = scratch.g_add_scalar_(self.epsilon * root);
        let _ = scratch.g_mul_scalar_(-self.first_correction / (self.rate * root));
        let _ = values.addcdiv_(&first, &scratch);
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use tch::Device;

    use super::*;
    use crate::parameters::{DenseParametersBuilder, RowTable};
    use crate::train::example_config;

    /// What `PyTorch` does with the same gradients; see the script beside the file.
    #[derive(Deserialize)]
    struct Golden {
        rate: f64,
        label_rate: f64,
        weight_decay: f64,
        dense: Case,
        labels: Case,
        rows: RowCase,
        epsilon: f64,
        large_epsilon: Case,
    }

    #[derive(Deserialize)]
    struct Case {
        start: Vec<f32>,
        gradients: Vec<Vec<f32>>,
        after: Vec<Vec<f32>>,
    }

    #[derive(Deserialize)]
    struct RowCase {
        start: Vec<Vec<f32>>,
        rows: Vec<Vec<i64>>,
        gradients: Vec<Vec<Vec<f32>>>,
        after: Vec<Vec<Vec<f32>>>,
        /// Dense Adam with zero gradients for the other rows; row 0 is met at every step.
        dense_row_0: Vec<Vec<f32>>,
    }

    fn golden() -> Golden {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../testdata/optimizer/golden.json"
        );
        serde_json::from_str(&fs_err::read_to_string(path).unwrap()).unwrap()
    }

    fn assert_near(tensor: &Tensor, expected: &[f32]) {
        let values: Vec<f32> = tensor.flatten(0, -1).try_into().unwrap();
        assert_eq!(values.len(), expected.len());
        for (value, expected) in values.iter().zip(expected) {
            let error = (value - expected).abs();
            assert!(
                error <= 1e-6 * expected.abs().max(0.1),
                "{value} {expected}"
            );
        }
    }

    #[test]
    fn dense_update_equals_pytorch_with_rates_of_their_own_for_labels_and_hidden_layers() {
        let golden = golden();
        let config = TrainConfig {
            label_rate: golden.label_rate,
            hidden_rate: golden.label_rate,
            weight_decay: golden.weight_decay,
            ..example_config()
        };
        let mut builder = DenseParametersBuilder::default();
        // Matrices, which decay; split, so that a group has several parameters.
        let matrix = |values: &[f32]| Tensor::from_slice(values).unsqueeze(0);
        let (head, tail) = golden.dense.start.split_at(2);
        let head = builder.add("head", matrix(head));
        let labels = builder.add_label_matrix("labels", matrix(&golden.labels.start));
        let hidden = matrix(&golden.labels.start);
        let hidden = builder.add_in(RateGroup::Hidden, "hidden", hidden);
        let tail = builder.add("tail", matrix(tail));
        let bias = builder.add("bias", Tensor::from_slice(&[1.0_f32, -1.0]));
        let parameters = Parameters {
            dense: builder.finish(Device::Cpu),
            tables: Vec::new(),
        };
        let adam = Adam::new(&config, &parameters);
        for step in 0..golden.dense.gradients.len() {
            let (of_head, of_tail) = golden.dense.gradients[step].split_at(2);
            for (id, gradient) in [
                (head, of_head),
                (labels, &golden.labels.gradients[step][..]),
                (hidden, &golden.labels.gradients[step][..]),
                (tail, of_tail),
            ] {
                let sum = &mut parameters.dense.gradient(id);
                let _ = sum.g_add_(&Tensor::from_slice(gradient).unsqueeze(0));
            }
            let _no_grad = tch::no_grad_guard();
            adam.update(&parameters, &[], step as u64, golden.rate);
            let (of_head, of_tail) = golden.dense.after[step].split_at(2);
            assert_near(parameters.dense.get(head), of_head);
            assert_near(parameters.dense.get(labels), &golden.labels.after[step]);
            assert_near(parameters.dense.get(hidden), &golden.labels.after[step]);
            assert_near(parameters.dense.get(tail), of_tail);
            assert_near(parameters.dense.get(bias), &[1.0, -1.0]);
            assert_eq!(parameters.dense.gradients().norm().double_value(&[]), 0.0);
        }
    }

    #[test]
    fn a_larger_epsilon_equals_pytorchs() {
        let golden = golden();
        let after = |epsilon: f64| {
            let config = TrainConfig {
                weight_decay: golden.weight_decay,
                epsilon,
                ..example_config()
            };
            let mut builder = DenseParametersBuilder::default();
            let start = Tensor::from_slice(&golden.large_epsilon.start).unsqueeze(0);
            let matrix = builder.add("matrix", start);
            let parameters = Parameters {
                dense: builder.finish(Device::Cpu),
                tables: Vec::new(),
            };
            let adam = Adam::new(&config, &parameters);
            let gradients = golden.large_epsilon.gradients.iter();
            let mut after = Vec::new();
            for (step, gradient) in (0..).zip(gradients) {
                let sum = &mut parameters.dense.gradient(matrix);
                let _ = sum.g_add_(&Tensor::from_slice(gradient).unsqueeze(0));
                let _no_grad = tch::no_grad_guard();
                adam.update(&parameters, &[], step, golden.rate);
                after.push(parameters.dense.get(matrix).copy());
            }
            after
        };
        let found = after(golden.epsilon);
        for (found, expected) in found.iter().zip(&golden.large_epsilon.after) {
            assert_near(found, expected);
        }
        // With the usual one, the smallest gradients move weights further.
        let usual = after(1e-8);
        let last = found.len() - 1;
        let far = (&usual[last] - &found[last]).abs().max().double_value(&[]);
        assert!(far > 1e-3, "{far}");
    }

    #[test]
    fn row_update_equals_sparse_adam_and_dense_adam_on_rows_met() {
        let golden = golden();
        let config = TrainConfig {
            weight_decay: 0.0,
            ..example_config()
        };
        let start = Tensor::from_slice2(&golden.rows.start);
        let parameters = Parameters {
            dense: DenseParametersBuilder::default().finish(Device::Cpu),
            tables: vec![
                RowTable::new("fixed", &start, false, Device::Cpu),
                RowTable::new("words", &start.copy(), true, Device::Cpu),
            ],
        };
        let adam = Adam::new(&config, &parameters);
        for (step, rows) in golden.rows.rows.iter().enumerate() {
            let part = RowGradients {
                table: 1,
                rows: Tensor::from_slice(rows),
                gradient: Tensor::from_slice2(&golden.rows.gradients[step]),
            };
            let _no_grad = tch::no_grad_guard();
            adam.update(&parameters, &[part], step as u64, golden.rate);
            let values = parameters.tables[1].values();
            assert_near(values, &golden.rows.after[step].concat());
            assert_near(&values.get(0), &golden.rows.dense_row_0[step]);
        }
        assert_eq!(parameters.tables[0].values(), &start);
    }
}
