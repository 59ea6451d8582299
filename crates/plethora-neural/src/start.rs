//! First values of weights. They are drawn here and not by libtorch, so that a seed gives the same
//! network on every device.

use plethora_core::SeedStream;
use rand::RngExt;
use tch::Tensor;

/// Uniform numbers between `-bound` and `bound`.
pub(crate) fn uniform(shape: &[i64], bound: f64, seed: SeedStream) -> Tensor {
    let mut rng = seed.rng();
    let bound = bound as f32;
    let values: Vec<f32> = (0..count(shape))
        .map(|_| (rng.random::<f32>() * 2.0 - 1.0) * bound)
        .collect();
    Tensor::from_slice(&values).view(shape)
}

/// Uniform numbers as Xavier Glorot and Bengio spread them for a matrix of outputs x inputs.
pub(crate) fn glorot(shape: [i64; 2], seed: SeedStream) -> Tensor {
    uniform(&shape, (6.0 / (shape[0] + shape[1]) as f64).sqrt(), seed)
}

/// Normal numbers around 0.
pub(crate) fn normal(shape: &[i64], deviation: f64, seed: SeedStream) -> Tensor {
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

fn count(shape: &[i64]) -> usize {
    shape.iter().product::<i64>() as usize
}

#[cfg(test)]
mod tests {
    use tch::Kind;

    use super::*;

    #[test]
    fn numbers_spread_as_asked_and_come_again() {
        let seed = SeedStream::new(3).named("weights");
        let drawn = normal(&[100, 101], 0.5, seed);
        assert!((drawn.std(true).double_value(&[]) - 0.5).abs() < 0.02);
        assert!(drawn.mean(Kind::Float).double_value(&[]).abs() < 0.02);
        assert_eq!(drawn, normal(&[100, 101], 0.5, seed));
        let drawn = glorot([50, 100], seed);
        let bound = (6.0_f64 / 150.0).sqrt();
        assert!(drawn.abs().max().double_value(&[]) <= bound);
        assert!(drawn.abs().max().double_value(&[]) > 0.98 * bound);
    }
}
