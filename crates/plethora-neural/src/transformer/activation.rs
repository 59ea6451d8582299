//! The function between the two matrices of a feed-forward part.

use tch::Tensor;

/// A function of one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Activation {
    /// By the normal distribution's integral.
    Gelu,
    /// The same by a formula with tanh.
    GeluTanh,
    Relu,
    Silu,
}

impl Activation {
    /// Names as configurations have them.
    pub(super) const NAMES: [(&'static str, Self); 8] = [
        ("gelu", Self::Gelu),
        ("gelu_python", Self::Gelu),
        ("gelu_new", Self::GeluTanh),
        ("gelu_fast", Self::GeluTanh),
        ("gelu_pytorch_tanh", Self::GeluTanh),
        ("relu", Self::Relu),
        ("silu", Self::Silu),
        ("swish", Self::Silu),
    ];

    pub(super) fn apply(self, input: &Tensor) -> Tensor {
        match self {
            Self::Gelu => input.gelu("none"),
            Self::GeluTanh => input.gelu("tanh"),
            Self::Relu => input.relu(),
            Self::Silu => input.silu(),
        }
    }
}
