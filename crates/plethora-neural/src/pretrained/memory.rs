//! How much memory training a network of pieces will take, told before anything is allocated.

use plethora_system::Device;
use tch::Kind;

use super::config::{PieceConfig, SettledForm};
use crate::head::Negatives;
use crate::train::Averaging;
use crate::transformer::{Architecture, ArchitectureKind};

/// Numbers that a layer keeps of a piece for the way back, for each of its state's: queries, keys,
/// values, what attention gives, both sums and norms, the inner layer before and after its
/// activation, and what dropout left out.
const KEPT_PER_STATE: usize = 22;

/// Copies of a matrix documents x labels: scores, truth, loss and gradient, in 32 bits.
const COPIES_OF_SCORES: usize = 4;

/// Scores that are computed together on a GPU where labels come in chunks, at most.
const SCORES_PER_CHUNK_GPU: usize = 1 << 27;

/// The same on a processor.
const SCORES_PER_CHUNK_CPU: usize = 1 << 24;

/// Copies of a map documents x labels x pieces: scores, weights, their gradients and a product.
const COPIES_OF_MAPS: usize = 5;

/// Copies of label vectors that a step meets.
const COPIES_OF_ROWS: usize = 6;

/// Libraries, and what the allocator cannot use again.
const RESERVE: u64 = 1 << 29;

/// What the need follows from.
pub(crate) struct PieceSizes<'a> {
    pub(crate) config: &'a PieceConfig,
    /// How labels are scored, as `config` says.
    pub(crate) form: SettledForm<'a>,
    pub(crate) architecture: &'a Architecture,
    pub(crate) num_labels: usize,
    /// Zero in other forms than the clustered.
    pub(crate) num_clusters: usize,
    /// Of numbers that are computed with.
    pub(crate) kind: Kind,
    /// Processes that share the labels of the exact form.
    pub(crate) num_ranks: usize,
}

/// What a head takes, in numbers.
#[derive(Default)]
struct HeadSizes {
    /// Weights outside of tables.
    dense: usize,
    /// Weights in tables of this process.
    tables: usize,
    /// Moments of each weight in a table.
    moments: usize,
    /// Weights that a step takes out of tables: themselves, their gradients and moments are copied.
    rows: usize,
    /// Scores that live at once.
    scores: usize,
    /// Numbers of the attention of labels that live at once, in the numbers that are computed with.
    attention: usize,
}

impl PieceSizes<'_> {
    /// Bytes that training takes on its device at most, about.
    pub(crate) fn bytes(&self, device: Device) -> u64 {
        let head = self.head(device);
        let dense = (self.encoder_weights() + head.dense) * self.copies_of_dense(device);
        let of_table = 4 + 4 * head.moments + self.averages() + best_weights(device);
        let tables = head.tables * of_table;
        let rows = head.rows * COPIES_OF_ROWS * 4;
        let scores =
            head.scores * COPIES_OF_SCORES * 4 + head.attention * self.kind.elt_size_in_bytes();
        let reserve = if device == Device::Cpu { 0 } else { RESERVE };
        (dense + tables + rows + self.activations(device) + scores) as u64 + reserve
    }

    /// Settings that lower the need.
    pub(crate) fn settings(&self) -> Vec<&'static str> {
        let of_head = match self.form {
            SettledForm::Clustered | SettledForm::Exact | SettledForm::Attention => {
                Some("head.bottleneck")
            }
            SettledForm::Adaptive(_) => Some("adaptive.hidden"),
            SettledForm::Flat => None,
        };
        let of_all = ["train.batch_size", "document.max_length"];
        let windows = (self.config.document.windows > 1).then_some("document.windows");
        let of_all = of_all.into_iter().chain(windows);
        of_all.chain(of_head).collect()
    }

    /// What the head takes.
    fn head(&self, device: Device) -> HeadSizes {
        let (train, clusters, num_labels) =
            (&self.config.train, &self.config.clusters, self.num_labels);
        let (width, bottleneck) = (self.vector_width(), self.config.head.bottleneck);
        let narrow = if bottleneck == 0 { width } else { bottleneck };
        let all = train.batch_size * num_labels;
        let at_a_time = all.min(if device == Device::Cpu {
            SCORES_PER_CHUNK_CPU
        } else {
            SCORES_PER_CHUNK_GPU
        });
        match self.form {
            SettledForm::Flat => HeadSizes {
                dense: num_labels * width,
                scores: all,
                ..HeadSizes::default()
            },
            SettledForm::Clustered => {
                let met = train.batch_size * train.accumulate * clusters.beam;
                let met = (met * clusters.tree.max_leaf).min(num_labels);
                HeadSizes {
                    dense: (self.num_clusters + bottleneck) * width,
                    tables: num_labels * narrow,
                    moments: 2,
                    rows: met * bottleneck,
                    scores: at_a_time,
                    ..HeadSizes::default()
                }
            }
            SettledForm::Exact => HeadSizes {
                dense: bottleneck * width,
                tables: num_labels.div_ceil(self.num_ranks) * narrow,
                moments: 1,
                scores: at_a_time,
                ..HeadSizes::default()
            },
            SettledForm::Attention => {
                let state = self.architecture.width();
                let per_label = train.batch_size * self.places_of_document().max(narrow);
                let of_labels = (num_labels * per_label).min(if device == Device::Cpu {
                    SCORES_PER_CHUNK_CPU
                } else {
                    SCORES_PER_CHUNK_GPU
                });
                // The states side by side and what labels read of them, with their gradients.
                let read = train.batch_size * self.places_of_document() * (state + narrow);
                HeadSizes {
                    dense: num_labels * (width + state + narrow) + narrow * state,
                    scores: all,
                    attention: COPIES_OF_MAPS * of_labels + 3 * read,
                    ..HeadSizes::default()
                }
            }
            SettledForm::Adaptive(config) => {
                let num_head = config.cluster_sizes(num_labels)[0];
                let (tables, projections) = config.tails(num_labels);
                HeadSizes {
                    dense: config.hidden * (width + num_head + projections) + num_labels,
                    tables,
                    moments: 2,
                    // A tail that is visited is visited as a whole.
                    rows: tables,
                    scores: train.batch_size * num_head + at_a_time,
                    ..HeadSizes::default()
                }
            }
        }
    }

    /// Bytes of a dense weight: value, gradient, two moments, averages, and copies to compute with.
    fn copies_of_dense(&self, device: Device) -> usize {
        let computed = match self.kind {
            Kind::Float => 0,
            kind => 2 * kind.elt_size_in_bytes(),
        };
        16 + self.averages() + best_weights(device) + computed
    }

    fn averages(&self) -> usize {
        // Swapping an average in takes another copy for a moment.
        match self.config.train.averaging {
            Averaging::None => 0,
            _ => 8,
        }
    }

    fn encoder_weights(&self) -> usize {
        let width = self.architecture.width();
        let positions = self.architecture.max_length().unwrap_or(0);
        let inner = self.architecture.inner_width();
        let of_layer = 4 * width * width + 2 * width * inner;
        let of_encoder = self.architecture.num_layers() * of_layer
            + (self.architecture.vocab_size() + positions) * width;
        match self.config.head.negatives {
            Negatives::StaticTwoEncoders => 2 * of_encoder,
            Negatives::Dynamic | Negatives::Static => of_encoder,
        }
    }

    fn vector_width(&self) -> usize {
        self.config.encoder.layers * self.architecture.width()
    }

    fn activations(&self, device: Device) -> usize {
        let train = &self.config.train;
        let places = train.batch_size * self.places_of_document();
        let (layers, width) = (self.architecture.num_layers(), self.architecture.width());
        let inner = 2 * self.architecture.inner_width();
        let of_layer = places * (KEPT_PER_STATE * width / 2 + inner);
        let numbers = if self.config.encoder.checkpointing {
            2 * of_layer + layers * places * width
        } else {
            (layers + 1) * of_layer
        };
        let pairs = places * self.config.document.max_length * self.architecture.num_heads();
        (numbers + pairs * self.matrices_of_pairs(device)) * self.kind.elt_size_in_bytes()
    }

    /// Pieces that are read of the longest document, special ones of each window among them.
    fn places_of_document(&self) -> usize {
        self.config.document.max_length * self.config.document.windows
    }

    /// Matrices with a number for each pair of a document's pieces that live at once.
    fn matrices_of_pairs(&self, device: Device) -> usize {
        let layers = match self.architecture.num_layers() {
            _ if self.config.encoder.checkpointing => 1,
            layers => layers,
        };
        let biases = match self.architecture.kind() {
            // One for all layers, its gradient, and their sum.
            ArchitectureKind::Mpnet => 3,
            // Each layer makes one.
            ArchitectureKind::Xlnet => 2 + layers,
            _ => 0,
        };
        // The fused attention of processors knows no dropout: without it weights are kept.
        let weights = match device {
            Device::Cpu if self.config.encoder.attention_dropout > 0.0 => 3 * layers,
            _ => 0,
        };
        biases + weights
    }
}

/// The best weights so far are kept in the main memory.
fn best_weights(device: Device) -> usize {
    if device == Device::Cpu { 4 } else { 0 }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::pretrained::HeadForm;
    use crate::pretrained::choices::example;
    use crate::pretrained::config::recipe;

    #[test]
    fn adaptive_clusters_are_counted_by_their_widths() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/encoder");
        let architecture = Architecture::read(Path::new(folder)).unwrap();
        let adaptive = recipe("aplc-xlnet").adaptive.unwrap();
        let with_width = |hidden| {
            let mut config = example();
            config.encoder.layers = 2;
            config.head.form = HeadForm::Adaptive;
            (config.train.batch_size, config.document.max_length) = (8, 32);
            config.adaptive = Some(adaptive.settled(hidden, vec![1000, 3000]));
            config
        };
        let config = with_width(64);
        let sizes = PieceSizes {
            config: &config,
            form: config.form().unwrap(),
            architecture: &architecture,
            num_labels: 7000,
            num_clusters: 3,
            kind: Kind::Float,
            num_ranks: 1,
        };
        let head = sizes.head(Device::Cpu);
        assert_eq!(head.tables, 2000 * 32 + 4000 * 16);
        let layer = 64 * 2 * architecture.width();
        let root_and_projections = 64 * (1000 + 32 + 16);
        assert_eq!(head.dense, layer + root_and_projections + 7000);
        let wider = with_width(128);
        let wider = PieceSizes {
            config: &wider,
            form: wider.form().unwrap(),
            ..sizes
        };
        assert!(wider.bytes(Device::Cpu) > sizes.bytes(Device::Cpu));
        assert!(sizes.settings().contains(&"adaptive.hidden"));
    }
}
