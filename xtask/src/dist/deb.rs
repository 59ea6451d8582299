//! The package for Debian and Ubuntu: program, manual, completions, and a unit for the server.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Release, archive, files};
use crate::{Result, process};

/// Where completions go.
const COMPLETIONS: [(&str, &str); 3] = [
    (
        "plethora.bash",
        "usr/share/bash-completion/completions/plethora",
    ),
    ("_plethora", "usr/share/zsh/vendor-completions/_plethora"),
    (
        "plethora.fish",
        "usr/share/fish/vendor_completions.d/plethora.fish",
    ),
];

/// Makes `plethora_VERSION_amd64.deb`.
pub(super) fn make(release: &Release) -> Result<()> {
    let root = release.stage("deb")?;
    let program = root.join("usr/lib/plethora/plethora");
    archive::program_with_libraries(release, &root.join("usr/lib/plethora"))?;
    link(&root.join("usr/bin/plethora"), "../lib/plethora/plethora")?;
    documents(release, &root, &program)?;
    let packaging = release.root.join("packaging");
    let unit = root.join("usr/lib/systemd/system/plethora.service");
    files::copy(&packaging.join("plethora.service"), &unit)?;
    files::copy(
        &packaging.join("plethora.default"),
        &root.join("etc/default/plethora"),
    )?;
    control(release, &root, &program)?;
    let name = format!("plethora_{}_amd64.deb", release.version);
    process::run(
        Command::new("dpkg-deb")
            .args(["--root-owner-group", "-Zzstd", "-z12", "--build"])
            .arg(&root)
            .arg(release.output.join(name))
            .env("SOURCE_DATE_EPOCH", &release.time),
    )
}

/// Manual, completions and licences, where Debian has them.
fn documents(release: &Release, root: &Path, program: &Path) -> Result<()> {
    let folder = release.stage("deb-documents")?;
    archive::documents(release, &folder, program)?;
    files::copy_folder(&folder.join("man/man1"), &root.join("usr/share/man/man1"))?;
    for (name, place) in COMPLETIONS {
        files::copy(&folder.join("completions").join(name), &root.join(place))?;
    }
    let about = root.join("usr/share/doc/plethora");
    files::copy_folder(&folder.join("licences"), &about.join("licences"))?;
    files::write(
        &about.join("copyright"),
        "Plethora is under the MIT licence or the Apache licence 2.0, at your choice.\n\
         Both, and the licences of everything inside, are in /usr/share/doc/plethora/licences.\n",
    )
}

/// What dpkg reads and runs.
fn control(release: &Release, root: &Path, program: &Path) -> Result<()> {
    let scripts = release.root.join("packaging/deb");
    let target = root.join("DEBIAN");
    for name in ["postinst", "prerm", "postrm"] {
        files::copy(&scripts.join(name), &target.join(name))?;
        files::set_mode(&target.join(name), 0o755)?;
    }
    files::write(&target.join("conffiles"), "/etc/default/plethora\n")?;
    let template = scripts.join("control");
    let text = fs::read_to_string(&template)
        .map_err(|error| format!("{}: {error}", template.display()))?;
    let text = text
        .replace("@VERSION@", &release.version)
        .replace("@SIZE@", &(size(root) / 1024).to_string())
        .replace("@GLIBC@", &glibc(program)?);
    files::write(&target.join("control"), &text)
}

/// The newest version of glibc that the program asks for.
fn glibc(program: &Path) -> Result<String> {
    let output = process::capture(Command::new("objdump").arg("-T").arg(program))?;
    let text = String::from_utf8_lossy(&output.stdout);
    newest_glibc(&text).ok_or_else(|| format!("{}: objdump names no glibc", program.display()))
}

fn newest_glibc(symbols: &str) -> Option<String> {
    let versions = symbols.split("GLIBC_").skip(1);
    let version = |rest: &str| -> Option<(u32, u32)> {
        let number = rest.split([')', ' ', '\n']).next()?;
        let (major, minor) = number.split_once('.')?;
        Some((major.parse().ok()?, minor.split('.').next()?.parse().ok()?))
    };
    let (major, minor) = versions.filter_map(version).max()?;
    Some(format!("{major}.{minor}"))
}

/// The bytes of all files in a folder.
fn size(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else {
        return 0;
    };
    let paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    let of = |path: &PathBuf| match fs::symlink_metadata(path) {
        Ok(data) if data.is_dir() => size(path),
        Ok(data) => data.len(),
        Err(_) => 0,
    };
    paths.iter().map(of).sum()
}

fn link(path: &Path, target: &str) -> Result<()> {
    files::create(path.parent().unwrap_or(path))?;
    process::run(Command::new("ln").args(["-s", target]).arg(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_glibc_decides() {
        let symbols = "0000 DF *UND* 0000 (GLIBC_2.2.5) read\n0000 DF *UND* 0000 (GLIBC_2.34) x\n\
                       0000 DF *UND* 0000  GLIBC_2.9   y\n";
        assert_eq!(newest_glibc(symbols).as_deref(), Some("2.34"));
        assert_eq!(newest_glibc("nothing"), None);
    }
}
