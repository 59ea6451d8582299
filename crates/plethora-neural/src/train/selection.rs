//! Which weights were the best so far, and whether to go on.

use tch::Device;

use super::validation::Validation;
use crate::parameters::{Parameters, TrainedTensors};

/// Keeps the best weights of a run and counts validations without gain.
#[derive(Debug, Default)]
pub(super) struct Selection {
    /// The best validation.
    pub(super) best: Option<Validation>,
    /// Steps before it.
    pub(super) best_step: u64,
    /// The weights that it was made with, in the main memory: that of a GPU is for training.
    pub(super) weights: Option<TrainedTensors>,
    /// Validations since then.
    pub(super) num_without_gain: u64,
    /// Steps before the latest validation.
    pub(super) validated_step: u64,
}

impl Selection {
    /// Takes note of a validation after `step` steps, with these parameters.
    pub(super) fn add(&mut self, step: u64, validation: &Validation, parameters: &Parameters) {
        self.validated_step = step;
        // A score that is no number is as bad as can be.
        let better_than = |best: &Validation| {
            validation.score > best.score || (best.score.is_nan() && !validation.score.is_nan())
        };
        if !self.best.as_ref().is_none_or(better_than) {
            self.num_without_gain += 1;
            return;
        }
        self.num_without_gain = 0;
        self.best = Some(validation.clone());
        self.best_step = step;
        match &self.weights {
            Some(weights) => weights.copy_from(&parameters.trained()),
            None => self.weights = Some(parameters.trained().copy_to(Device::Cpu)),
        }
    }

    /// True after so many validations without gain; never with a patience of 0.
    pub(super) fn is_exhausted(&self, patience: usize) -> bool {
        patience > 0 && self.num_without_gain >= patience as u64
    }

    /// Gives the parameters their best values, where there was a validation.
    pub(super) fn restore(&self, parameters: &Parameters) {
        if let Some(weights) = &self.weights {
            parameters.trained().copy_from(weights);
        }
    }
}

#[cfg(test)]
mod tests {
    use tch::Tensor;

    use super::*;
    use crate::parameters::DenseParametersBuilder;

    #[test]
    fn best_weights_are_those_of_the_highest_score() {
        let mut builder = DenseParametersBuilder::default();
        builder.add("a", Tensor::from_slice(&[0.0_f32]));
        let parameters = Parameters {
            dense: builder.finish(Device::Cpu),
            tables: Vec::new(),
        };
        let mut selection = Selection::default();
        let scores = [f64::NAN, 0.5, f64::NAN, 0.7, 0.6, 0.7];
        for (step, score) in scores.into_iter().enumerate() {
            assert!(!selection.is_exhausted(2));
            let _ = parameters.dense.values().shallow_clone().fill_(step as f64);
            let values = vec![("P@1".to_owned(), 0.1), ("nDCG@5".to_owned(), score)];
            let validation = Validation { score, values };
            selection.add(step as u64, &validation, &parameters);
        }
        assert!(selection.is_exhausted(2));
        assert!(!selection.is_exhausted(0));
        selection.restore(&parameters);
        assert_eq!(parameters.dense.values().double_value(&[0]), 3.0);
        assert_eq!(selection.best_step, 3);
        assert_eq!(selection.best.unwrap().headline(), "nDCG@5 0.7000");
    }
}
