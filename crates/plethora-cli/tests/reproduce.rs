//! `reproduce`: claims of papers, from the tables that the program brings along to the page.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::Path;

use plethora_jobs::papers::{Papers, Piece, Place, Results, Selection};
use serde_json::Value;
use support::{Desk, has_neural_systems};

const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");

fn lines(desk: &Desk) -> Vec<Value> {
    let text = desk.read("out/results.jsonl");
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn claims_runs_and_data_go_together() {
    let papers = Papers::new(plethora::registry());
    if has_neural_systems() {
        assert_eq!(papers.problems(), Vec::<String>::new());
    }
    assert_eq!(papers.papers.len(), 5);
}

#[test]
fn the_page_of_the_repository_is_the_one_that_its_figures_make() {
    if !has_neural_systems() {
        return;
    }
    let mut results = Results::default();
    results.read(&Path::new(DOCS).join("papers.jsonl")).unwrap();
    let page = Papers::new(plethora::registry()).page(&results);
    let kept = std::fs::read_to_string(Path::new(DOCS).join("papers.md")).unwrap();
    assert!(
        page == kept,
        "plethora reproduce --results docs/papers.jsonl --page docs/papers.md writes it"
    );
}

#[test]
fn figures_that_are_kept_are_of_the_runs_as_they_are_declared() {
    if !has_neural_systems() {
        return;
    }
    let mut results = Results::default();
    results.read(&Path::new(DOCS).join("papers.jsonl")).unwrap();
    let papers = Papers::new(plethora::registry());
    for figures in results.all() {
        let piece = Piece {
            run: figures.run.clone(),
            data: figures.data.clone(),
            seed: figures.seed,
            is_quick: false,
        };
        assert!(papers.data_of(&figures.data).is_some(), "{}", figures.data);
        assert_eq!(
            papers.arguments(&piece),
            figures.arguments,
            "{}",
            piece.name()
        );
    }
}

#[test]
fn every_preset_of_a_paper_has_a_row_with_its_command() {
    let page = Papers::new(plethora::registry()).page(&Results::default());
    for spec in plethora::registry().systems() {
        for preset in spec.presets.iter().map(|preset| preset.name) {
            if preset.starts_with("paper") || preset.starts_with("program") {
                let command = format!("--system {} --preset {preset} ", spec.name);
                assert!(page.contains(&command), "{command}");
                assert!(
                    page.contains(&format!("| `{}.{preset}` |", spec.name)),
                    "{preset}"
                );
            }
        }
    }
}

#[test]
fn what_is_measured_is_kept_and_not_run_again() {
    let desk = Desk::empty();
    let args = [
        "-q",
        "reproduce",
        "--quick",
        "-o",
        "out",
        "--only",
        "parabel,knn",
        "--seeds",
        "1,2",
    ];
    let printed = desk.succeed(&args);
    // knn draws nothing, so that one seed is enough.
    assert!(printed.starts_with("measured    3\n"), "{printed}");
    let figures = lines(&desk);
    assert_eq!(figures.len(), 3);
    for line in &figures {
        let precision = line["metrics"]["P@1"].as_f64().unwrap();
        assert!((0.0..=100.0).contains(&precision), "{line}");
        assert_eq!(line["data"], "generated");
    }
    assert!(desk.succeed(&args).starts_with("measured    0\n"));
    assert_eq!(lines(&desk).len(), 3);
    assert!(desk.read("out/papers.md").contains("## Presets of papers"));
}

#[test]
fn members_ensembles_and_comparisons_are_measured_too() {
    if !has_neural_systems() {
        return;
    }
    let desk = Desk::empty();
    let only = "lightattention/table-3,consensus-calibrated,attentionxml-beside-parabel,treaderxml-control";
    let args = [
        "-q",
        "-j",
        "1",
        "reproduce",
        "--quick",
        "-o",
        "out",
        "--only",
        only,
    ];
    let printed = desk.succeed(&args);
    assert!(
        !printed.contains("failed") && !printed.contains("not run"),
        "{printed}"
    );
    let figures = lines(&desk);
    let of = |run: &str| {
        let found = figures.iter().find(|line| line["run"] == run);
        found.unwrap_or_else(|| panic!("no {run}")).clone()
    };
    for run in [
        "lightattention-1",
        "lightattention-4",
        "consensus-calibrated",
        "treaderxml-control",
    ] {
        assert!(of(run)["metrics"]["nDCG@5"].is_number(), "{run}");
    }
    assert!(of("attentionxml-beside-parabel")["metrics"]["overlap@5"].is_number());
    assert_eq!(
        of("lightattention-1")["arguments"],
        "lightattention-4, --members 1"
    );
}

#[test]
fn a_run_that_is_stopped_is_resumed_by_the_same_command() {
    if !has_neural_systems() {
        return;
    }
    let desk = Desk::empty();
    let args = [
        "-q",
        "-j",
        "1",
        "reproduce",
        "--quick",
        "-o",
        "out",
        "--only",
        "xml-rnn",
    ];
    let stopped = desk.succeed(&[&args[..], &["--budget", "1s"]].concat());
    // A fast machine may be done by then.
    let is_stopped = stopped.contains("stopped     xml-rnn.generated.1");
    assert!(
        is_stopped || stopped.contains("measured    1") || stopped.contains("left"),
        "{stopped}"
    );
    let printed = desk.succeed(&args);
    assert!(
        !printed.contains("stopped") && !printed.contains("failed"),
        "{printed}"
    );
    assert_eq!(lines(&desk).len(), 1);
}

#[test]
fn what_is_lacking_is_named() {
    let desk = Desk::empty();
    let printed = desk.succeed(&[
        "reproduce",
        "--data",
        "nowhere",
        "-o",
        "out",
        "--only",
        "bonsai",
    ]);
    assert!(
        printed.contains("not run     bonsai.eurlex57k.1: no nowhere/eurlex57k.docs.jsonl.xz"),
        "{printed}"
    );
    let list = desk.succeed(&["reproduce", "--list", "--only", "lightxml/table-3"]);
    assert!(
        list.contains("attentionxml/figure-2 (not testable here)"),
        "{list}"
    );
    let unknown = desk.run(&["reproduce", "--list", "--only", "lightxml/table-33"]);
    assert_eq!(unknown.status.code(), Some(2));
    let message = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert!(
        message.contains("--only: there is no paper, claim or run `lightxml/table-33`"),
        "{message}"
    );
}

#[test]
fn commands_are_those_that_users_would_type() {
    if !has_neural_systems() {
        return;
    }
    let papers = Papers::new(plethora::registry());
    let place = Place {
        data: "DATA".into(),
        output: "OUT".into(),
        vectors: Some("glove.txt".into()),
        encoder: None,
        device: "cuda".into(),
    };
    let pieces = papers
        .pieces(&Selection {
            only: vec!["consensus-calibrated".into()],
            data: vec!["eurlex57k".into()],
            seeds: vec![7],
            is_quick: false,
        })
        .unwrap();
    let names: Vec<String> = pieces.iter().map(Piece::name).collect();
    assert_eq!(
        names,
        [
            "attentionxml.eurlex57k.7",
            "parabel-titles-once.eurlex57k.7",
            "consensus-calibrated.eurlex57k.7"
        ]
    );
    let commands = |place_of_piece: usize| -> Vec<String> {
        let steps = papers.steps(&pieces[place_of_piece], &place);
        steps.iter().map(|step| step.arguments.join(" ")).collect()
    };
    assert_eq!(
        commands(0)[0],
        "train DATA/eurlex57k.docs.jsonl.xz --text-field title,text --where split=train --system attentionxml \
         --valid DATA/eurlex57k.docs.jsonl.xz --valid-where split=dev --device cuda --vectors glove.txt --seed 7 \
         -o OUT/models/attentionxml.eurlex57k.7 --resume"
    );
    let of_ensemble = commands(2);
    assert_eq!(of_ensemble.len(), 4);
    assert!(
        of_ensemble[0].starts_with(
            "calibrate OUT/models/attentionxml.eurlex57k.7 DATA/eurlex57k.docs.jsonl.xz"
        )
    );
    assert!(of_ensemble[2].starts_with("ensemble OUT/models/attentionxml.eurlex57k.7.calibrated "));
    assert!(
        of_ensemble[2].ends_with(
            "--combination noisy-or --link -o OUT/models/consensus-calibrated.eurlex57k.7"
        )
    );
    assert!(of_ensemble[3].starts_with("eval OUT/models/consensus-calibrated.eurlex57k.7 DATA/"));
}
