//! What training TReaderXML will cost, roughly.

use plethora_system::{Estimate, TrainingSize};

use super::config::TReaderConfig;
use crate::systems::estimate::{
    BYTES_PER_WEIGHT, KEPT_PER_STATE, LIBRARY_BYTES, OPERATIONS_PER_SECOND, OPERATIONS_PER_WEIGHT,
    words_per_document,
};

/// Attentions of a side to itself.
const READER_ATTENTIONS: f64 = 2.0;

/// Attentions on one side or two and one layer over all labels, beside an index of the documents.
pub(super) fn estimate(config: &TReaderConfig, size: &TrainingSize) -> Estimate {
    let documents = size.num_documents as f64;
    let length = words_per_document(size).clamp(1.0, config.words.max_length as f64);
    let width = config.vectors.width as f64;
    let num_labels = size.num_labels as f64;
    // Where labels are read there are two sides, each with one more attention, to the other.
    let (labels, sides, num_attentions, label_vectors) = if config.teacher.is_read() {
        let of_neighbours =
            config.neighbours.limit as f64 * size.num_assignments as f64 / documents.max(1.0);
        let labels = of_neighbours.min(config.teacher.max_labels as f64);
        (labels, 2.0, READER_ATTENTIONS + 1.0, num_labels * width)
    } else {
        (0.0, 1.0, READER_ATTENTIONS, 0.0)
    };
    let bottleneck = config.head.bottleneck as f64;
    // Queries, keys, values and outputs of attentions, and the products between places.
    let attentions = (length + labels) * num_attentions * 4.0 * width * width
        + 2.0 * width * (2.0 * length * length + 2.0 * length * labels);
    let operations =
        OPERATIONS_PER_WEIGHT * (attentions + sides * width * bottleneck + num_labels * bottleneck);
    let num_words = size.num_features.min(config.words.max_vocabulary as u64) as f64;
    let weights = num_words * width
        + label_vectors
        + sides * num_attentions * 4.0 * width * width
        + num_labels * bottleneck;
    let kept = config.train.batch_size as f64
        * ((length + labels) * width * num_attentions * KEPT_PER_STATE
            + 2.0 * config.reading.heads as f64 * length * length);
    let epochs = (config.train.epochs * (1 + config.decay.rounds)) as f64;
    Estimate {
        cpu_seconds: documents * epochs * operations / OPERATIONS_PER_SECOND,
        peak_memory_bytes: (LIBRARY_BYTES + BYTES_PER_WEIGHT * weights + 4.0 * kept) as u64
            + size.with_pairs().feature_bytes(3),
        gpu_share: 1.0,
    }
}
