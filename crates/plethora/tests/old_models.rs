//! Models that earlier versions of the program saved: each must open and rank as it did when it was
//! new. `testdata/README.md` says how they were made.

#![expect(clippy::unwrap_used, reason = "tests stop where something is wrong")]

use std::fs;
use std::path::{Path, PathBuf};

use plethora::registry;
use plethora_core::corpus::{Content, Document};
use plethora_system::RankOptions;
use serde::Deserialize;

/// Scores go through a logarithm and back, whose last bits depend on the machine.
const TOLERANCE: f32 = 1e-6;

#[derive(Deserialize)]
struct Expected {
    text: String,
    predictions: Vec<ExpectedLabel>,
}

#[derive(Debug, Deserialize)]
struct ExpectedLabel {
    label: String,
    key: String,
    label_id: u32,
    score: f32,
}

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../testdata")
        .join(name)
}

fn check(model: &str) {
    let predictor = registry().open(&testdata(model)).unwrap();
    let lines = fs::read_to_string(testdata(&format!("{model}.predictions.jsonl"))).unwrap();
    let expected: Vec<Expected> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(!expected.is_empty());
    for Expected { text, predictions } in expected {
        let document = Document {
            id: "1".into(),
            content: Content::Text(text.clone()),
            labels: Vec::new(),
        };
        let options = RankOptions {
            top_k: predictions.len(),
            beam: None,
        };
        let rankings = predictor.rank(&[document], options).unwrap();
        assert_eq!(rankings[0].len(), predictions.len(), "{text}");
        for (scored, expected) in rankings[0].iter().zip(&predictions) {
            let label = predictor.labels().label(scored.label);
            let found = (scored.label.0, &label.key, &label.name);
            assert_eq!(
                found,
                (expected.label_id, &expected.key, &expected.label),
                "{text}"
            );
            let difference = (scored.score - expected.score).abs();
            assert!(difference <= TOLERANCE, "{text}: {scored:?} {expected:?}");
        }
    }
}

#[test]
fn a_model_of_format_1_ranks_as_it_did() {
    check("model_v1");
}
