//! `cargo xtask setup`: libtorch for the neural crate, in `.libtorch`.
//!
//! libtorch comes from the wheel of torch in the Python package index. That one is built for CUDA,
//! but its CPU part stands alone, so we keep that and leave 2.7 GB of CUDA libraries where they are.
//! The result lies in the user's cache, so that the next clone on the machine only links to it.

mod cache;
mod own;
mod wheels;

use std::path::{Path, PathBuf};

use crate::Result;

/// Libraries a complete `lib` folder has. `libtorch_cpu.so` of the wheel wants the two CUDA ones to
/// be there, though it does not call them on a machine without a GPU.
const LIBRARIES: [&str; 6] = [
    "libtorch_cpu.so",
    "libc10.so",
    "libgomp.so.1",
    "libcudart.so.13",
    "libcupti.so.13",
    "libtorch.so",
];

/// A file that is deep in a complete `include` folder.
const HEADER: &str = "include/torch/csrc/api/include/torch/torch.h";

/// What to do where we cannot help.
const ADVICE: &str = "set LIBTORCH to the folder of a libtorch 2.11 (the `torch` folder of a Python \
                      environment with torch 2.11 is one); the crates without tensors need none";

/// Makes sure that `.libtorch`, or the user's own libtorch, is complete.
pub(crate) fn run(root: &Path) -> Result<()> {
    if let Some(libtorch) = own::libtorch(root) {
        return own::check(&libtorch);
    }
    let link = root.join(".libtorch");
    if is_complete(&link) {
        return Ok(());
    }
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Err(format!(
            "libtorch is fetched for Linux on x86_64 only; {ADVICE}"
        ));
    }
    let cache = cache::Cache::lock(root)?;
    if !is_complete(&cache.libtorch()) {
        wheels::install(root, &cache)?;
    }
    cache.link_from(&link)
}

/// The libraries of `.libtorch` to give to others, and the folder with their licences.
pub(crate) fn libraries_and_licences(root: &Path) -> Result<(Vec<PathBuf>, PathBuf)> {
    if own::libtorch(root).is_some() {
        return Err(
            "what is given to others has the libtorch of `cargo xtask setup`; unset LIBTORCH"
                .into(),
        );
    }
    run(root)?;
    let libtorch = root.join(".libtorch");
    let licences = libtorch.join("licences");
    if !licences.is_dir() {
        wheels::add_licences(root, &cache::Cache::lock(root)?)?;
    }
    // The empty libtorch.so is for the linker alone.
    let needed = LIBRARIES.iter().filter(|name| **name != "libtorch.so");
    let libraries = needed.map(|name| libtorch.join("lib").join(name)).collect();
    Ok((libraries, licences))
}

/// True for a folder that [`wheels::install`] finished.
fn is_complete(libtorch: &Path) -> bool {
    libtorch.join(HEADER).is_file()
        && LIBRARIES
            .iter()
            .all(|name| libtorch.join("lib").join(name).is_file())
}
