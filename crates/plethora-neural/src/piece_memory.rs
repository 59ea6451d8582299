//! How much memory training a network of pieces will take, told before anything is allocated.

use tch::Kind;

use crate::Device;
use crate::piece_config::{HeadForm, PieceConfig};
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

/// Copies of label vectors that a step meets.
const COPIES_OF_ROWS: usize = 6;

/// Libraries, and what the allocator cannot use again.
const RESERVE: u64 = 1 << 29;

/// What the need follows from.
pub(crate) struct PieceSizes<'a> {
    pub(crate) config: &'a PieceConfig,
    pub(crate) architecture: &'a Architecture,
    pub(crate) num_labels: usize,
    /// Zero in other forms than the clustered.
    pub(crate) num_clusters: usize,
    /// Of numbers that are computed with.
    pub(crate) kind: Kind,
}

impl PieceSizes<'_> {
    /// Bytes that training takes on its device at most, about.
    pub(crate) fn bytes(&self, device: Device) -> u64 {
        let dense = (self.encoder_weights() + self.head_weights()) * self.copies_of_dense(device);
        let tables = self.table_weights() * self.copies_of_table(device);
        let reserve = if device == Device::Cpu { 0 } else { RESERVE };
        (dense + tables + self.rows() + self.activations(device) + self.scores(device)) as u64
            + reserve
    }

    /// Settings that lower the need.
    pub(crate) fn settings(&self) -> &'static [&'static str] {
        match self.config.head.form {
            HeadForm::Clustered | HeadForm::Exact => {
                &["train.batch_size", "document.max_length", "head.bottleneck"]
            }
            HeadForm::Adaptive => &["train.batch_size", "document.max_length", "adaptive.hidden"],
            HeadForm::Flat | HeadForm::Auto => &["train.batch_size", "document.max_length"],
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

    /// Bytes of a label's number in a table: value, moments and averages.
    fn copies_of_table(&self, device: Device) -> usize {
        let moments = match self.config.head.form {
            HeadForm::Exact => 4,
            _ => 8,
        };
        4 + moments + self.averages() + best_weights(device)
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
        self.architecture.num_layers() * of_layer
            + (self.architecture.vocab_size() + positions) * width
    }

    fn vector_width(&self) -> usize {
        self.config.encoder.layers * self.architecture.width()
    }

    fn head_weights(&self) -> usize {
        let width = self.vector_width();
        let bottleneck = self.config.head.bottleneck * width;
        match self.config.head.form {
            HeadForm::Clustered => self.num_clusters * width + bottleneck,
            HeadForm::Exact => bottleneck,
            HeadForm::Adaptive => self.root_weights(width),
            HeadForm::Flat | HeadForm::Auto => self.num_labels * width,
        }
    }

    fn table_weights(&self) -> usize {
        let width = match self.config.head.bottleneck {
            0 => self.vector_width(),
            bottleneck => bottleneck,
        };
        match self.config.head.form {
            HeadForm::Clustered | HeadForm::Exact => self.num_labels * width,
            HeadForm::Adaptive => self.tails().map(|(size, width)| size * width).sum(),
            HeadForm::Flat | HeadForm::Auto => 0,
        }
    }

    /// The layer before the labels, the root and the projections behind it, in the adaptive form.
    fn root_weights(&self, width: usize) -> usize {
        let hidden = self.config.adaptive().map_or(0, |config| config.hidden);
        let projections: usize = self.tails().map(|(_, narrow)| narrow).sum();
        hidden * (width + self.num_head() + projections) + self.num_labels
    }

    /// Labels that are scored for every document in the adaptive form.
    fn num_head(&self) -> usize {
        let config = self.config.adaptive();
        config.map_or(0, |config| config.cluster_sizes(self.num_labels)[0])
    }

    /// Labels and width of each tail of the adaptive form.
    fn tails(&self) -> impl Iterator<Item = (usize, usize)> {
        let config = self.config.adaptive();
        config.into_iter().flat_map(|config| {
            let sizes = config.cluster_sizes(self.num_labels).into_iter();
            sizes
                .enumerate()
                .skip(1)
                .map(|(cluster, size)| (size, config.width(cluster)))
        })
    }

    fn activations(&self, device: Device) -> usize {
        let train = &self.config.train;
        let places = train.batch_size * self.config.document.max_length;
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

    /// The label vectors that a step takes out of their table: themselves, their gradients and
    /// moments.
    fn rows(&self) -> usize {
        match self.config.head.form {
            HeadForm::Clustered => {}
            // A tail that is visited is visited as a whole.
            HeadForm::Adaptive => return self.table_weights() * COPIES_OF_ROWS * 4,
            _ => return 0,
        }
        let (train, clusters) = (&self.config.train, &self.config.clusters);
        let met = train.batch_size * train.accumulate * clusters.beam * clusters.tree.max_leaf;
        met.min(self.num_labels) * self.config.head.bottleneck * COPIES_OF_ROWS * 4
    }

    fn scores(&self, device: Device) -> usize {
        let all = self.config.train.batch_size * self.num_labels;
        let at_a_time = if device == Device::Cpu {
            SCORES_PER_CHUNK_CPU
        } else {
            SCORES_PER_CHUNK_GPU
        };
        let scores = match self.config.head.form {
            HeadForm::Flat | HeadForm::Auto => all,
            HeadForm::Clustered | HeadForm::Exact => all.min(at_a_time),
            HeadForm::Adaptive => {
                let of_head = self.config.train.batch_size * self.num_head();
                of_head + all.min(at_a_time)
            }
        };
        scores * COPIES_OF_SCORES * 4
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

    #[test]
    fn adaptive_clusters_are_counted_by_their_widths() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/encoder");
        let architecture = Architecture::read(Path::new(folder)).unwrap();
        let mut config = PieceConfig::of_system("aplc-xlnet").unwrap();
        config.encoder.layers = 2;
        (config.train.batch_size, config.document.max_length) = (8, 32);
        let adaptive = config.adaptive.as_mut().unwrap();
        (adaptive.hidden, adaptive.cut_offs) = (64, vec![1000, 3000]);
        let sizes = PieceSizes {
            config: &config,
            architecture: &architecture,
            num_labels: 7000,
            num_clusters: 3,
            kind: Kind::Float,
        };
        assert_eq!(sizes.table_weights(), 2000 * 32 + 4000 * 16);
        let layer = 64 * 2 * architecture.width();
        let root_and_projections = 64 * (1000 + 32 + 16);
        assert_eq!(sizes.head_weights(), layer + root_and_projections + 7000);
        let mut wider = config.clone();
        wider.adaptive.as_mut().unwrap().hidden = 128;
        let wider = PieceSizes {
            config: &wider,
            ..sizes
        };
        assert!(wider.bytes(Device::Cpu) > sizes.bytes(Device::Cpu));
        assert!(sizes.settings().contains(&"adaptive.hidden"));
    }
}
