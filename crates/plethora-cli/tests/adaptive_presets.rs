//! Every preset of APLC-XLNet with a paper's or a program's settings, trained on a small corpus.

#![cfg(unix)]

mod support;

use serde_json::Value;
use support::neural::ENCODER;
use support::{Desk, TEST_PART, TRAIN_PART, join};

/// What makes a run of any preset short.
const SHORT: [&str; 16] = [
    "--encoder",
    ENCODER,
    "--set",
    "document.max_length=24",
    "--set",
    "adaptive.hidden=16",
    "--set",
    "train.epochs=1",
    "--set",
    "train.batch_size=16",
    "--seed",
    "3",
    "-j",
    "1",
    "-q",
    "--force",
];

#[test]
fn presets_of_the_paper_and_of_its_program_can_be_trained() {
    if !support::has_neural_systems() {
        return;
    }
    let desk = Desk::with_catalogue(120);
    for source in ["paper", "program"] {
        for set in ["eurlex", "wiki10", "amazoncat", "wiki500k", "amazon670k"] {
            let preset = format!("{source}-{set}");
            // The program's cut-offs are of its data sets.
            let clusters: &[&str] = match source {
                "program" => &["--set", "adaptive.cut_offs=10,20"],
                _ => &[],
            };
            let named = ["-o", "model", "--system", "aplc-xlnet", "--preset", &preset];
            desk.succeed(&join(&[&["train"], &TRAIN_PART, &named, &SHORT, clusters]));
            let evaluated = ["--json", "-q", "-j", "1"];
            let metrics = desk.succeed(&join(&[&["eval", "model"], &TEST_PART, &evaluated]));
            let metrics: Value = serde_json::from_str(&metrics).unwrap();
            assert!(metrics["P@5"].is_number(), "{preset}");
        }
    }
}

#[test]
fn figures_and_ablations_of_the_paper_are_settings() {
    if !support::has_neural_systems() {
        return;
    }
    let desk = Desk::with_catalogue(120);
    let chosen = |change: &str| -> Value {
        let named = ["--system", "aplc-xlnet", "--preset", "paper-eurlex"];
        let change = ["--set", change, "-o", "model"];
        desk.succeed(&join(&[&["train"], &TRAIN_PART, &named, &SHORT, &change]));
        serde_json::from_str(&desk.read("model/config.json")).unwrap()
    };
    let tails = |shares: &str| {
        let config = chosen(&format!("adaptive.cluster_shares={shares}"));
        config["adaptive"]["cut_offs"].as_array().unwrap().len()
    };
    assert_eq!(tails("1,1,1,1,1,1"), 5);
    assert_eq!(tails("70,20,10"), 2);
    assert_eq!(
        chosen("adaptive.roots=absent")["adaptive"]["roots"],
        "absent"
    );
    let args = ["--system", "aplc-xlnet", "-o", "model", "--force"];
    let wrong = [
        "--set",
        "adaptive.tail_loss=conditional",
        "--set",
        "adaptive.roots=none",
    ];
    let message = desk.fail(2, &join(&[&["train"], &TRAIN_PART, &args, &wrong]));
    assert!(
        message.contains("adaptive.tail_loss: must be product unless roots is all"),
        "{message}"
    );
}
