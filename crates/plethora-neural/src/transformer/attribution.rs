//! Document vectors as a function of the embeddings of their pieces, to see what each piece adds.

use tch::Tensor;

use super::batch::{Batch, PieceInput};
use super::encoder::{Transformer, side_by_side};
use crate::parameters::DenseParameters;

/// Embeddings that can be changed, and what the encoder makes of them.
pub(crate) struct FromEmbeddings<'a> {
    encoder: &'a Transformer,
    batch: Batch<'a>,
    /// documents x pieces x width, as the first layer gets them.
    pub(crate) embedded: Tensor,
}

impl Transformer {
    /// The embeddings of documents, apart from any graph.
    #[expect(clippy::wrong_self_convention, reason = "named after what goes in")]
    pub(crate) fn from_embeddings<'a>(
        &'a self,
        parameters: &'a DenseParameters,
        input: &'a PieceInput<'a>,
    ) -> FromEmbeddings<'a> {
        let (batch, embedded) = tch::no_grad(|| self.begin(parameters, input));
        FromEmbeddings {
            encoder: self,
            batch,
            embedded: embedded.detach(),
        }
    }
}

impl FromEmbeddings<'_> {
    /// documents x width, part of the graph of these embeddings.
    pub(crate) fn vector(&self, embedded: &Tensor) -> Tensor {
        let encoder = self.encoder;
        let mut states = embedded.shallow_clone();
        let mut pooled = Vec::new();
        for number in 0..encoder.layers.len() {
            states = encoder.layer(number, &states, &self.batch);
            if encoder.is_read(number) {
                pooled.push(encoder.pool(&states, &self.batch));
            }
        }
        side_by_side(pooled)
    }
}

#[cfg(test)]
mod tests {
    use tch::{Device, Kind};

    use super::super::golden::{KINDS, config, folder};
    use super::super::{Architecture, Pooling, TransformerConfig, Weights};
    use super::*;
    use crate::parameters::DenseParametersBuilder;
    use crate::precision::Numbers;

    /// Along an embedding itself, the derivative of what is made of the vector is gradient x input.
    #[test]
    fn gradient_times_input_is_what_a_longer_embedding_adds() {
        let ids = Tensor::from_slice2(&[[5_i64, 9, 7, 11, 6], [8, 4, 10, 0, 0]]);
        let lengths = Tensor::from_slice(&[5_i64, 3]);
        let mask = Tensor::arange(5, (Kind::Int64, Device::Cpu)).lt_tensor(&lengths.unsqueeze(1));
        for (kind, pooling) in KINDS
            .into_iter()
            .flat_map(|kind| [Pooling::Cls, Pooling::Mean].map(|pooling| (kind, pooling)))
        {
            let folder = folder(kind);
            let architecture = Architecture::read(&folder).unwrap();
            let config = TransformerConfig {
                pooling,
                ..config()
            };
            let mut builder = DenseParametersBuilder::default();
            let weights = Weights::Folder(&folder);
            let encoder = Transformer::new(&architecture, &config, &mut builder, weights).unwrap();
            let parameters = builder.finish_to_read(Device::Cpu, Kind::Float.into());
            let input = PieceInput {
                ids: &ids,
                lengths: &lengths,
                mask: Some(&mask),
                is_training: false,
                drops: false,
                seed: 0,
            };
            let parts = encoder.from_embeddings(&parameters, &input);
            let forward = encoder.forward(&parameters, &input).vector;
            assert!(
                (parts.vector(&parts.embedded) - forward)
                    .abs()
                    .max()
                    .double_value(&[])
                    < 1e-5
            );

            let projection = Tensor::linspace(
                -1.0,
                2.0,
                encoder.width() as i64,
                (Kind::Float, Device::Cpu),
            );
            let value =
                |embedded: &Tensor| (parts.vector(embedded) * &projection).sum(Kind::Double);
            let leaf = parts.embedded.copy().set_requires_grad(true);
            let gradient = Tensor::run_backward(&[value(&leaf)], &[&leaf], false, false).remove(0);
            let found = (gradient * leaf.detach()).sum_dim_intlist(2, false, Kind::Float);
            for (document, place) in [(0, 0), (0, 2), (0, 4), (1, 1), (1, 2), (1, 4)] {
                // Small enough for networks that bend; f32 leaves errors of about 1e-3.
                let step = 2e-3;
                let changed = |factor: f64| {
                    let embedded = parts.embedded.copy();
                    let _ = embedded.get(document).get(place).g_mul_scalar_(factor);
                    value(&embedded).double_value(&[])
                };
                let expected = (changed(1.0 + step) - changed(1.0 - step)) / (2.0 * step);
                let found = found.double_value(&[document, place]);
                assert!(
                    (found - expected).abs() < 5e-3 + 0.02 * expected.abs(),
                    "{kind}, document {document}, piece {place}: {found} for {expected}"
                );
                assert!(
                    document == 0 || place < 3 || found == 0.0,
                    "padding says nothing"
                );
            }
        }
    }

    #[test]
    fn products_in_eight_bits_leave_vectors_and_gradients_nearly_as_they_are() {
        let ids = Tensor::from_slice2(&[[5_i64, 9, 7, 11, 6], [8, 4, 10, 0, 0]]);
        let lengths = Tensor::from_slice(&[5_i64, 3]);
        let mask = Tensor::arange(5, (Kind::Int64, Device::Cpu)).lt_tensor(&lengths.unsqueeze(1));
        let input = PieceInput {
            ids: &ids,
            lengths: &lengths,
            mask: Some(&mask),
            is_training: false,
            drops: false,
            seed: 0,
        };
        for (kind, pooling) in KINDS
            .into_iter()
            .flat_map(|kind| [Pooling::Cls, Pooling::Mean].map(|pooling| (kind, pooling)))
        {
            let folder = folder(kind);
            let architecture = Architecture::read(&folder).unwrap();
            let config = TransformerConfig {
                pooling,
                ..config()
            };
            let mut builder = DenseParametersBuilder::default();
            let weights = Weights::Folder(&folder);
            let encoder = Transformer::new(&architecture, &config, &mut builder, weights).unwrap();
            let mut parameters = builder.finish_to_read(Device::Cpu, Kind::Float.into());
            let vector = |parameters: &DenseParameters| {
                tch::no_grad(|| encoder.forward(parameters, &input).vector)
            };
            let gradient = |parameters: &DenseParameters| {
                let parts = encoder.from_embeddings(parameters, &input);
                let leaf = parts.embedded.copy().set_requires_grad(true);
                let sum = parts.vector(&leaf).square().sum(Kind::Float);
                Tensor::run_backward(&[sum], &[&leaf], false, false).remove(0)
            };
            let (exact, exact_gradient) = (vector(&parameters), gradient(&parameters));
            parameters.read_with(Numbers {
                kind: Kind::Float,
                is_int8: true,
            });
            let short = vector(&parameters);
            assert_ne!(short, exact, "{kind}: nothing was rounded");
            let likeness = |ours: &Tensor, exact: &Tensor| {
                let [ours, exact] = [ours, exact].map(|tensor| tensor.flatten(1, -1));
                let least = Tensor::cosine_similarity(&ours, &exact, 1, 1e-8).min();
                least.double_value(&[])
            };
            assert!(likeness(&short, &exact) > 0.995, "{kind}");
            // Products may have gone before the embeddings.
            let gradient = gradient(&parameters);
            assert!(likeness(&gradient, &exact_gradient) > 0.999, "{kind}");
        }
    }
}
