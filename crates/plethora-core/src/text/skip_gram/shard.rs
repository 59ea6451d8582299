//! What one thread learns from one task.

use rand::{Rng, RngExt};

use super::config::SkipGramConfig;
use super::kernel::{Sigmoid, dot, learn, move_row};
use super::local_rows::LocalRows;
use super::noise::Noise;
use crate::text::Words;

/// The two vectors of each word: as a word that explains its neighbours, which is the result, and
/// as a neighbour that is explained.
#[derive(Debug)]
pub(super) struct Tables {
    pub(super) inputs: Vec<f32>,
    pub(super) outputs: Vec<f32>,
}

/// What learning needs to know and does not change.
#[derive(Debug)]
pub(super) struct Corpus {
    noise: Noise,
    /// For each row the share of its occurrences to use, of 2^32.
    kept: Vec<u32>,
    sigmoid: Sigmoid,
}

impl Corpus {
    /// `counts` says how often each row occurs; at least one must be above zero.
    pub(super) fn new(counts: &[u64], subsample: f32) -> Self {
        let total: u64 = counts.iter().sum();
        let kept = counts.iter().map(|&count| {
            let ratio = f64::from(subsample) * total as f64 / count as f64;
            // Written by Mikolov's program: sqrt(t/f) + t/f for a word of share f.
            let share = if subsample > 0.0 {
                ratio.sqrt() + ratio
            } else {
                1.0
            };
            (share * f64::from(u32::MAX)) as u32
        });
        Self {
            kept: kept.collect(),
            noise: Noise::new(counts),
            sigmoid: Sigmoid::new(),
        }
    }
}

/// The working memory of a task, used again for the next.
#[derive(Debug)]
pub(super) struct Shard {
    pub(super) inputs: LocalRows,
    pub(super) outputs: LocalRows,
    kept: Vec<u32>,
    input_slots: Vec<u32>,
    /// Slots of a word and of what was drawn against it.
    output_slots: Vec<u32>,
    movement: Vec<f32>,
}

impl Shard {
    pub(super) fn new(num_rows: usize, width: usize) -> Self {
        let inputs = LocalRows::new(num_rows, width);
        Self {
            movement: vec![0.0; inputs.stride()],
            inputs,
            outputs: LocalRows::new(num_rows, width),
            kept: Vec::new(),
            input_slots: Vec::new(),
            output_slots: Vec::new(),
        }
    }

    /// Learns from `texts` on copies of the rows of `tables`, which are left sorted.
    pub(super) fn learn<'a>(
        &mut self,
        texts: impl Iterator<Item = &'a [u32]>,
        (corpus, tables): (&Corpus, &Tables),
        (config, learning_rate): (&SkipGramConfig, f32),
        rng: &mut impl Rng,
    ) {
        self.inputs.clear();
        self.outputs.clear();
        for text in texts {
            self.keep_words(text, corpus, tables, rng);
            for center in 0..self.kept.len() {
                let reach = rng.random_range(1..=config.window);
                self.draw_outputs(center, config.negatives, (corpus, tables), rng);
                self.learn_word(center, reach, &corpus.sigmoid, learning_rate);
            }
        }
        self.inputs.sort();
        self.outputs.sort();
    }

    /// Takes the words of a text, without some of the very frequent ones.
    fn keep_words(&mut self, text: &[u32], corpus: &Corpus, tables: &Tables, rng: &mut impl Rng) {
        self.kept.clear();
        self.input_slots.clear();
        for &row in text {
            let share = corpus.kept[row as usize];
            let is_kept = share == u32::MAX || rng.next_u32() < share;
            if row != Words::PADDING && is_kept {
                self.kept.push(row);
                self.input_slots.push(self.inputs.slot(row, &tables.inputs));
            }
        }
    }

    /// Draws the words that all neighbours of the word at `center` are held against.
    fn draw_outputs(
        &mut self,
        center: usize,
        negatives: usize,
        (corpus, tables): (&Corpus, &Tables),
        rng: &mut impl Rng,
    ) {
        self.output_slots.clear();
        let slot = self.outputs.slot(self.kept[center], &tables.outputs);
        self.output_slots.push(slot);
        for _ in 0..negatives {
            let slot = self.outputs.slot(corpus.noise.draw(rng), &tables.outputs);
            if slot != self.output_slots[0] {
                self.output_slots.push(slot);
            }
        }
    }

    /// Lets each word up to `reach` away from `center` predict the word there.
    fn learn_word(&mut self, center: usize, reach: usize, sigmoid: &Sigmoid, learning_rate: f32) {
        let first = center.saturating_sub(reach);
        let last = (center + reach).min(self.input_slots.len() - 1);
        for &slot in &self.output_slots {
            self.outputs.count_moves(slot, last - first);
        }
        for neighbour in (first..=last).filter(|&neighbour| neighbour != center) {
            self.inputs
                .count_moves(self.input_slots[neighbour], self.output_slots.len());
            let input = self.inputs.row_mut(self.input_slots[neighbour]);
            let mut truth = 1.0;
            for &slot in &self.output_slots {
                let output = self.outputs.row_mut(slot);
                let step = (truth - sigmoid.of(dot(input, output))) * learning_rate;
                learn(input, output, &mut self.movement, step);
                truth = 0.0;
            }
            move_row(input, &mut self.movement);
        }
    }
}
