//! Neural classifiers on libtorch. Everything with tensors is in this crate, so that the others
//! build without it.
//!
//! `cargo xtask setup` gets the CPU libraries that this crate links to. The same program uses a GPU
//! when `LD_LIBRARY_PATH` leads to a CUDA build of the same version, see [`Device`].

mod device;
mod error;
mod guard;
pub mod parameters;
pub mod train;

pub use device::Device;
pub use error::{Error, Result};
