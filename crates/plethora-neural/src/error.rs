//! Everything that can go wrong in this crate, named by what the user sees.

/// Result with this crate's [`enum@Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failure in choosing a device or running a network.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The name of a device is not one.
    #[error("device {0:?} is unknown; use cpu, cuda or cuda:N with N counted from 0")]
    UnknownDevice(String),
    /// A GPU was asked for, but the CUDA part of libtorch is not there.
    #[error(
        "{device}: libtorch_cuda.so cannot be opened ({reason}); install torch 2.11 with CUDA and \
         put its lib folder into LD_LIBRARY_PATH, or use the device cpu"
    )]
    NoCudaLibrary {
        /// The device asked for.
        device: String,
        /// The system's reason.
        reason: String,
    },
    /// A GPU was asked for that the machine does not have or libtorch cannot use.
    #[error("{device}: libtorch finds {num_devices} CUDA devices on this machine")]
    NoCudaDevice {
        /// The device asked for.
        device: String,
        /// How many there are.
        num_devices: usize,
    },
}
