//! Files with tables in columns, which a build may leave out.

use std::path::Path;

use super::super::ReadOptions;
#[cfg(feature = "arrow")]
use super::super::source::Origin;
use super::{Format, RowReader};
#[cfg(not(feature = "arrow"))]
use crate::Error;
use crate::Result;

/// A kind of file with a table in columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::corpus) enum ColumnarKind {
    Parquet,
    ArrowFile,
    ArrowStream,
}

impl ColumnarKind {
    /// The kind of a file by its first bytes.
    pub(in crate::corpus) fn of(magic: &[u8]) -> Option<Self> {
        match magic {
            [b'P', b'A', b'R', b'1', ..] => Some(Self::Parquet),
            [b'A', b'R', b'R', b'O', b'W', b'1', ..] => Some(Self::ArrowFile),
            // The length of what follows is below 64 KiB for all but enormous schemas.
            [0xff, 0xff, 0xff, 0xff, _, _, _, 0, ..] => Some(Self::ArrowStream),
            _ => None,
        }
    }

    /// The format of such files.
    pub(in crate::corpus) const fn format(self) -> Format {
        match self {
            Self::Parquet => Format::Parquet,
            Self::ArrowFile | Self::ArrowStream => Format::Arrow,
        }
    }
}

/// The reader of a table in columns, which is read at several places at once and not as a stream.
#[cfg(feature = "arrow")]
pub(in crate::corpus) fn open_columnar(
    path: &Path,
    kind: ColumnarKind,
    options: &ReadOptions,
) -> Result<Box<dyn RowReader>> {
    let format = kind.format();
    super::check_options(format, options)?;
    let rows = Box::new(super::arrow_table::ArrowTable::open(path, kind, options)?);
    Ok(super::group(format, rows, Origin::in_memory(path), options))
}

/// Says that such files cannot be read.
#[cfg(not(feature = "arrow"))]
pub(in crate::corpus) fn open_columnar(
    path: &Path,
    kind: ColumnarKind,
    _: &ReadOptions,
) -> Result<Box<dyn RowReader>> {
    let message = format!(
        "this program was built without the feature `arrow`, which reads {} files",
        kind.format()
    );
    Err(Error::input(path, None, message))
}
