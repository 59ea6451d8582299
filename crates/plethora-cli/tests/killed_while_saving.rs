//! Processes killed at any moment: what they were replacing is the old or the new, never something
//! in between, and what they leave behind goes with the next run.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "tests stop where something is wrong")]

mod refusal;
mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use plethora_core::SeedStream;
use rand::RngExt;
use refusal::{books, snapshot};
use support::Desk;

const NUM_KILLS: usize = 24;

/// Files of a folder by their names in it.
type Files = BTreeMap<PathBuf, Option<Vec<u8>>>;

fn files(folder: &Path) -> Files {
    let relative = |path: PathBuf| path.strip_prefix(folder).unwrap().to_owned();
    snapshot(folder)
        .into_iter()
        .map(|(path, content)| (relative(path), content))
        .collect()
}

fn args(seed: usize, model: &str) -> Vec<String> {
    let line = format!("-q train books.jsonl --system parabel --seed {seed} --force -o {model}");
    line.split(' ').map(str::to_owned).collect()
}

fn start(desk: &Desk, args: &[String]) -> Child {
    Command::new(assert_cmd::cargo::cargo_bin!("plethora"))
        .args(args)
        .current_dir(desk.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The names of all hidden files and work folders on the desk.
fn leftovers(desk: &Desk) -> Vec<String> {
    fs::read_dir(desk.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with('.') || name.ends_with(".training"))
        .collect()
}

/// Waits until `is_time`, or the process has ended.
fn wait_until(child: &mut Child, mut is_time: impl FnMut() -> bool) {
    while child.try_wait().unwrap().is_none() && !is_time() {
        std::hint::spin_loop();
    }
}

#[test]
fn a_model_is_the_old_or_the_new_whenever_its_writer_is_killed() {
    let desk = Desk::empty();
    desk.write("books.jsonl", &books());
    let mut duration = Duration::ZERO;
    let references = [1, 2].map(|seed| {
        let started = Instant::now();
        let model = format!("reference-{seed}");
        assert!(start(&desk, &args(seed, &model)).wait().unwrap().success());
        duration = started.elapsed();
        files(&desk.file(&model))
    });
    assert!(references[0] != references[1]);
    let started = Instant::now();
    assert!(
        start(&desk, &["--version".into()])
            .wait()
            .unwrap()
            .success()
    );
    // Loading libtorch takes longer than such a run.
    let working = duration.saturating_sub(started.elapsed());
    assert!(start(&desk, &args(1, "model")).wait().unwrap().success());

    let mut moments = SeedStream::new(1).rng();
    let (mut num_killed, mut num_half_saved) = (0, 0);
    for number in 0..NUM_KILLS {
        let seed = 1 + (number + 1) % 2;
        let mut child = start(&desk, &args(seed, "model"));
        let started = Instant::now();
        if number % 2 == 0 {
            let moment = duration.mul_f64(moments.random_range(0.0..1.1));
            wait_until(&mut child, || started.elapsed() >= moment);
        } else {
            // Right in the middle of saving, which is most of so short a run's work.
            let is_saving = || {
                leftovers(&desk)
                    .iter()
                    .any(|name| name.starts_with(".model.tmp-"))
            };
            wait_until(&mut child, is_saving);
            let moment = started.elapsed() + working.mul_f64(moments.random_range(0.0..0.5));
            wait_until(&mut child, || started.elapsed() >= moment);
        }
        child.kill().unwrap();
        num_killed += usize::from(child.wait().unwrap().code().is_none());
        num_half_saved += usize::from(leftovers(&desk).iter().any(|name| name.starts_with('.')));
        desk.succeed(&["info", "model"]);
        let model = files(&desk.file("model"));
        assert!(
            references.contains(&model),
            "neither old nor new after kill {number}"
        );
    }
    assert!(
        num_killed > NUM_KILLS / 4,
        "only {num_killed} runs were killed"
    );
    assert!(num_half_saved > 0, "no run was killed while it was saving");

    assert!(start(&desk, &args(2, "model")).wait().unwrap().success());
    assert!(files(&desk.file("model")) == references[1]);
    assert_eq!(leftovers(&desk), [""; 0]);
}

#[test]
fn predictions_are_complete_or_not_there_whenever_their_writer_is_killed() {
    let desk = Desk::empty();
    desk.write("books.jsonl", &books());
    assert!(start(&desk, &args(1, "model")).wait().unwrap().success());
    let texts = (0..9000)
        .map(|number| format!("tide and clock {number}\n"))
        .collect::<Vec<String>>()
        .concat();
    desk.write("texts.txt", &texts);
    let predict: Vec<String> = [
        "predict",
        "model",
        "texts.txt",
        "-o",
        "out.jsonl",
        "--force",
    ]
    .map(str::to_owned)
    .to_vec();
    let started = Instant::now();
    assert!(start(&desk, &predict).wait().unwrap().success());
    let duration = started.elapsed();
    let whole = fs::read(desk.file("out.jsonl")).unwrap();

    let mut moments = SeedStream::new(2).rng();
    for number in 0..8 {
        fs::remove_file(desk.file("out.jsonl")).ok();
        let mut child = start(&desk, &predict);
        std::thread::sleep(duration.mul_f64(moments.random_range(0.2..1.0)));
        child.kill().unwrap();
        child.wait().unwrap();
        let left = fs::read(desk.file("out.jsonl")).ok();
        assert!(
            left.is_none_or(|left| left == whole),
            "half a file after kill {number}"
        );
    }
    assert!(start(&desk, &predict).wait().unwrap().success());
    assert!(fs::read(desk.file("out.jsonl")).unwrap() == whole);
    assert_eq!(leftovers(&desk), [""; 0]);
}
