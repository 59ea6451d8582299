//! `cargo xtask dist`: what users install, in `target/dist`.

mod archive;
mod deb;
mod files;
mod image;
mod licences;
mod oci;
mod packages;
mod sbom;
mod static_program;
mod sums;
mod trial;

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Result, process, python};

/// What there is to make, in this order.
const PARTS: [&str; 5] = ["static", "archive", "deb", "image", "wheels"];

/// What all parts need to know.
#[derive(Debug)]
struct Release {
    /// The repository.
    root: PathBuf,
    /// Where finished files go.
    output: PathBuf,
    version: String,
    /// Seconds since 1970 of the commit: all files have this time, so that the same commit gives the
    /// same archives.
    time: String,
}

impl Release {
    fn of(root: &Path) -> Result<Self> {
        let manifest = root.join("Cargo.toml");
        let text = fs::read_to_string(&manifest)
            .map_err(|error| format!("{}: {error}", manifest.display()))?;
        let time = process::capture(
            std::process::Command::new("git")
                .args(["log", "-1", "--format=%ct"])
                .current_dir(root),
        )?;
        let time = String::from_utf8_lossy(&time.stdout).trim().to_owned();
        Ok(Self {
            root: root.to_owned(),
            output: root.join("target/dist"),
            version: version(&text).ok_or("Cargo.toml has no version")?,
            time: if time.is_empty() { "0".into() } else { time },
        })
    }

    /// An empty folder to put files together in.
    fn stage(&self, name: &str) -> Result<PathBuf> {
        let folder = self.root.join("target/dist-stage").join(name);
        files::remove(&folder)?;
        files::create(&folder)?;
        Ok(folder)
    }
}

/// Makes the named parts, or all of them; `try` installs what is there in a clean Debian.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let release = Release::of(root)?;
    if let [only] = arguments
        && only == "try"
    {
        return trial::run(&release);
    }
    let parts = chosen(arguments)?;
    if arguments.is_empty() {
        files::remove(&release.output)?;
    }
    files::create(&release.output)?;
    for part in parts {
        match part {
            "static" => static_program::make(&release)?,
            "archive" => archive::make(&release)?,
            "deb" => deb::make(&release)?,
            "image" => image::make(&release)?,
            _ => {
                python::wheel(root, &release.output, true)?;
                python::wheel(root, &release.output, false)?;
            }
        }
    }
    sbom::make(&release)?;
    sums::make(&release)
}

fn chosen(arguments: &[String]) -> Result<Vec<&'static str>> {
    let unknown = |argument: &&String| !PARTS.contains(&argument.as_str());
    if let Some(argument) = arguments.iter().find(unknown) {
        let known = PARTS.join(", ");
        return Err(format!(
            "expected some of {known}, or try; found `{argument}`"
        ));
    }
    let is_chosen =
        |part: &&str| arguments.is_empty() || arguments.iter().any(|argument| argument == part);
    Ok(PARTS.into_iter().filter(is_chosen).collect())
}

/// The version of the workspace.
fn version(manifest: &str) -> Option<String> {
    let package = manifest.split("[workspace.package]").nth(1)?;
    let line = package.lines().find(|line| line.starts_with("version"))?;
    line.split('"').nth(1).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_keep_their_order_and_wrong_ones_are_named() {
        let chosen = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(ToString::to_string).collect();
            super::chosen(&names)
        };
        assert_eq!(chosen(&[]).unwrap(), PARTS);
        assert_eq!(chosen(&["deb", "static"]).unwrap(), ["static", "deb"]);
        assert!(chosen(&["rpm"]).unwrap_err().contains("found `rpm`"));
    }

    #[test]
    fn the_version_is_that_of_the_workspace() {
        let manifest = "[workspace]\nresolver = \"3\"\n[workspace.package]\nversion = \"1.2.3\"\n";
        assert_eq!(version(manifest).as_deref(), Some("1.2.3"));
        assert!(
            Release::of(&crate::repository())
                .unwrap()
                .version
                .contains('.')
        );
    }
}
