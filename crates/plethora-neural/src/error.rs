//! Everything that can go wrong in this crate, named by what the user sees.

/// Result with this crate's [`enum@Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failure in choosing a device, or in training or running a network.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
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
    /// Training would need more memory than there is.
    #[error(
        "training needs about {} of memory on {device}, where {} are free; make {} smaller",
        gibibytes(*needed),
        gibibytes(*free),
        settings.join(" or ")
    )]
    TooLittleMemory {
        /// The device.
        device: String,
        /// Bytes that training will take.
        needed: u64,
        /// Bytes that can be had.
        free: u64,
        /// Settings that lower the need.
        settings: Vec<String>,
    },
    /// The loss is no number any more.
    #[error(
        "the loss is not finite at step {step}: training has diverged; lower train.learning_rate \
         or set train.clip_norm"
    )]
    Diverged {
        /// The step at which it was seen.
        step: u64,
    },
    /// A failure inside libtorch.
    #[error("libtorch: {0}")]
    Torch(String),
    /// A failure with data, settings or files.
    #[error(transparent)]
    Core(#[from] plethora_core::Error),
}

impl From<tch::TchError> for Error {
    fn from(error: tch::TchError) -> Self {
        Self::Torch(first_line(&error.to_string()))
    }
}

/// For programs that show failures of all crates alike.
impl From<Error> for plethora_core::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Core(error) => error,
            Error::NoCudaLibrary { .. } | Error::NoCudaDevice { .. } => {
                Self::config("device", error.to_string())
            }
            other => Self::Compute(other.to_string()),
        }
    }
}

/// libtorch appends a backtrace to its messages.
pub(crate) fn first_line(message: &str) -> String {
    message.lines().next().unwrap_or_default().to_owned()
}

fn gibibytes(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))
}
