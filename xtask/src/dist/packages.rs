//! The crates that a program is made of.

use std::collections::BTreeSet;
use std::path::Path;

use crate::{Result, process};

/// The platform that dependencies are listed for.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// A crate that is in the program.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Package {
    pub(super) name: String,
    pub(super) version: String,
    /// An SPDX expression.
    pub(super) licence: String,
    /// Where it is developed.
    pub(super) repository: String,
    /// True for the crates of this repository.
    pub(super) is_own: bool,
}

/// All crates of the program with all features that `dist` builds with, by name.
pub(super) fn list(root: &Path) -> Result<Vec<Package>> {
    let output = process::capture(
        process::cargo(root)
            .args(["tree", "--quiet", "--locked", "--edges", "normal"])
            .args(["--prefix", "none", "--target", TARGET])
            .args(["--package", "plethora-cli", "--package", "plethora-python"])
            .args(process::WITH_TORCH)
            .args(["--format", "{p}|{l}|{r}"]),
    )?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(format!("cargo tree: {}", errors.trim()));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let packages: BTreeSet<Package> = text.lines().filter_map(parse).collect();
    Ok(packages.into_iter().collect())
}

/// A line as `serde v1.0.229|MIT OR Apache-2.0|https://… (*)`.
fn parse(line: &str) -> Option<Package> {
    let mut parts = line.split('|');
    let (package, licence) = (parts.next()?, parts.next()?);
    let repository = parts.next()?.trim_end_matches("(*)").trim();
    let mut words = package.split(' ');
    let name = words.next()?.to_owned();
    let version = words.next()?.strip_prefix('v')?.to_owned();
    Some(Package {
        is_own: words.any(|word| word.starts_with("(/")),
        name,
        version,
        // Older manifests have a slash for a choice.
        licence: licence.trim_end_matches("(*)").trim().replace('/', " OR "),
        repository: repository.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_cargo_are_packages() {
        let package = parse("serde v1.0.229|MIT OR Apache-2.0|https://github.com/serde-rs (*)");
        let package = package.unwrap();
        assert_eq!(
            (package.name.as_str(), package.version.as_str()),
            ("serde", "1.0.229")
        );
        assert_eq!(package.repository, "https://github.com/serde-rs");
        assert!(!package.is_own);
        let own = parse("plethora v0.1.0 (/home/ada/plethora/crates/plethora)|MIT/Apache-2.0|");
        let own = own.unwrap();
        assert!(own.is_own);
        assert_eq!(own.licence, "MIT OR Apache-2.0");
        assert_eq!(parse(""), None);
    }
}
