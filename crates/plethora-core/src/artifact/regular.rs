//! Files that end: a pipe or a device in the place of a file would be waited for or read for ever.

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Opens a file, which must be none of the system's special ones; links are followed.
pub fn open_regular(path: &Path) -> io::Result<File> {
    // Opening a pipe waits for somebody to write into it, so that this comes first.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "not a regular file",
        ));
    }
    File::open(path)
}

/// Reads a file, which must be none of the system's special ones.
pub fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    io::copy(&mut open_regular(path)?, &mut bytes)?;
    Ok(bytes)
}
