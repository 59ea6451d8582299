//! What training a neural system will cost on a processor, roughly.
//!
//! Counted are the multiplications of one pass over the documents, from the recipe's own sizes;
//! backwards takes twice as many as forwards. How long a document is follows from its terms.

use plethora_neural::{
    EncoderConfig, HeadConfig, NeuralConfig, PieceConfig, RECIPES, TReaderConfig, WordConfig,
};

use super::estimate::{Estimate, TrainingSize, memory, with_pairs};

/// Floating-point operations that a core does a second: measured with all four systems on a
/// processor with AVX-512, from 2.4e10 to 4.2e10.
const OPERATIONS_PER_SECOND: f64 = 2.5e10;

/// Words of a text for each of its terms, which repeat.
const WORDS_PER_TERM: f64 = 1.6;

/// A multiplication and an addition.
const OPERATIONS_PER_WEIGHT: f64 = 2.0;

/// Forwards and backwards.
const PASSES: f64 = 3.0;

/// A weight, two moments of its gradient and an average.
const BYTES_PER_WEIGHT: f64 = 16.0;

/// libtorch itself.
const LIBRARY_BYTES: f64 = 400.0 * 1024.0 * 1024.0;

/// The attention of as many labels as are computed together.
const ATTENTION_BYTES: f64 = 200.0 * 1024.0 * 1024.0;

/// Numbers kept of a word for the way back, for each of its state's.
const KEPT_PER_STATE: f64 = 12.0;

/// Labels up to which LightXML scores all of them with one layer.
const MAX_FLAT_LABELS: u64 = 100_000;

/// Pieces of a word.
const PIECES_PER_WORD: f64 = 1.3;

/// Attentions of a side to itself.
const READER_ATTENTIONS: f64 = 2.0;

/// Sizes of an encoder as the recipe's.
struct EncoderSize {
    width: f64,
    /// Weights of all layers.
    layer_weights: f64,
    /// Weights of the vectors of pieces.
    table_weights: f64,
    max_length: f64,
    batch_size: f64,
    /// Steps of a run.
    steps: f64,
    /// Numbers kept of a piece for the way back.
    kept_per_piece: f64,
    /// Labels that a document is compared with, where they come in clusters.
    num_candidates: f64,
    /// Numbers of a label's vector there.
    bottleneck: f64,
    /// Numbers of a label's vector where rarer ones have fewer, on average.
    adaptive_width: f64,
}

const SMALL_ENCODER: EncoderSize = EncoderSize {
    width: 384.0,
    layer_weights: 10.6e6,
    table_weights: 12.0e6,
    max_length: 128.0,
    batch_size: 64.0,
    steps: 9000.0,
    kept_per_piece: 6.0 * 384.0 * 20.0,
    num_candidates: 7500.0,
    bottleneck: 512.0,
    adaptive_width: 576.0,
};

/// Sizes of one network.
struct Network<'a> {
    config: &'a WordConfig,
    /// Words of a document.
    length: f64,
    /// Labels or clusters that a document is compared with.
    num_candidates: f64,
    /// All of them.
    num_outputs: f64,
    epochs: f64,
}

/// An estimate for each neural system.
pub(super) fn estimates(size: TrainingSize) -> Vec<Estimate> {
    RECIPES
        .iter()
        .filter_map(|(system, _)| {
            Some(match NeuralConfig::of_system(system).ok()? {
                NeuralConfig::Words(config) => {
                    estimate(system, &config.settled(size.num_documents as usize), size)
                }
                NeuralConfig::Pieces(config) => estimate_pieces(system, &config, size),
                NeuralConfig::TReader(config) => estimate_reader(system, &config, size),
            })
        })
        .collect()
}

fn estimate(system: &'static str, config: &WordConfig, size: TrainingSize) -> Estimate {
    let networks = networks(config, size);
    let documents = size.num_documents as f64;
    let operations: f64 = networks
        .iter()
        .map(|network| documents * network.epochs * network.operations())
        .sum();
    let weights = networks.iter().map(|network| network.num_weights(size));
    let activations = networks.iter().map(Network::activation_bytes);
    let largest = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
    let mut bytes = LIBRARY_BYTES
        + BYTES_PER_WEIGHT * largest(&mut { weights })
        + largest(&mut { activations })
        + 4.0 * documents * text_length(config, size);
    if config.plt.is_some() {
        bytes += memory(size, 2) as f64;
    }
    Estimate {
        system,
        cpu_seconds: operations / OPERATIONS_PER_SECOND,
        peak_memory_bytes: bytes as u64,
    }
}

/// With an encoder as the recipe's, at the length and for the epochs that it would choose on a
/// processor.
fn estimate_pieces(system: &'static str, config: &PieceConfig, size: TrainingSize) -> Estimate {
    let documents = size.num_documents as f64;
    let terms = size.num_entries as f64 / documents.max(1.0);
    let length = (PIECES_PER_WORD * WORDS_PER_TERM * terms).clamp(1.0, SMALL_ENCODER.max_length);
    let vector = config.encoder.layers as f64 * SMALL_ENCODER.width;
    let num_labels = size.num_labels as f64;
    // Up to here one layer scores all labels, beyond clusters are scored and the labels of some.
    let (scored, outputs) = if config.adaptive.is_some() {
        let labels = num_labels * SMALL_ENCODER.adaptive_width;
        (labels, labels)
    } else if size.num_labels <= MAX_FLAT_LABELS {
        (num_labels * vector, num_labels * vector)
    } else {
        let num_clusters = num_labels / config.clusters.tree.max_leaf as f64;
        let candidates = SMALL_ENCODER.num_candidates * SMALL_ENCODER.bottleneck;
        let clusters = num_clusters * vector;
        (
            clusters + candidates,
            clusters + num_labels * SMALL_ENCODER.bottleneck,
        )
    };
    let operations =
        PASSES * OPERATIONS_PER_WEIGHT * (length * SMALL_ENCODER.layer_weights + scored);
    let epochs =
        (SMALL_ENCODER.steps * SMALL_ENCODER.batch_size / documents.max(1.0)).clamp(4.0, 40.0);
    let weights = SMALL_ENCODER.layer_weights + SMALL_ENCODER.table_weights + outputs;
    let kept = SMALL_ENCODER.batch_size * length * SMALL_ENCODER.kept_per_piece;
    Estimate {
        system,
        cpu_seconds: documents * epochs * operations / OPERATIONS_PER_SECOND,
        peak_memory_bytes: (LIBRARY_BYTES
            + (BYTES_PER_WEIGHT + 8.0) * weights
            + 4.0 * (kept + documents * length)) as u64,
    }
}

/// Attentions on one side or two and one layer over all labels, beside an index of the documents.
fn estimate_reader(system: &'static str, config: &TReaderConfig, size: TrainingSize) -> Estimate {
    let documents = size.num_documents as f64;
    let terms = size.num_entries as f64 / documents.max(1.0);
    let length = (WORDS_PER_TERM * terms).clamp(1.0, config.words.max_length as f64);
    let is_read = config.teacher.used && config.teacher.read;
    let width = config.vectors.width as f64;
    let num_labels = size.num_labels as f64;
    // Where labels are read there are two sides, each with one more attention, to the other.
    let (labels, sides, num_attentions, label_vectors) = if is_read {
        let labels = config.teacher.max_labels as f64;
        (labels, 2.0, READER_ATTENTIONS + 1.0, num_labels * width)
    } else {
        (0.0, 1.0, READER_ATTENTIONS, 0.0)
    };
    let bottleneck = config.head.bottleneck as f64;
    // Queries, keys, values and outputs of attentions, and the products between places.
    let attentions = (length + labels) * num_attentions * 4.0 * width * width
        + 2.0 * width * (2.0 * length * length + 2.0 * length * labels);
    let operations = PASSES
        * OPERATIONS_PER_WEIGHT
        * (attentions + sides * width * bottleneck + num_labels * bottleneck);
    let num_words = size.num_features.min(config.words.max_vocabulary as u64) as f64;
    let weights = num_words * width
        + label_vectors
        + sides * num_attentions * 4.0 * width * width
        + num_labels * bottleneck;
    let kept = config.train.batch_size as f64
        * ((length + labels) * width * num_attentions * KEPT_PER_STATE
            + 2.0 * config.reading.heads as f64 * length * length);
    let epochs = config.train.epochs as f64;
    Estimate {
        system,
        cpu_seconds: documents * epochs * operations / OPERATIONS_PER_SECOND,
        peak_memory_bytes: (LIBRARY_BYTES + BYTES_PER_WEIGHT * weights + 4.0 * kept) as u64
            + memory(with_pairs(size), 3),
    }
}

/// One network over all labels, or two for each tree: over clusters, then over the labels of some.
fn networks(config: &WordConfig, size: TrainingSize) -> Vec<Network<'_>> {
    let length = text_length(config, size);
    let num_labels = size.num_labels as f64;
    let network = |num_candidates: f64, num_outputs: f64, epochs: f64| Network {
        config,
        length,
        num_candidates,
        num_outputs,
        epochs,
    };
    let epochs = config.train.epochs as f64;
    if let Some(clusters) = &config.clusters {
        let num_clusters = (num_labels / clusters.tree.max_leaf as f64).ceil();
        let num_candidates = (clusters.beam as f64 * num_labels / num_clusters).min(num_labels);
        let epochs = epochs * clusters.num_clusterings as f64;
        return vec![network(
            num_clusters + num_candidates,
            num_clusters + num_labels,
            epochs,
        )];
    }
    let Some(plt) = &config.plt else {
        return vec![network(num_labels, num_labels, epochs)];
    };
    let max_leaf = plt.tree.max_leaf as f64;
    let num_clusters = (num_labels / max_leaf)
        .ceil()
        .min(plt.tree.branching as f64);
    let num_candidates = (plt.beam as f64 * max_leaf).min(num_labels);
    let trees = plt.num_trees as f64;
    vec![
        network(num_clusters, num_clusters, trees * epochs),
        network(num_candidates, num_labels, trees * plt.lower_epochs as f64),
    ]
}

fn text_length(config: &WordConfig, size: TrainingSize) -> f64 {
    let terms = size.num_entries as f64 / size.num_documents.max(1) as f64;
    (WORDS_PER_TERM * terms).clamp(1.0, config.words.max_length as f64)
}

impl Network<'_> {
    /// Of a training step, for one document.
    fn operations(&self) -> f64 {
        let per_candidate = match &self.config.head {
            // Weights of attention and the sum over states.
            HeadConfig::Attention(head) => {
                2.0 * self.length * self.state_width()
                    + weights_of(self.state_width(), &head.layers)
            }
            HeadConfig::ClusteredAttention(head) => {
                2.0 * self.length * self.state_width()
                    + weights_of(self.state_width(), &head.discriminator.layers)
            }
            HeadConfig::AllLabels(head) => last_width(self.state_width(), &head.layers),
        };
        let shared = match &self.config.head {
            HeadConfig::Attention(_) | HeadConfig::ClusteredAttention(_) => 0.0,
            HeadConfig::AllLabels(head) => weights_of(self.state_width(), &head.layers),
        };
        PASSES
            * OPERATIONS_PER_WEIGHT
            * (self.length * self.encoder_weights() + shared + self.num_candidates * per_candidate)
    }

    fn encoder_weights(&self) -> f64 {
        let width = self.config.vectors.width as f64;
        match &self.config.encoder {
            EncoderConfig::Bilstm(lstm) => {
                let hidden = lstm.hidden as f64;
                2.0 * 4.0 * hidden * (width + hidden)
            }
            EncoderConfig::Cnn(cnn) => {
                let words: usize = cnn.windows.iter().sum();
                (words * cnn.filters) as f64 * width
            }
        }
    }

    /// Numbers of a state, or of a document where there is one vector for it.
    fn state_width(&self) -> f64 {
        match &self.config.encoder {
            EncoderConfig::Bilstm(lstm) => {
                let own = if lstm.word_skip {
                    self.config.vectors.width
                } else {
                    0
                };
                (2 * lstm.hidden + own) as f64
            }
            EncoderConfig::Cnn(cnn) => (cnn.windows.len() * cnn.filters * cnn.pools) as f64,
        }
    }

    fn num_weights(&self, size: TrainingSize) -> f64 {
        let num_words = size
            .num_features
            .min(self.config.words.max_vocabulary as u64) as f64;
        let per_output = match &self.config.head {
            HeadConfig::Attention(_) => self.state_width(),
            HeadConfig::ClusteredAttention(head) => {
                self.state_width() + last_width(0.0, &head.discriminator.layers)
            }
            HeadConfig::AllLabels(head) => last_width(self.state_width(), &head.layers),
        };
        num_words * self.config.vectors.width as f64
            + self.encoder_weights()
            + self.num_outputs * per_output
    }

    /// What a batch keeps for the way back; the attention of all labels is never there at once.
    fn activation_bytes(&self) -> f64 {
        let state = match &self.config.encoder {
            EncoderConfig::Bilstm(lstm) => (2 * lstm.hidden) as f64,
            EncoderConfig::Cnn(cnn) => (cnn.windows.len() * cnn.filters) as f64,
        };
        let attention = match &self.config.head {
            HeadConfig::Attention(_) | HeadConfig::ClusteredAttention(_) => ATTENTION_BYTES,
            HeadConfig::AllLabels(_) => 0.0,
        };
        let kept = self.config.train.batch_size as f64 * self.length * state * KEPT_PER_STATE;
        4.0 * kept + attention
    }
}

/// Weights of fully connected layers.
fn weights_of(mut width: f64, layers: &[usize]) -> f64 {
    let mut weights = 0.0;
    for &layer in layers {
        weights += width * layer as f64;
        width = layer as f64;
    }
    weights
}

fn last_width(width: f64, layers: &[usize]) -> f64 {
    layers.last().map_or(width, |&layer| layer as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_pay_off_with_many_labels_and_convolutions_always() {
        let size = |num_labels: u64| TrainingSize {
            num_documents: 40_000,
            num_entries: 40_000 * 100,
            num_features: 80_000,
            num_labels,
            num_assignments: 200_000,
        };
        let seconds = |num_labels: u64, system: &str| {
            let all = estimates(size(num_labels));
            all.iter()
                .find(|one| one.system == system)
                .unwrap()
                .cpu_seconds
        };
        assert!(seconds(400_000, "attentionxml-plt") < seconds(400_000, "attentionxml") / 10.0);
        assert!(seconds(400_000, "lightattention") < seconds(400_000, "attentionxml") / 10.0);
        assert!(seconds(4000, "xml-cnn") < seconds(4000, "attentionxml"));
    }
}
