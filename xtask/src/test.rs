//! `cargo xtask test`: all tests of all crates.

use std::path::Path;

use crate::{
    Result, browser, clients, crash, docs, page, process, program, python, setup,
    virtual_environment,
};

/// Sets up and runs unit, integration and documentation tests, and without arguments those that need a
/// browser or Python, and the commands of the documents.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    if arguments.is_empty() {
        // They come last; what they lack is better told now.
        virtual_environment::check()?;
        browser::chromium()?;
    }
    // Before libtorch is there: the default members must not look for it.
    process::run(
        process::cargo(root)
            .arg("build")
            .env("LIBTORCH", "/nonexistent"),
    )
    .map_err(|error| format!("the crates without tensors must build alone: {error}"))?;
    if arguments.is_empty() {
        // With this program, which starts much faster than one that loads libtorch.
        let program = program::path(root, "debug");
        crash::run(root, crash::Extent::Small, &program, &[])?;
    }
    setup::run(root)?;
    let has_nextest = process::succeeds(process::cargo(root).args(["nextest", "--version"]));
    let mut tests = process::cargo(root);
    if has_nextest {
        tests
            .args(["nextest", "run", "--workspace"])
            .args(process::WITH_TORCH);
    } else {
        // Documentation tests come below, as nextest has none.
        tests
            .args(["test", "--workspace", "--all-targets"])
            .args(process::WITH_TORCH);
    }
    // Tests run side by side already; threads of libtorch on top would wait for each other.
    process::run(tests.args(arguments).env("OMP_NUM_THREADS", "1"))?;
    process::run(
        process::cargo(root)
            .args(["test", "--quiet", "--workspace", "--doc"])
            .args(process::WITH_TORCH),
    )?;
    if arguments.is_empty() {
        pages(root)?;
        page::run(root, &[])?;
        docs::run_commands(root, &[])?;
        clients::run(root, &[])?;
        python::run(root, &[])?;
    }
    Ok(())
}

/// Runs the tests that open pages, which are ignored elsewhere because they need a browser.
fn pages(root: &Path) -> Result<()> {
    let chromium = browser::chromium()?;
    process::run(
        process::cargo(root)
            .arg("test")
            .args(program::AS_TESTED)
            .args(process::WITH_TORCH)
            .args(["--", "--ignored"])
            .env(browser::VARIABLE, chromium)
            .env("OMP_NUM_THREADS", "1"),
    )
}
