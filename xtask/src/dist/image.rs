//! Container images: the linear program alone, and the whole one on the libraries of Debian.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::oci::Image;
use super::{Release, archive, files, licences, static_program};
use crate::{Result, process, setup};

/// Packages of Debian whose files the whole program needs.
const DEBIAN: [&str; 4] = ["libc6", "libgcc-s1", "gcc-12-base", "libstdc++6"];

/// Who the server runs as; nobody has this number elsewhere.
const USER: &str = "10001:10001";

/// Makes `plethora-linear-VERSION.oci.tar` and, where Debian's packages can be had,
/// `plethora-VERSION.oci.tar`.
pub(super) fn make(release: &Release) -> Result<()> {
    let program = static_program::path(release);
    if !program.is_file() {
        static_program::make(release)?;
    }
    let layer = release.stage("image-linear")?;
    files::copy(&program, &layer.join("usr/bin/plethora"))?;
    files::set_mode(&layer.join("usr/bin/plethora"), 0o755)?;
    accounts(&layer)?;
    licences::write(release, &layer.join("usr/share/doc/plethora/licences"))?;
    write(release, "plethora-linear", &[layer])?;

    let base = release.stage("image-debian")?;
    debian(release, &base)?;
    let layer = release.stage("image-whole")?;
    archive::program_with_libraries(release, &layer.join("usr/lib/plethora"))?;
    files::create(&layer.join("usr/bin"))?;
    process::run(
        Command::new("ln")
            .args(["-s", "../lib/plethora/plethora"])
            .arg(layer.join("usr/bin/plethora")),
    )?;
    accounts(&layer)?;
    let about = layer.join("usr/share/doc/plethora/licences");
    licences::write(release, &about)?;
    files::copy_folder(&setup::libraries_and_licences(&release.root)?.1, &about)?;
    write(release, "plethora", &[base, layer])
}

fn write(release: &Release, name: &str, layers: &[PathBuf]) -> Result<()> {
    let image = Image {
        tag: format!("{name}:{}", release.version),
        layers,
        entrypoint: &["/usr/bin/plethora"],
        command: &["serve", "/models/model"],
        variables: &[
            "PATH=/usr/bin",
            "HOME=/home/plethora",
            // Who reaches the container is for its network to say.
            "PLETHORA_HOST=0.0.0.0",
        ],
        user: USER,
        workdir: "/models",
        port: 8080,
    };
    let file = format!("{name}-{}.oci.tar", release.version);
    image.write(release, &release.output.join(file))
}

/// A user, and the folders that it may write to.
fn accounts(layer: &Path) -> Result<()> {
    let number = USER.split(':').next().unwrap_or(USER);
    files::write(
        &layer.join("etc/passwd"),
        &format!(
            "root:x:0:0:root:/:/sbin/nologin\nplethora:x:{number}:{number}::/home/plethora:/sbin/nologin\n"
        ),
    )?;
    files::write(
        &layer.join("etc/group"),
        &format!("root:x:0:\nplethora:x:{number}:\n"),
    )?;
    files::write(&layer.join("etc/nsswitch.conf"), "hosts: files dns\n")?;
    for (folder, mode) in [
        ("tmp", 0o1777),
        ("models", 0o755),
        ("home/plethora", 0o1777),
    ] {
        files::create(&layer.join(folder))?;
        files::set_mode(&layer.join(folder), mode)?;
    }
    Ok(())
}

/// The files of Debian's packages, without a shell and without anything else.
fn debian(release: &Release, layer: &Path) -> Result<()> {
    let packages = release.stage("debian-packages")?;
    let mut download = Command::new("apt-get");
    download.arg("download").args(DEBIAN).current_dir(&packages);
    process::run(&mut download).map_err(|error| {
        format!("{error}; the image takes its libraries from Debian's packages")
    })?;
    // As Debian has merged them.
    files::create(&layer.join("usr/lib"))?;
    files::create(&layer.join("usr/lib64"))?;
    for name in ["lib", "lib64"] {
        let link = layer.join(name);
        process::run(
            Command::new("ln")
                .arg("-s")
                .arg(format!("usr/{name}"))
                .arg(link),
        )?;
    }
    let entries =
        std::fs::read_dir(&packages).map_err(|error| format!("{}: {error}", packages.display()))?;
    let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    found.sort();
    for package in found {
        // dpkg-deb -x would put folders in the place of the links.
        let unpack = "dpkg-deb --fsys-tarfile \"$1\" | tar --keep-directory-symlink -xf - -C \"$2\" \
                      --exclude=./usr/share/locale --exclude=./usr/share/lintian";
        process::run(
            Command::new("sh")
                .args(["-c", unpack, "sh"])
                .arg(&package)
                .arg(layer),
        )?;
    }
    Ok(())
}
