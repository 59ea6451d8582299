//! Neural training runs that are killed, stopped, or run out of room: they resume from their
//! last checkpoint and end with the weights of an undisturbed run.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a failed set-up fails the test")]

mod refusal;
mod small_disk;
mod support;

use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::{BuildHasher, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use refusal::{BAD_DATA, check_refusal, refuse_args, snapshot};
use serde_json::Value;
use small_disk::{Disk, SmallDisk, SmallFiles, check_failure};
use support::encoder::EncoderCopy;
use support::neural::{CLUSTERED, train_args, with_encoder};
use support::{Desk, join};

/// A checkpoint as often as possible, and steps enough to be caught among them.
const OFTEN: [&str; 6] = [
    "--set",
    "train.checkpoint_minutes=0",
    "--set",
    "train.epochs=12",
    "--set",
    "train.patience=0",
];

/// Encoders take longer for a step.
const FEWER: [&str; 2] = ["--set", "train.epochs=3"];

/// Where a network over words has its checkpoint.
const CHECKPOINT: &str = "tree-0.level-0.checkpoint.safetensors";

/// How the names of all checkpoints end.
const CHECKPOINT_END: &str = ".checkpoint.safetensors";

fn start(desk: &Desk, args: &[&str]) -> Child {
    Command::new(assert_cmd::cargo::cargo_bin!("plethora"))
        .current_dir(desk.path())
        .args(args)
        .env_clear()
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn send(signal: &str, child: &Child) {
    let id = child.id().to_string();
    let status = Command::new("kill").args([signal, &id]).status().unwrap();
    assert!(status.success());
}

/// Tells one checkpoint of a model from the next.
fn checkpoint_of(desk: &Desk, model: &str) -> Option<(u64, i64, i64)> {
    let work = desk.file(&format!("{model}.training"));
    // Beside what a first training leaves, where held-back documents return.
    let folders = [work.join("without-held-back.training"), work];
    let entries = folders
        .iter()
        .filter_map(|folder| fs::read_dir(folder).ok());
    let mut paths = entries
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()));
    let path = paths.find(|path| path.to_string_lossy().ends_with(CHECKPOINT_END))?;
    let file = fs::metadata(path).ok()?;
    Some((file.ino(), file.mtime(), file.mtime_nsec()))
}

/// Starts a run and waits until it has left something of its own to resume from.
fn start_to_checkpoint(desk: &Desk, args: &[&str], model: &str) -> Child {
    let earlier = checkpoint_of(desk, model);
    let mut child = start(desk, args);
    let deadline = Instant::now() + Duration::from_secs(120);
    loop {
        let checkpoint = checkpoint_of(desk, model);
        if checkpoint.is_some() && checkpoint != earlier {
            return child;
        }
        assert!(child.try_wait().unwrap().is_none(), "the run ended before");
        assert!(Instant::now() < deadline, "no checkpoint");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Resumes a run, to its end.
fn resume(desk: &Desk, args: &[&str]) {
    let output = desk.run(&join(&[args, &["--resume"]]));
    let log = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{log}");
    assert!(log.contains("from the last checkpoint"), "{log}");
}

fn weights(model: &Path) -> Vec<Option<Vec<u8>>> {
    let files = snapshot(model).into_iter();
    let weights =
        files.filter(|(path, _)| path.extension().is_some_and(|end| end == "safetensors"));
    let weights: Vec<_> = weights.map(|(_, content)| content).collect();
    assert!(!weights.is_empty(), "a model has weights");
    weights
}

/// Some time below a limit, another one at every call.
fn random_time(limit: Duration) -> Duration {
    let part = RandomState::new().build_hasher().finish() % 1000;
    limit * u32::try_from(part).unwrap() / 1000
}

#[test]
fn a_second_interrupt_ends_a_run_at_once_and_without_a_crash() {
    let desk = Desk::with_catalogue(300);
    for number in 0..4 {
        let model = format!("model-{number}");
        let args = train_args("attentionxml", &model, &OFTEN);
        let child = start_to_checkpoint(&desk, &args, &model);
        send("-INT", &child);
        send("-INT", &child);
        let output = child.wait_with_output().unwrap();
        // A crash would be a signal, which is no code.
        let log = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{log}");
    }
}

/// Kills a run three times; resumed, it ends with the weights of an undisturbed one.
fn kill_three_times(system: &str, more: &[&str]) {
    let desk = Desk::with_catalogue(400);
    let started = Instant::now();
    let often = join(&[&OFTEN, more]);
    desk.succeed(&train_args(system, "whole", &often));
    // Three times as much leaves the run unfinished.
    let limit = started.elapsed() / 12;
    let args = train_args(system, "killed", &often);
    let again = join(&[&args, &["--resume"]]);
    let mut waits = Vec::new();
    for round in 0..3 {
        let args = if round == 0 { &args } else { &again };
        let mut child = start_to_checkpoint(&desk, args, "killed");
        let wait = random_time(limit);
        waits.push(wait);
        std::thread::sleep(wait);
        assert!(child.try_wait().unwrap().is_none(), "ended: {waits:?}");
        send("-KILL", &child);
        child.wait().unwrap();
        assert!(!desk.file("killed").exists(), "no half model");
    }
    resume(&desk, &args);
    let whole = weights(&desk.file("whole"));
    assert!(whole == weights(&desk.file("killed")), "{waits:?}");
    assert!(!desk.file("killed.training").exists());
}

#[test]
fn a_run_killed_three_times_ends_with_the_weights_of_an_undisturbed_one() {
    kill_three_times("attentionxml", &[]);
}

#[test]
fn a_clustered_run_killed_three_times_ends_with_the_weights_of_an_undisturbed_one() {
    let two = ["--set", "clusters.num_clusterings=2"];
    kill_three_times("lightxml", &join(&[&CLUSTERED, &two, &FEWER]));
}

#[test]
fn a_run_with_documents_that_return_is_killed_in_either_training_and_ends_as_if_nothing_had_been() {
    kill_three_times("attentionxml", &["--set", "train.return_held_back=true"]);
}

/// Stops a run; resumed, it ends with the weights of an undisturbed one.
fn stop_and_resume(system: &str, more: &[&str]) {
    let desk = Desk::with_catalogue(400);
    let often = join(&[&OFTEN, more]);
    desk.succeed(&train_args(system, "whole", &often));
    let args = train_args(system, "stopped", &often);
    let child = start_to_checkpoint(&desk, &args, "stopped");
    send("-INT", &child);
    let output = child.wait_with_output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    let last = message.lines().last().unwrap();
    assert!(
        last.contains("to resume from the last checkpoint: "),
        "{message}"
    );
    assert!(!desk.file("stopped").exists(), "no half model");
    resume(&desk, &args);
    assert!(weights(&desk.file("whole")) == weights(&desk.file("stopped")));
}

#[test]
fn a_stopped_run_says_how_to_resume_and_ends_with_the_same_weights() {
    stop_and_resume("attentionxml", &[]);
}

#[test]
fn clusterings_of_words_resume_where_they_stopped() {
    stop_and_resume("lightattention", &["--set", "clusters.num_clusterings=2"]);
}

#[test]
fn a_resumed_run_over_pieces_ends_with_the_same_weights() {
    stop_and_resume("lightxml", &FEWER);
}

#[test]
fn a_resumed_run_over_adaptive_clusters_ends_with_the_same_weights() {
    stop_and_resume("aplc-xlnet", &FEWER);
}

#[test]
fn other_labels_and_other_encoders_are_other_runs() {
    let desk = Desk::with_catalogue(400);
    let encoder = EncoderCopy::new(&desk, "enc");
    let args = train_args("lightxml", "model", &join(&[&OFTEN, &FEWER]));
    let args = with_encoder(&args, "enc");
    let mut child = start_to_checkpoint(&desk, &args, "model");
    send("-KILL", &child);
    child.wait().unwrap();
    let again = join(&[&args, &["--resume", "-q"]]);
    let other_run = "model.training: holds a training run with other data or settings; \
                     pass --force instead of --resume to start anew";

    let documents = desk.read("documents.jsonl");
    let (first, rest) = documents.split_once('\n').unwrap();
    let mut document: Value = serde_json::from_str(first).unwrap();
    document["labels"][0] = "a label that is new".into();
    desk.write("documents.jsonl", &format!("{document}\n{rest}"));
    refuse_args(&desk, &again, BAD_DATA, other_run);
    desk.write("documents.jsonl", &documents);

    encoder.edit_tensors(|tensors| {
        let (_, numbers) = tensors.values_mut().next().unwrap();
        numbers[0] ^= 1;
    });
    refuse_args(&desk, &again, BAD_DATA, other_run);
    EncoderCopy::new(&desk, "enc");
    resume(&desk, &args);
}

#[test]
fn other_settings_and_damaged_checkpoints_are_told_and_cost_nothing() {
    let desk = Desk::with_catalogue(400);
    let args = train_args("attentionxml", "model", &OFTEN);
    let mut child = start_to_checkpoint(&desk, &args, "model");
    send("-KILL", &child);
    child.wait().unwrap();
    let other_run = "model.training: holds a training run with other data or settings; \
                     pass --force instead of --resume to start anew";
    for other in [
        ["--set", "train.epochs=13"],
        ["--set", "encoder.hidden=8"],
        ["--set", "train.learning_rate=0.5"],
    ] {
        let more = join(&[&OFTEN, &other, &["--resume", "-q"]]);
        let args = train_args("attentionxml", "model", &more);
        refuse_args(&desk, &args, BAD_DATA, other_run);
    }

    let path = desk.file("model.training").join(CHECKPOINT);
    let whole = fs::read(&path).unwrap();
    let again = join(&[&args, &["--resume", "-q"]]);
    for len in [0, 4, 100, whole.len() / 2, whole.len() - 1] {
        fs::write(&path, &whole[..len]).unwrap();
        let output = desk.run(&again);
        check_refusal(
            &output,
            BAD_DATA,
            &format!("model.training/{CHECKPOINT}: ..."),
            "",
        );
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(
            told.ends_with("; pass --force instead of --resume to start anew\n"),
            "{told}"
        );
        assert!(!desk.file("model").exists());
    }
    fs::write(&path, &whole).unwrap();
    resume(&desk, &args);

    // Starting anew throws the checkpoint away, and says so.
    let mut child = start_to_checkpoint(&desk, &join(&[&args, &["--force"]]), "model");
    send("-KILL", &child);
    child.wait().unwrap();
    let short = ["--set", "train.epochs=1", "--force"];
    let output = desk.run(&train_args("attentionxml", "model", &short));
    let log = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{log}");
    assert!(
        log.contains("starting anew; --resume would have resumed the interrupted run"),
        "{log}"
    );
}

/// More than any run here takes.
const AMPLE_KIB: u64 = 1 << 15;

/// Trains with ever more room until it is enough. Where a run has left a checkpoint, it resumes
/// with ample room and ends with the weights of the model `whole`. Returns how many did, and how
/// many had none.
fn train_with_ever_more_room(disk: &mut dyn Disk, desk: &Desk) -> (usize, usize) {
    let often = ["--set", "train.checkpoint_minutes=0"];
    desk.succeed(&train_args("attentionxml", "whole", &often));
    let whole = weights(&desk.file("whole"));
    let line = train_args("attentionxml", "model", &often).join(" ");
    let line = line.replace("documents.jsonl", "/DESK/documents.jsonl");
    let (mut with, mut without) = (0, 0);
    let mut kibibytes = 16;
    loop {
        assert!(kibibytes < AMPLE_KIB, "it never fits");
        disk.resize(kibibytes);
        let output = disk.run(desk, &line);
        if output.status.success() {
            assert!(weights(&disk.path().join("model")) == whole);
            return (with, without);
        }
        let told = check_failure(&output, &line);
        let names = disk.names();
        assert!(!names.contains("model"), "{names:?}");
        let is_kept = names.contains(&format!("model.training/{CHECKPOINT}"));
        if is_kept {
            assert!(told.contains("error: model.training/"), "{told}");
            assert!(
                told.contains("; to resume from the last checkpoint: "),
                "{told}"
            );
            with += 1;
        } else {
            without += 1;
        }
        if names.contains("model.training") {
            disk.resize(AMPLE_KIB);
            let output = disk.run(desk, &format!("{line} --resume"));
            let log = String::from_utf8(output.stderr).unwrap();
            assert!(output.status.success(), "{log}");
            assert!(weights(&disk.path().join("model")) == whole, "{kibibytes}");
            fs::remove_dir_all(disk.path().join("model")).unwrap();
        }
        kibibytes += kibibytes / 4;
    }
}

/// Documents enough to hold some back: from the first validation on, a checkpoint has the best
/// weights too and is larger than the one before.
fn desk_with_validation() -> Desk {
    Desk::with_catalogue(400)
}

#[test]
fn a_disk_that_fills_up_leaves_the_checkpoint_before() {
    let desk = desk_with_validation();
    let Some(mut disk) = SmallDisk::mount(&desk) else {
        return;
    };
    let (with, without) = train_with_ever_more_room(&mut disk, &desk);
    assert!(with > 0 && without > 0, "{with} {without}");
}

#[test]
fn a_checkpoint_that_may_not_grow_leaves_the_one_before() {
    let desk = desk_with_validation();
    let mut disk = SmallFiles::create(&desk, 0);
    let (with, without) = train_with_ever_more_room(&mut disk, &desk);
    assert!(with > 0 && without > 0, "{with} {without}");
}
