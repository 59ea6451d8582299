//! Model folders that are damaged, of another program version, or none.

use std::fs;
use std::path::Path;

use crate::refusal::{BAD_DATA, desk_with_model, refuse};

/// The verbs that open models.
const VERBS: [&str; 4] = [
    "info MODEL",
    "info MODEL --json",
    "predict MODEL books.jsonl",
    "eval MODEL books.jsonl",
];

/// A way to spoil a model.
type Damage = fn(&Path);

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

fn truncate(path: &Path, size: u64) {
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_len(size).unwrap();
}

/// Changes the manifest, which no checksum protects.
fn edit_manifest(model: &Path, from: &str, to: &str) {
    let path = model.join("manifest.json");
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{text}");
    fs::write(path, text.replace(from, to)).unwrap();
}

#[test]
fn damage_is_told_with_the_file_by_all_verbs() {
    let desk = desk_with_model();
    let cases: [(&str, Damage); 11] = [
        (
            "d: not a Plethora model: the folder has no manifest.json",
            |model| {
                fs::remove_file(model.join("manifest.json")).unwrap();
            },
        ),
        (
            "d/manifest.json: the manifest is damaged: EOF while parsing...",
            |model| {
                truncate(&model.join("manifest.json"), 100);
            },
        ),
        (
            "d/manifest.json: the manifest is damaged: EOF while parsing...",
            |model| {
                truncate(&model.join("manifest.json"), 0);
            },
        ),
        (
            "d/manifest.json: written by a newer Plethora (format 9), this program reads up to 1",
            |model| {
                edit_manifest(model, "\"format_version\": 1", "\"format_version\": 9");
            },
        ),
        (
            "d/manifest.json: the details are not what was expected: ...",
            |model| {
                edit_manifest(model, "\"n_labels\": 4", "\"n_labels\": \"four\"");
            },
        ),
        (
            "d/tree-0.safetensors: the file is truncated: 100 bytes, the manifest says...",
            |model| {
                truncate(&model.join("tree-0.safetensors"), 100);
            },
        ),
        (
            "d/tree-0.safetensors: the file is damaged: its SHA-256 is not the one in the manifest",
            |model| {
                let path = model.join("tree-0.safetensors");
                let mut bytes = fs::read(&path).unwrap();
                *bytes.last_mut().unwrap() ^= 1;
                fs::write(path, bytes).unwrap();
            },
        ),
        (
            "d/config.json: the file is truncated: 0 bytes, the manifest says...",
            |model| {
                truncate(&model.join("config.json"), 0);
            },
        ),
        (
            "d/vocabulary.txt: the file is missing from the model",
            |model| {
                fs::remove_file(model.join("vocabulary.txt")).unwrap();
            },
        ),
        (
            "d/labels.jsonl: is a folder, the model has a file here",
            |model| {
                fs::remove_file(model.join("labels.jsonl")).unwrap();
                fs::create_dir(model.join("labels.jsonl")).unwrap();
            },
        ),
        ("d/README.md: the file is damaged: ...", |model| {
            fs::write(model.join("README.md"), "x".repeat(10_000)).unwrap();
        }),
    ];
    for (message, damage) in cases {
        copy(&desk.file("model"), &desk.file("d"));
        damage(&desk.file("d"));
        for verb in VERBS {
            refuse(&desk, &verb.replace("MODEL", "d"), BAD_DATA, message);
        }
        fs::remove_dir_all(desk.file("d")).unwrap();
    }
}

#[test]
fn manifests_that_do_not_fit_their_files_are_refused_before_ranking() {
    let desk = desk_with_model();
    for (from, to, message) in [
        (
            "\"kind\": \"wide-tree\"",
            "\"kind\": \"oracle\"",
            "d: this program does not know the system `oracle`",
        ),
        (
            "\"n_labels\": 4",
            "\"n_labels\": 5",
            "d: has 4 labels where the manifest says 5",
        ),
        (
            "\"n_features\": 27",
            "\"n_features\": 5",
            "d: the terms of the text features do not fit the manifest",
        ),
        (
            "\"n_features\": 27",
            "\"n_features\": 28",
            "d: the terms of the text features do not fit the manifest",
        ),
    ] {
        copy(&desk.file("model"), &desk.file("d"));
        edit_manifest(&desk.file("d"), from, to);
        for verb in &VERBS[2..] {
            refuse(&desk, &verb.replace("MODEL", "d"), BAD_DATA, message);
        }
        fs::remove_dir_all(desk.file("d")).unwrap();
    }
}

#[test]
fn what_is_no_model_is_said_so() {
    let desk = desk_with_model();
    fs::create_dir(desk.file("folder")).unwrap();
    for (name, message) in [
        ("nowhere", "nowhere: no such model folder"),
        (
            "folder",
            "folder: not a Plethora model: the folder has no manifest.json",
        ),
        ("books.jsonl", "books.jsonl: is a file, a model is a folder"),
        (
            "books.jsonl/model",
            "books.jsonl/model: cannot read: Not a directory (os error 20)",
        ),
    ] {
        for verb in VERBS {
            refuse(&desk, &verb.replace("MODEL", name), BAD_DATA, message);
        }
    }
}
