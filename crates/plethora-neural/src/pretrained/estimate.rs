//! What training a system of pieces will cost on a processor, roughly.

use plethora_system::{Estimate, TrainingSize};

use super::choices::MAX_FLAT_LABELS;
use super::config::OpenPieceConfig;
use crate::systems::estimate::{
    BYTES_PER_WEIGHT, LIBRARY_BYTES, OPERATIONS_PER_SECOND, OPERATIONS_PER_WEIGHT,
    words_per_document,
};

/// Pieces of a word.
const PIECES_PER_WORD: f64 = 1.3;

/// Copies of weights that are computed with.
const COPY_BYTES: f64 = 8.0;

/// Numbers of an encoder's state.
const WIDTH: f64 = 384.0;

/// Weights of all its layers.
const LAYER_WEIGHTS: f64 = 10.6e6;

/// Weights of the vectors of pieces.
const TABLE_WEIGHTS: f64 = 12.0e6;

/// Pieces of a document that are read.
const MAX_LENGTH: f64 = 128.0;

/// Documents that are computed together.
const BATCH_SIZE: f64 = 64.0;

/// Steps of a run.
const STEPS: f64 = 9000.0;

/// Numbers kept of a piece for the way back.
const KEPT_PER_PIECE: f64 = 6.0 * 384.0 * 20.0;

/// Labels that a document is compared with, where they come in clusters.
const NUM_CANDIDATES: f64 = 7500.0;

/// Numbers of a label's vector there.
const BOTTLENECK: f64 = 512.0;

/// Numbers of a label's vector where rarer ones have fewer, on average.
const ADAPTIVE_WIDTH: f64 = 576.0;

/// With an encoder as the recipe's, at the length and for the epochs that it would choose on a
/// processor.
pub(super) fn estimate(config: &OpenPieceConfig, size: &TrainingSize) -> Estimate {
    let documents = size.num_documents as f64;
    let length = (PIECES_PER_WORD * words_per_document(size)).clamp(1.0, MAX_LENGTH);
    let (scored, outputs) = label_weights(config, size);
    let operations = OPERATIONS_PER_WEIGHT * (length * LAYER_WEIGHTS + scored);
    let epochs = (STEPS * BATCH_SIZE / documents.max(1.0)).clamp(4.0, 40.0);
    let weights = LAYER_WEIGHTS + TABLE_WEIGHTS + outputs;
    let kept = BATCH_SIZE * length * KEPT_PER_PIECE;
    Estimate {
        cpu_seconds: documents * epochs * operations / OPERATIONS_PER_SECOND,
        peak_memory_bytes: (LIBRARY_BYTES
            + (BYTES_PER_WEIGHT + COPY_BYTES) * weights
            + 4.0 * (kept + documents * length)) as u64,
    }
}

/// Weights that a document meets behind the encoder, and all that there are.
fn label_weights(config: &OpenPieceConfig, size: &TrainingSize) -> (f64, f64) {
    let vector = config.encoder.layers as f64 * WIDTH;
    let num_labels = size.num_labels as f64;
    if config.adaptive.is_some() {
        let labels = num_labels * ADAPTIVE_WIDTH;
        (labels, labels)
    } else if size.num_labels <= MAX_FLAT_LABELS as u64 {
        // One layer scores all labels.
        (num_labels * vector, num_labels * vector)
    } else {
        let clusters = num_labels / config.clusters.tree.max_leaf as f64 * vector;
        (
            clusters + NUM_CANDIDATES * BOTTLENECK,
            clusters + num_labels * BOTTLENECK,
        )
    }
}
