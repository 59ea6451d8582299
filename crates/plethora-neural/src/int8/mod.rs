//! Products of encoders in eight bits, on processors.
//!
//! The weights of a product are rounded once to -127..=127, with a scale per output. The numbers that
//! come in are rounded when they come, with a scale per row, so that a piece gets the same whatever else
//! is in its batch. Sums of products are whole numbers and exact: every processor gives the same, and
//! those with AVX-512 VNNI get there twice as fast as with 16 bits. What follows a product (activation,
//! residual, norm) is done with its rows while they are in the cache.

#![expect(
    clippy::inline_always,
    reason = "work is compiled for several processors, with all that it calls"
)]

mod attention;
mod dots;
mod linear;
mod lstm;
mod memory;
mod operation;
mod product;
mod rows;
mod weights;

pub(crate) use attention::attend;
pub(crate) use linear::Int8Linear;
pub(crate) use lstm::{Direction, Int8Lstm};
pub(crate) use operation::{LayerEnd, Normed, end_layer, linear};
pub(crate) use weights::{Int8Weights, floats};

/// Inputs of a product whose sums fit into 32 bits whatever they are.
pub(crate) const MOST_INPUTS: i64 = i32::MAX as i64 / (255 * 127);

/// Whether the processor multiplies faster in eight bits than in others.
pub(crate) fn is_fast() -> bool {
    dots::has_vnni()
}
