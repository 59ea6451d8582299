//! `search`: what it finds and what it leaves. Resuming it has a file of its own.

#![expect(clippy::unwrap_used, reason = "a failed set-up fails the test")]

#[path = "refusal/mod.rs"]
mod refusal;
mod support;

use std::fs;
use std::time::{Duration, Instant};

use refusal::{FAILURE, books};
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
    assert_eq!(
        trials.len(),
        9 + 3 + 2,
        "the unchanged settings are trained in full, too"
    );
    assert_eq!(report["is_complete"], true);
    let score = |trial: &Value| trial["metrics"]["nDCG@5"].as_f64().unwrap();
    let of_rung = |rung: usize| trials.iter().filter(move |trial| trial["rung"] == rung);
    let numbers = |rung: usize| of_rung(rung).map(|trial| &trial["trial"]);
    for (rung, size, share) in [(0, 9, 1.0 / 9.0), (1, 3, 1.0 / 3.0), (2, 2, 1.0)] {
        assert_eq!(of_rung(rung).count(), size);
        assert!(of_rung(rung).all(|trial| trial["share"] == share));
        let Some(promoted) = numbers(rung + 1).next().map(|_| numbers(rung + 1)) else {
            continue;
        };
        let is_unchanged_at_last = |trial: &&Value| rung == 1 && **trial == 1;
        let promoted: Vec<&Value> = promoted
            .filter(|trial| !is_unchanged_at_last(trial))
            .collect();
        let is_promoted = |trial: &&Value| promoted.contains(&&trial["trial"]);
        let worst = of_rung(rung)
            .filter(is_promoted)
            .map(score)
            .fold(1.0, f64::min);
        let better = of_rung(rung).filter(|trial| !is_promoted(trial) && score(trial) > worst);
        assert_eq!(better.count(), 0, "rung {rung}");
    }
    assert_eq!(trials[0]["settings"], json("{}"), "the first is unchanged");
    let unchanged = of_rung(2).find(|trial| trial["trial"] == 1).unwrap();
    let best = of_rung(2).max_by(|left, right| score(left).total_cmp(&score(right)));
    assert_eq!(report["best"]["trial"], best.unwrap()["trial"]);
    assert!(score(unchanged) <= score(best.unwrap()));
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
fn failed_trials_are_kept_and_the_search_continues() {
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
fn the_time_ends_a_search_and_more_of_it_resumes_it() {
    let desk = Desk::with_catalogue(1200);
    let settings = [
        "--system",
        "parabel",
        "--method",
        "random",
        "--set",
        "num_trees=2",
    ];
    let ranges = ["--range", "solver.cost=log:0.1..10", "-o", "found", "-q"];
    let search = join(&[&["search"], &TRAIN_PART, &settings, &ranges]);
    let run = |args: &[&str]| json(&desk.succeed(&join(&[&search, args, &["--json"]])));
    let short = run(&["--budget", "8s", "--trials", "5000"]);
    let num_trials = trials(&desk, "found").len();
    assert_eq!(short["is_complete"], false);
    assert!((1..5000).contains(&num_trials), "{num_trials}");
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
        "error: no trial was complete when the time was over; give the search more\n"
    );
    assert_eq!(names(&desk, "found"), ["search.json", "trials.jsonl"]);
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
