//! The kinds of numbers an array file may hold, and the Rust types that stand for them.

use serde::{Deserialize, Serialize};

use crate::{LabelId, TermId};

/// Kind of an array's elements, named as safetensors names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Dtype {
    /// Unsigned, 8 bits.
    U8,
    /// Unsigned, 16 bits.
    U16,
    /// IEEE half precision, handled here as its bits in a `u16`.
    F16,
    /// Brain floating point of 16 bits, handed out as its bits.
    BF16,
    /// Unsigned, 32 bits.
    U32,
    /// IEEE single precision.
    F32,
    /// Unsigned, 64 bits.
    U64,
}

impl Dtype {
    /// Size of an element in bytes.
    pub const fn size(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::U16 | Self::F16 | Self::BF16 => 2,
            Self::U32 | Self::F32 => 4,
            Self::U64 => 8,
        }
    }
}

/// A type that can be written to and mapped from arrays of the kinds in [`Element::DTYPES`].
pub trait Element: bytemuck::Pod {
    /// The kinds of arrays whose elements this type stands for.
    const DTYPES: &'static [Dtype];
}

impl Element for u8 {
    const DTYPES: &'static [Dtype] = &[Dtype::U8];
}

impl Element for u16 {
    const DTYPES: &'static [Dtype] = &[Dtype::U16, Dtype::F16, Dtype::BF16];
}

impl Element for u32 {
    const DTYPES: &'static [Dtype] = &[Dtype::U32];
}

impl Element for u64 {
    const DTYPES: &'static [Dtype] = &[Dtype::U64];
}

impl Element for f32 {
    const DTYPES: &'static [Dtype] = &[Dtype::F32];
}

impl Element for LabelId {
    const DTYPES: &'static [Dtype] = &[Dtype::U32];
}

impl Element for TermId {
    const DTYPES: &'static [Dtype] = &[Dtype::U32];
}
