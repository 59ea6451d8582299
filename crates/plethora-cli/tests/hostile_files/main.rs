//! Files that somebody made to harm: folders of models of every system whose checksums are right, and inputs of every reader.
//!
//! A few hundred of each are tried with every change. `cargo xtask fuzz` tries as many as one likes, from another seed;
//! what it finds becomes a file in `testdata/hostile/`, which is tried every time.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "tests stop where something is wrong")]

#[path = "../support/mod.rs"]
mod support;

mod encoders;
mod every_system;
mod folders;
mod mutation;
mod readers;
mod worker;

use std::path::Path;

use every_system::EverySystem;
use worker::Tally;

/// How many cases, and from which number on: `PLETHORA_HOSTILE_CASES=10000`, `PLETHORA_HOSTILE_SEED=1000000`.
fn cases(usual: u64) -> std::ops::Range<u64> {
    let number = |name: &str| -> Option<u64> { std::env::var(name).ok()?.parse().ok() };
    let first = number("PLETHORA_HOSTILE_SEED").unwrap_or(0);
    first..first + number("PLETHORA_HOSTILE_CASES").unwrap_or(usual)
}

#[expect(clippy::print_stdout, reason = "the counts of a long run")]
fn check(what: &str, tally: &Tally) {
    let (refused, accepted) = (tally.refused, tally.accepted);
    let found = tally.findings.iter();
    let found: Vec<String> = found
        .map(|found| format!("case {}: {}", found.case, found.what))
        .collect();
    let line = format!(
        "{what}: {refused} refused, {accepted} accepted, {} findings",
        found.len()
    );
    println!("{line}");
    assert!(found.is_empty(), "{line}\n{}", found.join("\n"));
    assert!(refused > 0 && accepted > 0, "{line}");
}

#[test]
fn equal_runs_leave_equal_folders_and_mutated_ones_do_no_harm() {
    let models = EverySystem::train();
    models.assert_equal();
    let tally = worker::run("a_child_opens_mutated_folders", models.path(), cases(300));
    check("mutated model folders", &tally);
}

#[test]
fn mutated_inputs_of_every_reader_do_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let tally = worker::run("a_child_reads_mutated_inputs", folder.path(), cases(2000));
    check("mutated inputs", &tally);
}

#[test]
#[ignore = "a part of another test"]
fn a_child_opens_mutated_folders() {
    let (folder, cases) = worker::cases().unwrap();
    let originals = folders::Originals::read(&folder.join("models"));
    worker::work(&folder, cases, |case| {
        originals.try_case(case, Path::new(&folder))
    });
}

#[test]
#[ignore = "a part of another test"]
fn a_child_reads_mutated_inputs() {
    let (folder, cases) = worker::cases().unwrap();
    let readers = readers::Readers::new(&folder);
    worker::work(&folder, cases, |case| readers.try_case(case));
}
