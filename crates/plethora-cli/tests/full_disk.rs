//! Disks that fill up while a model or another output is written: a small disk of its own where the
//! system lets us mount one, and a limit on the size of files everywhere.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "tests stop where something is wrong")]

mod refusal;
mod support;

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};

use refusal::{FAILURE, books, check_refusal, snapshot};
use support::Desk;

/// Three trees, so that some are complete when the disk fills up.
const TRAIN: &str = "-j 2 train /DESK/books.jsonl -o model --system parabel --set tree.max_leaf=1";

/// Room for every run.
const PLENTY_KIB: u64 = 4096;

/// What a full disk and a limited file say.
const REASONS: [&str; 2] = [
    "cannot write: No space left on device (os error 28)",
    "cannot write: File too large (os error 27)",
];

/// A place that takes only so much.
trait Disk {
    /// The folder, as this process sees it.
    fn path(&self) -> &Path;
    /// Takes so much from now on.
    fn resize(&mut self, kibibytes: u64);
    /// Runs the program in the folder.
    fn run(&self, desk: &Desk, line: &str) -> Output;

    /// Names of what is there.
    fn names(&self) -> BTreeSet<String> {
        snapshot(self.path())
            .into_keys()
            .map(|path| {
                path.strip_prefix(self.path())
                    .unwrap()
                    .display()
                    .to_string()
            })
            .collect()
    }
}

fn program(desk: &Desk, line: &str) -> String {
    let program = assert_cmd::cargo::cargo_bin!("plethora");
    let line = line.replace("/DESK", &desk.path().display().to_string());
    format!("'{}' {line}", program.display())
}

/// Mounts a disk in memory and gives it the sizes that it is told.
const KEEPER: &str = "mount -t tmpfs -o size=4k tmpfs \"$1\" || exit 1
    echo ready
    while read -r size; do mount -o remount,size=\"$size\"k \"$1\" && echo ready || echo no; done";

/// A disk in memory, seen by a process in a name space of its own; it goes with that process.
struct SmallDisk {
    keeper: Child,
    sizes: ChildStdin,
    answers: BufReader<ChildStdout>,
    path: PathBuf,
}

impl SmallDisk {
    /// None where the system does not let us mount anything, which is told.
    #[expect(clippy::print_stdout, reason = "a test that was skipped says so")]
    fn mount(desk: &Desk) -> Option<Self> {
        let mount_point = desk.file("disk");
        fs::create_dir(&mount_point).unwrap();
        // Root needs no user name space, and others have no mounts without one.
        let mut reasons = Vec::new();
        for flags in [&["-m"][..], &["-r", "-m"]] {
            match Self::mount_with(flags, &mount_point) {
                Ok(disk) => return Some(disk),
                Err(reason) => reasons.push(reason),
            }
        }
        // Limited files, which need no permission, stand in for it in another test.
        println!(
            "SKIPPED: no small disk can be mounted here: {}",
            reasons.join("; ")
        );
        None
    }

    fn mount_with(flags: &[&str], mount_point: &Path) -> Result<Self, String> {
        let mut keeper = Command::new("unshare")
            .args(flags)
            .args(["sh", "-c", KEEPER, "sh"])
            .arg(mount_point)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("unshare: {error}"))?;
        let root = PathBuf::from(format!("/proc/{}/root", keeper.id()));
        let mut disk = Self {
            sizes: keeper.stdin.take().unwrap(),
            answers: BufReader::new(keeper.stdout.take().unwrap()),
            path: root.join(mount_point.strip_prefix("/").unwrap()),
            keeper,
        };
        // Mounting alone is not enough: the disk has to change its size.
        if disk.is_ready() && disk.takes(PLENTY_KIB) {
            Ok(disk)
        } else {
            Err(format!("unshare {flags:?} and mount are refused"))
        }
    }

    fn takes(&mut self, kibibytes: u64) -> bool {
        writeln!(self.sizes, "{kibibytes}").unwrap();
        self.is_ready()
    }

    fn is_ready(&mut self) -> bool {
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        answer == "ready\n"
    }
}

impl Disk for SmallDisk {
    fn path(&self) -> &Path {
        &self.path
    }

    fn resize(&mut self, kibibytes: u64) {
        assert!(self.takes(kibibytes), "the disk cannot be resized");
    }

    fn run(&self, desk: &Desk, line: &str) -> Output {
        Command::new("sh")
            .args(["-c", &program(desk, line)])
            .current_dir(&self.path)
            .output()
            .unwrap()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = self.keeper.kill();
        let _ = self.keeper.wait();
    }
}

/// A folder in which no file may grow beyond a size.
struct SmallFiles {
    path: PathBuf,
    kibibytes: u64,
}

impl Disk for SmallFiles {
    fn path(&self) -> &Path {
        &self.path
    }

    fn resize(&mut self, kibibytes: u64) {
        self.kibibytes = kibibytes;
    }

    fn run(&self, desk: &Desk, line: &str) -> Output {
        // In blocks of 512 bytes; unless the signal is ignored, the limit kills the process.
        let blocks = 2 * self.kibibytes;
        let script = format!(
            "trap '' XFSZ; ulimit -f {blocks}; exec {}",
            program(desk, line)
        );
        Command::new("sh")
            .args(["-c", &script])
            .current_dir(&self.path)
            .output()
            .unwrap()
    }
}

fn check_failure(output: &Output, line: &str) -> String {
    check_refusal(output, FAILURE, "...", line);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(REASONS.iter().any(|reason| told.contains(reason)), "{told}");
    told
}

/// Trains on ever larger disks until it works. Returns how many runs failed before and after a tree
/// was complete.
fn train_until_it_fits(disk: &mut dyn Disk, desk: &Desk) -> (usize, usize) {
    let (mut before, mut after) = (0, 0);
    for kibibytes in 1..PLENTY_KIB {
        disk.resize(4 * kibibytes);
        let output = disk.run(desk, TRAIN);
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
            told.contains("to go on from the last complete tree"),
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
    let path = desk.file("disk");
    fs::create_dir(&path).unwrap();
    let mut disk = SmallFiles { path, kibibytes: 0 };
    let output = disk.run(&desk, TRAIN);
    check_failure(&output, TRAIN);
    assert!(disk.names().is_empty());
    // A label with a long name is larger than any tree: it is saving that fails.
    let long_name = "tide ".repeat(20_000);
    let vocabulary = ["Tides", "Clocks", "Bees", "Bridges"]
        .map(|key| format!("{{\"key\": \"{key}\", \"name\": \"{long_name}\"}}\n"));
    desk.write("names.jsonl", &vocabulary.concat());
    let with_names = format!("{TRAIN} --vocabulary /DESK/names.jsonl");
    disk.resize(64);
    let told = check_failure(&disk.run(&desk, &with_names), &with_names);
    assert!(told.contains("error: model: cannot write: "), "{told}");
    assert!(
        told.contains("to go on from the last complete tree"),
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
    let path = desk.file("disk");
    fs::create_dir(&path).unwrap();
    let disk = SmallFiles { path, kibibytes: 1 };
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
