//! What training will cost on a processor, roughly.

use plethora_system::{Estimate, TrainingSize};
use tch::{Device, Kind};

use super::config::OpenSiameseConfig;
use crate::precision::prediction_numbers;
use crate::systems::estimate::{
    LIBRARY_BYTES, OPERATIONS_PER_SECOND, OPERATIONS_PER_WEIGHT, words_per_document,
};

/// Pieces of a word.
const PIECES_PER_WORD: f64 = 1.3;

/// Pieces of a label's names, special ones with them.
const PIECES_PER_LABEL: f64 = 8.0;

/// Weights of the layers of an encoder as the recipe's, each of which every piece meets once.
const LAYER_WEIGHTS: f64 = 10.6e6;

/// Weights of the vectors of its pieces.
const TABLE_WEIGHTS: f64 = 12.0e6;

/// Numbers of its vectors.
const WIDTH: f64 = 384.0;

/// Operations of a core per second while an encoder only reads, measured on a processor with AVX-512 that
/// multiplies numbers of 16 bits: with these and with those of 32.
const READING_PER_SECOND: (f64, f64) = (2.5e11, 9.0e10);

/// Documents that are computed together.
const BATCH_SIZE: f64 = 256.0;

/// Documents that weights of means are tried with, and how many weights.
const TRIED: f64 = 2000.0 * 8.0;

/// Bytes of a weight: as it is kept and as it is computed with.
const BYTES_PER_WEIGHT: f64 = 8.0;

/// Documents and names once through the encoder, or in every epoch where it learns.
pub(super) fn estimate(config: &OpenSiameseConfig, size: &TrainingSize) -> Estimate {
    let (documents, labels) = (size.num_documents as f64, size.num_labels as f64);
    let longest = config.document.max_length as f64;
    let length = (PIECES_PER_WORD * words_per_document(size)).clamp(1.0, longest);
    let pool = labels.min(config.negatives.pool as f64);
    let passes = (config.train.holding_back()).passes(size.num_documents as usize);
    let epochs = passes * config.train.epochs as f64;
    let of_names = PIECES_PER_LABEL * pool / BATCH_SIZE;
    let cpu_seconds = if config.encoder.trained.set() == Some(true) {
        let per_document = (length + of_names) * LAYER_WEIGHTS;
        epochs * documents * per_document * OPERATIONS_PER_WEIGHT / OPERATIONS_PER_SECOND
    } else {
        let (in_16_bits, in_32_bits) = READING_PER_SECOND;
        let per_second = match prediction_numbers(config.train.precision, Device::Cpu).kind {
            Kind::BFloat16 => in_16_bits,
            _ => in_32_bits,
        };
        let pieces = documents * length + labels * PIECES_PER_LABEL;
        let reading_s = pieces * 2.0 * LAYER_WEIGHTS / per_second;
        // Of each document its own projection, its part of the labels', and all similarities.
        let products = WIDTH * (WIDTH * (1.0 + pool / BATCH_SIZE) + pool);
        let training = epochs * documents * products * OPERATIONS_PER_WEIGHT;
        let trying = 2.0 * TRIED.min(8.0 * documents) * labels * WIDTH;
        reading_s + (training + trying) / OPERATIONS_PER_SECOND
    };
    let weights = BYTES_PER_WEIGHT * (LAYER_WEIGHTS + TABLE_WEIGHTS);
    // Halves of both sides, free vectors with their moments, and means.
    let vectors = WIDTH * (4.0 * documents + 28.0 * labels);
    Estimate {
        cpu_seconds,
        peak_memory_bytes: (LIBRARY_BYTES + weights + vectors) as u64,
        gpu_share: 1.0,
    }
}

#[cfg(test)]
mod tests {
    use plethora_system::settings::Auto;

    use super::*;

    #[test]
    fn an_encoder_that_learns_costs_more() {
        let size = TrainingSize {
            num_documents: 40_000,
            num_entries: 4_000_000,
            num_features: 80_000,
            num_labels: 20_000,
            num_assignments: 200_000,
        };
        let seconds = |is_trained: bool, epochs: usize| {
            let recipe = include_str!("../../../../recipes/siamese.toml");
            let mut config: OpenSiameseConfig = toml::from_str(recipe).unwrap();
            config.encoder.trained = Auto::Set(is_trained);
            config.train.epochs = epochs;
            estimate(&config, &size).cpu_seconds
        };
        assert!(seconds(true, 10) > 10.0 * seconds(false, 10));
        assert!(seconds(false, 0) < seconds(false, 10));
    }
}
