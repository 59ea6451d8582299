//! A pretrained encoder that stays as it is: from pieces to vectors.

use std::path::Path;

use plethora_core::IndexRows;
use plethora_core::artifact::{ModelReader, ModelWriter};
use tch::Kind;

use super::config::EncoderConfig;
use super::vectors::{Vectors, unit_halves};
use crate::Result;
use crate::guard::guarded;
use crate::parameters::{DenseParametersBuilder, Parameters};
use crate::precision::Numbers;
use crate::pretrained::{Cut, ON_CPU, ON_GPU, PieceBatch, at_rest};
use crate::systems::network_file;
use crate::systems::ranked_batches::{RankedBatches, ReadsBatches};
use crate::systems::rankings::flat;
use crate::transformer::trained_folder::{ARCHITECTURE_FILE, ENCODER_FILE};
use crate::transformer::{Architecture, PieceInput, Transformer, TransformerConfig, Weights};

/// An encoder, ready to read.
#[derive(Debug)]
pub(crate) struct FrozenEncoder {
    architecture: Architecture,
    transformer: Transformer,
    parameters: Parameters,
    device: tch::Device,
    numbers: Numbers,
}

impl FrozenEncoder {
    /// Reads the encoder of a folder, to compute in these numbers; what a model will keep
    /// of it stays in 32 bits.
    pub(crate) fn load(
        architecture: Architecture,
        config: &EncoderConfig,
        (device, numbers): (tch::Device, Numbers),
    ) -> Result<Self> {
        let settings = config.transformer();
        let encoder = Self::load_to_train(architecture, &settings, (device, numbers.kind))?;
        Ok(encoder.only_to_read(numbers))
    }

    /// As [`load`](Self::load), with weights from a file that has them by the names that they have here.
    pub(crate) fn load_file(
        architecture: Architecture,
        config: &EncoderConfig,
        file: &Path,
        (device, numbers): (tch::Device, Numbers),
    ) -> Result<Self> {
        let settings = config.transformer();
        let on = (device, numbers.kind);
        let encoder = Self::with_weights(architecture, &settings, Weights::File(file), on)?;
        Ok(encoder.only_to_read(numbers))
    }

    /// Gives up what only training needs.
    fn only_to_read(mut self, numbers: Numbers) -> Self {
        self.parameters.dense.end_training();
        self.parameters.dense.read_with(numbers);
        self.numbers = numbers;
        self
    }

    /// As [`load`](Self::load), by the settings of a transformer, with gradients.
    pub(crate) fn load_to_train(
        architecture: Architecture,
        settings: &TransformerConfig,
        (device, kind): (tch::Device, Kind),
    ) -> Result<Self> {
        let weights = Weights::Folder(Path::new(&settings.folder));
        Self::with_weights(architecture, settings, weights, (device, kind))
    }

    fn with_weights(
        architecture: Architecture,
        settings: &TransformerConfig,
        weights: Weights<'_>,
        (device, kind): (tch::Device, Kind),
    ) -> Result<Self> {
        guarded(|| {
            let mut builder = DenseParametersBuilder::default();
            let transformer = Transformer::new(&architecture, settings, &mut builder, weights)?;
            let dense = builder.finish_in(device, kind);
            Ok(Self {
                architecture,
                transformer,
                parameters: Parameters {
                    dense,
                    tables: Vec::new(),
                },
                device,
                numbers: kind.into(),
            })
        })
    }

    /// Opens the encoder of a model folder.
    pub(crate) fn open(
        folder: &ModelReader,
        config: &EncoderConfig,
        (device, numbers): (tch::Device, Numbers),
    ) -> Result<Self> {
        let architecture = Architecture::read(&folder.path(ARCHITECTURE_FILE)?)?;
        let mut builder = DenseParametersBuilder::default();
        let start = network_file::start(folder, ENCODER_FILE)?;
        let weights = Weights::Start(start);
        let settings = config.transformer();
        let transformer = Transformer::new(&architecture, &settings, &mut builder, weights)?;
        start.check(builder.num_values())?;
        let parameters = Parameters {
            dense: builder.finish_to_read(device, numbers),
            tables: Vec::new(),
        };
        network_file::load(&parameters, folder, ENCODER_FILE)?;
        Ok(Self {
            architecture,
            transformer,
            parameters,
            device,
            numbers,
        })
    }

    /// Writes it into a model folder.
    pub(crate) fn save(&self, writer: &ModelWriter) -> Result<()> {
        writer.write_json(ARCHITECTURE_FILE, &self.architecture)?;
        network_file::save(&self.parameters, &writer.path(ENCODER_FILE))
    }

    /// All its weights, and whatever tables are trained with them.
    pub(crate) fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The same, to add tables or to give up what only training needs.
    pub(crate) fn parameters_mut(&mut self) -> &mut Parameters {
        &mut self.parameters
    }

    /// The network itself.
    pub(crate) fn transformer(&self) -> &Transformer {
        &self.transformer
    }

    pub(crate) fn architecture(&self) -> &Architecture {
        &self.architecture
    }

    pub(crate) fn device(&self) -> tch::Device {
        self.device
    }

    pub(crate) fn numbers(&self) -> Numbers {
        self.numbers
    }

    /// Numbers of a vector.
    pub(crate) fn width(&self) -> usize {
        self.transformer.width()
    }

    /// Number of its weights.
    pub(crate) fn num_parameters(&self) -> u64 {
        network_file::num_parameters(&self.parameters)
    }

    /// The vectors of documents in pieces. Documents of similar length are read together, so that padding is
    /// small; `after_batches` hears how many are done and may stop the work.
    pub(crate) fn vectors(
        &self,
        sequences: &IndexRows,
        cut: Cut,
        after_batches: impl FnMut(usize) -> Result<()>,
    ) -> Result<Vectors> {
        let batches = RankedBatches {
            sequences,
            device: self.device,
            on_gpu: ON_GPU,
            on_cpu: ON_CPU,
        };
        let reading = Reading {
            encoder: self,
            sequences,
            cut,
        };
        let rows = guarded(|| batches.rank(&reading, after_batches))?;
        let mut vectors = Vectors::new(self.width());
        for row in rows {
            vectors.push(&row);
        }
        Ok(vectors)
    }
}

/// An encoder and the documents that it reads.
struct Reading<'a> {
    encoder: &'a FrozenEncoder,
    sequences: &'a IndexRows,
    cut: Cut,
}

#[expect(unsafe_code, reason = "tch marks no tensor as one that threads share")]
// SAFETY: reading uses the weights of the encoder as they are and writes to tensors of its own batch
// alone; nothing else is done to the encoder meanwhile, since whoever reads has borrowed it.
unsafe impl ReadsBatches for Reading<'_> {
    type Said = Vec<u16>;

    fn read(&self, documents: &[u32]) -> Result<Vec<Vec<u16>>> {
        let rows = documents.iter();
        let pieces: Vec<&[u32]> = rows
            .map(|&document| self.sequences.row(document as usize))
            .collect();
        let batch = PieceBatch::new(&pieces, self.cut);
        let encoder = self.encoder;
        tch::no_grad(|| {
            let pieces = batch.to_device(encoder.device);
            let input: PieceInput<'_> = at_rest(&pieces);
            let dense = &encoder.parameters.dense;
            let vectors = encoder.transformer.forward(dense, &input).vector;
            let values: Vec<f32> = flat(&vectors.to_kind(Kind::Float));
            Ok(values.chunks(encoder.width()).map(unit_halves).collect())
        })
    }
}
