//! What training a system of words will cost, roughly.

use plethora_system::{Estimate, TrainingSize};

use super::config::{EncoderConfig, HeadConfig, WordConfig};
use crate::systems::estimate::{
    BYTES_PER_WEIGHT, KEPT_PER_STATE, LIBRARY_BYTES, OPERATIONS_PER_SECOND, OPERATIONS_PER_WEIGHT,
    words_per_document,
};

/// The attention of as many labels as are computed together.
const ATTENTION_BYTES: f64 = 200.0 * 1024.0 * 1024.0;

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
    batch_size: f64,
}

/// What training with settings that leave no choice will cost.
pub(super) fn estimate(config: &WordConfig, size: &TrainingSize) -> Estimate {
    let networks = networks(config, size);
    let documents = size.num_documents as f64;
    let operations: f64 = networks
        .iter()
        .map(|network| documents * network.epochs * network.operations())
        .sum();
    let weights = networks.iter().map(|network| network.num_weights(size));
    let activations = networks.iter().map(Network::activation_bytes);
    let mut bytes = LIBRARY_BYTES
        + BYTES_PER_WEIGHT * weights.fold(0.0, f64::max)
        + activations.fold(0.0, f64::max)
        + 4.0 * documents * text_length(config, size);
    if config.plt.is_some() {
        bytes += size.feature_bytes(2) as f64;
    }
    Estimate {
        cpu_seconds: operations / OPERATIONS_PER_SECOND,
        peak_memory_bytes: bytes as u64,
        gpu_share: 1.0,
    }
}

/// One network over all labels, or one for each level of a tree: over nodes, then over the children of some.
fn networks<'a>(config: &'a WordConfig, size: &TrainingSize) -> Vec<Network<'a>> {
    let num_labels = size.num_labels as f64;
    let network = |level: usize, num_candidates: f64, num_outputs: f64| {
        let train = config.train_config(level);
        Network {
            config,
            length: text_length(config, size),
            num_candidates: num_candidates.min(num_outputs),
            num_outputs,
            epochs: (config.num_trees() * train.epochs) as f64,
            batch_size: train.batch_size as f64,
        }
    };
    if let Some(clusters) = &config.clusters {
        let num_clusters = (num_labels / clusters.tree.max_leaf as f64).ceil();
        let num_candidates = (clusters.beam as f64 * num_labels / num_clusters).min(num_labels);
        return vec![network(
            0,
            num_clusters + num_candidates,
            num_clusters + num_labels,
        )];
    }
    let Some(plt) = &config.plt else {
        return vec![network(0, num_labels, num_labels)];
    };
    let mut widths: Vec<f64> = if let Some(widths) = &plt.levels.widths {
        widths.iter().map(|&width| width as f64).collect()
    } else {
        let clusters = (num_labels / plt.tree.max_leaf as f64).ceil();
        vec![clusters.min(plt.tree.branching as f64)]
    };
    widths.push(num_labels);
    let lower = (1..widths.len()).map(|level| {
        let children = widths[level] / widths[level - 1];
        network(
            level,
            config.beam(level - 1) as f64 * children,
            widths[level],
        )
    });
    std::iter::once(network(0, widths[0], widths[0]))
        .chain(lower)
        .collect()
}

fn text_length(config: &WordConfig, size: &TrainingSize) -> f64 {
    words_per_document(size).clamp(1.0, config.words.max_length as f64)
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
        OPERATIONS_PER_WEIGHT
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

    fn num_weights(&self, size: &TrainingSize) -> f64 {
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
        let kept = self.batch_size * self.length * state * KEPT_PER_STATE;
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
    use crate::systems::NeuralSettings as _;
    use crate::words::config::{OpenWordConfig, settled};

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
            let config = OpenWordConfig::of_system(system).unwrap();
            config.estimate(&size(num_labels)).cpu_seconds
        };
        assert!(seconds(400_000, "attentionxml-plt") < seconds(400_000, "attentionxml") / 10.0);
        assert!(seconds(400_000, "lightattention") < seconds(400_000, "attentionxml") / 10.0);
        assert!(seconds(4000, "xml-cnn") < seconds(4000, "attentionxml"));

        let mut config = OpenWordConfig::of_system("xml-cnn").unwrap();
        config.members = Some(3);
        let three = config.estimate(&size(4000)).cpu_seconds;
        assert!((three / seconds(4000, "xml-cnn") - 3.0).abs() < 1e-9);
    }

    #[test]
    fn levels_cost_what_their_documents_are_compared_with() {
        let size = TrainingSize {
            num_documents: 400_000,
            num_entries: 40_000_000,
            num_features: 80_000,
            num_labels: 600_000,
            num_assignments: 2_000_000,
        };
        let mut config = settled("attentionxml-plt");
        let plt = config.plt.as_mut().unwrap();
        plt.levels.widths = Some(vec![2048, 16_384, 131_072]);
        plt.levels.beam = Some(vec![100]);
        plt.levels.epochs = Some(vec![4, 2]);
        let networks = networks(&config, &size);
        let said: Vec<(f64, f64, f64)> = networks
            .iter()
            .map(|one| (one.num_candidates.round(), one.num_outputs, one.epochs))
            .collect();
        let expected = [
            (2048.0, 2048.0, 4.0),
            (800.0, 16_384.0, 2.0),
            (800.0, 131_072.0, 2.0),
            (458.0, 600_000.0, 2.0),
        ];
        assert_eq!(said, expected);
    }
}
