//! Model folders that are damaged, of another program version, or none.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use plethora_core::artifact::{ModelReader, ModelWriter};

use crate::refusal::{BAD_DATA, check_refusal, desk_with_model, features, refuse};

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

/// Writes a model of the files of another, some of them changed, with checksums that are right.
fn forge(from: &Path, to: &Path, change: impl Fn(&str, Vec<u8>) -> Vec<u8>) {
    let model = ModelReader::open(from).unwrap();
    let writer = ModelWriter::create(to, true).unwrap();
    for name in model.manifest().files.keys() {
        let bytes = change(name, model.read_bytes(name).unwrap());
        writer.write_bytes(name, &bytes).unwrap();
    }
    let mut details = model.manifest().details.to_string();
    details = String::from_utf8(change("details", details.into_bytes())).unwrap();
    let details = serde_json::from_str(&details).unwrap();
    writer.finish(&model.manifest().kind, details).unwrap();
}

fn replace(from: &str, to: &str, bytes: Vec<u8>) -> Vec<u8> {
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.contains(from), "{text}");
    text.replace(from, to).into_bytes()
}

#[test]
fn numbers_that_no_file_bears_out_are_refused_before_memory_is_taken_for_them() {
    let desk = desk_with_model();
    for number in ["100000000", "9223372036854775808"] {
        forge(
            &desk.file("model"),
            &desk.file("d"),
            |name, bytes| match name {
                "config.json" => replace(
                    "\"num_trees\": 1",
                    &format!("\"num_trees\": {number}"),
                    bytes,
                ),
                _ => bytes,
            },
        );
        let message = format!("d/config.json: num_trees: must be from 1 to 1000, found {number}");
        refuse(&desk, "predict d books.jsonl", BAD_DATA, &message);
    }
    desk.write("features.txt", &features());
    desk.succeed(&[
        "train",
        "features.txt",
        "-q",
        "-o",
        "f",
        "--format",
        "xmc-libsvm",
    ]);
    forge(&desk.file("f"), &desk.file("d"), |name, bytes| match name {
        "details" => replace("\"n_features\":10", "\"n_features\":4294967295", bytes),
        _ => bytes,
    });
    let message = "d/tree-0.safetensors: has far fewer weights than 4294967295 features need";
    refuse(
        &desk,
        "predict d features.txt --format xmc-libsvm",
        BAD_DATA,
        message,
    );
}

#[test]
fn pipes_and_devices_are_no_files_of_a_model() {
    let desk = desk_with_model();
    for name in ["README.md", "labels.jsonl", "manifest.json"] {
        copy(&desk.file("model"), &desk.file("d"));
        let path = desk.file("d").join(name);
        fs::remove_file(&path).unwrap();
        let made = Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        let output = desk
            .command(&["info", "d"])
            .timeout(Duration::from_secs(20))
            .output();
        let message = format!("d/{name}: not a regular file");
        check_refusal(&output.unwrap(), BAD_DATA, &message, name);
        fs::remove_dir_all(desk.file("d")).unwrap();
    }
}
