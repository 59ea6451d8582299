//! The program without neural systems as one file that runs on any Linux.

use std::process::Command;

use super::{Release, files};
use crate::process::{capture, succeeds};
use crate::{Result, process};

const MUSL: &str = "x86_64-unknown-linux-musl";
const GNU: &str = "x86_64-unknown-linux-gnu";

/// The largest that the program should be; more is told.
const MAX_BYTES: u64 = 15 << 20;

/// Crates in which no time is spent: they are made small.
const SMALL: [&str; 4] = ["*", "plethora-cli", "plethora-serve", "plethora-jobs"];

/// Crates of others in which time is spent when corpora are read.
const FAST: [&str; 8] = [
    "csv-core",
    "flate2",
    "memchr",
    "miniz_oxide",
    "rayon-core",
    "serde_json",
    "sha2",
    "unicode-normalization",
];

/// Forms of the program that shows the HTTP interface which no page asks for.
const UNUSED: [&str; 3] = [
    "swagger-ui.js",
    "swagger-ui-es-bundle.js",
    "swagger-ui-es-bundle-core.js",
];

/// Builds `plethora-linear-VERSION-x86_64-linux`.
pub(super) fn make(release: &Release) -> Result<()> {
    let target = target();
    let mut build = process::cargo(&release.root);
    build
        .args(["build", "--release", "--package", "plethora-cli"])
        .args(["--bin", "plethora", "--target", target]);
    let level =
        |name: &str, level: &str| format!("profile.release.package.\"{name}\".opt-level={level}");
    let whole =
        ["lto=\"fat\"", "codegen-units=1"].map(|setting| format!("profile.release.{setting}"));
    for setting in (SMALL.iter().map(|name| level(name, "\"z\"")))
        .chain(FAST.iter().map(|name| level(name, "3")))
        .chain(whole)
    {
        build.args(["--config", &setting]);
    }
    build.env("SWAGGER_UI_OVERWRITE_FOLDER", without_unused(release)?);
    if target == GNU {
        eprintln!(
            "there is no Rust library for {MUSL} (rustup target add {MUSL}); linking glibc instead"
        );
        build.env(
            "RUSTFLAGS",
            "-C target-feature=+crt-static -C relocation-model=static",
        );
    } else {
        // For the C libraries in crates.
        build.env("CC_x86_64_unknown_linux_musl", "musl-gcc");
    }
    process::run(&mut build)?;
    let folder = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    let built = release
        .root
        .join(folder)
        .join(target)
        .join("release/plethora");
    let finished = path(release);
    files::copy_stripped(&built, &finished)?;
    files::set_mode(&finished, 0o755)?;
    let size = std::fs::metadata(&finished).map_or(0, |data| data.len());
    if size > MAX_BYTES {
        let (size, most) = (size >> 20, MAX_BYTES >> 20);
        eprintln!(
            "warning: the static program has {size} MiB, more than the {most} that it should"
        );
    }
    let links = capture(Command::new("ldd").arg(&finished))?;
    let says = String::from_utf8_lossy(&links.stdout) + String::from_utf8_lossy(&links.stderr);
    let is_static = ["not a dynamic executable", "statically linked"]
        .iter()
        .any(|words| says.contains(words));
    if is_static && succeeds(Command::new(&finished).arg("--version")) {
        Ok(())
    } else {
        Err(format!("{} is not static: {says}", finished.display()))
    }
}

/// A folder of empty files that take the places of those of [`UNUSED`] when the crate embeds them.
fn without_unused(release: &Release) -> Result<std::path::PathBuf> {
    let folder = release.stage("swagger-ui")?;
    for name in UNUSED {
        files::write(&folder.join(name), "")?;
    }
    Ok(folder)
}

/// Where the program is when it is finished.
pub(super) fn path(release: &Release) -> std::path::PathBuf {
    let name = format!("plethora-linear-{}-x86_64-linux", release.version);
    release.output.join(name)
}

/// musl where its Rust library is installed. glibc can be linked as well, and then needs nothing of
/// the machine either.
fn target() -> &'static str {
    let libraries =
        capture(Command::new("rustc").args(["--print", "target-libdir", "--target", MUSL]));
    let is_there = libraries.is_ok_and(|output| {
        let folder = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        output.status.success() && std::path::Path::new(&folder).is_dir()
    });
    if is_there { MUSL } else { GNU }
}
