//! Convolutions over words with dynamic pooling, as XML-CNN has them.

use tch::{Kind, Tensor};

use super::WordVectors;
use crate::parameters::{DenseParameters, DenseParametersBuilder, ParameterId};
use crate::start::Start;
use crate::words::config::CnnConfig;

/// Filters of several widths; each keeps its strongest answer in each part of a document.
#[derive(Debug)]
pub(crate) struct Cnn {
    config: CnnConfig,
    groups: Vec<FilterGroup>,
}

#[derive(Debug)]
struct FilterGroup {
    window: i64,
    /// filters x word width x window.
    weights: ParameterId,
    bias: ParameterId,
}

impl Cnn {
    pub(crate) fn new(
        config: CnnConfig,
        word_width: usize,
        builder: &mut DenseParametersBuilder,
        start: Start,
    ) -> Self {
        let groups = config
            .windows
            .iter()
            .enumerate()
            .map(|(number, &window)| {
                let bound = 1.0 / ((word_width * window) as f64).sqrt();
                let shape = [config.filters as i64, word_width as i64, window as i64];
                let start = start.named("filters").child(number);
                let weights = start.named("weights").uniform(&shape, bound);
                let bias = start.named("bias").uniform(&shape[..1], bound);
                FilterGroup {
                    window: window as i64,
                    weights: builder.add(format!("encoder.filters.{number}"), weights),
                    bias: builder.add(format!("encoder.filter_bias.{number}"), bias),
                }
            })
            .collect();
        Self { config, groups }
    }

    /// Width of a document vector.
    pub(crate) fn width(&self) -> usize {
        self.groups.len() * self.config.filters * self.config.pools
    }

    /// # Shapes
    /// Gives documents x [`width`](Self::width).
    pub(crate) fn forward(
        &self,
        parameters: &DenseParameters,
        words: &WordVectors<'_>,
        kind: Kind,
    ) -> Tensor {
        let vectors = words
            .vectors
            .dropout(self.config.word_dropout, words.is_training)
            .transpose(1, 2);
        let outside = self.outside_of_pools(words);
        let pooled: Vec<Tensor> = self
            .groups
            .iter()
            .map(|group| {
                // Behind its last word a document is zero, alone and among longer ones.
                let answers = vectors
                    .constant_pad_nd([0, group.window - 1])
                    .conv1d(
                        &parameters.get(group.weights).to_kind(kind),
                        Some(parameters.get(group.bias).to_kind(kind)),
                        1,
                        0,
                        1,
                        1,
                    )
                    .relu();
                let pools: Vec<Tensor> = outside
                    .iter()
                    .map(|outside| {
                        answers
                            .masked_fill(outside, f64::NEG_INFINITY)
                            .amax(2, false)
                    })
                    .collect();
                Tensor::stack(&pools, 2).flatten(1, 2)
            })
            .collect();
        Tensor::cat(&pooled, 1)
    }

    /// For each pool the places that do not belong to it: documents x 1 x words. The parts of a
    /// document divide its own words, not the padding of its batch.
    fn outside_of_pools(&self, words: &WordVectors<'_>) -> Vec<Tensor> {
        let device = words.vectors.device();
        let lengths = words.lengths.to_device(device).view([-1, 1, 1]);
        let places =
            Tensor::arange(words.vectors.size()[1], (Kind::Int64, device)).view([1, 1, -1]);
        let pools = self.config.pools as i64;
        (0..pools)
            .map(|pool| {
                let from = (&lengths * pool).divide_scalar_mode(pools, "floor");
                let to = (&lengths * (pool + 1) + (pools - 1)).divide_scalar_mode(pools, "floor");
                places.lt_tensor(&from).logical_or(&places.ge_tensor(&to))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use plethora_core::SeedStream;
    use tch::Device;

    use super::*;

    #[test]
    fn dropout_of_words_falls_on_their_vectors() {
        let config = CnnConfig {
            windows: vec![1, 2],
            filters: 3,
            pools: 2,
            word_dropout: 0.5,
        };
        let mut builder = DenseParametersBuilder::default();
        let start = Start::seeded(SeedStream::new(2));
        let cnn = Cnn::new(config, 4, &mut builder, start);
        let parameters = builder.finish(Device::Cpu);
        let forward = |vectors: &Tensor, is_training| {
            let words = WordVectors {
                vectors,
                lengths: &Tensor::from_slice(&[5_i64, 4]),
                is_training,
            };
            tch::no_grad(|| cnn.forward(&parameters, &words, Kind::Float))
        };
        let vectors = start.named("vectors").normal(&[2, 5, 4], 1.0);
        tch::manual_seed(1);
        let found = forward(&vectors, true);
        tch::manual_seed(1);
        let expected = forward(&vectors.dropout(0.5, true), false);
        assert!(found.allclose(&expected, 1e-6, 1e-6, false));
        assert!(!found.allclose(&forward(&vectors, false), 1e-2, 1e-2, false));
    }
}
