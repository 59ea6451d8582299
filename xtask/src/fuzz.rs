//! `cargo xtask fuzz`: many more of the damaged files that the tests try.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::{Result, process, setup};

/// Cases of each kind where none are asked for.
const USUAL_CASES: u64 = 10_000;

/// Tries so many mutated model folders of every system and so many mutated inputs of every reader. The first case is another
/// one each time unless it is given; a finding names its case, which `cargo xtask fuzz 1 CASE` tries again.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let number = |place: usize, usual: u64| match arguments.get(place) {
        None => Ok(usual),
        Some(text) => text
            .parse::<u64>()
            .map_err(|_| format!("expected a number, found `{text}`")),
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let cases = number(0, USUAL_CASES)?;
    let first = number(1, now.unwrap_or_default().as_secs())?;
    setup::run(root)?;
    eprintln!("{cases} cases of each kind, the first is {first}");
    process::run(
        process::cargo(root)
            .args(["test", "--workspace", "--test", "hostile_files"])
            .args(process::WITH_TORCH)
            .args(["--", "--nocapture", "--test-threads", "1"])
            .env("PLETHORA_HOSTILE_CASES", cases.to_string())
            .env("PLETHORA_HOSTILE_SEED", first.to_string())
            .env("OMP_NUM_THREADS", "1"),
    )
}
