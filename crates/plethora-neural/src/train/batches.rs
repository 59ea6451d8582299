//! Which documents a step works with.

use plethora_core::SeedStream;
use plethora_system::Shard;
use rand::seq::SliceRandom;

use super::config::TrainConfig;
use super::network::BatchMaker;
use super::outcome::TrainingLength;

/// Steps whose documents are sorted by length together: enough for steps of nearly equal lengths,
/// few enough for other company in every epoch.
const STEPS_PER_POOL: usize = 100;

/// The order of the documents in all epochs, which follows from the seed alone.
///
/// An epoch shuffles all documents, cuts them into pools, sorts each pool by length, cuts it into
/// steps, and shuffles these. So the documents of a batch need little padding, and long and short
/// ones still come mixed. What is cut are whole steps: the same documents meet in a step, however
/// many batches it is computed in.
#[derive(Debug, Clone, Copy)]
pub(super) struct BatchPlan {
    num_documents: usize,
    batch_size: usize,
    accumulate: usize,
    num_steps: u64,
    seed: SeedStream,
    /// Which share of a step's batches this process makes.
    place: Shard,
}

/// The documents of one epoch.
#[derive(Debug)]
pub(super) struct Epoch {
    documents: Vec<u32>,
    /// Where each step begins among them.
    starts: Vec<usize>,
    plan: BatchPlan,
}

impl BatchPlan {
    pub(super) fn new(config: &TrainConfig, num_documents: usize, seed: SeedStream) -> Self {
        let plan = Self {
            num_documents,
            batch_size: config.batch_size,
            accumulate: config.accumulate,
            num_steps: 0,
            seed: seed.named("order"),
            place: Shard::WHOLE,
        };
        Self {
            num_steps: plan.steps_per_epoch() * config.epochs as u64,
            ..plan
        }
    }

    /// The same for as many epochs as `length` says, where it does.
    #[must_use]
    pub(super) fn lasting(self, length: Option<TrainingLength>) -> Self {
        let steps = length.map(|length| length.steps_at(self.steps_per_epoch()));
        Self {
            num_steps: steps.unwrap_or(self.num_steps),
            ..self
        }
    }

    /// The same plan for one of several processes that take each step together.
    pub(super) fn of_process(self, place: Shard) -> Self {
        Self { place, ..self }
    }

    /// Number of steps in an epoch.
    pub(super) fn steps_per_epoch(&self) -> u64 {
        self.num_documents.div_ceil(self.step_size()) as u64
    }

    /// Number of steps in all.
    pub(super) fn num_steps(&self) -> u64 {
        self.num_steps
    }

    /// Passes over the documents after so many steps.
    pub(super) fn epochs_at(&self, step: u64) -> f64 {
        step as f64 / self.steps_per_epoch() as f64
    }

    /// Batches in a step, but for the last of an epoch: as many for each process, of its share of the
    /// documents.
    fn batches_per_step(&self) -> usize {
        self.accumulate.next_multiple_of(self.place.count())
    }

    /// Batches of this process in a step, at most.
    pub(super) fn own_batches(&self) -> usize {
        self.batches_per_step() / self.place.count()
    }

    fn step_size(&self) -> usize {
        self.batch_size * self.accumulate
    }

    fn documents_per_batch(&self) -> usize {
        self.step_size().div_ceil(self.batches_per_step())
    }

    /// The order of an epoch, counted from 0.
    pub(super) fn epoch<B: BatchMaker>(&self, epoch: u64, lengths: &B) -> Epoch {
        let mut rng = self.seed.child(epoch).rng();
        let mut documents: Vec<u32> = (0..self.num_documents as u32).collect();
        documents.shuffle(&mut rng);
        for pool in documents.chunks_mut(STEPS_PER_POOL * self.step_size()) {
            // Stable: documents of one length keep their random order.
            pool.sort_by_cached_key(|&document| lengths.length(document as usize));
        }
        let mut starts: Vec<usize> = (0..self.num_documents).step_by(self.step_size()).collect();
        starts.shuffle(&mut rng);
        Epoch {
            documents,
            starts,
            plan: *self,
        }
    }
}

impl Epoch {
    /// The documents of a step, counted from the start of the epoch.
    fn documents_of(&self, step: usize) -> &[u32] {
        let start = self.starts[step];
        let end = (start + self.plan.step_size()).min(self.documents.len());
        &self.documents[start..end]
    }

    /// Number of documents of a step.
    pub(super) fn step_len(&self, step: usize) -> usize {
        self.documents_of(step).len()
    }

    /// The batches of a step that this process makes, with their numbers among all of the step.
    pub(super) fn step(&self, step: usize) -> impl Iterator<Item = (usize, &[u32])> {
        let plan = &self.plan;
        let own = plan.place.range(plan.batches_per_step() as u64);
        let batches = self.documents_of(step).chunks(plan.documents_per_batch());
        let batches = batches.enumerate();
        batches.filter(move |(number, _)| own.contains(&(*number as u64)))
    }

    /// The most batches that any process makes of a step: those of the first one.
    pub(super) fn num_rounds(&self, step: usize) -> usize {
        let batches = self
            .step_len(step)
            .div_ceil(self.plan.documents_per_batch());
        batches.min(self.plan.own_batches())
    }
}

#[cfg(test)]
mod tests {
    use rand::Rng;

    use super::*;
    use crate::train::example_config;

    struct Lengths(Vec<usize>);

    impl BatchMaker for Lengths {
        type Batch = Vec<u32>;

        fn num_documents(&self) -> usize {
            self.0.len()
        }

        fn length(&self, document: usize) -> usize {
            self.0[document]
        }

        fn make(&self, documents: &[u32]) -> Vec<u32> {
            documents.to_vec()
        }
    }

    /// Lengths as texts have them: log-normal, about 90 words at the middle, cut at 500.
    fn skewed(num_documents: usize) -> Lengths {
        let mut rng = SeedStream::new(3).rng();
        let mut uniform = || rng.next_u64() as f64 / u64::MAX as f64;
        let mut length = || {
            let normal = (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
            ((4.5 + 0.8 * normal).exp() as usize).clamp(1, 500)
        };
        Lengths((0..num_documents).map(|_| length()).collect())
    }

    fn plan(lengths: &Lengths, batch_size: usize, accumulate: usize, seed: u64) -> BatchPlan {
        let config = TrainConfig {
            batch_size,
            accumulate,
            ..example_config()
        };
        BatchPlan::new(&config, lengths.num_documents(), SeedStream::new(seed))
    }

    /// The batches of an epoch, step by step.
    fn batches(plan: &BatchPlan, lengths: &Lengths, epoch: u64) -> Vec<Vec<Vec<u32>>> {
        let epoch = plan.epoch(epoch, lengths);
        let step = |step| epoch.step(step).map(|(_, batch)| batch.to_vec()).collect();
        (0..plan.steps_per_epoch() as usize).map(step).collect()
    }

    #[test]
    fn every_document_comes_once_an_epoch_in_an_order_of_the_seed() {
        let lengths = skewed(1003);
        let plan_of = |seed| plan(&lengths, 8, 3, seed);
        let first = batches(&plan_of(1), &lengths, 0);
        assert_eq!(first.len(), 42);
        let mut all = first.concat().concat();
        all.sort_unstable();
        assert_eq!(all, (0..1003).collect::<Vec<u32>>());
        assert!(first.concat().iter().all(|batch| batch.len() <= 8));
        assert_eq!(first, batches(&plan_of(1), &lengths, 0));
        assert_ne!(first, batches(&plan_of(1), &lengths, 1));
        assert_ne!(first, batches(&plan_of(2), &lengths, 0));
    }

    #[test]
    fn padding_is_below_five_in_a_hundred() {
        let lengths = skewed(20_000);
        let (mut padded, mut words) = (0, 0);
        for batch in batches(&plan(&lengths, 40, 1, 1), &lengths, 0).concat() {
            let of_batch = batch
                .iter()
                .map(|&document| lengths.length(document as usize));
            padded += batch.len() * of_batch.clone().max().unwrap();
            words += of_batch.sum::<usize>();
        }
        let share = 1.0 - words as f64 / padded as f64;
        assert!(share < 0.05, "{share}");
    }

    #[test]
    fn processes_share_the_documents_of_every_step() {
        let lengths = skewed(101);
        for (batch_size, accumulate, count) in [(8, 1, 2), (4, 2, 2), (4, 3, 2), (2, 4, 3)] {
            let whole = plan(&lengths, batch_size, accumulate, 1);
            let own = |index| {
                let place = Shard::new(index, count).unwrap();
                let plan = whole.of_process(place);
                let all = batches(&plan, &lengths, 2);
                assert!(all.iter().all(|step| step.len() <= plan.own_batches()));
                let epoch = plan.epoch(2, &lengths);
                for (step, batches) in all.iter().enumerate() {
                    assert!(batches.len() <= epoch.num_rounds(step));
                    assert!(index > 0 || batches.len() == epoch.num_rounds(step));
                }
                all
            };
            let shares: Vec<_> = (0..count).map(own).collect();
            for (step, expected) in batches(&whole, &lengths, 2).iter().enumerate() {
                let together: Vec<_> = shares.iter().flat_map(|share| &share[step]).collect();
                let together: Vec<u32> = together.into_iter().flatten().copied().collect();
                assert_eq!(together, expected.concat());
            }
        }
    }

    #[test]
    fn steps_have_the_same_documents_in_one_batch_or_in_several() {
        let lengths = skewed(101);
        let whole = batches(&plan(&lengths, 8, 1, 1), &lengths, 3);
        let halves = batches(&plan(&lengths, 4, 2, 1), &lengths, 3);
        for (whole, halves) in whole.iter().zip(&halves) {
            assert_eq!(whole.concat(), halves.concat());
        }
        assert_eq!(whole.len(), halves.len());
    }
}
