//! Whether a file of the Hugging Face cache is what its name says.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use sha2::{Digest, Sha256};

/// Digits of a SHA-256.
const DIGITS: usize = 64;

/// Compares a file with its checksum. The cache keeps large files, weights above all, under the SHA-256 that the hub announced
/// for them, and links to these; small ones have another kind of name, and are read with care anyway. A file that
/// is damaged is removed, so that the next download fetches it again.
pub(super) fn check_sum(link: &Path) -> Result<(), String> {
    let blob = fs::canonicalize(link).map_err(|error| error.to_string())?;
    let name = blob.file_name().unwrap_or_default().to_string_lossy();
    if name.len() != DIGITS || !name.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return Ok(());
    }
    let mut hasher = Sha256::new();
    let mut file = File::open(&blob).map_err(|error| error.to_string())?;
    let mut bytes = vec![0; 1 << 20];
    loop {
        match file.read(&mut bytes) {
            Ok(0) => break,
            Ok(length) => hasher.update(&bytes[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.to_string()),
        }
    }
    let mut found = String::with_capacity(DIGITS);
    for byte in hasher.finalize() {
        // Writing to a string does not fail.
        let _ = write!(found, "{byte:02x}");
    }
    if found.eq_ignore_ascii_case(&name) {
        return Ok(());
    }
    let _ = fs::remove_file(link);
    let _ = fs::remove_file(&blob);
    Err("the download is damaged: its SHA-256 is not the one that the hub announced".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_not_what_its_name_says_is_removed() {
        let cache = tempfile::tempdir().unwrap();
        // The SHA-256 of "abc", from FIPS 180-4.
        let name = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let (blob, link) = (cache.path().join(name), cache.path().join("weights"));
        std::os::unix::fs::symlink(&blob, &link).unwrap();
        fs::write(&blob, "abc").unwrap();
        check_sum(&link).unwrap();
        fs::write(&blob, "abd").unwrap();
        assert!(check_sum(&link).unwrap_err().contains("damaged"));
        assert!(!blob.exists() && fs::symlink_metadata(&link).is_err());
        let small = cache.path().join("1f98b7f8e7b6b9cf");
        fs::write(&small, "{}").unwrap();
        check_sum(&small).unwrap();
    }
}
