//! Loss and speed of the latest steps.

use std::time::{Duration, Instant};

use tch::{Device, Kind, Tensor};

/// Steps between two readings at most. Readings are recorded, so that no clock decides when they are made.
const MAX_STEPS: u64 = 50;

/// Time between two glances at most, so that slow training shows signs of life.
const MAX_TIME: Duration = Duration::from_secs(2);

/// Sums losses up on the device; only a reading waits for them.
#[derive(Debug)]
pub(super) struct Meter {
    loss: Tensor,
    num_steps: u64,
    num_documents: usize,
    /// Time of the steps before `since`.
    before: Duration,
    since: Instant,
    /// The last reading or glance.
    seen: Instant,
}

/// What the latest steps gave.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading {
    /// Mean loss of a document.
    pub(super) loss: f64,
    /// Documents a second.
    pub(super) documents_per_s: f64,
    /// Time that the steps took.
    pub(super) seconds: f64,
    /// Milliseconds a step.
    pub(super) step_ms: f64,
}

impl Meter {
    pub(super) fn new(device: Device) -> Self {
        Self {
            loss: Tensor::zeros([], (Kind::Float, device)),
            num_steps: 0,
            num_documents: 0,
            before: Duration::ZERO,
            since: Instant::now(),
            seen: Instant::now(),
        }
    }

    /// Adds the loss of a batch with so many documents, a mean over them.
    pub(super) fn add_batch(&mut self, loss: &Tensor, num_documents: usize) {
        self.num_documents += num_documents;
        let _ = self.loss.g_add_(&(loss.detach() * num_documents as f64));
    }

    /// All batches of a step were added.
    pub(super) fn end_step(&mut self) {
        self.num_steps += 1;
    }

    /// True when it is time for a reading.
    pub(super) fn is_due(&self) -> bool {
        self.num_steps >= MAX_STEPS
    }

    /// True when people have seen nothing for a while.
    pub(super) fn is_quiet(&self) -> bool {
        self.num_steps > 0 && self.seen.elapsed() >= MAX_TIME
    }

    /// Waits for all steps since the last reading and says what they gave; None if there were none.
    pub(super) fn read(&mut self) -> Option<Reading> {
        let reading = self.glance()?;
        let _ = self.loss.zero_();
        self.num_steps = 0;
        self.num_documents = 0;
        self.before = Duration::ZERO;
        self.since = Instant::now();
        Some(reading)
    }

    /// The same, and the next reading is still about all these steps.
    pub(super) fn glance(&mut self) -> Option<Reading> {
        if self.num_steps == 0 {
            return None;
        }
        let loss = self.loss.double_value(&[]) / self.num_documents as f64;
        let seconds = (self.before + self.since.elapsed()).as_secs_f64();
        self.seen = Instant::now();
        Some(Reading {
            loss,
            documents_per_s: self.num_documents as f64 / seconds.max(1e-9),
            seconds,
            step_ms: 1000.0 * seconds / self.num_steps as f64,
        })
    }

    /// Time begins to go into something other than steps, until [`restart`](Self::restart).
    pub(super) fn pause(&mut self) {
        self.before += self.since.elapsed();
    }

    /// Steps go on.
    pub(super) fn restart(&mut self) {
        self.since = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loss_is_the_mean_over_documents() {
        let mut meter = Meter::new(Device::Cpu);
        assert!(meter.read().is_none());
        meter.add_batch(&Tensor::from(1.0_f32), 3);
        meter.add_batch(&Tensor::from(3.0_f32), 1);
        meter.end_step();
        assert!(!meter.is_due());
        assert_eq!(meter.read().unwrap().loss, 1.5);
        for _ in 0..MAX_STEPS {
            meter.add_batch(&Tensor::from(2.0_f32), 1);
            meter.end_step();
        }
        assert!(meter.is_due());
        let reading = meter.read().unwrap();
        assert_eq!(reading.loss, 2.0);
        assert!(reading.documents_per_s > 0.0 && reading.seconds > 0.0);
        assert!(!meter.is_due());
    }

    #[test]
    fn a_glance_takes_nothing_from_the_reading() {
        let mut meter = Meter::new(Device::Cpu);
        assert!(meter.glance().is_none());
        meter.add_batch(&Tensor::from(1.0_f32), 1);
        meter.end_step();
        assert_eq!(meter.glance().unwrap().loss, 1.0);
        meter.pause();
        meter.restart();
        meter.add_batch(&Tensor::from(2.0_f32), 1);
        meter.end_step();
        assert_eq!(meter.read().unwrap().loss, 1.5);
        assert!(meter.read().is_none());
    }
}
