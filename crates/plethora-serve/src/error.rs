//! What keeps a server from starting.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use plethora_core::Message;

/// Result with this crate's [`enum@Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failure before the first request.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A model cannot be opened, or a setting cannot work.
    #[error(transparent)]
    Core(#[from] plethora_core::Error),
    /// The address cannot be listened on.
    #[error("{address}: cannot listen: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's reason.
        source: io::Error,
    },
    /// Certificate or key cannot be used.
    #[error("{}: {message}", path.display())]
    Tls {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// The system gives no threads.
    #[error("cannot start threads: {0}")]
    Threads(io::Error),
}

impl Error {
    /// A setting that cannot work, named as on the command line.
    pub(crate) fn config(key: &str, message: impl Into<Message>) -> Self {
        Self::Core(plethora_core::Error::config(key, message))
    }

    /// A certificate or key that cannot be used.
    pub(crate) fn tls(path: &Path, message: impl Into<String>) -> Self {
        Self::Tls {
            path: path.to_owned(),
            message: message.into(),
        }
    }
}
