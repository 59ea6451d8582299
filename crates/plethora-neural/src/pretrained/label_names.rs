//! Label vectors that start from the names of labels, so that rare labels are near texts that name them before any
//! document has taught them (as in PRIME and LEVER).
//!
//! What the vectors that an encoder makes of all names have in common says nothing about any of them: their mean is taken
//! away, and of what remains the part along it. A label starts at `head.name_scale` times the rest, of unit length: no other label
//! is nearer to a text that is its name.

use plethora_core::corpus::Label;
use tch::{Kind, Tensor};

use super::network::{HeadPlan, PieceNetwork};
use super::ranker::PieceRanker;
use super::run::{PieceRun, cut};
use crate::Result;
use crate::systems::network_file::named;
use crate::train::Network as _;

/// Where the heads that compare a document's vector with those of labels have these: one layer, and the exact one.
const LABEL_VECTORS: [&str; 2] = ["head.outputs", "labels"];

impl PieceRun<'_> {
    /// Starts label vectors from names, where the settings ask for it and the head has such vectors.
    pub(super) fn start_from_names(&self, plan: &HeadPlan, network: &PieceNetwork) -> Result<()> {
        let labels = self.set.space.labels();
        let has_vectors = match plan {
            HeadPlan::Flat => true,
            HeadPlan::Exact => self.config.head.bottleneck == 0,
            _ => false,
        };
        let head = &self.config.head;
        if !has_vectors || !head.names.unwrap_or_else(|| are_named(labels)) {
            return Ok(());
        }
        self.progress.start("label names", None);
        let names: Vec<&str> = labels.iter().map(|label| label.name.as_str()).collect();
        network.refresh();
        let said = PieceRanker {
            network,
            cut: cut(self.config, &self.set.texts.reader, network.device()),
            beam: 0,
            keep: 0,
        }
        .said(&self.set.texts.reader.sequences(&names))?;
        let bits: Vec<half::f16> = (said.iter())
            .flat_map(|said| said.vector.iter().map(|&bits| half::f16::from_bits(bits)))
            .collect();
        let vectors = Tensor::from_slice(&bits)
            .to_kind(Kind::Float)
            .view([labels.len() as i64, -1]);
        start_at(network, &(centred(&vectors) * head.name_scale));
        self.progress.finish(&format!("{} labels", labels.len()));
        Ok(())
    }
}

/// True where people named most labels.
fn are_named(labels: &[Label]) -> bool {
    2 * labels.iter().filter(|label| label.is_named()).count() > labels.len()
}

/// Vectors without what they have in common, their mean and their part along it, of unit length; those of which nothing
/// is left stay at zero.
fn centred(vectors: &Tensor) -> Tensor {
    let mean = vectors.mean_dim(0, true, Kind::Float);
    let around = vectors - &mean;
    let direction = &mean / mean.norm().clamp_min(1e-12);
    let along = around.matmul(&direction.tr());
    let rest = around - along * direction;
    let lengths = rest.square().sum_dim_intlist(1, true, Kind::Float).sqrt();
    rest / lengths.clamp_min(1e-12)
}

/// Puts these at the place of label vectors, which begin with the numbers of the last layer; others stay at zero.
fn start_at(network: &PieceNetwork, vectors: &Tensor) {
    let parameters = named(network.parameters());
    for (_, tensor) in parameters.filter(|(name, _)| LABEL_VECTORS.contains(&name.as_str())) {
        let mut place = tensor.narrow(1, 0, vectors.size()[1]);
        tch::no_grad(|| place.copy_(vectors));
    }
    network.refresh();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn centred_vectors_are_nearest_to_their_own_and_know_nothing_of_the_mean() {
        let vectors =
            Tensor::from_slice2(&[[3.0_f32, 1.0, 0.5], [2.0, -1.0, 0.0], [9.0, 0.3, 1.0]]);
        let centred = centred(&vectors);
        let mean = vectors.mean_dim(0, true, Kind::Float);
        let direction = &mean / mean.norm();
        let largest = |tensor: Tensor| tensor.abs().max().double_value(&[]);
        assert!(largest(centred.matmul(&direction.tr())) < 1e-5);
        assert!(largest(centred.square().sum_dim_intlist(1, false, Kind::Float) - 1.0) < 1e-5);
        let nearest: Vec<i64> = vectors
            .matmul(&centred.tr())
            .argmax(1, false)
            .try_into()
            .unwrap();
        assert_eq!(nearest, [0, 1, 2]);
    }
}
