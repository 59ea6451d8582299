//! A libtorch that the user has already.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use super::ADVICE;
use crate::Result;

/// The version tch is made for.
const VERSION: (u32, u32) = (2, 11);

/// Where the user says his libtorch is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum OwnLibtorch {
    Folder(PathBuf),
    /// torch-sys asks the active Python.
    PythonPackage,
}

/// The user's libtorch, if there is one. `.cargo/config.toml` sets LIBTORCH to `.libtorch` where the
/// user has not set it, so that value is ours.
pub(super) fn libtorch(root: &Path) -> Option<OwnLibtorch> {
    if env::var_os("LIBTORCH_USE_PYTORCH").is_some() {
        return Some(OwnLibtorch::PythonPackage);
    }
    let folder = PathBuf::from(env::var_os("LIBTORCH")?);
    (folder != root.join(".libtorch")).then_some(OwnLibtorch::Folder(folder))
}

/// Says before the C++ compiler does if the folder is not what we need.
pub(super) fn check(libtorch: &OwnLibtorch) -> Result<()> {
    let OwnLibtorch::Folder(folder) = libtorch else {
        eprintln!("libtorch: that of the active Python, as LIBTORCH_USE_PYTORCH says");
        return Ok(());
    };
    let header = folder.join("include/torch/headeronly/version.h");
    let text = fs::read_to_string(&header).map_err(|error| {
        format!(
            "LIBTORCH={} is no libtorch 2.11: {}: {error}; unset LIBTORCH to have one fetched, or \
             {ADVICE}",
            folder.display(),
            header.display()
        )
    })?;
    match version(&text) {
        Some(VERSION) => {
            eprintln!("libtorch: {}, as LIBTORCH says", folder.display());
            Ok(())
        }
        Some((major, minor)) => Err(format!(
            "LIBTORCH={} is version {major}.{minor}, but 2.11 is needed",
            folder.display()
        )),
        None => Err(format!("{}: no version found", header.display())),
    }
}

/// Major and minor version from the macros of the header.
fn version(header: &str) -> Option<(u32, u32)> {
    let number = |macro_name: &str| {
        header.lines().find_map(|line| {
            let mut words = line.split_whitespace();
            (words.next() == Some("#define") && words.next() == Some(macro_name))
                .then(|| words.next()?.parse().ok())
                .flatten()
        })
    };
    Some((
        number("TORCH_VERSION_MAJOR")?,
        number("TORCH_VERSION_MINOR")?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_is_read_from_the_header() {
        let header = "#pragma once\n\n/// Indicates the major version of LibTorch.\n\
                      #define TORCH_VERSION_MAJOR 2\n#define TORCH_VERSION_MINOR 11\n";
        assert_eq!(version(header), Some((2, 11)));
        assert_eq!(version("#define TORCH_VERSION_MAJOR @TORCH@"), None);
    }

    #[test]
    fn folder_without_headers_is_refused_before_compiling() {
        let own = OwnLibtorch::Folder(PathBuf::from("/nonexistent"));
        let error = check(&own).unwrap_err();
        assert!(
            error.starts_with("LIBTORCH=/nonexistent is no libtorch 2.11"),
            "{error}"
        );
    }
}
