//! Making batches on a second thread while the first one computes.

use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use super::batches::BatchPlan;
use super::network::BatchMaker;
use crate::Result;

/// Batches that are ready at most before they are wanted.
const NUM_AHEAD: usize = 4;

/// What this process does in a step.
#[derive(Debug)]
pub(super) struct Step<T> {
    pub(super) batches: Vec<StepBatch<T>>,
    /// The most batches that any of the processes has that take the step together.
    pub(super) num_rounds: usize,
}

/// A batch of a step.
#[derive(Debug)]
pub(super) struct StepBatch<T> {
    /// Its place among the batches of the step, those of other processes included.
    pub(super) number: usize,
    /// Number of its documents.
    pub(super) num_documents: usize,
    /// Their share of the step's documents.
    pub(super) share: f64,
    /// As the network takes it.
    pub(super) batch: T,
}

/// Makes the batches of all steps from `first_step` on, in the order of the plan, and has `consume`
/// take them step by step. The second thread ends when `consume` does; where making a batch panics,
/// so does this.
pub(super) fn prefetch<B: BatchMaker, T>(
    plan: &BatchPlan,
    maker: &B,
    first_step: u64,
    consume: impl FnOnce(&Receiver<Step<B::Batch>>) -> Result<T>,
) -> Result<T> {
    thread::scope(|scope| {
        let (sender, receiver) = sync_channel((NUM_AHEAD / plan.own_batches()).max(1));
        let thread = scope.spawn(move || send_all(plan, maker, first_step, &sender));
        let result = consume(&receiver);
        // A thread that waits for room in the channel learns from this that nobody listens.
        drop(receiver);
        match thread.join() {
            Ok(()) => result,
            Err(panic) => resume_unwind(panic),
        }
    })
}

fn send_all<B: BatchMaker>(
    plan: &BatchPlan,
    maker: &B,
    first_step: u64,
    sender: &SyncSender<Step<B::Batch>>,
) {
    let steps_per_epoch = plan.steps_per_epoch();
    let mut step = first_step;
    while step < plan.num_steps() {
        let epoch = plan.epoch(step / steps_per_epoch, maker);
        for in_epoch in step % steps_per_epoch..steps_per_epoch {
            let of_step = epoch.step_len(in_epoch as usize);
            let batches = epoch
                .step(in_epoch as usize)
                .map(|(number, documents)| StepBatch {
                    number,
                    num_documents: documents.len(),
                    share: documents.len() as f64 / of_step as f64,
                    batch: maker.make(documents),
                });
            let made = Step {
                batches: batches.collect(),
                num_rounds: epoch.num_rounds(in_epoch as usize),
            };
            if sender.send(made).is_err() {
                return;
            }
            step += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use plethora_core::SeedStream;

    use super::*;
    use crate::Error;
    use crate::train::{TrainConfig, example_config};

    /// Batches are the documents themselves, made at a pace that changes.
    #[derive(Default)]
    struct Documents {
        slow_every: usize,
        fails_at: Option<usize>,
        num_made: AtomicUsize,
    }

    impl BatchMaker for Documents {
        type Batch = Vec<u32>;

        fn num_documents(&self) -> usize {
            23
        }

        fn length(&self, document: usize) -> usize {
            document % 5
        }

        fn make(&self, documents: &[u32]) -> Vec<u32> {
            let made = self.num_made.fetch_add(1, Ordering::Relaxed);
            assert!(Some(made) != self.fails_at, "cannot make batch {made}");
            if self.slow_every > 0 && made.is_multiple_of(self.slow_every) {
                thread::sleep(Duration::from_millis(3));
            }
            documents.to_vec()
        }
    }

    fn plan() -> BatchPlan {
        let config = TrainConfig {
            epochs: 3,
            batch_size: 3,
            accumulate: 2,
            ..example_config()
        };
        BatchPlan::new(&config, 23, SeedStream::new(5))
    }

    fn all_from(first_step: u64, slow_every: usize, pause_ms: u64) -> Vec<Vec<Vec<u32>>> {
        let maker = Documents {
            slow_every,
            ..Documents::default()
        };
        prefetch(&plan(), &maker, first_step, |steps| {
            let mut taken = Vec::new();
            for step in steps {
                thread::sleep(Duration::from_millis(pause_ms));
                assert_eq!(step.num_rounds, step.batches.len());
                let step = step.batches;
                let shares: f64 = step.iter().map(|batch| batch.share).sum();
                assert!((shares - 1.0).abs() < 1e-12);
                taken.push(step.into_iter().map(|batch| batch.batch).collect());
            }
            Ok(taken)
        })
        .unwrap()
    }

    #[test]
    fn order_is_that_of_the_plan_whoever_is_slow() {
        let expected = all_from(0, 0, 0);
        assert_eq!(expected.len(), 12);
        assert_eq!(all_from(0, 2, 0), expected);
        assert_eq!(all_from(0, 0, 2), expected);
        for first in [1, 4, 7, 11, 12] {
            assert_eq!(all_from(first as u64, 3, 0), expected[first..]);
        }
    }

    #[test]
    fn thread_ends_with_the_consumer() {
        let maker = Documents::default();
        let result: Result<()> = prefetch(&plan(), &maker, 0, |steps| {
            steps.recv().unwrap();
            Err(plethora_core::Error::Interrupted.into())
        });
        assert!(matches!(
            result,
            Err(Error::Core(plethora_core::Error::Interrupted))
        ));
        assert!(maker.num_made.into_inner() < 24, "far from all");
    }

    #[test]
    #[should_panic(expected = "cannot learn")]
    fn panic_of_the_consumer_ends_the_thread() {
        let maker = Documents::default();
        let _: Result<()> = prefetch(&plan(), &maker, 0, |steps| {
            steps.recv().unwrap();
            panic!("cannot learn")
        });
    }

    #[test]
    #[should_panic(expected = "cannot make batch 5")]
    fn panic_of_the_maker_is_not_swallowed() {
        let maker = Documents {
            fails_at: Some(5),
            ..Documents::default()
        };
        let _: Result<()> = prefetch(&plan(), &maker, 0, |steps| {
            steps.iter().for_each(drop);
            Ok(())
        });
    }
}
