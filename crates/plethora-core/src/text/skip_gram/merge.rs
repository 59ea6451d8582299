//! Brings back into a table what shards have learnt on their copies of its rows.

use rayon::prelude::*;

use super::local_rows::{LocalRows, MovedRow};

/// Parts of a table that are merged side by side.
const NUM_BLOCKS: usize = 32;

/// Sum of learning rates over which a row goes most of the way to where its neighbours draw it.
/// Measured: with a fifth of it frequent words learn too slowly (53 % instead of 59 % of nearest
/// words are gensim's), and with six times as much a learning rate of 0.1 finds nothing.
const SETTLING_TIME: f32 = 4.0;

/// Moves each row of `table` by what its copies have moved, at this learning rate.
///
/// The result depends on the order of `copies`, which must be sorted, and on nothing else.
pub(super) fn merge(table: &mut [f32], width: usize, copies: &[&LocalRows], learning_rate: f32) {
    let rows_per_block = (table.len() / width).div_ceil(NUM_BLOCKS);
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
            let share = share_of_moves(copies, learning_rate);
            start.copy_from_slice(row);
            for copy in copies {
                for ((value, copied), start) in row.iter_mut().zip(copy.values).zip(&start) {
                    *value += share * (copied - start);
                }
            }
        }
    });
}

/// Which share of the copies' moves adds up to what one shard would have moved on all their words.
///
/// A row that is drawn to one place goes `1 - exp(-n / t)` of the way there in `n` moves. Rows
/// that moved little are summed up by this, and those that each arrived are averaged: their sum
/// would go too far by as many times as there are copies, and diverge.
fn share_of_moves(copies: &[MovedRow<'_>], learning_rate: f32) -> f32 {
    if copies.len() == 1 {
        return 1.0;
    }
    let way = |num_moves: u32| -(-(num_moves as f32) * learning_rate / SETTLING_TIME).exp_m1();
    let together = way(copies.iter().map(|copy| copy.num_moves).sum());
    let apart: f32 = copies.iter().map(|copy| way(copy.num_moves)).sum();
    if apart > 0.0 { together / apart } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved(row: u32, by: f32, num_moves: usize, table: &[f32]) -> LocalRows {
        let mut copies = LocalRows::new(table.len() / 2, 2);
        copies.slot(0, table);
        let slot = copies.slot(row, table);
        copies.row_mut(slot)[..2].iter_mut().for_each(|x| *x += by);
        copies.count_moves(slot, num_moves);
        copies.sort();
        copies
    }

    #[test]
    fn rows_of_one_shard_are_taken_over() {
        let mut table = vec![1.0; 200];
        let copies = [moved(3, 0.5, 9, &table), moved(99, -0.5, 9, &table)];
        merge(&mut table, 2, &[&copies[0], &copies[1]], 0.025);
        assert_eq!((table[6], table[199]), (1.5, 0.5));
        assert_eq!(table.iter().filter(|&&value| value == 1.0).count(), 196);
    }

    #[test]
    fn small_moves_add_up_and_large_ones_are_averaged() {
        let merged = |num_moves| {
            let mut table = vec![1.0; 20];
            let copies = moved(3, 0.5, num_moves, &table);
            merge(&mut table, 2, &[&copies, &copies, &copies, &copies], 0.025);
            table[7]
        };
        assert!((merged(1) - 3.0).abs() < 0.05);
        assert!((merged(100_000) - 1.5).abs() < 1e-6);
        assert!(merged(100) > 1.7 && merged(100) < 2.8);
    }
}
