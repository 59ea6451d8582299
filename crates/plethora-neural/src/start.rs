//! First values of weights. They are drawn here and not by libtorch, so that a seed gives the same
//! network on every device.

use plethora_core::SeedStream;
use rand::RngExt;
use tch::{Device, Kind, Tensor};

/// Draws first values by a seed, or leaves them at zero where they will be loaded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Start(Option<SeedStream>);

impl Start {
    pub(crate) fn seeded(seed: SeedStream) -> Self {
        Self(Some(seed))
    }

    /// Zeros everywhere: the weights come from a file.
    pub(crate) fn blank() -> Self {
        Self(None)
    }

    /// The part of a named purpose.
    pub(crate) fn named(self, purpose: &str) -> Self {
        Self(self.0.map(|seed| seed.named(purpose)))
    }

    /// The part number `index` of a loop.
    pub(crate) fn child(self, index: usize) -> Self {
        Self(self.0.map(|seed| seed.child(index as u64)))
    }

    /// Uniform numbers between `-bound` and `bound`.
    pub(crate) fn uniform(self, shape: &[i64], bound: f64) -> Tensor {
        let Some(seed) = self.0 else {
            return zeros(shape);
        };
        let mut rng = seed.rng();
        let bound = bound as f32;
        let values: Vec<f32> = (0..count(shape))
            .map(|_| (rng.random::<f32>() * 2.0 - 1.0) * bound)
            .collect();
        Tensor::from_slice(&values).view(shape)
    }

    /// Uniform numbers as Xavier Glorot and Bengio spread them for a matrix of outputs x inputs.
    pub(crate) fn glorot(self, shape: [i64; 2]) -> Tensor {
        self.uniform(&shape, (6.0 / (shape[0] + shape[1]) as f64).sqrt())
    }

    /// Normal numbers around 0.
    pub(crate) fn normal(self, shape: &[i64], deviation: f64) -> Tensor {
        let Some(seed) = self.0 else {
            return zeros(shape);
        };
        let mut rng = seed.rng();
        let total = count(shape);
        let mut values = Vec::with_capacity(total + 1);
        while values.len() < total {
            // Box and Muller: two uniform numbers make two normal ones.
            let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt() * deviation;
            let angle = std::f64::consts::TAU * rng.random::<f64>();
            values.push((radius * angle.cos()) as f32);
            values.push((radius * angle.sin()) as f32);
        }
        values.truncate(total);
        Tensor::from_slice(&values).view(shape)
    }
}

fn zeros(shape: &[i64]) -> Tensor {
    Tensor::zeros(shape, (Kind::Float, Device::Cpu))
}

fn count(shape: &[i64]) -> usize {
    shape.iter().product::<i64>() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_spread_as_asked_and_come_again() {
        let start = Start::seeded(SeedStream::new(3)).named("weights");
        let drawn = start.normal(&[100, 101], 0.5);
        assert!((drawn.std(true).double_value(&[]) - 0.5).abs() < 0.02);
        assert!(drawn.mean(Kind::Float).double_value(&[]).abs() < 0.02);
        assert_eq!(drawn, start.normal(&[100, 101], 0.5));
        let drawn = start.glorot([50, 100]);
        let bound = (6.0_f64 / 150.0).sqrt();
        assert!(drawn.abs().max().double_value(&[]) <= bound);
        assert!(drawn.abs().max().double_value(&[]) > 0.98 * bound);
        assert_ne!(start.child(1).glorot([5, 5]), start.child(2).glorot([5, 5]));
        assert_eq!(Start::blank().glorot([5, 5]), zeros(&[5, 5]));
    }
}
