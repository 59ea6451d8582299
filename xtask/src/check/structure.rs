//! What keeps the house in order: a family of systems is named in its own folder and where it is
//! registered, only one crate knows whether libtorch is there, and no file grows too long.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Result;

/// Longest file of production code, tests at its foot included.
const MAX_LINES: usize = 450;

/// Words that name a family or a system of it, and the family's folder.
const FAMILIES: &[(&[&str], &str)] = &[
    (&["knn"], "crates/plethora-linear/src/knn/"),
    (&["lexical"], "crates/plethora-linear/src/lexical/"),
    (
        &["attentionxml", "lightattention", "xml-rnn", "xml-cnn"],
        "crates/plethora-neural/src/words/",
    ),
    (
        &["lightxml", "aplc"],
        "crates/plethora-neural/src/pretrained/",
    ),
    (&["treader"], "crates/plethora-neural/src/treader/"),
    (&["xr-transformer"], "crates/plethora-neural/src/dense/"),
];

/// Where families are registered.
const REGISTRIES: &[&str] = &[
    "crates/plethora/src/registry.rs",
    "crates/plethora-linear/src/lib.rs",
    "crates/plethora-neural/src/lib.rs",
];

/// The crate that knows whether libtorch is there.
const KNOWS_TORCH: &str = "crates/plethora/";

/// Reads every source file of the crates, and says what is out of order.
pub(super) fn check(root: &Path) -> Result<()> {
    let mut files = Vec::new();
    collect(&root.join("crates"), &mut files)?;
    let mut problems = Vec::new();
    for file in files {
        let text =
            fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        let name = file.strip_prefix(root).unwrap_or(&file);
        problems.extend(problems_of(&name.to_string_lossy(), &text));
    }
    if problems.is_empty() {
        Ok(())
    } else {
        problems.sort();
        Err(problems.join("\n  "))
    }
}

fn problems_of(name: &str, text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if text.contains("feature = \"torch\"") && !name.starts_with(KNOWS_TORCH) {
        problems.push(format!("{name} asks whether libtorch is there"));
    }
    if !name.contains("/src/") {
        return problems;
    }
    let num_lines = text.lines().count();
    if num_lines > MAX_LINES {
        problems.push(format!("{name} has {num_lines} lines, at most {MAX_LINES}"));
    }
    let text = text.to_lowercase();
    for (words, folder) in FAMILIES {
        if name.starts_with(folder) || REGISTRIES.contains(&name) {
            continue;
        }
        let named = words.iter().filter(|word| text.contains(**word));
        problems.extend(named.map(|word| format!("{name} names `{word}`, which is in {folder}")));
    }
    problems
}

/// All Rust files below a folder.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|suffix| suffix == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_belong_to_their_folder_and_the_registries() {
        let text = "pub struct Knn;";
        assert!(problems_of("crates/plethora-linear/src/knn/family.rs", text).is_empty());
        assert!(problems_of("crates/plethora-linear/src/lib.rs", text).is_empty());
        assert!(problems_of("crates/plethora-cli/tests/knn.rs", text).is_empty());
        assert_eq!(
            problems_of("crates/plethora-cli/src/args.rs", text).len(),
            1
        );
    }

    #[test]
    fn libtorch_and_length_are_watched() {
        let text = "#[cfg(feature = \"torch\")]\n";
        assert!(problems_of("crates/plethora/src/registry.rs", text).is_empty());
        assert_eq!(problems_of("crates/plethora-cli/tests/a.rs", text).len(), 1);
        let long = "\n".repeat(MAX_LINES + 1);
        assert_eq!(problems_of("crates/plethora-core/src/a.rs", &long).len(), 1);
    }
}
