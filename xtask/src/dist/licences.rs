//! The licences of everything that a program contains.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use super::packages::Package;
use super::{Release, files, packages};
use crate::Result;

/// Beginnings of the names of files with licences.
const NAMES: [&str; 5] = ["license", "licence", "copying", "notice", "unlicense"];

/// Folders below a crate in which licences of C libraries are looked for.
const DEPTH: usize = 2;

/// Writes our own licences and those of all crates; equal texts are written once.
pub(super) fn write(release: &Release, folder: &Path) -> Result<()> {
    for name in ["LICENSE-MIT", "LICENSE-APACHE"] {
        files::copy(&release.root.join(name), &folder.join(name))?;
    }
    let packages = packages::list(&release.root)?;
    let sources = sources()?;
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut list = String::from("Crates in this program, and their licences\n\n");
    for package in packages.iter().filter(|package| !package.is_own) {
        let title = format!("{} {}", package.name, package.version);
        let _ = writeln!(list, "{title}: {} {}", package.licence, package.repository);
        for text in texts_of(package, &sources) {
            texts.entry(text).or_default().push(title.clone());
        }
    }
    for (text, users) in texts {
        let _ = write!(
            list,
            "\n{}\n{}\n\n{text}\n",
            "-".repeat(80),
            users.join(", ")
        );
    }
    files::write(&folder.join("THIRD-PARTY.txt"), &list)
}

/// Where cargo keeps the sources of crates.
fn sources() -> Result<Vec<PathBuf>> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let folder = home.unwrap_or_default().join("registry/src");
    let entries =
        fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(entries.flatten().map(|entry| entry.path()).collect())
}

fn texts_of(package: &Package, sources: &[PathBuf]) -> Vec<String> {
    let name = format!("{}-{}", package.name, package.version);
    let folder = sources.iter().map(|source| source.join(&name));
    let mut found = Vec::new();
    if let Some(folder) = folder.into_iter().find(|folder| folder.is_dir()) {
        collect(&folder, DEPTH, &mut found);
    }
    found
}

fn collect(folder: &Path, depth: usize, found: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            if depth > 0 {
                collect(&path, depth - 1, found);
            }
        } else if is_licence(&path)
            && let Ok(text) = fs::read_to_string(&path)
        {
            found.push(text.replace("\r\n", "\n").trim().to_owned());
        }
    }
}

fn is_licence(path: &Path) -> bool {
    let name = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .to_lowercase();
    let is_code = [".rs", ".py", ".c", ".h", ".json", ".toml", ".tmpl"];
    NAMES.iter().any(|start| name.starts_with(start))
        && !is_code.iter().any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_with_licences_are_known_by_their_names() {
        for name in [
            "LICENSE",
            "LICENSE-MIT",
            "license.txt",
            "COPYING",
            "UNLICENSE",
            "NOTICE.md",
        ] {
            assert!(is_licence(Path::new(name)), "{name}");
        }
        assert!(!is_licence(Path::new("license.rs")) && !is_licence(Path::new("README.md")));
    }
}
