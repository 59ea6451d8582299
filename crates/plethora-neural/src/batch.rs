//! What batches of words share.

use plethora_core::IndexRows;
use rustc_hash::FxHashMap;
use tch::Tensor;

/// Different numbers in rising order as a tensor, and the place of each.
pub(crate) fn numbered(mut numbers: Vec<u32>) -> (Tensor, FxHashMap<u32, i32>) {
    numbers.sort_unstable();
    numbers.dedup();
    let place_of = numbers
        .iter()
        .enumerate()
        .map(|(place, &number)| (number, place as i32))
        .collect();
    let rows: Vec<i64> = numbers.into_iter().map(i64::from).collect();
    (Tensor::from_slice(&rows), place_of)
}

/// Numbers of documents by length, the longest first; equal lengths keep their order.
pub(crate) fn longest_first(documents: &[u32], sequences: &IndexRows) -> Vec<u32> {
    let mut sorted = documents.to_vec();
    sorted.sort_by_key(|&document| std::cmp::Reverse(sequences.row(document as usize).len()));
    sorted
}
