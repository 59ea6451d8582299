//! What an encoder takes, and what all its layers share of it.

use tch::{Kind, Tensor};

use super::architecture::DocumentPiece;
use super::relative_attention::Distances;
use super::rotary::RotaryPositions;
use crate::parameters::DenseParameters;

/// Added to the attention of pieces that are not there. Finite, so that no sum of it is no number.
const HIDDEN: f64 = -1e30;

/// Fused attention takes biases whose rows begin at multiples of this many numbers.
const ROW_ALIGNMENT: i64 = 8;

/// Pieces of a batch of documents, padded on the right, on the device.
pub(crate) struct PieceInput<'a> {
    /// documents x pieces.
    pub(crate) ids: &'a Tensor,
    /// Pieces of each document, at least 1, in 64 bits.
    pub(crate) lengths: &'a Tensor,
    /// documents x pieces: true where a document has a piece. Absent where all are equally long.
    pub(crate) mask: Option<&'a Tensor>,
    /// True where gradients are wanted.
    pub(crate) is_training: bool,
    /// True where something is left out at random, which is so in training but for parts of an epoch.
    pub(crate) drops: bool,
    /// Draws what dropout leaves out. Each layer has the next number, so the seeds of two steps
    /// must lie further apart than there are layers.
    pub(crate) seed: i64,
}

impl PieceInput<'_> {
    /// Of the longest document.
    pub(super) fn num_pieces(&self) -> i64 {
        self.ids.size()[1]
    }

    /// Pieces rounded up to where the next row of a bias may begin.
    pub(super) fn row_width(&self) -> i64 {
        (self.num_pieces() + ROW_ALIGNMENT - 1) / ROW_ALIGNMENT * ROW_ALIGNMENT
    }

    /// documents x 1 x 1 x [`row_width`](Self::row_width): what is added to the attention to each
    /// piece, in numbers of `kind`.
    pub(super) fn hidden_pieces(&self, kind: Kind) -> Option<Tensor> {
        let mask = self.mask?;
        let mask = mask.constant_pad_nd([0, self.row_width() - self.num_pieces()]);
        let added = (mask.to_kind(kind) - 1.0) * -HIDDEN;
        Some(added.unsqueeze(1).unsqueeze(1))
    }

    /// documents x 1: the place of the piece that stands for a document behind its text.
    pub(super) fn last_pieces(&self) -> Tensor {
        (self.lengths - 1).unsqueeze(1)
    }
}

/// A batch on its way through the layers.
pub(super) struct Batch<'a> {
    pub(super) parameters: &'a DenseParameters,
    pub(super) input: &'a PieceInput<'a>,
    pub(super) document_piece: DocumentPiece,
    /// Zero outside of training.
    pub(super) dropout: f64,
    /// Zero outside of training.
    pub(super) attention_dropout: f64,
    /// Added to the attention of all layers.
    pub(super) bias: Option<AttentionBias>,
    /// For positions by distance.
    pub(super) distances: Option<Distances>,
    /// For positions as rotations.
    pub(super) rotary: Option<RotaryPositions>,
}

/// What is added to the attention, in a form that broadcasts to documents x heads x rows x pieces.
pub(super) struct AttentionBias {
    /// For all rows.
    pub(super) all: Tensor,
    /// For the rows of the pieces that stand for documents.
    pub(super) document: Tensor,
}

impl AttentionBias {
    /// Hides the pieces that are not there.
    pub(super) fn hiding(input: &PieceInput<'_>, kind: Kind) -> Option<Self> {
        let hidden = input.hidden_pieces(kind)?.narrow(3, 0, input.num_pieces());
        Some(Self {
            all: hidden.shallow_clone(),
            document: hidden,
        })
    }
}

impl Batch<'_> {
    /// The bias of these rows.
    pub(super) fn bias(&self, rows: Rows) -> Option<Tensor> {
        let bias = self.bias.as_ref()?;
        Some(match rows {
            Rows::All => bias.all.shallow_clone(),
            Rows::Document => bias.document.shallow_clone(),
        })
    }

    /// documents x 1 x width: the states of the pieces that stand for the documents.
    pub(super) fn document_states(&self, states: &Tensor) -> Tensor {
        match self.document_piece {
            DocumentPiece::First => states.narrow(1, 0, 1),
            DocumentPiece::Last => {
                let width = states.size()[2];
                let places = self.input.last_pieces().unsqueeze(2);
                states.gather(1, &places.expand([-1, 1, width], false), false)
            }
        }
    }
}

/// Which pieces a layer computes the states of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rows {
    All,
    /// Those that stand for the documents.
    Document,
}
