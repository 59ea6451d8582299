//! Averages of the weights over the last part of training.

use super::config::{Averaging, TrainConfig};
use crate::Result;
use crate::parameters::{Parameters, TrainedTensors};

/// The average of the weights at every so many steps, from a share of training on: of all such looks
/// alike (Izmailov et al., 2018) or a moving one.
#[derive(Debug)]
pub(super) struct WeightAverage {
    /// How much of an average stays at each look; None for the mean of all looks.
    decay: Option<f64>,
    first_step: u64,
    every: u64,
    average: TrainedTensors,
    num_looks: u64,
}

impl WeightAverage {
    /// The average of a run of `total` steps, if the settings want one.
    pub(super) fn new(config: &TrainConfig, parameters: &Parameters, total: u64) -> Option<Self> {
        let decay = match config.averaging {
            Averaging::None => return None,
            Averaging::Mean => None,
            Averaging::Moving => Some(config.averaging_decay),
        };
        Some(Self {
            decay,
            first_step: (config.averaging_start * total as f64).ceil() as u64,
            every: config.averaging_every as u64,
            average: parameters.trained().zeros_like(),
            num_looks: 0,
        })
    }

    /// Looks at the weights after `step` steps, where it is time to.
    pub(super) fn look(&mut self, parameters: &Parameters, step: u64) {
        if step < self.first_step || !(step - self.first_step).is_multiple_of(self.every) {
            return;
        }
        self.num_looks += 1;
        let weight = match self.decay {
            _ if self.num_looks == 1 => {
                return self.average.copy_from(&parameters.trained());
            }
            None => 1.0 / self.num_looks as f64,
            Some(decay) => 1.0 - decay,
        };
        self.average.approach(&parameters.trained(), weight);
    }

    /// True once there is an average.
    pub(super) fn has_begun(&self) -> bool {
        self.num_looks > 0
    }

    /// Runs `work` while the average takes the place of the weights. They come back whatever comes
    /// of it, and the average too.
    pub(super) fn in_place<T>(
        &self,
        parameters: &Parameters,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let weights = parameters.trained();
        weights.swap_with(&self.average)?;
        let _swapped = Swapped {
            weights,
            average: &self.average,
        };
        work()
    }

    /// Values and number of looks, for checkpoints.
    pub(super) fn average(&self) -> (&TrainedTensors, u64) {
        (&self.average, self.num_looks)
    }

    /// Goes on with the number of looks of a checkpoint.
    pub(super) fn set_num_looks(&mut self, num_looks: u64) {
        self.num_looks = num_looks;
    }
}

/// Swaps back at its end, so that a panic does not leave the average in place of the weights.
struct Swapped<'a> {
    weights: TrainedTensors,
    average: &'a TrainedTensors,
}

impl Drop for Swapped<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.weights.swap_with(self.average) {
            // Of what libtorch cannot copy, nothing is left to save; the next step will fail too.
            tracing::error!(%error, "cannot take the averaged weights out again");
        }
    }
}

#[cfg(test)]
mod tests {
    use tch::{Device, Tensor};

    use super::*;
    use crate::parameters::{DenseParametersBuilder, RowTable};
    use crate::train::example_config;
    use crate::{Error, guard::guarded};

    fn parameters() -> Parameters {
        let mut builder = DenseParametersBuilder::default();
        builder.add("a", Tensor::from_slice(&[0.0_f32]));
        let row = Tensor::from_slice2(&[[0.0_f32]]);
        Parameters {
            dense: builder.finish(Device::Cpu),
            tables: vec![RowTable::new("words", &row, true, Device::Cpu)],
        }
    }

    fn set(parameters: &Parameters, value: f64) {
        let _ = parameters.dense.values().shallow_clone().fill_(value);
        let _ = parameters.tables[0].values().shallow_clone().fill_(value);
    }

    /// The weights, which are all the same here.
    fn weight(parameters: &Parameters) -> f64 {
        let value = parameters.dense.values().double_value(&[0]);
        assert_eq!(parameters.tables[0].values().double_value(&[0, 0]), value);
        value
    }

    fn average_of_ten_steps(averaging: Averaging, start: f64, every: usize) -> Option<f64> {
        let config = TrainConfig {
            averaging,
            averaging_start: start,
            averaging_every: every,
            averaging_decay: 0.75,
            ..example_config()
        };
        let parameters = parameters();
        let mut average = WeightAverage::new(&config, &parameters, 10)?;
        for step in 1..=10 {
            set(&parameters, step as f64);
            average.look(&parameters, step);
        }
        assert!(average.has_begun());
        let inside = average.in_place(&parameters, || Ok(weight(&parameters)));
        assert_eq!(weight(&parameters), 10.0);
        Some(inside.unwrap())
    }

    #[test]
    fn averages_equal_hand_values() {
        assert_eq!(average_of_ten_steps(Averaging::None, 0.0, 1), None);
        // 4, 7 and 10.
        assert_eq!(average_of_ten_steps(Averaging::Mean, 0.4, 3), Some(7.0));
        // 5 and 10.
        assert_eq!(average_of_ten_steps(Averaging::Mean, 0.0, 5), Some(7.5));
        // 8, then a quarter of the way to 9, then to 10.
        assert_eq!(
            average_of_ten_steps(Averaging::Moving, 0.8, 1),
            Some(8.6875)
        );
        assert_eq!(average_of_ten_steps(Averaging::Mean, 1.0, 9), Some(10.0));
    }

    #[test]
    fn weights_come_back_after_errors_and_panics() {
        let config = TrainConfig {
            averaging: Averaging::Mean,
            averaging_start: 0.0,
            averaging_every: 1,
            ..example_config()
        };
        let parameters = parameters();
        let mut average = WeightAverage::new(&config, &parameters, 10).unwrap();
        assert!(!average.has_begun());
        average.look(&parameters, 1);
        set(&parameters, 3.0);
        let failed: Result<()> = average.in_place(&parameters, || {
            assert_eq!(weight(&parameters), 0.0);
            Err(Error::Torch("of no importance".to_owned()))
        });
        assert!(failed.is_err());
        assert_eq!(weight(&parameters), 3.0);
        let panicked: Result<Tensor> = guarded(|| {
            average.in_place(&parameters, || {
                Ok(Tensor::from_slice(&[1.0_f32]).reshape([2, 2]))
            })
        });
        assert!(panicked.is_err());
        assert_eq!(weight(&parameters), 3.0);
    }
}
