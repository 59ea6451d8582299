//! `cargo xtask page`: the page of `plethora serve`, tested in a browser with two small models.

use std::path::Path;
use std::process::Command;

use crate::{Result, browser, docs, process, program, setup, virtual_environment};

/// What is tested, from the root.
const TESTS: &str = "crates/plethora-serve/tests/page";

/// The same for the site of the documents, which the environment of these tests does for, too.
const SITE_TESTS: &str = "xtask/src/docs/test_site.py";

/// Environment, catalogue and models, from the root: the names of models must have no spaces.
const FOLDER: &str = "target/page";

/// The systems, of which the first is a linear one with trees; the other needs seconds with these.
const SYSTEMS: [(&str, &[&str]); 2] = [
    ("wide-tree", &[]),
    (
        "attentionxml",
        &[
            "vectors.width=16",
            "words.max_length=40",
            "encoder.hidden=16",
            "head.layers=[16]",
            "train.epochs=1",
        ],
    ),
];

/// Sets up, trains and runs the tests; arguments go to pytest, and leave out those of the site.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let chromium = browser::chromium()?;
    setup::run(root)?;
    let program = program::build(root)?;
    let python = virtual_environment::kept(&root.join(FOLDER).join("venv"))?;
    process::run(
        virtual_environment::install(&python)
            .arg("--requirement")
            .arg(root.join(TESTS).join("requirements.txt")),
    )?;
    if arguments.is_empty() {
        // In a process of its own: one has at most one Playwright.
        process::run(
            Command::new(&python)
                .args(["-m", "pytest", "-q", "-p", "no:cacheprovider", SITE_TESTS])
                .current_dir(root)
                .env("PLETHORA_SITE", docs::make_site(root)?)
                .env(browser::VARIABLE, &chromium),
        )?;
    }
    generate(root, &program)?;
    for (system, settings) in SYSTEMS {
        train(root, &program, system, settings)?;
    }
    process::run(
        Command::new(&python)
            .args(["-m", "pytest", "-q", "--override-ini"])
            .arg(format!(
                "cache_dir={}",
                root.join(FOLDER).join("pytest").display()
            ))
            .args(arguments)
            .arg(TESTS)
            .current_dir(root)
            .env("PLETHORA", program)
            .env(
                "PLETHORA_MODELS",
                SYSTEMS.map(|(name, _)| model(name)).join(" "),
            )
            .env(browser::VARIABLE, chromium)
            .env("OMP_NUM_THREADS", "1"),
    )
}

/// Makes the documents and a vocabulary of several levels.
fn generate(root: &Path, program: &Path) -> Result<()> {
    process::run(
        Command::new(program)
            .args(["generate", "--quiet", "--force", "--documents", "3000"])
            .args(["--output", &format!("{FOLDER}/catalogue")])
            .current_dir(root),
    )
}

fn train(root: &Path, program: &Path, system: &str, settings: &[&str]) -> Result<()> {
    let mut train = Command::new(program);
    train
        .arg("train")
        .arg(format!("{FOLDER}/catalogue/documents.jsonl"))
        .args(["--text-field", "title,text", "--where", "split=train"])
        .args([
            "--vocabulary",
            &format!("{FOLDER}/catalogue/labels.jsonl"),
            "--system",
            system,
        ])
        .args(settings.iter().flat_map(|setting| ["--set", setting]))
        .args(["--quiet", "--force", "--output", &model(system)])
        .current_dir(root)
        .env("OMP_NUM_THREADS", "1");
    process::run(&mut train)
}

/// The folder of a model, from the root.
fn model(system: &str) -> String {
    format!("{FOLDER}/{system}")
}
