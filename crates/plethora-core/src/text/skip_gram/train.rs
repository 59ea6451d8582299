//! Rounds of learning over all documents.

use rand::RngExt;
use rand::seq::SliceRandom;
use rayon::prelude::*;

use super::config::SkipGramConfig;
use super::local_rows::LocalRows;
use super::merge::merge;
use super::plan::Plan;
use super::shard::{Corpus, Shard, Tables};
use crate::text::Words;
use crate::{Error, IndexRows, Progress, Result, SeedStream, grouped};

/// The learning rate never falls below this share of its first value.
const LEAST_RATE: f64 = 1e-4;

/// Learns a vector for each word of `sequences` from the words around it.
///
/// The result has `config.width` numbers for each of `num_rows` rows, one row after another. The
/// padding row is zero; words that do not occur keep a small random vector. It depends on the
/// seed and not on the number of threads. It takes twice the memory of the result and 128 bytes for
/// each row.
///
/// # Errors
/// [`Error::Interrupted`] where `progress` says so; if the settings cannot work or no sequence
/// has a word.
///
/// # Panics
/// If a sequence has a row that is not below `num_rows`.
pub fn train_skip_gram(
    sequences: &IndexRows,
    num_rows: usize,
    config: &SkipGramConfig,
    seed: SeedStream,
    progress: &dyn Progress,
) -> Result<Vec<f32>> {
    config.validate()?;
    let counts = count(sequences, num_rows);
    let num_words: u64 = counts.iter().sum();
    if num_words == 0 {
        return Err(Error::Data(
            "no document has a word to learn word vectors from".into(),
        ));
    }
    let corpus = Corpus::new(&counts, config.subsample);
    let plan = Plan::new(sequences);
    let mut trainer = Trainer {
        sequences,
        config,
        seed,
        tables: Tables {
            inputs: random_vectors(num_rows, config.width, seed.named("start")),
            outputs: vec![0.0; num_rows * config.width],
        },
        shards: (0..plan.num_shards())
            .map(|_| Shard::new(num_rows, config.width))
            .collect(),
        plan,
        corpus,
    };
    trainer.run(progress)?;
    refuse_divergence(&trainer.tables.inputs)?;
    Ok(trainer.tables.inputs)
}

fn refuse_divergence(vectors: &[f32]) -> Result<()> {
    if vectors.iter().all(|value| value.is_finite()) {
        return Ok(());
    }
    Err(Error::config(
        "skip_gram.learning_rate",
        "is too large: the word vectors grew without limit",
    ))
}

fn count(sequences: &IndexRows, num_rows: usize) -> Vec<u64> {
    let mut counts = vec![0; num_rows];
    for &row in sequences.rows().flatten() {
        counts[row as usize] += 1;
    }
    if let Some(padding) = counts.get_mut(Words::PADDING as usize) {
        *padding = 0;
    }
    counts
}

/// Small numbers in every row but that of padding.
fn random_vectors(num_rows: usize, width: usize, seed: SeedStream) -> Vec<f32> {
    let mut values = vec![0.0; num_rows * width];
    let limit = 0.5 / width as f32;
    values
        .par_chunks_mut(width)
        .enumerate()
        .skip(Words::PADDING as usize + 1)
        .for_each(|(row, values)| {
            let mut rng = seed.child(row as u64).rng();
            for value in values {
                *value = rng.random_range(-limit..limit);
            }
        });
    values
}

struct Trainer<'a> {
    sequences: &'a IndexRows,
    config: &'a SkipGramConfig,
    seed: SeedStream,
    corpus: Corpus,
    plan: Plan,
    tables: Tables,
    shards: Vec<Shard>,
}

impl Trainer<'_> {
    fn run(&mut self, progress: &dyn Progress) -> Result<()> {
        let num_tasks = self.plan.num_tasks();
        let num_steps = (num_tasks * self.config.epochs) as f64;
        let num_words = (self.sequences.num_items() * self.config.epochs) as u64;
        progress.start("learning word vectors", Some(num_words));
        for epoch in 0..self.config.epochs {
            let seed = self.seed.named("epoch").child(epoch as u64);
            let mut order: Vec<usize> = (0..num_tasks).collect();
            order.shuffle(&mut seed.named("order").rng());
            for (round, tasks) in order.chunks(self.shards.len()).enumerate() {
                if progress.is_cancelled() {
                    return Err(Error::Interrupted);
                }
                let num_done = epoch * num_tasks + round * self.shards.len();
                let share_left = (1.0 - num_done as f64 / num_steps).max(LEAST_RATE);
                let rate = (f64::from(self.config.learning_rate) * share_left) as f32;
                progress.advance(self.learn_round(tasks, rate, seed));
            }
        }
        progress.finish(&format!(
            "{} words, {} passes",
            grouped(self.sequences.num_items() as u64),
            self.config.epochs
        ));
        Ok(())
    }

    /// Learns from some tasks side by side and returns how many words they had.
    fn learn_round(&mut self, tasks: &[usize], rate: f32, seed: SeedStream) -> u64 {
        let shards = &mut self.shards[..tasks.len()];
        shards.par_iter_mut().zip(tasks).for_each(|(shard, &task)| {
            shard.learn(
                self.plan.texts(task, self.sequences),
                (&self.corpus, &self.tables),
                (self.config, rate),
                &mut seed.child(task as u64).rng(),
            );
        });
        let width = self.config.width;
        let inputs: Vec<&LocalRows> = shards.iter().map(|shard| &shard.inputs).collect();
        merge(&mut self.tables.inputs, width, &inputs, rate);
        let outputs: Vec<&LocalRows> = shards.iter().map(|shard| &shard.outputs).collect();
        merge(&mut self.tables.outputs, width, &outputs, rate);
        let words = tasks.iter().map(|&task| {
            let texts = self.plan.texts(task, self.sequences);
            texts.map(<[u32]>::len).sum::<usize>() as u64
        });
        words.sum()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use rayon::ThreadPoolBuilder;

    use super::*;
    use crate::NoProgress;

    const NUM_TOPICS: u32 = 8;
    const WORDS_PER_TOPIC: u32 = 25;
    const NUM_ROWS: usize = 2 + (NUM_TOPICS * WORDS_PER_TOPIC) as usize;

    fn config() -> SkipGramConfig {
        SkipGramConfig {
            width: 20,
            window: 4,
            negatives: 5,
            epochs: 3,
            learning_rate: 0.05,
            subsample: 0.0,
        }
    }

    /// Documents of words of one topic each, with unknown words in between.
    fn documents(num_documents: u64) -> IndexRows {
        (0..num_documents)
            .map(|document| {
                let mut rng = SeedStream::new(5).child(document).rng();
                let topic = rng.random_range(0..NUM_TOPICS);
                let words: Vec<u32> = (0..50)
                    .map(|_| match rng.random_range(0..4) {
                        0 => Words::UNKNOWN,
                        _ => 2 + topic * WORDS_PER_TOPIC + rng.random_range(0..WORDS_PER_TOPIC),
                    })
                    .collect();
                words
            })
            .collect()
    }

    fn train(sequences: &IndexRows, config: &SkipGramConfig, seed: u64) -> Vec<f32> {
        let seed = SeedStream::new(seed);
        train_skip_gram(sequences, NUM_ROWS, config, seed, &NoProgress).unwrap()
    }

    fn cosine(vectors: &[f32], left: usize, right: usize) -> f32 {
        let width = vectors.len() / NUM_ROWS;
        let row = |row: usize| &vectors[row * width..][..width];
        let product = |left: usize, right: usize| -> f32 {
            let pairs = row(left).iter().zip(row(right));
            pairs.map(|(left, right)| left * right).sum()
        };
        product(left, right) / (product(left, left) * product(right, right)).sqrt()
    }

    /// Share of words whose nearest word is of their own topic.
    fn accuracy(vectors: &[f32]) -> f64 {
        let topic = |row: usize| (row - 2) / WORDS_PER_TOPIC as usize;
        let is_right = |&row: &usize| {
            let others = (2..NUM_ROWS).filter(|&other| other != row);
            let nearest = others.max_by(|&left, &right| {
                cosine(vectors, row, left).total_cmp(&cosine(vectors, row, right))
            });
            nearest.is_some_and(|nearest| topic(nearest) == topic(row))
        };
        (2..NUM_ROWS).filter(is_right).count() as f64 / (NUM_ROWS - 2) as f64
    }

    #[test]
    fn words_with_the_same_neighbours_are_near_each_other() {
        // One shard and many.
        for (num_documents, epochs) in [(80, 30), (2000, 3)] {
            let config = SkipGramConfig { epochs, ..config() };
            let vectors = train(&documents(num_documents), &config, 1);
            assert!(vectors.iter().all(|value| value.is_finite()));
            assert!(vectors[..config.width].iter().all(|&value| value == 0.0));
            let accuracy = accuracy(&vectors);
            assert!(accuracy > 0.95, "{num_documents}: {accuracy}");
        }
    }

    #[test]
    fn a_width_of_any_size_and_skipped_words_still_learn() {
        let config = SkipGramConfig {
            width: 13,
            subsample: 0.01,
            epochs: 5,
            ..config()
        };
        let vectors = train(&documents(1500), &config, 1);
        assert_eq!(vectors.len(), NUM_ROWS * 13);
        assert!(accuracy(&vectors) > 0.95);
    }

    #[test]
    fn the_number_of_threads_changes_nothing_and_the_seed_does() {
        let sequences = documents(1000);
        assert!(Plan::new(&sequences).num_shards() > 8);
        let run = |threads, seed| {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build();
            let config = SkipGramConfig {
                epochs: 2,
                subsample: 0.01,
                ..config()
            };
            pool.unwrap().install(|| train(&sequences, &config, seed))
        };
        let expected = run(1, 7);
        assert!(expected == run(2, 7) && expected == run(3, 7));
        assert!(expected != run(1, 8));
    }

    #[test]
    fn large_learning_rates_stay_finite() {
        let config = SkipGramConfig {
            learning_rate: 0.5,
            ..config()
        };
        let vectors = train(&documents(1000), &config, 1);
        assert!(vectors.iter().all(|value| value.is_finite()));
    }

    #[test]
    fn vectors_without_limit_are_refused() {
        assert!(refuse_divergence(&[0.0, -3.0]).is_ok());
        let message = refuse_divergence(&[0.0, f32::NAN]).unwrap_err().to_string();
        assert!(message.starts_with("skip_gram.learning_rate: is too large"));
    }

    #[test]
    fn words_that_do_not_occur_keep_a_small_vector() {
        let sequences: IndexRows = [[2, 3, 2, 3, 1]].into_iter().collect();
        let vectors = train(&sequences, &config(), 1);
        let limit = 0.5 / config().width as f32;
        let unseen = &vectors[4 * config().width..];
        assert!(unseen.iter().all(|value| value.abs() <= limit));
        assert!(unseen.iter().any(|&value| value != 0.0));
    }

    #[test]
    fn nothing_to_learn_from_is_said() {
        for sequences in [
            IndexRows::default(),
            [[Words::PADDING]].into_iter().collect(),
        ] {
            let seed = SeedStream::new(1);
            let result = train_skip_gram(&sequences, NUM_ROWS, &config(), seed, &NoProgress);
            assert_eq!(
                result.unwrap_err().to_string(),
                "no document has a word to learn word vectors from"
            );
        }
    }

    #[derive(Default)]
    struct StopAfter {
        most: u64,
        num_words: AtomicU64,
    }

    impl Progress for StopAfter {
        fn start(&self, _stage: &str, total: Option<u64>) {
            assert_eq!(total, Some(1000 * 50 * 3));
        }
        fn advance(&self, steps: u64) {
            self.num_words.fetch_add(steps, Ordering::Relaxed);
        }
        fn finish(&self, _summary: &str) {}
        fn is_cancelled(&self) -> bool {
            self.num_words.load(Ordering::Relaxed) >= self.most
        }
    }

    #[test]
    fn progress_counts_all_words_and_can_stop() {
        let sequences = documents(1000);
        let run = |most| {
            let progress = StopAfter {
                most,
                ..StopAfter::default()
            };
            let seed = SeedStream::new(1);
            let result = train_skip_gram(&sequences, NUM_ROWS, &config(), seed, &progress);
            (result, progress.num_words.into_inner())
        };
        let (result, num_words) = run(u64::MAX);
        assert!(result.is_ok());
        assert_eq!(num_words, 150_000);
        let (result, num_words) = run(20_000);
        assert!(matches!(result, Err(Error::Interrupted)));
        assert!(num_words < 30_000);
    }
}
