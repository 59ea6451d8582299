//! Gradient descent with momentum for tables too large for a gradient of their own.

use tch::Tensor;

use crate::parameters::TrainedTensors;

/// How a network changes a table while it computes the table's gradients, part by part.
///
/// With g the gradient of a part, v its momentum and W its values, a step is v = m v + g and
/// W = W (1 - rate decay) - rate v. Where a step has several batches, each adds its gradient to v, and
/// the last changes W: that is the step that their gradients together would make.
#[derive(Debug, Clone, Copy)]
pub struct MomentumStep<'a> {
    /// Share of the full step size, by the schedule.
    pub rate_factor: f64,
    /// True for the first batch of a step.
    pub is_first: bool,
    /// True for the last batch of a step.
    pub is_last: bool,
    /// The momenta of the tables; absent where nothing is to change.
    momenta: Option<&'a TrainedTensors>,
}

/// The settings of such a table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MomentumRule {
    /// Step size at its highest.
    pub rate: f64,
    /// Share of the momentum that a step keeps.
    pub momentum: f64,
    /// Share by which a step shrinks weights, times the step size.
    pub weight_decay: f64,
}

impl<'a> MomentumStep<'a> {
    pub(crate) fn new(momenta: &'a TrainedTensors, rate_factor: f64, part: (usize, usize)) -> Self {
        Self {
            rate_factor,
            is_first: part.0 == 0,
            is_last: part.0 + 1 == part.1,
            momenta: Some(momenta),
        }
    }

    /// A step that changes nothing, for what only looks at losses.
    pub fn none() -> Self {
        Self {
            rate_factor: 0.0,
            is_first: true,
            is_last: true,
            momenta: None,
        }
    }

    /// The momentum of a table, in the shape of its values; absent where nothing is to change.
    pub fn momentum_of(&self, table: usize) -> Option<&'a Tensor> {
        self.momenta.and_then(|momenta| momenta.table(table))
    }

    /// Changes a part of a table and of its momentum in place.
    pub fn apply(
        &self,
        rule: &MomentumRule,
        mut values: Tensor,
        mut momentum: Tensor,
        gradient: &Tensor,
    ) {
        let _no_grad = tch::no_grad_guard();
        if self.is_first {
            let _ = momentum.g_mul_scalar_(rule.momentum);
        }
        let _ = momentum.g_add_(gradient);
        if !self.is_last {
            return;
        }
        let rate = rule.rate * self.rate_factor;
        if rule.weight_decay > 0.0 {
            let _ = values.g_mul_scalar_(1.0 - rate * rule.weight_decay);
        }
        let _ = values.g_add_(&(momentum * -rate));
    }
}

#[cfg(test)]
mod tests {
    use tch::Device;

    use super::*;
    use crate::parameters::{DenseParametersBuilder, Parameters, RowTable};

    const RULE: MomentumRule = MomentumRule {
        rate: 0.1,
        momentum: 0.5,
        weight_decay: 0.2,
    };

    fn parameters() -> Parameters {
        let values = Tensor::from_slice2(&[[1.0_f32, 2.0]]);
        let table = RowTable::new("labels", &values, true, Device::Cpu);
        Parameters {
            dense: DenseParametersBuilder::default().finish(Device::Cpu),
            tables: vec![table.of_labels().changed_in_passing()],
        }
    }

    /// Takes steps of several batches each, and gives the values after them.
    fn after(steps: &[&[[f32; 2]]]) -> Vec<f32> {
        let parameters = parameters();
        let momenta = parameters.trained().zeros_like();
        for batches in steps {
            for (number, gradient) in batches.iter().enumerate() {
                let step = MomentumStep::new(&momenta, 0.5, (number, batches.len()));
                step.apply(
                    &RULE,
                    parameters.tables[0].values().shallow_clone(),
                    step.momentum_of(0).unwrap().shallow_clone(),
                    &Tensor::from_slice2(&[gradient]),
                );
            }
        }
        let values = parameters.tables[0].values().flatten(0, -1);
        values.try_into().unwrap()
    }

    #[test]
    fn steps_equal_hand_values() {
        let shrink = 1.0 - 0.05 * 0.2;
        let first = [shrink - 0.05 * 4.0, 2.0 * shrink + 0.05 * 2.0];
        let second = [
            first[0] * shrink - 0.05 * (2.0 + 1.0),
            first[1] * shrink - 0.05 * (-1.0 + 1.0),
        ];
        let values = after(&[&[[4.0, -2.0]], &[[1.0, 1.0]]]);
        for (value, expected) in values.iter().zip(second) {
            assert!((value - expected).abs() < 1e-6, "{value} {expected}");
        }
    }

    #[test]
    fn batches_of_a_step_make_the_step_of_their_sum() {
        let whole = after(&[&[[4.0, -2.0]], &[[1.0, 1.0]]]);
        let parts = after(&[&[[1.0, -2.0], [3.0, 0.0]], &[[0.5, 0.0], [0.5, 1.0]]]);
        assert_eq!(whole, parts);
    }
}
