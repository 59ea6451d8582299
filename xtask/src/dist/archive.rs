//! The program with its libtorch, for any folder: `tar xf`, and it runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Release, files, licences};
use crate::{Result, process, program, setup};

/// Completions by the names that shells want them to have.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "plethora.bash"),
    ("zsh", "_plethora"),
    ("fish", "plethora.fish"),
];

/// Makes `plethora-VERSION-x86_64-linux.tar.gz`.
pub(super) fn make(release: &Release) -> Result<()> {
    let name = format!("plethora-{}-x86_64-linux", release.version);
    let folder = release.stage("archive")?.join(&name);
    fill(release, &folder)?;
    let parent = folder.parent().unwrap_or(&folder);
    process::run(
        files::tar(release, parent)
            .arg("--mode=go-w")
            .args(["--use-compress-program", "gzip -6n", "-cf"])
            .arg(release.output.join(format!("{name}.tar.gz")))
            .arg(&name),
    )
}

/// Puts together program, libraries, licences, completions and manual.
fn fill(release: &Release, folder: &Path) -> Result<()> {
    program_with_libraries(release, folder)?;
    documents(release, folder, &folder.join("plethora"))?;
    let packaging = release.root.join("packaging");
    files::copy(&packaging.join("README.txt"), &folder.join("README.txt"))?;
    for name in ["plethora.service", "plethora.default"] {
        files::copy(&packaging.join(name), &folder.join("systemd").join(name))?;
    }
    Ok(())
}

/// The optimised program and, in `lib` beside it, libtorch.
pub(super) fn program_with_libraries(release: &Release, folder: &Path) -> Result<()> {
    let (libraries, _) = setup::libraries_and_licences(&release.root)?;
    process::run(
        process::cargo(&release.root)
            .args([
                "build",
                "--release",
                "--package",
                "plethora-cli",
                "--bin",
                "plethora",
            ])
            .args(process::WITH_TORCH)
            .env("PLETHORA_RELOCATABLE", "1"),
    )?;
    let program = folder.join("plethora");
    files::copy_stripped(&program::path(&release.root, "release"), &program)?;
    files::set_mode(&program, 0o755)?;
    for library in libraries {
        let target = folder
            .join("lib")
            .join(library.file_name().unwrap_or_default());
        files::copy(&library, &target)?;
        files::set_mode(&target, 0o644)?;
    }
    Ok(())
}

/// Licences, completions and manual, by the program itself.
pub(super) fn documents(release: &Release, folder: &Path, program: &Path) -> Result<()> {
    licences::write(release, &folder.join("licences"))?;
    let (_, of_libtorch) = setup::libraries_and_licences(&release.root)?;
    files::copy_folder(&of_libtorch, &folder.join("licences"))?;
    for (shell, name) in COMPLETIONS {
        let output = process::capture(Command::new(program).args(["completions", shell]))?;
        let text = String::from_utf8_lossy(&output.stdout);
        files::write(&folder.join("completions").join(name), &text)?;
    }
    let manual = folder.join("man/man1");
    process::run(Command::new(program).args(["man", "--output"]).arg(&manual))?;
    let entries =
        fs::read_dir(&manual).map_err(|error| format!("{}: {error}", manual.display()))?;
    let pages: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    process::run(Command::new("gzip").arg("-9nf").args(pages))
}
