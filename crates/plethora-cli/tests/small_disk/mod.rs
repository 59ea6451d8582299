//! Places that take only so much: a small disk of its own where the system lets us mount one, and a
//! limit on the size of files everywhere.

#![allow(dead_code, reason = "each file of tests uses a part of it")]

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};

use crate::refusal::{FAILURE, check_refusal, snapshot};
use crate::support::Desk;

/// Room for every run.
pub(crate) const PLENTY_KIB: u64 = 4096;

/// What a full disk and a limited file say.
const REASONS: [&str; 2] = [
    "cannot write: No space left on device (os error 28)",
    "cannot write: File too large (os error 27)",
];

/// A place that takes only so much.
pub(crate) trait Disk {
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
pub(crate) struct SmallDisk {
    keeper: Child,
    sizes: ChildStdin,
    answers: BufReader<ChildStdout>,
    path: PathBuf,
}

impl SmallDisk {
    /// None where the system does not let us mount anything, which is told.
    #[expect(clippy::print_stdout, reason = "a test that was skipped says so")]
    pub(crate) fn mount(desk: &Desk) -> Option<Self> {
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
pub(crate) struct SmallFiles {
    path: PathBuf,
    kibibytes: u64,
}

impl SmallFiles {
    /// The folder `disk` of a desk, whose files may grow to this size.
    pub(crate) fn create(desk: &Desk, kibibytes: u64) -> Self {
        let path = desk.file("disk");
        fs::create_dir(&path).unwrap();
        Self { path, kibibytes }
    }
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

/// Checks what a run has said that had no room, and returns it.
pub(crate) fn check_failure(output: &Output, line: &str) -> String {
    check_refusal(output, FAILURE, "...", line);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(REASONS.iter().any(|reason| told.contains(reason)), "{told}");
    told
}
