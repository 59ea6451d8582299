//! Positions as rotations of queries and keys (`ModernBERT`), and attention to near pieces alone.

use tch::{Kind, Tensor};

use super::architecture::Architecture;
use super::batch::PieceInput;

/// Added to the attention of pieces that are too far. Finite, so that no sum of it is no number.
const TOO_FAR: f64 = -1e30;

/// How attention knows of the places of pieces, and how far it looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RotaryShape {
    /// Base of the wavelengths in layers that look at all pieces.
    pub(super) global_theta: f64,
    /// ... and in those that look at near ones.
    pub(super) local_theta: f64,
    /// How far those look to either side.
    pub(super) reach: i64,
    /// Every so many layers, from the first on, one looks at all pieces.
    pub(super) global_every: i64,
}

impl RotaryShape {
    /// Whether a layer looks at all pieces.
    pub(super) fn is_global(&self, layer: usize) -> bool {
        (layer as i64).rem_euclid(self.global_every) == 0
    }
}

/// What the layers of a batch share.
#[derive(Debug)]
pub(super) struct RotaryPositions {
    pub(super) global: Rotation,
    pub(super) local: Rotation,
    /// What is added to attention that looks at near pieces alone, in a form that broadcasts to documents x
    /// heads x pieces x pieces; absent where all are near.
    pub(super) local_bias: Option<Tensor>,
}

/// Pairs of numbers as points of a plane, turned by an angle for each place.
#[derive(Debug)]
pub(super) struct Rotation {
    /// pieces x numbers of a head.
    cosines: Tensor,
    sines: Tensor,
}

impl RotaryPositions {
    /// For a batch whose states are of `kind`.
    pub(super) fn new(
        shape: &RotaryShape,
        head_width: i64,
        input: &PieceInput<'_>,
        kind: Kind,
    ) -> Self {
        let rotation = |theta| Rotation::new(head_width, theta, input, kind);
        Self {
            global: rotation(shape.global_theta),
            local: rotation(shape.local_theta),
            local_bias: local_bias(shape.reach, input, kind),
        }
    }
}

impl Rotation {
    fn new(head_width: i64, theta: f64, input: &PieceInput<'_>, kind: Kind) -> Self {
        let options = (Kind::Float, input.ids.device());
        let exponents = Tensor::arange(head_width / 2, options) * (-2.0 / head_width as f64);
        let frequencies = (exponents * theta.ln()).exp();
        let places = Tensor::arange(input.num_pieces(), options);
        let angles = places.unsqueeze(1) * frequencies.unsqueeze(0);
        let angles = Tensor::cat(&[&angles, &angles], 1);
        Self {
            cosines: angles.cos().to_kind(kind),
            sines: angles.sin().to_kind(kind),
        }
    }

    /// # Shapes
    /// documents x heads x pieces x numbers of a head, to the same.
    pub(super) fn turned(&self, states: &Tensor) -> Tensor {
        let halves = states.chunk(2, -1);
        let across = Tensor::cat(&[-&halves[1], halves[0].shallow_clone()], -1);
        states * &self.cosines + across * &self.sines
    }
}

fn local_bias(reach: i64, input: &PieceInput<'_>, kind: Kind) -> Option<Tensor> {
    if input.num_pieces() <= reach + 1 {
        return None;
    }
    let device = input.ids.device();
    let rows = Tensor::arange(input.num_pieces(), (Kind::Int64, device)).unsqueeze(1);
    // As wide as fused attention wants its rows.
    let columns = Tensor::arange(input.row_width(), (Kind::Int64, device)).unsqueeze(0);
    let is_far = (rows - columns).abs().gt(reach);
    let mut bias = is_far.to_kind(kind) * TOO_FAR;
    bias = bias.unsqueeze(0).unsqueeze(0);
    if let Some(hidden) = input.hidden_pieces(kind) {
        // Far pieces that are not there count once: twice the number would be beyond 16 bits.
        bias = bias.minimum(&hidden);
    }
    Some(bias.narrow(3, 0, input.num_pieces()))
}

impl Architecture {
    /// Whether a layer looks at all pieces.
    pub(super) fn is_global(&self, layer: usize) -> bool {
        self.rotary.is_none_or(|rotary| rotary.is_global(layer))
    }
}
