//! A small report for tests.

use plethora_core::metrics::{
    BootstrapConfig, Difference, Estimate, Estimates, FrequencyGroup, LengthGroup, Reliability,
    ReliabilityBin,
};

use super::content::{
    BucketReport, CalibrationReport, DataSummary, MissedLabelReport, ModelReport, PairReport,
    PredictedLabel, Report, ReportSettings, WorstDocument,
};
use super::published::{Evidence, look_up};
use super::training_curves::TrainingCurve;
use crate::evaluation::Speed;

fn estimate(value: f64) -> Estimate {
    Estimate {
        value,
        low: value - 0.05,
        high: value + 0.05,
    }
}

fn estimates(keys: &[&str], value: f64) -> Estimates {
    let estimate = |key: &&str| ((*key).to_owned(), estimate(value));
    keys.iter().map(estimate).collect()
}

fn model(name: &str, value: f64) -> ModelReport {
    let bin = |mean_score, share_true| ReliabilityBin {
        mean_score,
        share_true,
        num_pairs: 1,
    };
    let reliability = Reliability {
        bins: vec![bin(0.25, 1.0), bin(0.75, 0.0)],
    };
    let metrics = [
        "P@1", "P@3", "nDCG@3", "RP@3", "PSP@3", "R@3", "microF1", "macroF1", "docF1",
    ];
    let bucket = |bucket| BucketReport {
        bucket,
        min_train_frequency: 6,
        num_labels: 1234,
        num_test_labels: 12,
        num_test_assignments: 40,
        metrics: estimates(&["P@1", "P@3", "PSP@1", "PSP@3", "R@1", "R@3"], value / 2.0),
    };
    ModelReport {
        name: name.into(),
        path: "models/one".into(),
        system: "wide-tree".into(),
        num_labels: 4_108,
        num_train_documents: 45_000,
        num_unseen_labels: 85,
        num_unseen_assignments: 100,
        speed: Speed::default(),
        metrics: estimates(&metrics, value),
        buckets: ["head", "torso", "tail"].map(bucket).into(),
        lengths: vec![LengthGroup {
            min_length: 3,
            max_length: 1_200,
            num_documents: 6_000,
            metrics: estimates(&["P@1", "P@3", "PSP@3"], value),
        }],
        test_frequency: vec![FrequencyGroup {
            min_test_frequency: 5,
            max_test_frequency: 90,
            num_labels: 50,
            share: 0.9,
            auc: estimate(value),
            aupr: estimate(value / 2.0),
        }],
        calibration: CalibrationReport {
            top: (&reliability).into(),
            all: (&reliability).into(),
        },
        missed_labels: vec![MissedLabelReport {
            key: "C&1".into(),
            name: "<script>alert(1)</script>".into(),
            train_frequency: 3,
            test_frequency: 9,
            num_found: 2,
            num_missed: 7,
        }],
        worst_documents: vec![WorstDocument {
            id: "doc|1".into(),
            ndcg: 0.0,
            text: "A text about </div> tides".into(),
            num_true_labels: 3,
            true_labels: vec!["Tides".into(), "Moon".into()],
            predictions: vec![PredictedLabel {
                name: "Bees".into(),
                score: 0.5,
                is_true: false,
            }],
        }],
        training: vec![TrainingCurve {
            key: "valid/nDCG@5".into(),
            points: vec![(1.0, 0.5), (2.0, 0.7)],
        }],
    }
}

/// Two models on data that looks like EURLEX57K.
pub(super) fn report() -> Report {
    let difference = Difference {
        estimate: estimate(0.1),
        p_value: 0.002,
    };
    Report {
        format_version: 1,
        program_version: "0",
        data: DataSummary {
            path: "docs.jsonl".into(),
            num_documents: 6_000,
            num_without_labels: 0,
            num_labels: 2_517,
            num_assignments: 30_000,
            length_unit: "words",
        },
        settings: ReportSettings {
            k: vec![1, 3],
            depth: 100,
            threshold: 0.5,
            is_tuned: false,
            a: 0.55,
            b: 1.5,
            bootstrap: BootstrapConfig::default(),
        },
        models: vec![model("linear <b>", 0.8), model("neural", 0.7)],
        comparisons: vec![PairReport {
            first: "linear <b>".into(),
            second: "neural".into(),
            overlap: vec![0.4, 0.5, 0.6],
            differences: vec![("P@1".into(), difference), ("P@3".into(), difference)],
        }],
        published: look_up(&Evidence {
            path: "docs.jsonl".as_ref(),
            num_test_documents: 6_000,
            label_counts: &[4_108],
        }),
    }
}
