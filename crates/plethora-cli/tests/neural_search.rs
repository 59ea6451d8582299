//! `search` over neural systems, whose early rungs have fewer epochs.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a failed set-up fails the test")]

mod support;

use serde_json::Value;
use support::Desk;
use support::neural::train_args;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Runs a search of three trials and returns its report.
fn search(desk: &Desk, system: &str, range: &str) -> Value {
    let more = [
        "--set",
        "train.epochs=3",
        "--range",
        range,
        "--trials",
        "3",
        "--budget",
        "10m",
        "--keep-model",
        "--no-cache",
        "--json",
        "-q",
    ];
    let mut args = train_args(system, system, &more);
    args[0] = "search";
    json(&desk.succeed(&args))
}

#[test]
fn neural_systems_are_searched_by_their_epochs() {
    let desk = Desk::with_catalogue(300);
    for (system, range) in [
        ("attentionxml", "train.learning_rate=log:1e-3..1e-2"),
        ("lightxml", "document.dropout=0.1..0.6"),
    ] {
        let report = search(&desk, system, range);
        assert_eq!(report["share_of"], "epochs");
        let trials = report["trials"].as_array().unwrap();
        let shares: Vec<f64> = (trials.iter())
            .map(|trial| trial["share"].as_f64().unwrap())
            .collect();
        // The best of three, and the recipe as it is to compare with, unless that is the best.
        let (part, whole) = shares.split_at(3);
        assert_eq!(part, [1.0 / 3.0; 3], "{system}");
        assert!([1, 2].contains(&whole.len()), "{system}: {shares:?}");
        assert!(whole.iter().all(|&share| share == 1.0), "{system}");
        assert!(
            trials.iter().all(|trial| trial["status"] == "ok"),
            "{report}"
        );
        let info = json(&desk.succeed(&["info", &format!("{system}/model"), "--json"]));
        assert_eq!(info["config"]["train"]["epochs"], 3);
        assert_eq!(
            info["metrics"]["nDCG@5"],
            report["best"]["metrics"]["nDCG@5"]
        );
        let best = desk.read(&format!("{system}/best.toml"));
        assert!(best.contains("\nepochs = 3\n"), "{best}");
    }
}

#[test]
fn trials_that_the_data_cannot_serve_fail_one_by_one() {
    let desk = Desk::with_catalogue(300);
    let report = search(&desk, "lightxml", "encoder.layers=1,9");
    let trials = report["trials"].as_array().unwrap();
    for trial in trials {
        let is_failed = trial["settings"]["encoder.layers"] == 9;
        assert_eq!(
            trial["status"],
            if is_failed { "failed" } else { "ok" },
            "{trial}"
        );
    }
    assert!(
        trials.iter().any(|trial| trial["status"] == "failed"),
        "{report}"
    );
    assert_eq!(report["best"]["status"], "ok");
}
