//! Everything that can go wrong in this crate, named by what the user sees.

use std::io;
use std::path::{Path, PathBuf};

/// Result with this crate's [`enum@Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failure in reading data, fitting features or opening and saving models.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The content of an input file is not what its format promises.
    #[error("{}{}: {message}", path.display(), line.map(|line| format!(":{line}")).unwrap_or_default())]
    Input {
        /// The offending file.
        path: PathBuf,
        /// Line in the file, counted from 1, where one is known.
        line: Option<u64>,
        /// What was found and what was expected.
        message: String,
    },
    /// An input file cannot be read.
    #[error("{}: cannot read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// An output file cannot be written.
    #[error("{}: cannot write: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A setting has a value that cannot work.
    #[error("{key}: {message}")]
    Config {
        /// The setting, written as in a recipe (`tree.max_leaf`).
        key: String,
        /// What was found and what was expected.
        message: String,
    },
    /// The data as a whole cannot be used for what was asked.
    #[error("{0}")]
    Data(String),
    /// A model folder is missing something, is damaged or does not fit this program.
    #[error("{}: {message}", path.display())]
    Model {
        /// The model folder or the file in it.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// The output exists already and replacing it was not asked for.
    #[error("{} exists already; choose another name or pass --force to replace it", path.display())]
    Exists {
        /// The existing file or folder.
        path: PathBuf,
    },
    /// Something of another kind stands where the output is to be; it is never replaced.
    #[error("{} exists and was not written by Plethora, so it will not be replaced", path.display())]
    Occupied {
        /// The existing file or folder.
        path: PathBuf,
    },
    /// A computation failed, as when memory runs out.
    #[error("{0}")]
    Compute(String),
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// An [`Error::Input`] at a line of a file.
    pub fn input(path: &Path, line: impl Into<Option<u64>>, message: impl Into<String>) -> Self {
        Self::Input {
            path: path.to_owned(),
            line: line.into(),
            message: message.into(),
        }
    }

    /// An [`Error::Config`] for one setting.
    pub fn config(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Config {
            key: key.into(),
            message: message.into(),
        }
    }

    /// An [`Error::Model`] for a model folder or a file in it.
    pub fn model(path: &Path, message: impl Into<String>) -> Self {
        Self::Model {
            path: path.to_owned(),
            message: message.into(),
        }
    }

    /// Wraps an I/O error met while reading `path`; for `map_err`.
    pub fn read(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Read { path, source }
    }

    /// Wraps an I/O error met while writing `path`; for `map_err`.
    pub fn write(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Write { path, source }
    }
}
