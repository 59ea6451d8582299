//! What raises the scores of some labels before anything is learnt of a document.

use tch::{Kind, Tensor};

use super::vector_input::LabelPlaces;

/// Numbers that are added to the scores of some labels, times a factor that is learnt.
pub(crate) struct Prior<'a> {
    pub(crate) places: &'a LabelPlaces,
    /// One a place.
    pub(crate) strengths: &'a Tensor,
    /// A single number.
    pub(crate) factor: &'a Tensor,
}

impl Prior<'_> {
    /// What is added at each place, in 32 bits.
    pub(crate) fn values(&self) -> Tensor {
        self.strengths * self.factor.to_kind(Kind::Float)
    }
}
