//! Evaluation as a whole: agreement with napkinXC, edge cases, and independence from the order in
//! which documents come.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::Path;

use plethora_core::metrics::{Evaluation, EvaluationConfig, Evaluator, Propensities};
use plethora_core::{LabelId, ScoredLabel};
use proptest::prelude::*;
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    a: f64,
    b: f64,
    threshold: f32,
    num_train_documents: u64,
    train_counts: Vec<u32>,
    inverse_propensities: Vec<f64>,
    documents: Vec<Document>,
    values: BTreeMap<String, f64>,
}

#[derive(Deserialize, Debug, Clone)]
struct Document {
    truth: Vec<u32>,
    ranking: Vec<(u32, f32)>,
}

fn golden() -> Golden {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/metrics/golden.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn add(evaluator: &mut Evaluator, document: &Document) {
    let truth: Vec<_> = document.truth.iter().copied().map(LabelId).collect();
    let ranking: Vec<_> = document
        .ranking
        .iter()
        .map(|&(label, score)| ScoredLabel {
            label: LabelId(label),
            score,
        })
        .collect();
    evaluator.add(&truth, &ranking);
}

fn evaluate(train_counts: &[u32], documents: &[Document]) -> Evaluation {
    let config = EvaluationConfig::default();
    let mut evaluator = Evaluator::new(config, train_counts, 1000).unwrap();
    for document in documents {
        add(&mut evaluator, document);
    }
    evaluator.finish()
}

fn document(truth: &[u32], ranking: &[u32]) -> Document {
    let ranking = ranking.iter().map(|&label| (label, 0.9)).collect();
    Document {
        truth: truth.to_vec(),
        ranking,
    }
}

#[test]
fn values_are_those_of_napkinxc() {
    let golden = golden();
    let (a, b, threshold) = (golden.a, golden.b, golden.threshold);
    let config = EvaluationConfig {
        a,
        b,
        threshold,
        ..EvaluationConfig::default()
    };
    let mut evaluator =
        Evaluator::new(config, &golden.train_counts, golden.num_train_documents).unwrap();
    for document in &golden.documents {
        add(&mut evaluator, document);
    }
    let evaluation = evaluator.finish();
    assert_eq!(evaluation.values().len(), golden.values.len());
    for (key, value) in evaluation.values() {
        let expected = golden.values[key];
        assert!(
            (value - expected).abs() < 1e-9,
            "{key}: {value}, expected {expected}"
        );
    }
}

#[test]
fn propensities_are_those_of_napkinxc() {
    let golden = golden();
    let (counts, num_documents) = (&golden.train_counts, golden.num_train_documents);
    let propensities = Propensities::new(counts, num_documents, golden.a, golden.b);
    for (label, expected) in (0..).zip(&golden.inverse_propensities) {
        assert!((propensities.inverse(LabelId(label)) - expected).abs() < 1e-9);
    }
}

#[test]
fn documents_without_labels_count_as_zero_and_are_reported() {
    let evaluation = evaluate(&[9, 9], &[document(&[0], &[0]), document(&[], &[0, 1])]);
    assert_eq!(evaluation.num_documents(), 2);
    assert_eq!(evaluation.num_documents_without_labels(), 1);
    for key in ["P@1", "R@1", "nDCG@1", "RP@1", "MRR", "docF1"] {
        assert_eq!(evaluation.get(key), Some(0.5), "{key}");
    }
    assert_eq!(evaluation.get("PSP@1"), Some(1.0));
}

#[test]
fn short_ranking_still_counts_hits() {
    let evaluation = evaluate(&[9; 9], &[document(&[0, 1, 2], &[2])]);
    assert_eq!(evaluation.get("P@5"), Some(0.2));
    assert_eq!(evaluation.get("R@5"), Some(1.0 / 3.0));
    assert_eq!(evaluation.get("RP@5"), Some(1.0 / 3.0));
}

#[test]
fn labels_unseen_in_training_stay_in_the_truth() {
    let evaluation = evaluate(&[9, 9], &[document(&[0, 7], &[0])]);
    assert_eq!(evaluation.get("R@1"), Some(0.5));
    assert_eq!(evaluation.get("coverage@5"), Some(0.5));
    let unseen = &evaluation.buckets()[3];
    assert_eq!((unseen.num_labels, unseen.num_test_assignments), (1, 1));
    let row = evaluation.labels().last().unwrap();
    assert_eq!(
        (row.label, row.train_frequency, row.false_negatives),
        (LabelId(7), 0, 1)
    );
}

#[test]
fn no_documents_give_zeros_not_nan() {
    let evaluation = evaluate(&[], &[]);
    assert!(evaluation.values().iter().all(|&(_, value)| value == 0.0));
    assert!(
        evaluation
            .buckets()
            .iter()
            .flat_map(|b| &b.values)
            .all(|&(_, value)| value == 0.0)
    );
}

#[test]
fn json_has_the_stable_keys() {
    let evaluation = evaluate(&[9, 0, 3], &[document(&[0], &[0, 2])]);
    let json: serde_json::Value = serde_json::to_value(&evaluation).unwrap();
    let keys = [
        "P@1",
        "R@5",
        "nDCG@5",
        "RP@5",
        "PSP@5",
        "PSnDCG@5",
        "PSnDCG-rows@5",
        "coverage@5",
        "MRR",
        "microF1",
        "macroF1",
        "docF1",
        "k",
        "n_docs",
        "n_docs_without_labels",
        "A",
        "B",
        "propensity_source",
        "threshold",
    ];
    for key in keys {
        assert!(!json[key].is_null(), "{key}");
    }
    assert_eq!(json["buckets"]["head"]["R@1"], 1.0);
    assert_eq!(json["buckets"]["unseen"]["n_labels"], 1);
}

#[test]
fn label_table_has_a_row_for_each_label() {
    let documents = [document(&[0, 1], &[0, 2]), document(&[0], &[1])];
    let evaluation = evaluate(&[9, 5, 1], &documents);
    let mut table = Vec::new();
    let names = ["sea", "air\tand wind", "fire"];
    evaluation
        .write_labels(&mut table, |label| ("key", names[label.index()]))
        .unwrap();
    let table = String::from_utf8(table).unwrap();
    let lines: Vec<_> = table.lines().collect();
    assert_eq!(
        lines[0],
        "URI\tLabel\tSupport\tTrue_positives\tFalse_positives\tFalse_negatives\tPrecision\tRecall\
         \tF1_score\tTrain_frequency"
    );
    assert_eq!(
        lines[1],
        "key\tsea\t2\t1\t0\t1\t1.000000\t0.500000\t0.666667\t9"
    );
    assert_eq!(
        lines[2],
        "key\tair and wind\t1\t0\t1\t1\t0.000000\t0.000000\t0.000000\t5"
    );
    assert_eq!(
        lines[3],
        "key\tfire\t0\t0\t1\t0\t0.000000\t0.000000\t0.000000\t1"
    );
    assert_eq!(lines.len(), 4);
}

fn documents() -> impl Strategy<Value = Vec<Document>> {
    let truth = prop::collection::vec(0_u32..30, 0..8);
    let ranking = prop::collection::vec((0_u32..30, 0.0_f32..1.0), 0..10);
    let document = (truth, ranking).prop_map(|(truth, ranking)| Document { truth, ranking });
    prop::collection::vec(document, 0..30)
}

fn train_counts() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(0_u32..50, 25)
}

proptest! {
    #[test]
    fn values_lie_between_zero_and_one(counts in train_counts(), documents in documents()) {
        let evaluation = evaluate(&counts, &documents);
        let buckets = evaluation.buckets().iter().flat_map(|bucket| &bucket.values);
        for (key, value) in evaluation.values().iter().chain(buckets) {
            prop_assert!((0.0..=1.0 + 1e-12).contains(value), "{}: {}", key, value);
        }
        let by_bucket: f64 = evaluation.buckets().iter().map(|bucket| bucket.values[1].1).sum();
        prop_assert!((by_bucket - evaluation.get("P@3").unwrap()).abs() < 1e-9);
    }

    #[test]
    fn merged_evaluators_equal_one(
        counts in train_counts(), documents in documents(), cut in 0_usize..30,
    ) {
        let cut = cut.min(documents.len());
        let mut left = Evaluator::new(EvaluationConfig::default(), &counts, 1000).unwrap();
        let mut right = left.fork();
        documents[..cut].iter().for_each(|document| add(&mut right, document));
        documents[cut..].iter().for_each(|document| add(&mut left, document));
        left.merge(&right);
        let (merged, whole) = (left.finish(), evaluate(&counts, &documents));
        prop_assert_eq!(merged.values(), whole.values());
        prop_assert_eq!(merged.buckets(), whole.buckets());
        prop_assert!(merged.labels().eq(whole.labels()));
    }

    #[test]
    fn perfect_rankings_have_one_where_possible(
        counts in train_counts(),
        truths in prop::collection::vec(prop::collection::btree_set(0_u32..25, 1..9), 1..20),
    ) {
        // Rarest first: the best order for propensity-scored metrics too.
        let documents: Vec<_> = truths.iter().map(|truth| {
            let mut truth: Vec<u32> = truth.iter().copied().collect();
            truth.sort_by_key(|&label| counts[label as usize]);
            document(&truth, &truth)
        }).collect();
        let evaluation = evaluate(&counts, &documents);
        let families = ["nDCG", "RP", "PSP", "PSnDCG", "PSnDCG-rows"];
        let at_k = families.iter().flat_map(|name| [1, 3, 5].map(|k| format!("{name}@{k}")));
        let plain = ["P@1", "MRR", "microF1", "macroF1", "docF1"].map(str::to_owned);
        for key in at_k.chain(plain) {
            prop_assert!((evaluation.get(&key).unwrap() - 1.0).abs() < 1e-9, "{}", key);
        }
    }
}
