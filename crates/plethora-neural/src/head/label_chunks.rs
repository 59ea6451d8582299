//! Runs of labels that are computed together.

use std::ops::Range;

use tch::Device;

/// The fewest labels of a run: below, launches cost more than what they compute.
const SHORTEST: i64 = 64;

/// Parts of `0..num_labels` with about `limit` labels at most. They are equally long: a short last one
/// would cost as much in launches.
pub(crate) fn label_chunks(num_labels: i64, limit: i64) -> impl Iterator<Item = Range<i64>> {
    let limit = limit.max(1);
    let num_chunks = (num_labels + limit - 1) / limit;
    let length = (num_labels + num_chunks - 1) / num_chunks.max(1);
    (0..num_chunks)
        .map(move |number| number * length..((number + 1) * length).min(num_labels))
        .filter(|chunk| !chunk.is_empty())
}

/// Labels of a run where each takes `numbers_per_label` numbers, within the numbers that a device has
/// room for.
pub(crate) fn chunk_limit(numbers_per_label: i64, on_gpu: i64, on_cpu: i64, device: Device) -> i64 {
    let numbers = if device == Device::Cpu {
        on_cpu
    } else {
        on_gpu
    };
    (numbers / numbers_per_label.max(1)).max(SHORTEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_cover_all_labels_once_and_alike() {
        for (num_labels, limit) in [(0, 3), (1, 3), (7, 3), (9, 3), (10, 4), (5, 100), (10, 6)] {
            let chunks: Vec<Range<i64>> = label_chunks(num_labels, limit).collect();
            let covered: Vec<i64> = chunks.iter().cloned().flatten().collect();
            assert_eq!(covered, (0..num_labels).collect::<Vec<_>>());
            assert!(chunks.iter().all(|chunk| chunk.end - chunk.start <= limit));
        }
        assert_eq!(chunk_limit(1 << 10, 1 << 27, 1 << 21, Device::Cpu), 1 << 11);
        assert_eq!(chunk_limit(1 << 30, 1 << 27, 1 << 21, Device::Cpu), 64);
    }
}
