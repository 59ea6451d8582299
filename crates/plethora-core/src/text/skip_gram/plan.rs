//! Divides documents into the tasks of an epoch, by their words alone and not by threads.

use std::ops::Range;

use crate::IndexRows;

/// Most shards that learn side by side, so also most threads that have work.
pub(super) const MAX_SHARDS: usize = 16;

/// Words of a task: enough to outweigh copying rows, and so few that shards seldom meet in a row.
/// On 0.8 million words of law texts, 59 % of the ten nearest words are also gensim's, as with a
/// single shard; with tasks of 2,048 words it is 47 %.
const WORDS_PER_TASK: usize = 256;

/// Tasks that an epoch has for each of its shards at least; with fewer, shards would learn nothing
/// from each other.
const ROUNDS_PER_EPOCH: usize = 16;

/// A part of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    document: u32,
    start: u32,
    end: u32,
}

/// The tasks of an epoch.
#[derive(Debug)]
pub(super) struct Plan {
    pieces: Vec<Piece>,
    /// For each task the end of its pieces.
    task_ends: Vec<usize>,
    num_shards: usize,
}

impl Plan {
    /// Cuts `sequences` into tasks of about equally many words.
    pub(super) fn new(sequences: &IndexRows) -> Self {
        let (mut pieces, mut task_ends) = (Vec::new(), Vec::new());
        let mut room = WORDS_PER_TASK;
        for (document, sequence) in (0..).zip(sequences.rows()) {
            let mut start = 0;
            while start < sequence.len() {
                let end = sequence.len().min(start + room);
                pieces.push(Piece {
                    document,
                    start: start as u32,
                    end: end as u32,
                });
                room -= end - start;
                start = end;
                if room == 0 {
                    task_ends.push(pieces.len());
                    room = WORDS_PER_TASK;
                }
            }
        }
        if room < WORDS_PER_TASK {
            task_ends.push(pieces.len());
        }
        let num_shards = (task_ends.len() / ROUNDS_PER_EPOCH).clamp(1, MAX_SHARDS);
        Self {
            pieces,
            task_ends,
            num_shards,
        }
    }

    pub(super) fn num_tasks(&self) -> usize {
        self.task_ends.len()
    }

    /// Tasks that run side by side.
    pub(super) fn num_shards(&self) -> usize {
        self.num_shards
    }

    /// The word sequences of a task.
    pub(super) fn texts<'a>(
        &self,
        task: usize,
        sequences: &'a IndexRows,
    ) -> impl Iterator<Item = &'a [u32]> {
        let start = if task == 0 {
            0
        } else {
            self.task_ends[task - 1]
        };
        self.pieces[start..self.task_ends[task]]
            .iter()
            .map(|piece| &sequences.row(piece.document as usize)[piece.range()])
    }
}

impl Piece {
    fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_hold_every_word_once_and_in_order() {
        let documents = [3, 0, 700, 1, 255, 1, 90];
        let mut next = 0;
        let sequences: IndexRows = documents
            .iter()
            .map(|&length| {
                next += length;
                next - length..next
            })
            .collect();
        let plan = Plan::new(&sequences);
        assert_eq!((plan.num_tasks(), plan.num_shards()), (5, 1));
        let mut seen = Vec::new();
        for task in 0..plan.num_tasks() {
            let before = seen.len();
            seen.extend(plan.texts(task, &sequences).flatten());
            assert!(seen.len() - before <= WORDS_PER_TASK);
        }
        assert!(seen.into_iter().copied().eq(0..next));
    }

    #[test]
    fn few_words_are_learnt_one_after_another() {
        let shards =
            |num_words: u32| Plan::new(&std::iter::once(0..num_words).collect()).num_shards();
        assert_eq!(shards(4_000), 1);
        assert_eq!(shards(13_000), 3);
        assert_eq!(shards(5_000_000), MAX_SHARDS);
    }
}
