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

/// The processes of a group, as one of them sees them. All of them call the same methods in the same order.
pub trait Ranks: Send + Sync + fmt::Debug {
    /// Which one this is, and how many there are.
    fn place(&self) -> Shard;

    /// Replaces values by their sums over all ranks. Every rank gets the same bits.
    ///
    /// # Errors
    /// [`Error::Compute`] if another rank has ended.
    fn sum(&self, values: &mut [f32]) -> Result<()>;

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
    let again = || Error::usage("this process has joined others already");
    if GROUP.get().is_some() {
        return Err(again());
    }
    GROUP.set(rendezvous.meet()?).map_err(|_| again())
}

/// Processes that train together with this one, and itself.
pub fn count() -> usize {
    group().map_or(1, |ranks| ranks.place().count())
}

/// The group that this process is in.
pub fn group() -> Option<&'static dyn Ranks> {
    GROUP.get().map(AsRef::as_ref)
}
