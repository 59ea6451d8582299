//! What training a system of pieces will cost on a processor, roughly.

use std::path::Path;

use plethora_system::{Estimate, TrainingSize};

use super::choices::{MAX_CHOSEN_WINDOWS, batch_size_of, form_of, steps_of};
use super::config::{HeadForm, OpenPieceConfig};
use super::encoder_files::MAX_PIECES;
use crate::systems::estimate::{
    BYTES_PER_WEIGHT, LIBRARY_BYTES, OPERATIONS_PER_SECOND, OPERATIONS_PER_WEIGHT,
    words_per_document,
};
use crate::transformer::Architecture;

/// Pieces of a word.
const PIECES_PER_WORD: f64 = 1.3;

/// How the words of a long text grow with its terms.
const WORDS_EXPONENT: f64 = 1.21;

/// Copies of weights that are computed with.
const COPY_BYTES: f64 = 8.0;

/// Pieces of a document that are read where the settings leave their number open.
const MAX_LENGTH: usize = 128;

/// Numbers kept of a piece for the way back, for each of its states.
const KEPT_PER_STATE: f64 = 20.0;

/// How much more is computed per second with encoders that are not small, whose matrices are larger.
const LARGE_SPEEDUP: f64 = 1.7;

/// Labels that a document is compared with, where they come in clusters.
const NUM_CANDIDATES: f64 = 7500.0;

/// Numbers of a label's vector there.
const BOTTLENECK: f64 = 512.0;

/// Numbers of what a label finds in a text.
const FOUND_WIDTH: f64 = 256.0;

/// Numbers of a label's vector where rarer ones have fewer, on average.
const ADAPTIVE_WIDTH: f64 = 576.0;

/// The encoder: its own sizes where its folder can be read, otherwise those of the recipe's.
pub(crate) struct EncoderSizes {
    num_layers: f64,
    /// Numbers of a state.
    pub(crate) width: f64,
    /// Numbers inside the feed-forward part of a layer.
    inner: f64,
    num_pieces: f64,
    /// Places of a text, where it knows of a limit.
    max_length: Option<usize>,
}

impl EncoderSizes {
    pub(crate) fn of_folder(folder: &str) -> Self {
        match Architecture::read(Path::new(folder)) {
            Ok(architecture) => Self {
                num_layers: architecture.num_layers() as f64,
                width: architecture.width() as f64,
                inner: architecture.inner_width() as f64,
                num_pieces: architecture.vocab_size() as f64,
                max_length: architecture.max_length(),
            },
            // A name in a cache, which only a run knows.
            Err(_) => Self {
                num_layers: 6.0,
                width: 384.0,
                inner: 1536.0,
                num_pieces: 30_522.0,
                max_length: Some(MAX_PIECES),
            },
        }
    }

    /// Weights of all layers and of the vectors of pieces.
    pub(crate) fn weights(&self) -> f64 {
        self.layer_weights() + self.num_pieces * self.width
    }

    /// Weights of all layers.
    pub(crate) fn layer_weights(&self) -> f64 {
        self.num_layers * (4.0 * self.width * self.width + 2.0 * self.width * self.inner)
    }
}

/// At the length and for the epochs that would be chosen on a processor. Whole documents are counted by
/// how much longer they are than one window.
pub(crate) fn estimate(config: &OpenPieceConfig, size: &TrainingSize) -> Estimate {
    let documents = size.num_documents as f64;
    let encoder = EncoderSizes::of_folder(&config.encoder.folder);
    let length = length(config, &encoder, size);
    let (scored, outputs) = label_weights(config, &encoder, size);
    let of_layers = encoder.layer_weights();
    let attended = attention_weights(config, &encoder, size);
    let operations = OPERATIONS_PER_WEIGHT * (length * (of_layers + attended) + scored);
    let batch_size = batch_size_of(&config.train, encoder.width as usize) as f64;
    let epochs = config.train.epochs.set().map_or_else(
        || (steps_of(&config.train) as f64 * batch_size / documents.max(1.0)).clamp(4.0, 40.0),
        |epochs| epochs as f64,
    );
    let per_second = if encoder.width > 512.0 {
        LARGE_SPEEDUP * OPERATIONS_PER_SECOND
    } else {
        OPERATIONS_PER_SECOND
    };
    let weights = encoder.weights() + outputs;
    let kept = batch_size * length * encoder.num_layers * encoder.width * KEPT_PER_STATE;
    Estimate {
        cpu_seconds: documents * epochs * operations / per_second,
        peak_memory_bytes: (LIBRARY_BYTES
            + (BYTES_PER_WEIGHT + COPY_BYTES) * weights
            + 4.0 * (kept + documents * length)) as u64,
        gpu_share: 1.0,
    }
}

/// Pieces of a document that are read.
fn length(config: &OpenPieceConfig, encoder: &EncoderSizes, size: &TrainingSize) -> f64 {
    let pieces = PIECES_PER_WORD * words_per_document(size);
    let open = config.document.max_length.unwrap_or_else(|| MAX_LENGTH);
    let one_window = pieces.clamp(1.0, open as f64);
    let windows = config
        .document
        .windows
        .unwrap_or_else(|| MAX_CHOSEN_WINDOWS);
    if windows == 1 {
        return one_window;
    }
    let room = (config.document.max_length.set())
        .or(encoder.max_length)
        .unwrap_or(MAX_PIECES) as f64;
    // Long texts repeat their words more: 190 terms of a document of eurlex57k come from 590 words.
    let terms = size.num_entries as f64 / size.num_documents.max(1) as f64;
    let pieces = pieces.max(PIECES_PER_WORD * terms.powf(WORDS_EXPONENT));
    one_window * pieces.clamp(1.0, room * windows as f64) / pieces.clamp(1.0, room)
}

/// Weights that a piece meets where labels attend to it: their vectors, and what they find in it.
fn attention_weights(config: &OpenPieceConfig, encoder: &EncoderSizes, size: &TrainingSize) -> f64 {
    if form(config, size) != HeadForm::Attention {
        return 0.0;
    }
    size.num_labels as f64 * (encoder.width + FOUND_WIDTH)
}

fn form(config: &OpenPieceConfig, size: &TrainingSize) -> HeadForm {
    let windows = config
        .document
        .windows
        .unwrap_or_else(|| MAX_CHOSEN_WINDOWS);
    form_of(config.head.form, windows, size.num_labels as usize)
}

/// Weights that a document meets behind the encoder, and all that there are.
fn label_weights(
    config: &OpenPieceConfig,
    encoder: &EncoderSizes,
    size: &TrainingSize,
) -> (f64, f64) {
    let vector = config.encoder.layers as f64 * encoder.width;
    let num_labels = size.num_labels as f64;
    match form(config, size) {
        _ if config.adaptive.is_some() => {
            let labels = num_labels * ADAPTIVE_WIDTH;
            (labels, labels)
        }
        HeadForm::Attention => (
            num_labels * (vector + FOUND_WIDTH),
            num_labels * (vector + encoder.width + FOUND_WIDTH),
        ),
        HeadForm::Clustered => {
            let clusters = num_labels / config.clusters.tree.max_leaf as f64 * vector;
            (
                clusters + NUM_CANDIDATES * BOTTLENECK,
                clusters + num_labels * BOTTLENECK,
            )
        }
        // One layer scores all labels.
        HeadForm::Flat | HeadForm::Exact | HeadForm::Adaptive => {
            (num_labels * vector, num_labels * vector)
        }
    }
}
