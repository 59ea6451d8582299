//! Rounds of learning over all documents.

use rand::RngExt;
use rand::seq::SliceRandom;
use rayon::prelude::*;

use super::config::SkipGramConfig;
use super::local_rows::{LocalRows, MovedRow};
use super::plan::Plan;
use super::shard::{Corpus, Shard, Tables};
use crate::text::Words;
use crate::{Error, IndexRows, Progress, Result, SeedStream, grouped};

/// The learning rate never falls below this share of its first value.
const LEAST_RATE: f64 = 1e-4;

/// Parts of a table that are merged side by side.
const MERGE_BLOCKS: usize = 32;

/// Learns a vector for each word of `sequences` from the words around it.
///
/// The result has `config.width` numbers for each of `num_rows` rows, one row after another. The
/// padding row is zero; words that do not occur keep a small random vector. It depends on the
/// seed and not on the number of threads. Memory: twice the result, and some megabytes a thread.
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
    Ok(trainer.tables.inputs)
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
        merge(&mut self.tables.inputs, width, &inputs);
        let outputs: Vec<&LocalRows> = shards.iter().map(|shard| &shard.outputs).collect();
        merge(&mut self.tables.outputs, width, &outputs);
        let words = tasks.iter().map(|&task| {
            let texts = self.plan.texts(task, self.sequences);
            texts.map(<[u32]>::len).sum::<usize>() as u64
        });
        words.sum()
    }
}

/// Moves each row of `table` by what its copies have moved.
fn merge(table: &mut [f32], width: usize, copies: &[&LocalRows]) {
    let rows_per_block = (table.len() / width).div_ceil(MERGE_BLOCKS);
    let blocks = table.par_chunks_mut(rows_per_block * width).enumerate();
    blocks.for_each(|(block, rows)| {
        let first = (block * rows_per_block) as u32;
        let end = first + rows_per_block as u32;
        let mut moved: Vec<MovedRow<'_>> = copies
            .iter()
            .flat_map(|copies| copies.copies_in(first, end))
            .collect();
        // Stable, so that copies are added up in the order of the shards.
        moved.sort_by_key(|moved| moved.row);
        let mut start = vec![0.0; width];
        for copies in moved.chunk_by(|left, right| left.row == right.row) {
            let row = (copies[0].row - first) as usize;
            let row = &mut rows[row * width..][..width];
            let scale = share_of_sum(copies);
            start.copy_from_slice(row);
            for copy in copies {
                for ((value, copied), start) in row.iter_mut().zip(copy.values).zip(&start) {
                    *value += scale * (copied - start);
                }
            }
        }
    });
}

fn share_of_sum(copies: &[MovedRow<'_>]) -> f32 {
    if copies.len() == 1 {
        return 1.0;
    }
    let tau: f32 = std::env::var("TAU").map(|s| s.parse().unwrap()).unwrap_or(16.0);
    let way = |num_moves: u32| 1.0 - (-(num_moves as f32) / tau).exp();
    let together: u32 = copies.iter().map(|copy| copy.num_moves).sum();
    let apart: f32 = copies.iter().map(|copy| way(copy.num_moves)).sum();
    if apart > 0.0 { way(together) / apart } else { 1.0 }
}
