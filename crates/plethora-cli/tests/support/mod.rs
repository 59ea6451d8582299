//! What the tests of the command line share: a small corpus and a way to run the program.

#![allow(dead_code, reason = "each file of tests uses a part of it")]

pub(crate) mod encoder;
pub(crate) mod neural;

use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use tempfile::TempDir;

/// Options that say what to train.
const NAMING: [&str; 7] = [
    "--system",
    "--config",
    "-c",
    "--preset",
    "--budget",
    "--objective",
    "--help",
];

/// Whether the program was built with libtorch.
pub(crate) fn has_neural_systems() -> bool {
    plethora::registry().find("attentionxml").is_ok()
}

/// A folder that goes away, with a catalogue in it.
pub(crate) struct Desk {
    folder: TempDir,
}

impl Desk {
    /// A desk with `documents.jsonl` and `labels.jsonl` of a catalogue.
    pub(crate) fn with_catalogue(num_documents: u64) -> Self {
        let desk = Self::empty();
        let documents = num_documents.to_string();
        desk.succeed(&["generate", "-o", ".", "--documents", &documents]);
        desk
    }

    /// A desk without files.
    pub(crate) fn empty() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a temporary folder"),
        }
    }

    /// The folder itself.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A file or folder on the desk.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Puts a file on the desk.
    pub(crate) fn write(&self, name: &str, content: &str) {
        std::fs::write(self.file(name), content).expect("a file is written");
    }

    /// The content of a file.
    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.file(name)).expect("a file is read")
    }

    /// The program, to be run on the desk, without our own environment.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::cargo_bin("plethora").expect("the program is built");
        command.current_dir(self.path()).args(args).env_clear();
        // Most tests are about one system; those about the choice of systems name it.
        if args.first() == Some(&"train") && !args.iter().any(|arg| NAMING.contains(arg)) {
            command.env("PLETHORA_SYSTEM", "wide-tree");
        }
        // Threads of libtorch that wait actively would hold up those of other tests.
        command.env("OMP_WAIT_POLICY", "passive");
        command
    }

    /// Runs the program and returns what came of it.
    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("the program runs")
    }

    /// Runs the program, which must succeed, and returns its standard output.
    pub(crate) fn succeed(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(
            output.status.success(),
            "{args:?} failed: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).expect("output is UTF-8")
    }

    /// Runs the program, which must fail with this status, and returns its one message.
    pub(crate) fn fail(&self, status: i32, args: &[&str]) -> String {
        let output = self.command(args).arg("-q").output().expect("it runs");
        let message = String::from_utf8(output.stderr).expect("messages are UTF-8");
        assert_eq!(output.status.code(), Some(status), "{args:?}: {message}");
        assert!(message.starts_with("error: "), "{message}");
        assert!(!message.contains("panicked"), "{message}");
        message
    }

    /// Names and contents of all files of a model.
    pub(crate) fn model_files(&self, model: &str) -> Vec<(String, Vec<u8>)> {
        let mut files: Vec<(String, Vec<u8>)> = std::fs::read_dir(self.file(model))
            .expect("a model folder")
            .map(|entry| {
                let entry = entry.expect("an entry");
                let name = entry.file_name().to_string_lossy().into_owned();
                (
                    name,
                    std::fs::read(entry.path()).expect("a file of a model"),
                )
            })
            .collect();
        files.sort();
        files
    }
}

/// Arguments that read the training part of the catalogue.
pub(crate) const TRAIN_PART: [&str; 5] = [
    "documents.jsonl",
    "--text-field",
    "title,text",
    "--where",
    "split=train",
];

/// Arguments that read its test part.
pub(crate) const TEST_PART: [&str; 5] = [
    "documents.jsonl",
    "--text-field",
    "title,text",
    "--where",
    "split=test",
];

/// Joins arguments.
pub(crate) fn join<'a>(parts: &[&[&'a str]]) -> Vec<&'a str> {
    parts.concat()
}
