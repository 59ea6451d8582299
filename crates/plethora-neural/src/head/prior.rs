//! What raises the scores of some labels beside what a document's vector says of them.

use tch::Tensor;

use super::vector_input::LabelPlaces;

/// Numbers that are added to the scores of some labels.
pub(crate) struct Prior<'a> {
    pub(crate) places: &'a LabelPlaces,
    /// One a place, in 32 bits; part of a graph where it is learnt.
    pub(crate) values: Tensor,
}
