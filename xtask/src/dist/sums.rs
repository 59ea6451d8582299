//! Sizes and checksums of what was made.

use std::fs;
use std::process::Command;

use super::{Release, files};
use crate::{Result, process};

const FILE: &str = "SHA256SUMS";

/// Writes `SHA256SUMS` and shows sizes.
pub(super) fn make(release: &Release) -> Result<()> {
    let mut names = Vec::new();
    let entries = fs::read_dir(&release.output)
        .map_err(|error| format!("{}: {error}", release.output.display()))?;
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name != FILE {
            names.push((name, entry.metadata().map_or(0, |data| data.len())));
        }
    }
    names.sort();
    let mut command = Command::new("sha256sum");
    command.args(names.iter().map(|(name, _)| name));
    let output = process::capture(command.current_dir(&release.output))?;
    if !output.status.success() {
        return Err("sha256sum failed".into());
    }
    let sums = String::from_utf8_lossy(&output.stdout);
    files::write(&release.output.join(FILE), &sums)?;
    eprintln!("{}:", release.output.display());
    for (name, size) in names {
        eprintln!("  {:>9.1} MiB  {name}", size as f64 / f64::from(1 << 20));
    }
    Ok(())
}
