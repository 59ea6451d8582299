//! Disks that fill up while a model or another output is written.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "tests stop where something is wrong")]

mod refusal;
mod small_disk;
mod support;

use std::collections::BTreeSet;
use std::path::Path;

use refusal::{books, snapshot};
use small_disk::{Disk, PLENTY_KIB, SmallDisk, SmallFiles, check_failure};
use support::Desk;

/// Three trees, so that some are complete when the disk fills up.
const TRAIN: &str = "-j 2 train /DESK/books.jsonl -o model --system parabel --set tree.max_leaf=1";

/// Trains on ever larger disks until it works. Returns how many runs failed before and after a tree
/// was complete.
fn train_until_it_fits(disk: &mut dyn Disk, desk: &Desk) -> (usize, usize) {
    let (mut before, mut after) = (0, 0);
    for kibibytes in 1..PLENTY_KIB {
        disk.resize(4 * kibibytes);
        // What the run before has left is thrown away.
        let output = disk.run(desk, &format!("{TRAIN} --force"));
        if output.status.success() {
            break;
        }
        let told = check_failure(&output, TRAIN);
        let names = disk.names();
        assert!(!names.contains("model"), "{names:?}");
        let is_part = |name: &String| {
            let known = [
                "model.training",
                "model.training/lock",
                "model.training/state.json",
            ];
            let is_tree =
                name.starts_with("model.training/tree-") && name.ends_with(".safetensors");
            known.contains(&name.as_str()) || is_tree
        };
        assert!(names.iter().all(is_part), "{names:?}");
        if names.is_empty() {
            before += 1;
        } else {
            after += 1;
            assert!(
                names.contains("model.training/tree-0.safetensors"),
                "{names:?}"
            );
        }
        assert_eq!(
            told.contains("to resume from the last complete tree"),
            !names.is_empty(),
            "{told}"
        );
    }
    (before, after)
}

fn desk() -> Desk {
    let desk = Desk::empty();
    desk.write("books.jsonl", &books());
    desk.succeed(&[
        "train",
        "books.jsonl",
        "-o",
        "whole",
        "--system",
        "parabel",
        "--set",
        "tree.max_leaf=1",
    ]);
    desk
}

fn files(model: &Path) -> Vec<Option<Vec<u8>>> {
    snapshot(model).into_values().collect()
}

#[test]
fn a_model_fits_on_the_disk_or_is_not_there() {
    let desk = desk();
    let Some(mut disk) = SmallDisk::mount(&desk) else {
        return;
    };
    let (before, after) = train_until_it_fits(&mut disk, &desk);
    assert!(before > 0 && after > 0, "{before} {after}");
    assert!(files(&disk.path().join("model")) == files(&desk.file("whole")));
}

#[test]
fn an_old_model_survives_a_disk_that_fills_up() {
    let desk = desk();
    let Some(mut disk) = SmallDisk::mount(&desk) else {
        return;
    };
    disk.resize(PLENTY_KIB);
    assert!(disk.run(&desk, TRAIN).status.success());
    let old = snapshot(disk.path());
    let used: u64 = old
        .values()
        .flatten()
        .map(|bytes| (bytes.len() as u64).div_ceil(4096) * 4)
        .sum();
    let again = format!("{TRAIN} --force --seed 7");
    let mut num_failed = 0;
    for spare in (0..used).step_by(8) {
        disk.resize(used + spare);
        let output = disk.run(&desk, &again);
        if output.status.success() {
            break;
        }
        num_failed += 1;
        check_failure(&output, &again);
        let mut now = snapshot(disk.path());
        now.retain(|path, _| path.starts_with(disk.path().join("model")));
        assert!(now == old, "the old model has changed");
    }
    assert!(num_failed > 0);
    disk.resize(PLENTY_KIB);
    assert!(
        disk.run(&desk, &format!("{again} --resume"))
            .status
            .success()
    );
    assert!(disk.run(&desk, "info model").status.success());
    assert!(snapshot(disk.path()) != old);
    let names = disk.names();
    assert!(
        names
            .iter()
            .all(|name| name == "model" || name.starts_with("model/")),
        "{names:?}"
    );
}

#[test]
fn files_that_may_not_grow_are_a_full_disk_too() {
    let desk = desk();
    let mut disk = SmallFiles::create(&desk, 0);
    let output = disk.run(&desk, TRAIN);
    check_failure(&output, TRAIN);
    assert!(disk.names().is_empty());
    // Labels of many names are larger than any tree: it is saving that fails.
    let many_names = format!("[{}\"tide\"]", "\"a name among many\",".repeat(10_000));
    let vocabulary = ["Tides", "Clocks", "Bees", "Bridges"].map(|key| {
        format!("{{\"key\": \"{key}\", \"name\": \"{key}\", \"alternatives\": {many_names}}}\n")
    });
    desk.write("names.jsonl", &vocabulary.concat());
    let with_names = format!("{TRAIN} --vocabulary /DESK/names.jsonl");
    disk.resize(64);
    let told = check_failure(&disk.run(&desk, &with_names), &with_names);
    assert!(told.contains("error: model: cannot write: "), "{told}");
    assert!(
        told.contains("to resume from the last complete tree"),
        "{told}"
    );
    assert!(!disk.path().join("model").exists());
    disk.resize(PLENTY_KIB);
    let output = disk.run(&desk, &format!("{with_names} --resume"));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.success() && !told.contains("classifiers"),
        "{told}"
    );
    assert!(
        !disk
            .names()
            .iter()
            .any(|name| name.contains("training") || name.contains("tmp"))
    );
}

#[test]
fn other_outputs_are_whole_or_not_there() {
    let desk = desk();
    let disk = SmallFiles::create(&desk, 1);
    for line in [
        "predict /DESK/whole /DESK/books.jsonl -o out.jsonl",
        "predict /DESK/whole /DESK/books.jsonl -o out.xmc --out-format xmc",
        "eval /DESK/whole /DESK/books.jsonl -o metrics.json",
        "convert /DESK/books.jsonl books.csv",
        "convert /DESK/books.jsonl books.jsonl",
        "generate -o books.jsonl --documents 100",
    ] {
        check_failure(&disk.run(&desk, line), line);
        assert_eq!(disk.names(), BTreeSet::new(), "{line}");
    }
}
