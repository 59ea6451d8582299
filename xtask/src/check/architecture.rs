//! ARCHITECTURE.md may not name what is not there.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Result;

/// Endings that make a word in backticks a path of this repository.
const ENDINGS: [&str; 6] = ["/", ".rs", ".toml", ".md", ".py", ".sh"];

/// Checks every path that ARCHITECTURE.md names in backticks or links to; paths are relative to the
/// root, to a crate or to a crate's `src`.
pub(super) fn check(root: &Path) -> Result<()> {
    let text = fs::read_to_string(root.join("ARCHITECTURE.md"))
        .map_err(|error| format!("ARCHITECTURE.md: {error}"))?;
    let bases = bases(root)?;
    let missing: Vec<&str> = paths(&text)
        .into_iter()
        .filter(|path| !bases.iter().any(|base| base.join(path).exists()))
        .collect();
    if missing.is_empty() {
        Ok(())
    } else {
        Err(format!("no such path: {}", missing.join(", ")))
    }
}

fn bases(root: &Path) -> Result<Vec<PathBuf>> {
    let crates = root.join("crates");
    let entries =
        fs::read_dir(&crates).map_err(|error| format!("{}: {error}", crates.display()))?;
    let mut bases = vec![root.to_owned(), root.join("xtask/src")];
    for folder in entries.flatten().map(|entry| entry.path()) {
        bases.push(folder.join("src"));
        bases.push(folder);
    }
    Ok(bases)
}

/// The paths a text names: words in backticks that look like one, and targets of local links.
fn paths(text: &str) -> Vec<&str> {
    let quoted = text
        .lines()
        .flat_map(|line| line.split('`').skip(1).step_by(2))
        .filter(|word| ENDINGS.iter().any(|ending| word.ends_with(ending)))
        .filter(|word| !word.contains([' ', '*', '<', '{', '$', '|']) && !word.starts_with('/'));
    let linked = text
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split([')', '#']).next())
        .filter(|target| !target.is_empty() && !target.contains("://"));
    quoted.chain(linked).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_told_from_other_code() {
        let text = "The `crates/plethora-core/` crate, `LabelTree`, `a / b/`, `testdata/*/x.py`,\n\
                    `ids.rs`, [house rules](CONTRIBUTING.md#style), [web](https://a.b/c.md).";
        assert_eq!(
            paths(text),
            ["crates/plethora-core/", "ids.rs", "CONTRIBUTING.md"]
        );
    }

    #[test]
    fn a_missing_page_and_a_path_that_is_not_there_are_found() {
        assert!(check(Path::new("/nonexistent")).is_err());
        check(&crate::repository()).unwrap();
        let bases = bases(&crate::repository()).unwrap();
        let is_there = |path: &str| bases.iter().any(|base| base.join(path).exists());
        assert!(is_there("registry.rs") && !is_there("no_such_file.rs"));
    }
}
