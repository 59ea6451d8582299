//! Index types, so that a label is never taken for a term.

use serde::{Deserialize, Serialize};

/// Index of a label in a [`LabelSpace`](crate::corpus::LabelSpace).
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    bytemuck::Pod,
    bytemuck::Zeroable,
)]
#[repr(transparent)]
pub struct LabelId(pub u32);

/// Index of a term, that is of a feature column.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    bytemuck::Pod,
    bytemuck::Zeroable,
)]
#[repr(transparent)]
pub struct TermId(pub u32);

impl LabelId {
    /// The label's position in arrays with one entry per label.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl TermId {
    /// The term's position in arrays with one entry per term.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
