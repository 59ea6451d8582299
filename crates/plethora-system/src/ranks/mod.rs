//! Processes that train one model together.
//!
//! Each has a rank, and reads the same documents with the same settings. In every step of training each
//! computes the gradient of its share of the documents, and [`Ranks::sum`] makes their sum of these, with
//! the same bits everywhere, so that all of them take the same step. A process is in one such group at most,
//! and says so before it trains: see [`join`].

mod launcher;
mod rendezvous;
mod ring;

use std::fmt;
use std::sync::OnceLock;

use plethora_core::{Error, Result};

pub use launcher::local_rank;
pub use rendezvous::Rendezvous;

use crate::Shard;

static GROUP: OnceLock<Box<dyn Ranks>> = OnceLock::new();

/// Numbers of 32 bits side by side in the memory of a GPU.
#[derive(Debug, Clone, Copy)]
pub struct GpuValues {
    /// Where they begin.
    pub address: usize,
    /// How many there are.
    pub length: usize,
    /// Number of the GPU.
    pub gpu: usize,
}

/// The processes of a group, as one of them sees them. All of them call the same methods in the same order.
pub trait Ranks: Send + Sync + fmt::Debug {
    /// Which one this is, and how many there are.
    fn place(&self) -> Shard;

    /// Replaces values by their sums over all ranks. Every rank gets the same bits.
    ///
    /// # Errors
    /// [`Error::Compute`] if another rank has ended.
    fn sum(&self, values: &mut [f32]) -> Result<()>;

    /// As [`sum`](Self::sum), of values on a GPU. False, and nothing is done, where ranks do not reach each
    /// other's GPUs: then values go through main memory.
    ///
    /// # Errors
    /// As [`sum`](Self::sum).
    fn sum_on_gpu(&self, _values: GpuValues) -> Result<bool> {
        Ok(false)
    }

    /// What every rank has to say, in the order of ranks.
    ///
    /// # Errors
    /// As [`sum`](Self::sum).
    fn gather(&self, own: &[u8]) -> Result<Vec<Vec<u8>>>;

    /// What rank 0 has to say.
    ///
    /// # Errors
    /// As [`sum`](Self::sum).
    fn broadcast(&self, own: &[u8]) -> Result<Vec<u8>> {
        let is_first = self.place().index() == 0;
        let mut all = self.gather(if is_first { own } else { &[] })?;
        Ok(std::mem::take(&mut all[0]))
    }
}

/// Makes this process one of a group, for all that it trains.
///
/// # Errors
/// [`Error::Usage`] if it is in one already; those of [`Rendezvous::meet`].
pub fn join(rendezvous: &Rendezvous) -> Result<()> {
    if GROUP.get().is_some() {
        return Err(joined_already());
    }
    join_as(rendezvous.meet()?)
}

/// Makes this process one of a group that has met already.
///
/// # Errors
/// [`Error::Usage`] if it is in one already.
pub fn join_as(ranks: Box<dyn Ranks>) -> Result<()> {
    GROUP.set(ranks).map_err(|_| joined_already())
}

fn joined_already() -> Error {
    Error::usage("this process has joined others already")
}

/// Processes that train together with this one, and itself.
pub fn count() -> usize {
    group().map_or(1, |ranks| ranks.place().count())
}

/// The group that this process is in.
pub fn group() -> Option<&'static dyn Ranks> {
    GROUP.get().map(AsRef::as_ref)
}
