//! Which crate may depend on which: data flows one way, and tensors and terminals stay where they
//! belong.

use std::fs;
use std::path::Path;

use crate::Result;

/// Every crate of the workspace with the crates of the workspace it may use.
const ALLOWED: &[(&str, &[&str])] = &[
    ("plethora-core", &[]),
    ("plethora-catalogue", &["plethora-core"]),
    ("plethora-system", &["plethora-core"]),
    ("plethora-linear", &["plethora-core", "plethora-system"]),
    (
        "plethora-neural",
        &["plethora-core", "plethora-linear", "plethora-system"],
    ),
    ("plethora-jobs", &["plethora-core", "plethora-system"]),
    ("plethora-serve", &["plethora-core", "plethora-system"]),
    (
        "plethora",
        &[
            "plethora-core",
            "plethora-jobs",
            "plethora-linear",
            "plethora-neural",
            "plethora-system",
        ],
    ),
    (
        "plethora-cli",
        &[
            "plethora",
            "plethora-catalogue",
            "plethora-core",
            "plethora-jobs",
            "plethora-serve",
            "plethora-system",
        ],
    ),
    (
        "plethora-python",
        &[
            "plethora",
            "plethora-core",
            "plethora-jobs",
            "plethora-system",
        ],
    ),
    ("own_system", &["plethora", "plethora-cli"]),
    ("quickstart", &["plethora"]),
    ("xtask", &[]),
];

/// Outside crates that only some crates may use.
const RESERVED: &[(&str, &[&str])] = &[
    ("tch", &["plethora-neural"]),
    ("torch-sys", &["plethora-neural"]),
    ("clap", &["plethora-cli"]),
    ("indicatif", &["plethora-cli"]),
    ("tokio", &["plethora-serve"]),
    ("axum", &["plethora-serve"]),
    ("pyo3", &["plethora-python"]),
];

/// Compares every crate's manifest with the tables.
pub(super) fn check(root: &Path) -> Result<()> {
    let mut folders = vec![root.join("xtask")];
    for parent in ["crates", "examples"].map(|name| root.join(name)) {
        let entries =
            fs::read_dir(&parent).map_err(|error| format!("{}: {error}", parent.display()))?;
        folders.extend(entries.flatten().map(|entry| entry.path()));
    }
    folders.sort();
    let mut problems = Vec::new();
    for folder in folders {
        let manifest = folder.join("Cargo.toml");
        let Ok(text) = fs::read_to_string(&manifest) else {
            continue;
        };
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        problems.extend(problems_of(&name, &dependencies(&text)));
    }
    if problems.is_empty() {
        Ok(())
    } else {
        Err(problems.join("; "))
    }
}

fn problems_of(name: &str, dependencies: &[String]) -> Vec<String> {
    let Some((_, allowed)) = ALLOWED.iter().find(|(known, _)| *known == name) else {
        return vec![format!(
            "{name} is not in the table of crates (xtask/src/check)"
        )];
    };
    let is_ours = |dependency: &str| ALLOWED.iter().any(|(known, _)| *known == dependency);
    let is_reserved = |dependency: &str| {
        RESERVED
            .iter()
            .any(|(known, users)| *known == dependency && !users.contains(&name))
    };
    dependencies
        .iter()
        .filter(|dependency| {
            (is_ours(dependency) && !allowed.contains(&dependency.as_str()))
                || is_reserved(dependency)
        })
        .map(|dependency| format!("{name} may not depend on {dependency}"))
        .collect()
}

/// The dependencies a manifest names, but for those of tests.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut dependencies = Vec::new();
    let mut is_listing = false;
    for line in manifest.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            let section = section.trim_end_matches(']');
            let table = section.rsplit('.').next().unwrap_or(section);
            is_listing = is_dependency_table(table);
            // `[dependencies.NAME]` names its dependency in the header.
            let parent = section.rsplit('.').nth(1).unwrap_or_default();
            if is_dependency_table(parent) {
                dependencies.push(table.to_owned());
            }
        } else if is_listing
            && !line.starts_with('#')
            && let Some((key, _)) = line.split_once('=')
        {
            let name = key.trim().split('.').next().unwrap_or_default();
            dependencies.push(name.trim_matches('"').to_owned());
        }
    }
    dependencies
}

fn is_dependency_table(table: &str) -> bool {
    matches!(table, "dependencies" | "build-dependencies")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_are_found_in_every_spelling() {
        let manifest = r#"
            [package]
            name = "x"
            [dependencies]
            plethora-core.workspace = true
            # tch = "1"
            clap = { version = "4" }
            [target.'cfg(unix)'.dependencies]
            rustix = "1"
            [dependencies.tch]
            version = "1"
            [dev-dependencies]
            plethora-cli.workspace = true
            [build-dependencies]
            cc = "1"
        "#;
        assert_eq!(
            dependencies(manifest),
            ["plethora-core", "clap", "rustix", "tch", "cc"]
        );
    }

    #[test]
    fn wrong_directions_and_reserved_crates_are_reported() {
        let problems = |name, dependencies: &[&str]| {
            let dependencies: Vec<String> = dependencies.iter().map(ToString::to_string).collect();
            problems_of(name, &dependencies)
        };
        assert!(problems("plethora-linear", &["plethora-core", "rayon"]).is_empty());
        assert!(problems("plethora-neural", &["tch"]).is_empty());
        assert_eq!(
            problems("plethora-core", &["plethora-linear", "tch"]),
            [
                "plethora-core may not depend on plethora-linear",
                "plethora-core may not depend on tch"
            ]
        );
        assert_eq!(problems("plethora-new", &[]).len(), 1);
    }
}
