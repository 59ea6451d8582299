//! Where bytes come from, and what to say of a place there.

use std::io;
use std::path::{Path, PathBuf};

use super::bounds::Refused;
use super::source::STANDARD_INPUT;
use crate::{Error, Message};

/// Where bytes come from, to name it in errors.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    pub(super) path: PathBuf,
    pub(super) is_compressed: bool,
}

impl Origin {
    /// Something that is not a file.
    pub(super) fn in_memory(name: &Path) -> Self {
        Self {
            path: name.to_owned(),
            is_compressed: false,
        }
    }

    /// The file's path, or `<stdin>`.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// True for a file that has a name.
    pub(super) fn is_file(&self) -> bool {
        self.path != Path::new(STANDARD_INPUT)
    }

    /// An [`Error::Input`] in this file.
    pub(crate) fn error(&self, line: impl Into<Option<u64>>, message: impl Into<Message>) -> Error {
        Error::input(&self.path, line, message)
    }

    /// What a failed read means: damaged compressed data, or a failing system.
    pub(crate) fn read_error(&self, source: io::Error, line: impl Into<Option<u64>>) -> Error {
        if let Some(refused) = source
            .get_ref()
            .and_then(|inner| inner.downcast_ref::<Refused>())
        {
            return self.error(line, refused.to_string());
        }
        // Decoders make their own errors; the system's come with a number.
        if !self.is_compressed || source.raw_os_error().is_some() {
            return Error::Read {
                path: self.path.clone(),
                source,
            };
        }
        if source.kind() == io::ErrorKind::UnexpectedEof {
            self.error(line, "the file ends in the middle of compressed data")
        } else {
            self.error(line, format!("the compressed data is damaged ({source})"))
        }
    }
}
