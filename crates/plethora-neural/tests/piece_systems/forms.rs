//! Every form from documents to a model folder and back.

use plethora_core::{LabelId, ScoredLabel};
use plethora_neural::train::Precision;

use crate::workshop::{OPTIONS, Workshop, distance, rank, set, small, texts};

/// Trains with these changes; the model ranks batches as single documents, and comes back from its
/// folder as it was.
fn trains_ranks_and_comes_back(changes: &str) {
    let config = small(changes);
    let set = set(&config);
    let workshop = Workshop::new(&set, &config);
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
        .map(|text| model.rank(&[text], OPTIONS).unwrap().remove(0))
        .collect();
    assert!(distance(&alone, &rankings) < 1e-5);

    let reader = workshop.save(&model, &work);
    assert!(reader.contains("metrics.jsonl"));
    let opened = workshop.open(&reader, Precision::F32);
    // Where tensors lie in memory decides how sums are rounded.
    let opened_rankings = rank(&opened);
    assert!(distance(&opened_rankings, &rankings) < 1e-6);
    assert_eq!(labels(&opened_rankings), labels(&rankings));
    assert_eq!(opened.num_parameters(), model.num_parameters());
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

#[test]
fn documents_are_cut_at_the_greatest_length() {
    let config = small("head.form = \"flat\"\ndocument.max_length = 9");
    let set = set(&config);
    let model = Workshop::new(&set, &config).train().0;
    // Single letters are pieces: two special ones and seven letters fit.
    let rank = |text: &str| model.rank(&[text], OPTIONS).unwrap();
    assert_eq!(model.reader().sequence("q w e r t z u i o p").len(), 9);
    assert_eq!(rank("q w e r t z u"), rank("q w e r t z u i o p"));
    assert_ne!(rank("q w e r t z"), rank("q w e r t z u"));
}
