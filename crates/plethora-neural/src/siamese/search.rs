//! The nearest vectors of many, a block of both sides at a time.

use plethora_core::{LabelId, ScoredLabel};
use tch::{Device, Kind, Tensor};

use super::tensors::rows_of;
use crate::systems::rankings::flat;
use crate::systems::vectors::Vectors;

/// Similarities that are computed together, at most.
const SIMILARITIES_AT_ONCE: usize = 1 << 24;

/// Queries that are answered together.
const QUERIES_AT_ONCE: usize = 1024;

/// The `keep` nearest vectors of each query, the nearest first, with their similarities; every query is
/// compared with every vector.
pub(super) fn nearest(
    queries: &Vectors,
    vectors: &Vectors,
    keep: usize,
    device: Device,
) -> Vec<Vec<ScoredLabel>> {
    let numbers: Vec<u32> = (0..queries.len() as u32).collect();
    let mut found = Vec::with_capacity(queries.len());
    tch::no_grad(|| {
        for numbers in numbers.chunks(QUERIES_AT_ONCE) {
            let block = rows_of(queries, numbers.iter().copied()).to_device(device);
            found.extend(nearest_of(&block, vectors, keep, device));
        }
    });
    found
}

fn nearest_of(
    queries: &Tensor,
    vectors: &Vectors,
    keep: usize,
    device: Device,
) -> Vec<Vec<ScoredLabel>> {
    let num_queries = queries.size()[0] as usize;
    let mut found: Vec<Vec<ScoredLabel>> = vec![Vec::new(); num_queries];
    let numbers: Vec<u32> = (0..vectors.len() as u32).collect();
    for numbers in numbers.chunks((SIMILARITIES_AT_ONCE / num_queries.max(1)).max(1)) {
        let block = rows_of(vectors, numbers.iter().copied()).to_device(device);
        let similarities = queries.matmul(&block.transpose(0, 1));
        let depth = keep.min(numbers.len());
        let (values, places) = similarities.topk(depth as i64, 1, true, true);
        let values: Vec<f32> = flat(&values.to_kind(Kind::Float).to_device(Device::Cpu));
        let places: Vec<i64> = flat(&places.to_device(Device::Cpu));
        let rows = values.chunks(depth.max(1)).zip(places.chunks(depth.max(1)));
        for (all, (values, places)) in found.iter_mut().zip(rows) {
            let block = values.iter().zip(places);
            all.extend(block.map(|(&score, &place)| ScoredLabel {
                label: LabelId(numbers[place as usize]),
                score,
            }));
            all.sort_by(|left, right| {
                let by_score = right.score.total_cmp(&left.score);
                by_score.then(left.label.cmp(&right.label))
            });
            all.truncate(keep);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems::vectors::unit_halves;

    #[test]
    fn the_nearest_come_first() {
        let mut vectors = Vectors::new(2);
        for vector in [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]] {
            vectors.push(&unit_halves(&vector));
        }
        let mut queries = Vectors::new(2);
        queries.push(&unit_halves(&[2.0, 1.0]));
        queries.push(&unit_halves(&[0.0, 3.0]));
        let found = nearest(&queries, &vectors, 2, Device::Cpu);
        let labels =
            |row: usize| -> Vec<u32> { found[row].iter().map(|one| one.label.0).collect() };
        assert_eq!(labels(0), [2, 0]);
        assert_eq!(labels(1), [1, 2]);
        assert!((found[0][0].score - 0.9487).abs() < 1e-3);
    }
}
