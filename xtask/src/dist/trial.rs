//! `cargo xtask dist try`: installs what was made in a clean Debian, and uses it.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::{Release, files};
use crate::process::succeeds;
use crate::{Result, process};

/// The oldest Debian that is tried.
const SUITE: &str = "bookworm";
const MIRROR: &str = "http://deb.debian.org/debian";

/// Unpacks the image $2 and its layers below the folder $1.
const UNPACK: &str = "set -e; cd \"$1\"; mkdir root; tar -xf \"$2\"; \
    blobs() { grep -o 'sha256:[0-9a-f]*' \"$1\" | cut -d: -f2; }; \
    for layer in $(blobs blobs/sha256/$(blobs index.json) | tail -n +2); do \
    tar -xzf blobs/sha256/$layer -C root; done";

/// Makes the root, and runs `packaging/try.sh` in it.
pub(super) fn run(release: &Release) -> Result<()> {
    if !succeeds(Command::new("debootstrap").arg("--version")) {
        return Err(
            "a clean Debian is made by debootstrap; install it (apt-get install debootstrap)"
                .into(),
        );
    }
    let root = release.stage("debian")?;
    process::run(
        Command::new("debootstrap")
            .args(["--variant=minbase", SUITE])
            .arg(&root)
            .arg(MIRROR),
    )?;
    let mut parts = Vec::new();
    let entries = fs::read_dir(&release.output).map_err(|error| {
        format!(
            "{}: {error}; `cargo xtask dist` first",
            release.output.display()
        )
    })?;
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if let Some((part, place)) = part_of(&name) {
            files::copy(&path, &root.join("dist").join(place).join(&name))?;
            parts.push(part);
        }
    }
    parts.sort_unstable();
    parts.dedup();
    if parts.is_empty() {
        return Err(format!(
            "there is nothing to try in {}",
            release.output.display()
        ));
    }
    files::copy(
        &release.root.join("packaging/try.sh"),
        &root.join("dist/try.sh"),
    )?;
    let tried = mounted(&root, || {
        process::run(
            Command::new("chroot")
                .arg(&root)
                .args(["/bin/bash", "/dist/try.sh"])
                .args(&parts)
                .env_clear()
                .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/bin"),
        )
    });
    tried?;
    images(release)?;
    files::remove(&root)
}

/// Which part of the trial a file is for, and the folder that it is looked for in.
fn part_of(name: &str) -> Option<(&'static str, &'static str)> {
    let ends = |ending: &str| name.ends_with(ending);
    if ends(".deb") {
        Some(("deb", ""))
    } else if ends(".tar.gz") {
        Some(("archive", ""))
    } else if ends("-x86_64-linux") {
        Some(("static", ""))
    } else if ends(".whl") && name.contains("manylinux") {
        Some(("wheel", "linear"))
    } else {
        None
    }
}

/// What programs find in every system and container: libtorch looks at processors there.
const SYSTEM: [(&str, &str); 2] = [("proc", "proc"), ("sysfs", "sys")];

/// Does something while the root has what the kernel tells of itself.
fn mounted(root: &Path, work: impl FnOnce() -> Result<()>) -> Result<()> {
    for (kind, name) in SYSTEM {
        let place = root.join(name);
        files::create(&place)?;
        process::run(Command::new("mount").args(["-t", kind, kind]).arg(place))?;
    }
    let done = work();
    for (_, name) in SYSTEM {
        process::run(Command::new("umount").arg(root.join(name)))?;
    }
    done
}

/// Unpacks the layers of each image, and runs its program there.
fn images(release: &Release) -> Result<()> {
    let entries = fs::read_dir(&release.output)
        .map_err(|error| format!("{}: {error}", release.output.display()))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        if !path.to_string_lossy().ends_with(".oci.tar") {
            continue;
        }
        let folder = release.stage("image-try")?;
        process::run(
            Command::new("sh")
                .args(["-c", UNPACK, "sh"])
                .arg(&folder)
                .arg(&path),
        )?;
        let root = folder.join("root");
        let inside = |arguments: &[&str]| {
            process::run(
                Command::new("chroot")
                    .args(["--userspec=10001:10001"])
                    .arg(&root)
                    .arg("/usr/bin/plethora")
                    .args(arguments)
                    .env_clear()
                    // For chroot itself; the image has no shell.
                    .env("PATH", "/usr/sbin:/usr/bin")
                    .env("HOME", "/home/plethora"),
            )
        };
        // Containers have it, and libtorch takes random numbers from it.
        let random = root.join("dev/urandom");
        files::create(&root.join("dev"))?;
        process::run(
            Command::new("mknod")
                .args(["-m", "666"])
                .arg(random)
                .args(["c", "1", "9"]),
        )?;
        let documents = ["--documents", "300", "--labels", "100", "--quiet"];
        let train = [
            "train",
            "/tmp/c/documents.jsonl",
            "--quiet",
            "--system",
            "wide-tree",
        ];
        mounted(&root, || {
            inside(&["--version"])?;
            inside(&[&["generate", "--output", "/tmp/c"], &documents[..]].concat())?;
            inside(&[&train[..], &["--output", "/tmp/model"]].concat())
        })?;
        files::remove(&folder)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_tried_by_their_kind() {
        assert_eq!(part_of("plethora_0.1.0_amd64.deb"), Some(("deb", "")));
        assert_eq!(
            part_of("plethora-0.1.0-x86_64-linux.tar.gz"),
            Some(("archive", ""))
        );
        assert_eq!(
            part_of("plethora-linear-0.1.0-x86_64-linux"),
            Some(("static", ""))
        );
        let wheel = "plethora-0.1.0-cp310-abi3-manylinux_2_34_x86_64.whl";
        assert_eq!(part_of(wheel), Some(("wheel", "linear")));
        assert_eq!(part_of("SHA256SUMS"), None);
    }
}
