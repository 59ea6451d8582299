//! Every form from documents to a model folder and back.

use std::fs;

use plethora_core::{LabelId, ScoredLabel};
use plethora_neural::NeuralModel as _;
use plethora_neural::pretrained::{OpenPieceConfig, PRETRAINED, PieceConfig};
use plethora_system::{Family as _, Precision};
use serde_json::json;
use tempfile::TempDir;

use crate::workshop::{ENCODER, OPTIONS, Workshop, distance, rank, set, set_apart, small, texts};

/// Trains with these changes; the model ranks batches as single documents, and comes back from its
/// folder as it was.
fn trains_ranks_and_comes_back(changes: &str) {
    holds_all_the_way(&small(changes));
}

/// As [`trains_ranks_and_comes_back`], with any settings.
pub(crate) fn holds_all_the_way(config: &OpenPieceConfig) {
    let (set, held) = set_apart(config);
    let mut workshop = Workshop::new(&set, config);
    workshop.valid = Some(&held);
    let (model, work) = workshop.train();
    let rankings = rank(&model);
    assert_eq!(rankings.len(), texts().len());
    for ranking in &rankings {
        assert_eq!(ranking.len(), 5);
        let is_sorted = ranking.is_sorted_by(|left, right| left.score >= right.score);
        assert!(is_sorted, "{ranking:?}");
        assert!(ranking.iter().all(|one| (0.0..=1.0).contains(&one.score)));
        let mut labels: Vec<_> = ranking.iter().map(|one| one.label).collect();
        labels.sort_unstable();
        labels.dedup();
        assert_eq!(labels.len(), 5, "no label twice: {ranking:?}");
    }
    let alone: Vec<Vec<ScoredLabel>> = texts()
        .iter()
        .map(|text| model.rank_texts(&[text], OPTIONS).unwrap().remove(0))
        .collect();
    assert!(distance(&alone, &rankings) < 1e-5);

    let reader = workshop.save(&model, &work);
    assert!(reader.folder().join("metrics.jsonl").is_file());
    let opened = workshop.open(&reader, Precision::F32);
    // Where tensors lie in memory decides how sums are rounded.
    let opened_rankings = rank(&opened);
    assert!(distance(&opened_rankings, &rankings) < 1e-6);
    assert_eq!(labels(&opened_rankings), labels(&rankings));
    assert_eq!(opened.num_parameters(), model.num_parameters());
    let stored = PRETRAINED.num_parameters(&reader).unwrap();
    assert_eq!(stored, Some(model.num_parameters()));
    let saved: PieceConfig = reader.read_json("config.json").unwrap();
    assert_eq!(saved, workshop.config);
    let rounded = workshop.open(&reader, Precision::Bf16);
    let difference = distance(&rank(&rounded), &rankings);
    assert!(difference > 0.0, "16 bits are used");
    assert!(difference < 0.02, "{difference}");
}

fn labels(rankings: &[Vec<ScoredLabel>]) -> Vec<LabelId> {
    rankings.iter().flatten().map(|one| one.label).collect()
}

#[test]
fn flat_form_trains_ranks_and_comes_back() {
    trains_ranks_and_comes_back("head.form = \"flat\"");
}

#[test]
fn clustered_form_trains_ranks_and_comes_back() {
    trains_ranks_and_comes_back("head.form = \"clustered\"");
}

#[test]
fn exact_form_trains_ranks_and_comes_back() {
    trains_ranks_and_comes_back("head.form = \"exact\"\ntrain.label_chunk = 30");
    trains_ranks_and_comes_back("head.form = \"exact\"\nhead.bottleneck = 0");
}

#[test]
fn static_negatives_train_rank_and_come_back() {
    trains_ranks_and_comes_back(
        r#"head.form = "clustered"
head.negatives = "static"
head.activation = "sigmoid"
train.loss = "mean""#,
    );
}

#[test]
fn static_negatives_with_two_encoders_train_rank_and_come_back() {
    trains_ranks_and_comes_back(
        r#"head.form = "clustered"
head.negatives = "static-two-encoders""#,
    );
}

#[test]
fn two_clusterings_train_rank_and_come_back() {
    trains_ranks_and_comes_back(
        r#"head.form = "clustered"
clusters.num_clusterings = 2
head.activation = "relu"
clusters.predict_beam = 5"#,
    );
}

#[test]
fn mean_pooling_with_checkpointing_trains_ranks_and_comes_back() {
    trains_ranks_and_comes_back(
        r#"head.form = "flat"
encoder.pooling = "mean"
encoder.checkpointing = true
train.accumulate = 2"#,
    );
}

/// A tokenizer whose pieces are letters, with the special pieces before and behind a text.
fn letters(template: &str) -> serde_json::Value {
    let mut vocabulary = serde_json::Map::new();
    let letters = ('a'..='z').map(String::from);
    for (number, piece) in ["<unk>", "<cls>", "<sep>"]
        .map(String::from)
        .into_iter()
        .chain(letters)
        .enumerate()
    {
        vocabulary.insert(piece, number.into());
    }
    let place = |token: &str| match token {
        "$A" => json!({"Sequence": {"id": "A", "type_id": 0}}),
        special => json!({"SpecialToken": {"id": special, "type_id": 0}}),
    };
    let special =
        |token: &str, number: u32| json!({"id": token, "ids": [number], "tokens": [token]});
    json!({
        "version": "1.0",
        "added_tokens": [],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Split", "pattern": {"Regex": "."}, "behavior": "Isolated", "invert": false},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": template.split(' ').map(place).collect::<Vec<_>>(),
            "pair": [],
            "special_tokens": {"<cls>": special("<cls>", 1), "<sep>": special("<sep>", 2)}
        },
        "decoder": null,
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "<unk>"}
    })
}

/// Small random encoders of every architecture but that of the others' tests.
pub(crate) const ARCHITECTURES: [&str; 4] = ["roberta", "mpnet", "distilbert", "xlnet"];

/// The folder of one of them, whose pieces are letters.
pub(crate) fn encoder_of_letters(kind: &str) -> TempDir {
    let encoder = TempDir::new().unwrap();
    let weights = format!("{ENCODER}/../transformers/{kind}");
    for entry in fs::read_dir(weights).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), encoder.path().join(entry.file_name())).unwrap();
    }
    let template = match kind {
        "xlnet" => "$A <sep> <cls>",
        _ => "<cls> $A <sep>",
    };
    let tokenizer = letters(template).to_string();
    fs::write(encoder.path().join("tokenizer.json"), tokenizer).unwrap();
    encoder
}

#[test]
fn every_architecture_trains_ranks_and_comes_back() {
    for kind in ARCHITECTURES {
        let encoder = encoder_of_letters(kind);
        trains_ranks_and_comes_back(&format!(
            "head.form = \"flat\"\nencoder.folder = {:?}",
            encoder.path()
        ));
    }
}

#[test]
fn documents_are_cut_at_the_greatest_length() {
    let config = small("head.form = \"flat\"\ndocument.max_length = 9");
    let set = set(&config);
    let model = Workshop::new(&set, &config).train().0;
    // Single letters are pieces: two special ones and seven letters fit.
    let rank = |text: &str| model.rank_texts(&[text], OPTIONS).unwrap();
    assert_eq!(model.reader().sequence("q w e r t z u i o p").len(), 9);
    assert_eq!(rank("q w e r t z u"), rank("q w e r t z u i o p"));
    assert_ne!(rank("q w e r t z"), rank("q w e r t z u"));
}
