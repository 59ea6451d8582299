//! First values of weights. They are drawn here and not by libtorch, so that a seed gives the same
//! network on every device.

use plethora_core::{Error, Result, SeedStream};
use rand::RngExt;
use tch::{Device, Kind, Tensor};

/// Draws first values by a seed, or leaves them at zero where they will be loaded.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Start {
    Seeded(SeedStream),
    /// So many numbers are there to be loaded.
    Blank(u64),
}

impl Start {
    pub(crate) fn seeded(seed: SeedStream) -> Self {
        Self::Seeded(seed)
    }

    /// Zeros everywhere: the weights come from elsewhere.
    pub(crate) fn blank() -> Self {
        Self::Blank(u64::MAX)
    }

    /// Zeros everywhere: the weights come from a file that has room for so many numbers.
    pub(crate) fn blank_for(num_values: u64) -> Self {
        Self::Blank(num_values)
    }

    /// Refuses parameters of so many numbers if the file has fewer. It is asked before memory is taken for them: settings
    /// of a few bytes may ask for a network of any size.
    pub(crate) fn check(self, num_values: usize) -> Result<()> {
        match self {
            Self::Blank(there) if num_values as u64 > there => Err(Error::data(format!(
                "the settings need {num_values} numbers, the files of the network have {there} at most"
            ))),
            _ => Ok(()),
        }
    }

    /// The part of a named purpose.
    pub(crate) fn named(self, purpose: &str) -> Self {
        self.map(|seed| seed.named(purpose))
    }

    /// The part number `index` of a loop.
    pub(crate) fn child(self, index: usize) -> Self {
        self.map(|seed| seed.child(index as u64))
    }

    fn map(self, change: impl FnOnce(SeedStream) -> SeedStream) -> Self {
        match self {
            Self::Seeded(seed) => Self::Seeded(change(seed)),
            blank @ Self::Blank(_) => blank,
        }
    }

    /// Uniform numbers between `-bound` and `bound`.
    pub(crate) fn uniform(self, shape: &[i64], bound: f64) -> Tensor {
        let Self::Seeded(seed) = self else {
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
        let Self::Seeded(seed) = self else {
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

/// Zeros that take no memory until they are laid out among other parameters.
pub(crate) fn zeros(shape: &[i64]) -> Tensor {
    Tensor::zeros([1], (Kind::Float, Device::Cpu)).expand(shape, false)
}

/// Ones that take no memory either.
pub(crate) fn ones(shape: &[i64]) -> Tensor {
    Tensor::ones([1], (Kind::Float, Device::Cpu)).expand(shape, false)
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
        let zeros = Tensor::zeros([5, 5], (Kind::Float, Device::Cpu));
        assert_eq!(Start::blank().glorot([5, 5]), zeros);
    }

    #[test]
    fn a_network_is_no_larger_than_its_file() {
        let start = Start::blank_for(100).named("head").child(2);
        assert!(start.check(100).is_ok());
        let message = start.check(101).unwrap_err().to_string();
        assert!(message.contains("need 101 numbers"), "{message}");
        assert!(Start::seeded(SeedStream::new(1)).check(1 << 60).is_ok());
        // Would be 4 TB.
        assert_eq!(zeros(&[1 << 20, 1 << 20]).numel(), 1 << 40);
    }
}
