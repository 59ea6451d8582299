//! Keeping gradients from growing too large.

use tch::{Device, Kind, Tensor};

use super::config::{Clip, LossScale, TrainConfig};

/// Norms that adaptive clipping looks back at.
const NUM_RECENT: i64 = 5;

/// How much larger than the largest recent norm a norm may enter the queue.
const GROWTH: f64 = 2.0;

/// The largest norm that enters the queue, with a loss that is a mean over labels: there it is far
/// above what a batch of documents gives, and an outlier at the start cannot open the limit. With a
/// loss that is a sum, norms grow with the number of labels, so that no fixed number is right; the
/// bound to twice the recent ones is kept alone.
const MEAN_LOSS_CAP: f64 = 1.0;

/// Keeps a queue of zeros from closing the limit for good.
const SMALLEST_NORM: f64 = 1e-12;

/// Added to a norm before it divides.
const EPSILON: f64 = 1e-6;

/// Scales the gradient of a step down where its norm is over a limit. Norms and limits stay on the
/// device, so that nothing waits for them.
#[derive(Debug)]
pub(super) struct Clipping {
    clip: Clip,
    clip_norm: f64,
    cap: Option<f64>,
    /// Recent norms, the oldest first. One infinity among zeros at the start: nothing is clipped
    /// before there are as many norms.
    recent: Tensor,
}

impl Clipping {
    pub(super) fn new(config: &TrainConfig, device: Device) -> Self {
        let recent = Tensor::zeros([NUM_RECENT], (Kind::Float, device));
        let _ = recent.get(NUM_RECENT - 1).fill_(f64::INFINITY);
        Self {
            clip: config.clip,
            clip_norm: config.clip_norm,
            cap: (config.loss == LossScale::Mean).then_some(MEAN_LOSS_CAP),
            recent,
        }
    }

    /// The numbers that go on from step to step, for checkpoints.
    pub(super) fn recent(&self) -> &Tensor {
        &self.recent
    }

    /// Scales `gradients` in place by their norm taken together.
    pub(super) fn clip(&self, gradients: &[&Tensor]) {
        let limit_over = match self.clip {
            Clip::None => return,
            Clip::Fixed => {
                let norm = joint_norm(gradients);
                (norm + EPSILON).reciprocal() * self.clip_norm
            }
            Clip::Adaptive => {
                let norm = joint_norm(gradients);
                let largest = self.recent.max().clamp_min(SMALLEST_NORM);
                self.queue(&norm, &largest);
                largest * self.clip_norm / (norm + EPSILON)
            }
        };
        let factor = limit_over.clamp_max(1.0);
        for gradient in gradients {
            let _ = gradient.shallow_clone().g_mul_(&factor);
        }
    }

    fn queue(&self, norm: &Tensor, largest: &Tensor) {
        let mut queued = norm.minimum(&(largest * GROWTH));
        if let Some(cap) = self.cap {
            queued = queued.clamp_max(cap);
        }
        let newer = self.recent.narrow(0, 1, NUM_RECENT - 1);
        let recent = Tensor::cat(&[newer, queued.unsqueeze(0)], 0);
        self.recent.shallow_clone().copy_(&recent);
    }
}

fn joint_norm(gradients: &[&Tensor]) -> Tensor {
    let norms: Vec<Tensor> = gradients.iter().map(|gradient| gradient.norm()).collect();
    Tensor::stack(&norms, 0).norm()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::example_config;

    fn clipping(clip: Clip, clip_norm: f64, loss: LossScale) -> Clipping {
        let config = TrainConfig {
            loss,
            clip,
            clip_norm,
            ..example_config()
        };
        Clipping::new(&config, Device::Cpu)
    }

    /// What is left of two gradients of this joint norm.
    fn clipped(clipping: &Clipping, norm: f32) -> f64 {
        let one = Tensor::from_slice(&[0.6 * norm]);
        let other = Tensor::from_slice2(&[[0.0, 0.8 * norm]]);
        clipping.clip(&[&one, &other]);
        (one.double_value(&[0]).powi(2) + other.double_value(&[0, 1]).powi(2)).sqrt()
    }

    fn assert_near(value: f64, expected: f64) {
        assert!(
            (value - expected).abs() < 1e-5 * expected,
            "{value} {expected}"
        );
    }

    fn assert_recent(clipping: &Clipping, expected: [f32; 5]) {
        let recent: Vec<f32> = clipping.recent().try_into().unwrap();
        for (value, expected) in recent.into_iter().zip(expected) {
            assert!(
                value == expected || (value - expected).abs() < 1e-6,
                "{value} {expected}"
            );
        }
    }

    #[test]
    fn fixed_limit_shortens_long_gradients_only() {
        let fixed = clipping(Clip::Fixed, 2.0, LossScale::Sum);
        assert_near(clipped(&fixed, 8.0), 2.0);
        assert_near(clipped(&fixed, 1.5), 1.5);
        let none = clipping(Clip::None, 2.0, LossScale::Sum);
        assert_near(clipped(&none, 8.0), 8.0);
    }

    #[test]
    fn adaptive_limit_follows_the_largest_of_five_norms() {
        let adaptive = clipping(Clip::Adaptive, 5.0, LossScale::Mean);
        // Until five norms have come, the infinity of the start is the largest.
        for norm in [0.1, 7.0, 0.2, 0.3, 0.1] {
            assert_near(clipped(&adaptive, norm), f64::from(norm));
        }
        // The 7 entered as the cap of 1.
        assert_recent(&adaptive, [0.1, 1.0, 0.2, 0.3, 0.1]);
        assert_near(clipped(&adaptive, 6.0), 5.0);
        for _ in 0..5 {
            assert_near(clipped(&adaptive, 0.1), 0.1);
        }
        assert_near(clipped(&adaptive, 6.0), 0.5);
        // And enters as twice the largest of those before it.
        assert_recent(&adaptive, [0.1, 0.1, 0.1, 0.1, 0.2]);
    }

    #[test]
    fn summed_losses_have_no_cap_and_zeros_do_not_stick() {
        let adaptive = clipping(Clip::Adaptive, 5.0, LossScale::Sum);
        for _ in 0..5 {
            clipped(&adaptive, 300.0);
        }
        assert_recent(&adaptive, [300.0; 5]);
        assert_near(clipped(&adaptive, 9000.0), 1500.0);
        for _ in 0..5 {
            clipped(&adaptive, 0.0);
        }
        let mut left = 0.0;
        for _ in 0..60 {
            left = clipped(&adaptive, 2.0);
        }
        assert_near(left, 2.0);
    }
}
