//! What training will cost on a processor, roughly.

use plethora_system::{Estimate, Trainable as _, TrainingSize};
use tch::{Device, Kind};

use super::config::{EncoderConfig, OpenDenseConfig};
use crate::int8;
use crate::precision::{Numbers, frozen_numbers};
use crate::pretrained::{self, EncoderSizes};
use crate::systems::estimate::{LIBRARY_BYTES, words_per_document};
use crate::transformer::Pooling;

/// Pieces of a word.
const PIECES_PER_WORD: f64 = 1.3;

/// Operations of a core per second, measured on a processor with AVX-512 that multiplies numbers of 8 and 16 bits,
/// and with those of 32.
fn operations_per_second(numbers: Numbers) -> f64 {
    match numbers.kind {
        _ if numbers.is_int8 && int8::is_fast() => 4.0e11,
        Kind::BFloat16 => 2.5e11,
        _ => 9.0e10,
    }
}

/// Bytes of a weight: as it is kept and as it is computed with.
const BYTES_PER_WEIGHT: f64 = 8.0;

/// What fine-tuning takes, where there is some, and all that follows.
pub(super) fn estimate(config: &OpenDenseConfig, size: &TrainingSize) -> Estimate {
    let frozen = frozen(config, size);
    let network = config.fine_tuning.as_ref().and_then(|tuning| {
        let encoder = EncoderConfig {
            folder: config.encoder.folder.clone(),
            pooling: Pooling::Mean,
        };
        tuning.network(config, &encoder).ok()
    });
    let Some(network) = network.map(|network| pretrained::estimate(&network, size)) else {
        return frozen;
    };
    let cpu_seconds = network.cpu_seconds + frozen.cpu_seconds;
    let on_gpu = network.cpu_seconds + frozen.gpu_share * frozen.cpu_seconds;
    Estimate {
        cpu_seconds,
        peak_memory_bytes: network.peak_memory_bytes.max(frozen.peak_memory_bytes),
        gpu_share: on_gpu / cpu_seconds,
    }
}

/// The encoder's one pass, and the classifiers twice: without the held-back documents, then with all.
fn frozen(config: &OpenDenseConfig, size: &TrainingSize) -> Estimate {
    let documents = size.num_documents as f64;
    let longest = config.document.max_length as f64;
    let length = (PIECES_PER_WORD * words_per_document(size)).clamp(1.0, longest);
    let per_second = operations_per_second(frozen_numbers(config.train.precision, Device::Cpu));
    let encoder = EncoderSizes::of_folder(&config.encoder.folder);
    let encoding_s = documents * length * 2.0 * encoder.layer_weights() / per_second;
    let with_vectors = TrainingSize {
        num_entries: size.num_entries + size.num_documents * encoder.width as u64,
        ..*size
    };
    let classifiers = config.linear().estimate(&with_vectors);
    let encoder_bytes = BYTES_PER_WEIGHT * encoder.weights();
    let cpu_seconds = encoding_s + 2.0 * classifiers.cpu_seconds;
    Estimate {
        cpu_seconds,
        peak_memory_bytes: classifiers.peak_memory_bytes + (LIBRARY_BYTES + encoder_bytes) as u64,
        gpu_share: encoding_s / cpu_seconds,
    }
}
