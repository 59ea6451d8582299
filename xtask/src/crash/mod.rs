//! `cargo xtask crash`: kills every command that writes at every rename, every fsync and every tenth write, and looks at what
//! is left.

mod feedback;
mod killer;
mod scenario;
mod scenarios;

use std::path::Path;

use killer::Killer;

use crate::{Result, program};

/// How much is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// The quick scenarios, for every change.
    Small,
    /// All of them.
    Whole,
}

/// Builds the program, or takes that of `PLETHORA_PROGRAM`, and runs the scenarios whose names contain one of `wanted`, or all.
pub(crate) fn run_all(root: &Path, wanted: &[String]) -> Result<()> {
    let program = match std::env::var_os("PLETHORA_PROGRAM") {
        Some(program) => program.into(),
        None => program::build(root)?,
    };
    run(root, Extent::Whole, &program, wanted)
}

/// Kills a program in the scenarios whose names contain one of `wanted`, or in all.
pub(crate) fn run(root: &Path, extent: Extent, program: &Path, wanted: &[String]) -> Result<()> {
    let folder = root.join("target/crash");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let killer = Killer::build(&folder, program)?;
    let mut failures = Vec::new();
    let mut num_kills = 0;
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|part| name.contains(part));
    for scenario in scenarios::all() {
        let is_due = extent == Extent::Whole || scenario.is_quick;
        if !is_due || !is_wanted(scenario.name) || !scenario.can_run(&killer) {
            continue;
        }
        let found = scenario.run(&killer, &folder.join("desk"))?;
        eprintln!(
            "{:>12}: {} kills ({} renames, {} fsyncs, {} writes, every {}th killed): {} old, {} new, {} finished by the next reader, {} faults",
            scenario.name,
            found.num_kills,
            found.counts[0],
            found.counts[1],
            found.counts[2],
            scenario::WRITES_PER_KILL,
            found.num_old,
            found.num_new,
            found.num_finished,
            found.faults.len()
        );
        for fault in &found.faults {
            eprintln!("              {fault}");
        }
        num_kills += found.num_kills;
        failures.extend(found.faults);
    }
    if is_wanted("feedback") {
        num_kills += feedback::run(&killer, &folder.join("desk"))?;
    }
    eprintln!("{num_kills} kills, {} faults", failures.len());
    if failures.is_empty() {
        return Ok(());
    }
    Err(format!("{} faults, listed above", failures.len()))
}
