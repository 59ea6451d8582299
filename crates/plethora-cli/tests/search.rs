//! `search`: what it finds, what it leaves, how it goes on, and what it refuses.

#![expect(clippy::unwrap_used, reason = "a failed set-up fails the test")]

#[path = "refusal/mod.rs"]
mod refusal;
mod support;

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use refusal::{BAD_DATA, FAILURE, USAGE, books, refuse, refuse_args};
use serde_json::Value;
use support::{Desk, TRAIN_PART, join};

/// A search of small trees within seconds.
const QUICK: [&str; 12] = [
    "--system",
    "parabel",
    "--set",
    "solver.cost=0.01",
    "--range",
    "num_trees=1,2",
    "--range",
    "solver.cost=log:0.1..10",
    "--range",
    "tree.max_leaf=log:10..200",
    "--budget",
    "10m",
];

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The finished trials of a search, without the times, which differ from run to run.
fn trials(desk: &Desk, search: &str) -> Vec<Value> {
    let text = desk.read(&format!("{search}/trials.jsonl"));
    let without_time = |line: &str| {
        let mut trial = json(line);
        trial.as_object_mut().unwrap().remove("seconds").unwrap();
        trial
    };
    text.lines().map(without_time).collect()
}

/// Names of what lies in a search's folder.
fn names(desk: &Desk, search: &str) -> Vec<String> {
    let entries = fs::read_dir(desk.file(search)).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn halving_promotes_the_best_third_and_writes_the_best_settings() {
    let desk = Desk::with_catalogue(2000);
    let args = [
        "-o",
        "found",
        "--trials",
        "9",
        "--json",
        "-q",
        "--keep-model",
    ];
    let report = json(&desk.succeed(&join(&[&["search"], &TRAIN_PART, &QUICK, &args])));
    let trials = trials(&desk, "found");
    assert_eq!(trials.len(), 9 + 3 + 1);
    assert_eq!(report["is_complete"], true);
    let score = |trial: &Value| trial["metrics"]["nDCG@5"].as_f64().unwrap();
    let of_rung = |rung: usize| trials.iter().filter(move |trial| trial["rung"] == rung);
    let numbers = |rung: usize| of_rung(rung).map(|trial| &trial["trial"]);
    for (rung, size, share) in [(0, 9, 1.0 / 9.0), (1, 3, 1.0 / 3.0), (2, 1, 1.0)] {
        assert_eq!(of_rung(rung).count(), size);
        assert!(of_rung(rung).all(|trial| trial["share"] == share));
        let Some(promoted) = numbers(rung + 1).next().map(|_| numbers(rung + 1)) else {
            continue;
        };
        let promoted: Vec<&Value> = promoted.collect();
        let is_promoted = |trial: &&Value| promoted.contains(&&trial["trial"]);
        let worst = of_rung(rung)
            .filter(is_promoted)
            .map(score)
            .fold(1.0, f64::min);
        let better = of_rung(rung).filter(|trial| !is_promoted(trial) && score(trial) > worst);
        assert_eq!(better.count(), 0, "rung {rung}");
    }
    assert_eq!(trials[0]["settings"], json("{}"), "the first is unchanged");
    assert_eq!(report["best"]["trial"], trials[12]["trial"]);
    assert_eq!(
        names(&desk, "found"),
        ["best.toml", "model", "search.json", "trials.jsonl"]
    );
    check_best(&desk, &report);
}

/// The settings and the model that were kept are those of the best trial.
fn check_best(desk: &Desk, report: &Value) {
    let shown = [
        "--config",
        "found/best.toml",
        "--dry-run",
        "--json",
        "-q",
        "-o",
        "x",
    ];
    let run = json(&desk.succeed(&join(&[&["train"], &TRAIN_PART, &shown])));
    let drawn = report["best"]["settings"].as_object().unwrap();
    for (key, value) in drawn {
        let found = key
            .split('.')
            .fold(&run["config"], |place, name| &place[name]);
        let (found, value) = (found.as_f64().unwrap(), value.as_f64().unwrap());
        assert!(
            (found - value).abs() <= 1e-6 * value,
            "{key}: {found}, not {value}"
        );
    }
    let info = json(&desk.succeed(&["info", "found/model", "--json"]));
    assert_eq!(
        info["metrics"]["nDCG@5"],
        report["best"]["metrics"]["nDCG@5"]
    );
    let command = report["train_command"].as_str().unwrap();
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    assert_eq!(words[..2], ["train", "documents.jsonl"]);
    desk.succeed(&words);
    let trained = json(&desk.succeed(&["info", "found/final", "--json"]));
    assert_eq!(trained["config"], info["config"]);
    let kept = info["n_documents"].as_u64().unwrap();
    assert!(
        trained["n_documents"].as_u64().unwrap() > kept,
        "held-back documents too"
    );
}

#[test]
fn test_documents_are_never_looked_at() {
    let desk = Desk::with_catalogue(600);
    let args = ["-o", "first", "--trials", "3", "-q"];
    desk.succeed(&join(&[&["search"], &TRAIN_PART, &QUICK, &args]));
    let changed = |line: &str| {
        let mut document = json(line);
        if document["split"] != "train" {
            document["text"] = "Entirely different".into();
            document["labels"] = json("[\"other\"]");
        }
        format!("{document}\n")
    };
    let text: String = desk.read("documents.jsonl").lines().map(changed).collect();
    desk.write("documents.jsonl", &text);
    let args = ["-o", "second", "--trials", "3", "-q"];
    desk.succeed(&join(&[&["search"], &TRAIN_PART, &QUICK, &args]));
    assert_eq!(trials(&desk, "first"), trials(&desk, "second"));
    assert_eq!(
        desk.read("first/search.json"),
        desk.read("second/search.json")
    );
}

#[test]
fn documents_of_their_own_validate() {
    let desk = Desk::with_catalogue(600);
    let args = [
        "--valid",
        "documents.jsonl",
        "--valid-where",
        "split=dev",
        "--method",
        "random",
        "--metric",
        "psp@10",
        "--trials",
        "4",
        "-o",
        "found",
    ];
    let shown = desk.succeed(&join(&[&["search"], &TRAIN_PART, &QUICK, &args]));
    assert!(shown.contains("PSP@10"), "{shown}");
    assert!(
        shown.contains(" --valid documents.jsonl --valid-where split=dev "),
        "{shown}"
    );
    let trials = trials(&desk, "found");
    assert_eq!(trials.len(), 4);
    assert!(
        trials
            .iter()
            .all(|trial| trial["share"] == 1.0 && trial["rung"] == 0)
    );
    let best = trials
        .iter()
        .map(|trial| trial["metrics"]["PSP@10"].as_f64().unwrap());
    let best = format!("{:.2}", 100.0 * best.fold(0.0, f64::max));
    assert!(
        desk.read("found/best.toml")
            .contains(&format!("PSP@10 {best} "))
    );
}

#[test]
fn equal_trials_are_trained_once() {
    let desk = Desk::with_catalogue(300);
    let args = [
        "--system",
        "wide-tree",
        "--range",
        "beam=5,6",
        "--method",
        "random",
        "--budget",
        "5m",
        "--trials",
        "12",
        "-o",
        "found",
        "-q",
    ];
    desk.succeed(&join(&[&["search"], &TRAIN_PART, &args]));
    let trials = trials(&desk, "found");
    let trained = trials.iter().filter(|trial| trial.get("same_as").is_none());
    assert_eq!(trained.count(), 3, "unchanged, 5 and 6");
    for trial in trials.iter().filter(|trial| trial.get("same_as").is_some()) {
        let first = &trials[trial["same_as"].as_u64().unwrap() as usize - 1];
        assert_eq!(first["settings"], trial["settings"]);
        assert_eq!(first["metrics"], trial["metrics"]);
    }
}

#[test]
fn failed_trials_are_kept_and_the_search_goes_on() {
    let desk = Desk::with_catalogue(300);
    let args = [
        "--range",
        "text.min_df=1,100000",
        "--method",
        "random",
        "--budget",
        "5m",
        "--trials",
        "6",
        "-q",
    ];
    let shown = desk.succeed(&join(&[&["search"], &TRAIN_PART, &args, &["-o", "found"]]));
    assert!(
        shown.contains(" failed; the first: documents.jsonl: "),
        "{shown}"
    );
    for trial in trials(&desk, "found") {
        let is_failed = trial["settings"]["text.min_df"] == 100_000;
        assert_eq!(trial["status"], if is_failed { "failed" } else { "ok" });
        assert_eq!(trial.get("message").is_some(), is_failed);
    }
    let all = [
        "--set",
        "text.min_df=100000",
        "--range",
        "beam=5,6",
        "--trials",
        "3",
    ];
    let args = ["--budget", "5m", "-o", "none"];
    let message = desk.fail(FAILURE, &join(&[&["search"], &TRAIN_PART, &all, &args]));
    assert!(
        message.starts_with("error: all 3 trials failed; the first: "),
        "{message}"
    );
    assert_eq!(message.lines().count(), 1, "{message}");
    assert_eq!(names(&desk, "none"), ["search.json", "trials.jsonl"]);
}

#[test]
fn the_time_ends_a_search_and_more_of_it_goes_on() {
    let desk = Desk::with_catalogue(1200);
    let settings = [
        "--system",
        "parabel",
        "--method",
        "random",
        "--set",
        "num_trees=8",
    ];
    let ranges = ["--range", "solver.cost=log:0.1..10", "-o", "found", "-q"];
    let search = join(&[&["search"], &TRAIN_PART, &settings, &ranges]);
    let run = |args: &[&str]| json(&desk.succeed(&join(&[&search, args, &["--json"]])));
    let short = run(&["--budget", "6s", "--trials", "500"]);
    let num_trials = trials(&desk, "found").len();
    assert_eq!(short["is_complete"], false);
    assert!((1..500).contains(&num_trials), "{num_trials}");
    assert!(short["seconds"].as_f64().unwrap() < 30.0);
    assert_eq!(
        names(&desk, "found"),
        ["best.toml", "search.json", "trials.jsonl"]
    );
    let more = (num_trials + 1).to_string();
    let longer = run(&["--budget", "10m", "--trials", &more, "--resume"]);
    assert_eq!(longer["is_complete"], true);
    assert_eq!(trials(&desk, "found").len(), num_trials + 1);
    let same = run(&["--budget", "1s", "--trials", &more, "--resume"]);
    assert_eq!(same["best"], longer["best"], "nothing is left to do");
}

#[test]
fn a_trial_that_never_ends_is_stopped() {
    let desk = Desk::with_catalogue(1200);
    let args = [
        "--system",
        "parabel",
        "--set",
        "num_trees=1000",
        "--range",
        "beam=5,6",
        "--budget",
        "2s",
        "--method",
        "random",
        "-o",
        "found",
    ];
    let started = Instant::now();
    let message = desk.fail(FAILURE, &join(&[&["search"], &TRAIN_PART, &args]));
    assert!(started.elapsed() < Duration::from_secs(30));
    assert_eq!(
        message,
        "error: no trial was complete when the time was over; give more with --budget\n"
    );
    assert_eq!(names(&desk, "found"), ["search.json", "trials.jsonl"]);
}

/// Trials long enough to be stopped in the middle.
const SLOW: [&str; 8] = [
    "--system",
    "parabel",
    "--set",
    "num_trees=4",
    "--budget",
    "10m",
    "--trials",
    "9",
];

fn start(desk: &Desk, search: &str) -> Child {
    let program = assert_cmd::cargo::cargo_bin!("plethora");
    let ranges = ["--range", "solver.cost=log:0.1..10", "-o", search];
    Command::new(program)
        .current_dir(desk.path())
        .args(join(&[&["search"], &TRAIN_PART, &SLOW, &ranges]))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits until so many trials are finished, and a tree of the next.
fn wait_for(desk: &Desk, search: &str, num_trials: usize) {
    let deadline = Instant::now() + Duration::from_secs(120);
    let is_training = |name: &String| {
        let tree = desk.file(search).join(name).join("tree-1.safetensors");
        tree.exists()
    };
    loop {
        let trials = fs::read_to_string(desk.file(search).join("trials.jsonl"));
        let num_done = trials.unwrap_or_default().lines().count();
        if num_done >= num_trials && names(desk, search).iter().any(is_training) {
            return;
        }
        assert!(
            Instant::now() < deadline,
            "trial {num_trials} does not come"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[cfg(unix)]
#[test]
fn a_stopped_search_goes_on_to_the_same_trials() {
    let desk = Desk::with_catalogue(1000);
    let ranges = ["--range", "solver.cost=log:0.1..10", "-q"];
    let search = join(&[&["search"], &TRAIN_PART, &SLOW, &ranges]);
    desk.succeed(&join(&[&search, &["-o", "whole"]]));
    for (signal, num_trials, name) in [("-INT", 2, "stopped"), ("-KILL", 9, "killed")] {
        fs::create_dir(desk.file(name)).unwrap();
        let child = start(&desk, name);
        wait_for(&desk, name, num_trials);
        let id = child.id().to_string();
        Command::new("kill").args([signal, &id]).status().unwrap();
        let output = child.wait_with_output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        if signal == "-INT" {
            assert_eq!(output.status.code(), Some(1), "{message}");
            let last = message.lines().last().unwrap();
            let start = "error: interrupted; to go on with the search: ";
            assert!(
                last.starts_with(start) && last.ends_with(" --resume"),
                "{message}"
            );
        }
        assert!(
            trials(&desk, name).len() < trials(&desk, "whole").len(),
            "{signal}"
        );
        desk.succeed(&join(&[&search, &["-o", name, "--resume"]]));
        assert_eq!(trials(&desk, name), trials(&desk, "whole"), "{signal}");
        assert_eq!(
            desk.read(&format!("{name}/best.toml")),
            desk.read("whole/best.toml")
        );
        assert_eq!(names(&desk, name), names(&desk, "whole"));
    }
}

#[test]
fn other_arguments_do_not_go_on_with_a_search() {
    let desk = Desk::with_catalogue(300);
    let search = join(&[&["search"], &TRAIN_PART, &["-o", "found"]]);
    let args = ["--range", "beam=5,6", "--trials", "3", "--budget", "5m"];
    desk.succeed(&join(&[&search, &args, &["-q"]]));
    let before = desk.read("found/trials.jsonl");
    let refuse_resume = |args: &[&str], status, message| {
        let resume = ["--resume", "--budget", "5m"];
        refuse_args(&desk, &join(&[&search, args, &resume]), status, message);
    };
    let message = "--resume: the search in found has other values for: --metric, ranges; repeat \
                   those, or start anew with --force";
    let other = ["--range", "beam=5,7", "--trials", "3", "--metric", "P@1"];
    refuse_resume(&other, USAGE, message);
    let message = "--resume: the search in found has other values for: --trials; repeat...";
    let other = ["--range", "beam=5,6", "--trials", "4"];
    refuse_resume(&other, USAGE, message);
    let message = "found: holds a search on other documents; --force starts anew";
    let other = [
        "--range",
        "beam=5,6",
        "--trials",
        "3",
        "--docs-limit",
        "200",
    ];
    refuse_resume(&other, BAD_DATA, message);
    let message = "found: --resume goes on with the search there: found exists already; choose \
                   another name or pass --force to replace it";
    refuse_args(&desk, &join(&[&search, &args]), FAILURE, message);
    desk.succeed(&join(&[
        &search,
        &args,
        &["-q", "--force", "--metric", "P@1"],
    ]));
    assert_eq!(
        before.lines().count(),
        desk.read("found/trials.jsonl").lines().count()
    );
    assert!(desk.read("found/best.toml").contains("P@1 "));
}

#[test]
fn what_cannot_be_searched_is_refused_with_one_message() {
    let desk = Desk::empty();
    desk.write("books.jsonl", &books());
    desk.write(
        "bare.jsonl",
        "{\"text\": \"A book\"}\n{\"text\": \"Another\"}\n",
    );
    desk.write("ranges.toml", "[solver]\ncost = \"log:1..0.1\"\n");
    desk.write("empty.toml", "# nothing\n");
    for (args, status, message) in [
        (
            "--range solver.cots=1,2",
            USAGE,
            "--range: unknown setting `solver.cots`; did you mean `solver.cost`?",
        ),
        (
            "--range solver.cost=0..1",
            USAGE,
            "--range: solver.cost: must be a number above 0",
        ),
        (
            "--range beam=9..3",
            USAGE,
            "--range: beam: `9..3`: expected the smaller number first",
        ),
        (
            "--range beam",
            USAGE,
            "--range: `beam`: expected KEY=VALUE, as solver.cost=log:0.1..10",
        ),
        (
            "--ranges ranges.toml",
            USAGE,
            "ranges.toml:2: solver.cost: `log:1..0.1`: expected the smaller number first",
        ),
        (
            "--ranges empty.toml",
            USAGE,
            "empty.toml: there is no range to search",
        ),
        ("--ranges none.toml", USAGE, "none.toml: cannot read: ..."),
        (
            "--metric nDGC@5",
            USAGE,
            "invalid value 'nDGC@5' for '--metric <METRIC>': unknown metric; did you mean `nDCG@5`?",
        ),
        (
            "--trials 0",
            USAGE,
            "invalid value '0' for '--trials <N>'...",
        ),
        (
            "--valid-share 1",
            USAGE,
            "invalid value '1' for '--valid-share <SHARE>': expected a number between 0 and 1",
        ),
        (
            "--valid books.jsonl",
            USAGE,
            "--valid: these are the documents to train on; choose others...",
        ),
        (
            "--valid bare.jsonl",
            BAD_DATA,
            "bare.jsonl: no document has labels, so there is nothing to compare with; --label-field names their field",
        ),
        (
            "--valid-share 0.0001",
            BAD_DATA,
            "books.jsonl: none of the 40 documents with labels is held back to measure on with --valid-share 0.0001; choose...",
        ),
        (
            "--valid-share 0.9999",
            BAD_DATA,
            "books.jsonl: none of the 40 documents with labels is left to learn from with --valid-share 0.9999; choose...",
        ),
        (
            "--system parable",
            USAGE,
            "--system: unknown system `parable`; did you mean `parabel`? Systems: ...",
        ),
    ] {
        let line = format!("search books.jsonl -o found --budget 1m {args}");
        refuse(&desk, &line, status, message);
    }
    let time = "expected a time above 0, as 90s, 30m, 1h30m or 2d";
    for budget in ["0", "0m", "30", "soon"] {
        let line = format!("search books.jsonl -o found --budget {budget}");
        let message = format!("invalid value '{budget}' for '--budget <TIME>': {time}");
        refuse(&desk, &line, USAGE, &message);
    }
    let stdin = "DATA: a search reads the documents many times; name a file instead of -";
    refuse(&desk, "search - -o found --budget 1m", USAGE, stdin);
    let bare = "bare.jsonl: no document has labels, so there is nothing to learn from...";
    refuse(
        &desk,
        "search bare.jsonl -o found --budget 1m",
        BAD_DATA,
        bare,
    );
}

#[test]
fn a_dry_run_shows_ranges_that_a_search_takes() {
    let desk = Desk::empty();
    desk.write("books.jsonl", &books());
    let search = ["search", "books.jsonl", "-o", "found", "--budget", "5m"];
    let shown = desk.succeed(&join(&[&search, &["--system", "bonsai", "--dry-run"]]));
    assert!(
        shown.contains("solver.cost = \"log:0.1..10.0\"\n"),
        "{shown}"
    );
    assert!(!desk.file("found").exists());
    desk.write("ranges.toml", &shown);
    let given = ["--system", "bonsai", "--dry-run", "--ranges", "ranges.toml"];
    assert_eq!(desk.succeed(&join(&[&search, &given])), shown);
}
