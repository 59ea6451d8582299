//! A browser for the tests that look at pages.

use std::path::PathBuf;
use std::process::Command;

use crate::Result;
use crate::process::{self, capture, succeeds};

/// Says where the browser is, where it has no name of those below.
pub(crate) const VARIABLE: &str = "CHROMIUM";

const NAMES: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

/// Finds Chromium, or gets it from Debian where this may be done without asking.
pub(crate) fn chromium() -> Result<PathBuf> {
    if let Some(own) = std::env::var_os(VARIABLE) {
        return Ok(own.into());
    }
    if let Some(found) = on_path() {
        return Ok(found);
    }
    if is_root() && succeeds(Command::new("apt-get").arg("--version")) {
        let apt = |arguments: &[&str]| {
            let mut command = Command::new("apt-get");
            command
                .args(arguments)
                .env("DEBIAN_FRONTEND", "noninteractive");
            process::run(&mut command)
        };
        apt(&["update", "-qq"])?;
        apt(&[
            "install",
            "-y",
            "-qq",
            "--no-install-recommends",
            "chromium",
        ])?;
    }
    on_path().ok_or_else(|| {
        format!(
            "the pages are tested in Chromium, which is not there; install it (Debian: apt-get install \
             chromium), or set {VARIABLE} to its program"
        )
    })
}

fn on_path() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let programs = NAMES
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    programs.into_iter().find(|program| program.is_file())
}

fn is_root() -> bool {
    capture(Command::new("id").arg("-u")).is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}
