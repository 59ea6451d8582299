//! Detailed evaluation as a whole: agreement with scikit-learn and numpy, and its cost at the size of
//! large test sets.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use plethora_core::metrics::{
    BootstrapConfig, BucketEstimates, Comparison, DetailedEvaluation, DetailedEvaluator,
    EvaluationConfig, MissedLabel, TopLabels,
};
use plethora_core::{LabelId, ScoredLabel, SeedStream};
use rand::RngExt as _;
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    a: f64,
    b: f64,
    threshold: f32,
    num_train_documents: u64,
    train_counts: Vec<u32>,
    documents: Vec<Document>,
    resamples: usize,
    intervals: BTreeMap<String, Interval>,
    groups: Vec<Group>,
}

#[derive(Deserialize)]
struct Document {
    truth: Vec<u32>,
    ranking: Vec<(u32, f32)>,
    length: u32,
}

#[derive(Deserialize)]
struct Interval {
    value: f64,
    low: f64,
    high: f64,
}

#[derive(Deserialize)]
struct Group {
    min_test_frequency: u64,
    max_test_frequency: u64,
    n_labels: u64,
    share: f64,
    auc: f64,
    aupr: f64,
}

fn golden() -> Golden {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/report/golden.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn evaluate(golden: &Golden) -> DetailedEvaluation {
    let config = EvaluationConfig {
        a: golden.a,
        b: golden.b,
        threshold: golden.threshold,
        ..EvaluationConfig::default()
    };
    let (counts, num_train) = (&golden.train_counts, golden.num_train_documents);
    let mut evaluator = DetailedEvaluator::new(config, counts, num_train).unwrap();
    for document in &golden.documents {
        let truth: Vec<LabelId> = document.truth.iter().copied().map(LabelId).collect();
        let scored = |&(label, score): &(u32, f32)| ScoredLabel {
            label: LabelId(label),
            score,
        };
        let ranking: Vec<ScoredLabel> = document.ranking.iter().map(scored).collect();
        evaluator.add(&truth, &ranking, document.length);
    }
    evaluator.finish()
}

#[test]
fn intervals_are_those_of_numpy() {
    let golden = golden();
    let config = BootstrapConfig {
        resamples: golden.resamples,
        ..BootstrapConfig::default()
    };
    let (metrics, _) = evaluate(&golden).metrics(&config);
    for (key, expected) in &golden.intervals {
        let estimate = metrics.get(key).unwrap();
        assert!((estimate.value - expected.value).abs() < 1e-9, "{key}");
        let tolerance = 0.05 * (expected.high - expected.low);
        for (found, expected) in [(estimate.low, expected.low), (estimate.high, expected.high)] {
            assert!(
                (found - expected).abs() < tolerance,
                "{key}: {found}, {expected}"
            );
        }
    }
}

#[test]
fn curves_by_frequency_are_those_of_scikit_learn() {
    let golden = golden();
    let groups = evaluate(&golden).by_test_frequency(&BootstrapConfig::default());
    assert_eq!(groups.len(), golden.groups.len());
    for (found, expected) in groups.iter().zip(&golden.groups) {
        assert_eq!(found.min_test_frequency, expected.min_test_frequency);
        assert_eq!(found.max_test_frequency, expected.max_test_frequency);
        assert_eq!(found.num_labels, expected.n_labels);
        assert!((found.share - expected.share).abs() < 1e-9);
        assert!((found.auc.value - expected.auc).abs() < 1e-9);
        assert!((found.aupr.value - expected.aupr).abs() < 1e-9);
        assert!(found.auc.low <= found.auc.value && found.auc.value <= found.auc.high);
    }
}

#[test]
fn buckets_and_lengths_add_up_to_the_whole() {
    let golden = golden();
    let config = BootstrapConfig::default();
    let evaluation = evaluate(&golden);
    let buckets = evaluation.buckets(&config);
    for key in ["P@1", "P@5", "PSP@3"] {
        let part = |bucket: &BucketEstimates| bucket.metrics.get(key).unwrap().value;
        let sum: f64 = buckets.iter().map(part).sum();
        let whole = evaluation.evaluation().get(key).unwrap();
        assert!((sum - whole).abs() < 1e-6, "{key}: {sum}, {whole}");
    }
    let groups = evaluation.by_length(&evaluation.length_groups(), &config);
    let num_documents: u64 = groups.iter().map(|group| group.num_documents).sum();
    assert_eq!(num_documents, golden.documents.len() as u64);
    let weighted = groups
        .iter()
        .map(|group| group.metrics.get("P@3").unwrap().value * group.num_documents as f64);
    let mean = weighted.sum::<f64>() / num_documents as f64;
    assert!((mean - evaluation.evaluation().get("P@3").unwrap()).abs() < 1e-6);
}

#[test]
fn missed_labels_are_those_with_most_documents_that_lack_them() {
    let golden = golden();
    let missed = evaluate(&golden).missed_labels(4);
    let lacking = |label: u32| {
        let documents = golden.documents.iter();
        let lacks = documents.filter(|document| {
            let top = document.ranking.iter().take(5);
            document.truth.contains(&label) && !top.clone().any(|&(ranked, _)| ranked == label)
        });
        lacks.count() as u32
    };
    let mut expected: Vec<u32> = (0..33).map(lacking).collect();
    expected.sort_unstable_by(|one, other| other.cmp(one));
    let found: Vec<u32> = missed.iter().map(MissedLabel::num_missed).collect();
    assert_eq!(found, expected[..4]);
    for label in &missed {
        assert_eq!(label.num_missed(), lacking(label.label.0));
    }
}

/// Rankings of a hundred places, a tenth of them hits near the top.
fn large_evaluation(
    num_documents: usize,
    num_labels: u32,
    seed: u64,
) -> (DetailedEvaluation, TopLabels) {
    let counts: Vec<u32> = (0..num_labels)
        .map(|label| 1 + 100_000 / (label + 1))
        .collect();
    let config = EvaluationConfig::default();
    let mut evaluator = DetailedEvaluator::new(config, &counts, 1_000_000).unwrap();
    let mut top = TopLabels::new(5);
    let mut rng = SeedStream::new(seed).rng();
    for number in 0..num_documents {
        // Squaring makes some labels frequent, as they are in real data.
        let share = |rng: &mut rand_pcg::Pcg64Mcg| rng.random_range(0.0..1.0_f64).powi(2);
        let ranking: Vec<ScoredLabel> = (0..100_u8)
            .map(|place| ScoredLabel {
                label: LabelId((share(&mut rng) * f64::from(num_labels)) as u32),
                score: 1.0 / (1.0 + f32::from(place)) * rng.random_range(0.9..1.0_f32),
            })
            .collect();
        let truth: Vec<LabelId> = (0..5)
            .map(|place| match place % 2 {
                0 => ranking[rng.random_range(0..20_usize)].label,
                _ => LabelId((share(&mut rng) * f64::from(num_labels)) as u32),
            })
            .collect();
        evaluator.add(&truth, &ranking, number as u32 % 997);
        top.add(ranking.iter().map(|place| u64::from(place.label.0) + 1));
    }
    (evaluator.finish(), top)
}

/// `cargo test --release -p plethora-core --test detailed_metrics -- --ignored --nocapture`
#[test]
#[ignore = "takes half a minute; measures the cost of a report"]
fn two_hundred_thousand_documents_take_less_than_half_a_minute() {
    let start = Instant::now();
    let (mut evaluation, top) = large_evaluation(200_000, 500_000, 1);
    let judged_s = start.elapsed().as_secs_f64();
    let config = BootstrapConfig::default();
    let (metrics, draws) = evaluation.metrics(&config);
    let buckets = evaluation.buckets(&config);
    let lengths = evaluation.by_length(&evaluation.length_groups(), &config);
    let groups = evaluation.by_test_frequency(&config);
    let missed = evaluation.missed_labels(50);
    let comparison = Comparison::new(&draws, &draws, &config, |_| Some((0.5, 0.5)));
    let overlaps = top.overlaps(&top);
    let total_s = start.elapsed().as_secs_f64();
    assert!(metrics.iter().count() > 20 && buckets.len() == 3 && lengths.len() == 4);
    assert!(groups.len() == 3 && missed.len() == 50 && overlaps.len() == 5);
    assert!(comparison.differences.len() > 20);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM"));
    eprintln!(
        "judging {judged_s:.1} s, all {total_s:.1} s, {}",
        peak.unwrap_or_default()
    );
    assert!(total_s < 30.0, "{total_s}");
}
