//! `MPNet`'s bias by the distance of two pieces, which all layers share.

use tch::{Kind, Tensor};

use super::architecture::{Architecture, DISTANCE_CLASSES};
use super::batch::{AttentionBias, PieceInput};
use super::loader::{FileTensor, Loader};
use crate::Result;
use crate::parameters::{DenseParameters, ParameterId};

/// Distances below this have a class each; those above share classes by their logarithm.
const EXACT_DISTANCES: f64 = 8.0;

/// All distances from this one on are one class.
const MAX_DISTANCE: f64 = 128.0;

/// Below the difference of two logarithms of distances, above what rounding does to one.
const ROUNDING: f64 = 1e-6;

/// One number for each class of distances and head.
#[derive(Debug)]
pub(super) struct DistanceBias {
    table: ParameterId,
    is_trained: bool,
}

impl DistanceBias {
    pub(super) fn new(
        architecture: &Architecture,
        is_trained: bool,
        loader: &mut Loader<'_>,
    ) -> Result<Self> {
        let table = FileTensor::plain(
            "encoder.relative_attention_bias.weight",
            &[DISTANCE_CLASSES, architecture.shape.num_heads],
        );
        let table = loader.matrix("encoder.distances", &[table])?;
        // Biases in the shape of a matrix.
        loader.leave_undecayed(table);
        Ok(Self { table, is_trained })
    }

    /// The bias of a batch, with the pieces hidden that are not there.
    pub(super) fn forward(
        &self,
        parameters: &DenseParameters,
        input: &PieceInput<'_>,
    ) -> AttentionBias {
        let table = parameters.computed(self.table);
        let table = if self.is_trained {
            table.shallow_clone()
        } else {
            table.detach()
        };
        let (pieces, row_width) = (input.num_pieces(), input.row_width());
        let classes = classes(&distances(input));
        let by_distance = table.tr().index_select(1, &classes); // [heads, distances]
        let (heads, num_distances) = by_distance.size2().unwrap_or_default();
        let all = by_distance
            .unsqueeze(1)
            .expand([heads, pieces, num_distances], false)
            .contiguous();
        let all = shifted(&all.unsqueeze(0), row_width);
        let first = by_distance
            .narrow(1, pieces, row_width)
            .view([1, heads, 1, row_width]);
        let hidden = input.hidden_pieces(table.kind());
        let finish = |bias: Tensor| match &hidden {
            Some(hidden) => (bias + hidden).narrow(3, 0, pieces),
            // Rows must be apart as alignment wants them, which a view of the shift is not.
            None => bias.contiguous().narrow(3, 0, pieces),
        };
        AttentionBias {
            all: finish(all),
            document: finish(first),
        }
    }
}

/// Distances from a piece to others: from all pieces before it down to a whole row behind it. Piece
/// `i` has its distances to pieces 0, 1, ... from entry `pieces - i` on.
pub(super) fn distances(input: &PieceInput<'_>) -> Tensor {
    let (pieces, row_width) = (input.num_pieces(), input.row_width());
    Tensor::arange_start_step(pieces, -row_width, -1, (Kind::Int64, input.ids.device()))
}

/// Cuts for each piece its own part out of numbers by [`distances`].
///
/// # Shapes
/// From documents x heads x pieces x distances, without gaps but in any order of documents and
/// heads, to documents x heads x pieces x `row_width`, as a view.
pub(super) fn shifted(by_distance: &Tensor, row_width: i64) -> Tensor {
    let (documents, heads, pieces, _) = by_distance.size4().unwrap_or_default();
    let strides = by_distance.stride();
    by_distance.as_strided(
        [documents, heads, pieces, row_width],
        [strides[0], strides[1], strides[2] - 1, 1],
        pieces,
    )
}

/// The class of each distance, which is positive to pieces before.
fn classes(distances: &Tensor) -> Tensor {
    let half = DISTANCE_CLASSES as f64 / 2.0;
    let length = distances.abs().to_kind(Kind::Double);
    let spread = (half - EXACT_DISTANCES) / (MAX_DISTANCE / EXACT_DISTANCES).ln();
    let far = ((&length / EXACT_DISTANCES).log() * spread + EXACT_DISTANCES + ROUNDING).floor();
    let class = length
        .where_self(&length.lt(EXACT_DISTANCES), &far)
        .clamp_max(half - 1.0);
    (class + distances.lt(0).to_kind(Kind::Double) * half).to_kind(Kind::Int64)
}

#[cfg(test)]
mod tests {
    use tch::Device;

    use super::*;

    #[test]
    fn classes_of_distances_equal_those_of_transformers() {
        let path = "../../testdata/transformers/mpnet/golden.safetensors";
        let golden = Tensor::read_safetensors(path).unwrap();
        let (_, expected) = golden.iter().find(|(name, _)| name == "buckets").unwrap();
        let distances = Tensor::arange_start(-600, 601, (Kind::Int64, Device::Cpu));
        assert_eq!(classes(&distances), expected.to_kind(Kind::Int64));
    }
}
