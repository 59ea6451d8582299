//! Container images as archives of the Open Container Initiative, which need no registry:
//! `docker load`, `podman load` and `skopeo copy oci-archive:FILE …` read them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::sbom::quoted;
use super::{Release, files};
use crate::{Result, process};

const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

/// An image to be.
#[derive(Debug)]
pub(super) struct Image<'a> {
    /// As `plethora:0.1.0`.
    pub(super) tag: String,
    /// Folders with the files of each layer, the lowest first.
    pub(super) layers: &'a [PathBuf],
    /// What runs: the program and the arguments that users may replace.
    pub(super) entrypoint: &'a [&'a str],
    pub(super) command: &'a [&'a str],
    pub(super) variables: &'a [&'a str],
    pub(super) user: &'a str,
    pub(super) workdir: &'a str,
    pub(super) port: u16,
}

impl Image<'_> {
    /// Writes the archive to `file`.
    pub(super) fn write(&self, release: &Release, file: &Path) -> Result<()> {
        let folder = release.stage("oci")?;
        let blobs = folder.join("blobs/sha256");
        files::create(&blobs)?;
        let mut layers = Vec::new();
        let mut contents = Vec::new();
        for layer in self.layers {
            let tar = folder.join("layer.tar");
            process::run(files::tar(release, layer).arg("-cf").arg(&tar).arg("."))?;
            contents.push(quoted(&format!("sha256:{}", sum(&tar)?)));
            process::run(Command::new("gzip").args(["-6nf"]).arg(&tar))?;
            layers.push(place(&folder.join("layer.tar.gz"), &blobs, LAYER, "")?);
        }
        let config = blob(&folder, &blobs, CONFIG, &self.config(&contents), "")?;
        let manifest = format!(
            "{{\"schemaVersion\":2,\"mediaType\":\"{MANIFEST}\",\"config\":{config},\"layers\":[{}]}}",
            layers.join(",")
        );
        let name = format!(
            ",\"annotations\":{{\"org.opencontainers.image.ref.name\":{0},\
             \"io.containerd.image.name\":{1}}}",
            quoted(self.tag.rsplit(':').next().unwrap_or(&self.tag)),
            quoted(&format!("docker.io/library/{}", self.tag))
        );
        let manifest = blob(&folder, &blobs, MANIFEST, &manifest, &name)?;
        files::write(
            &folder.join("index.json"),
            &format!("{{\"schemaVersion\":2,\"manifests\":[{manifest}]}}"),
        )?;
        files::write(
            &folder.join("oci-layout"),
            "{\"imageLayoutVersion\":\"1.0.0\"}",
        )?;
        let parts = ["oci-layout", "index.json", "blobs"];
        process::run(
            files::tar(release, &folder)
                .arg("-cf")
                .arg(file)
                .args(parts),
        )
    }

    fn config(&self, contents: &[String]) -> String {
        let list = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
            format!("[{}]", words.join(","))
        };
        format!(
            "{{\"architecture\":\"amd64\",\"os\":\"linux\",\"config\":{{\"User\":{},\"Env\":{},\
             \"Entrypoint\":{},\"Cmd\":{},\"WorkingDir\":{},\"ExposedPorts\":{{\"{}/tcp\":{{}}}}}},\
             \"rootfs\":{{\"type\":\"layers\",\"diff_ids\":[{}]}}}}",
            quoted(self.user),
            list(self.variables),
            list(self.entrypoint),
            list(self.command),
            quoted(self.workdir),
            self.port,
            contents.join(",")
        )
    }
}

/// Keeps a text as a blob, and describes it.
fn blob(folder: &Path, blobs: &Path, kind: &str, text: &str, more: &str) -> Result<String> {
    let path = folder.join("blob");
    files::write(&path, text)?;
    place(&path, blobs, kind, more)
}

/// Moves a file to where its checksum says, and describes it.
fn place(path: &Path, blobs: &Path, kind: &str, more: &str) -> Result<String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let sum = sum(path)?;
    let size = fs::metadata(path).map_err(failed)?.len();
    fs::rename(path, blobs.join(&sum)).map_err(failed)?;
    Ok(format!(
        "{{\"mediaType\":\"{kind}\",\"digest\":\"sha256:{sum}\",\"size\":{size}{more}}}"
    ))
}

fn sum(path: &Path) -> Result<String> {
    let output = process::capture(Command::new("sha256sum").arg(path))?;
    let text = String::from_utf8_lossy(&output.stdout);
    match text.split_whitespace().next() {
        Some(sum) if output.status.success() => Ok(sum.to_owned()),
        _ => Err(format!("{}: sha256sum failed", path.display())),
    }
}
