//! Calibration against values of scikit-learn, and fitted as a whole.

#![expect(clippy::unwrap_used, reason = "tests stop where something is wrong")]

use plethora_core::artifact::{ModelReader, ModelWriter};
use plethora_core::calibration::{
    CALIBRATION_FILE, Calibration, CalibrationCollector, CalibrationConfig, Method, ScoreCount,
    ScoreMap, ScoreTable, ThresholdScope, best_threshold,
};
use plethora_core::metrics::Reliability;
use plethora_core::{LabelId, ScoredLabel, SeedStream};
use rand::RngExt;
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    n_bins: usize,
    n_missed: u64,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    scores: Vec<f32>,
    truth: Vec<u8>,
    at: Vec<f64>,
    isotonic: Vec<f64>,
    platt: Vec<f64>,
    ece_equal_width: f64,
    ece_equal_mass: f64,
    best_f1: BestF1,
}

#[derive(Deserialize)]
struct BestF1 {
    f1: f64,
    threshold: f32,
}

fn golden() -> Golden {
    serde_json::from_str(include_str!("../../../testdata/calibration/golden.json")).unwrap()
}

impl Case {
    fn counts(&self) -> Vec<ScoreCount> {
        let mut table = ScoreTable::new();
        for (&score, &truth) in self.scores.iter().zip(&self.truth) {
            table.add(score, truth == 1);
        }
        table.finish()
    }
}

#[test]
fn isotonic_maps_are_those_of_scikit_learn() {
    for case in golden().cases {
        let map = ScoreMap::fit(Method::Isotonic, &case.counts());
        for (&score, &expected) in case.at.iter().zip(&case.isotonic) {
            let found = map.value(score);
            assert!(
                (found - expected).abs() < 1e-9,
                "{score}: {found}, not {expected}"
            );
        }
    }
}

/// Scikit-learn stops where its gradient is 1e-6 per pair, so that its values are only so exact.
#[test]
fn platt_maps_are_those_of_scikit_learn() {
    for case in golden().cases {
        let map = ScoreMap::fit(Method::Platt, &case.counts());
        for (&score, &expected) in case.at.iter().zip(&case.platt) {
            let found = map.value(score);
            assert!(
                (found - expected).abs() < 1e-4,
                "{score}: {found}, not {expected}"
            );
        }
    }
}

#[test]
fn calibration_errors_and_thresholds_are_those_of_their_definitions() {
    let golden = golden();
    for case in &golden.cases {
        let counts = case.counts();
        let width = Reliability::equal_width(&counts, golden.n_bins);
        let mass = Reliability::equal_mass(&counts, golden.n_bins);
        assert!((width.expected_calibration_error() - case.ece_equal_width).abs() < 1e-9);
        assert!((mass.expected_calibration_error() - case.ece_equal_mass).abs() < 1e-9);
        let num_true: u64 = case.truth.iter().map(|&truth| u64::from(truth)).sum();
        let best = best_threshold(&counts, num_true + golden.n_missed).unwrap();
        assert!((best.f1 - case.best_f1.f1).abs() < 1e-9);
        assert_eq!(best.threshold, case.best_f1.threshold);
    }
}

/// Forty labels, of which the first are frequent; scores are too high for frequent labels and too
/// low for rare ones.
const TRAIN_COUNTS: [u32; 40] = {
    let mut counts = [3; 40];
    let mut label = 0;
    while label < 20 {
        counts[label] = if label < 8 { 400 } else { 40 };
        label += 1;
    }
    counts
};

fn collected(num_documents: usize, keeps_labels: bool) -> CalibrationCollector {
    let mut rng = SeedStream::new(3).rng();
    let mut collector = CalibrationCollector::new(&TRAIN_COUNTS, keeps_labels);
    for _ in 0..num_documents {
        let mut truth = Vec::new();
        let mut ranking = Vec::new();
        for label in 0..40_u32 {
            let score: f32 = rng.random::<f32>().powi(2);
            let power = if label < 20 { 3 } else { 1 };
            if rng.random::<f32>() < score.powi(power) {
                truth.push(LabelId(label));
            }
            let label = LabelId(label);
            ranking.push(ScoredLabel { label, score });
        }
        ranking.sort_by(|left, right| right.score.total_cmp(&left.score));
        ranking.truncate(30);
        truth.push(LabelId(99));
        collector.add(&truth, &ranking);
    }
    collector
}

fn fit(num_documents: usize, config: &CalibrationConfig) -> plethora_core::Result<Calibration> {
    let keeps_labels = config.thresholds == Some(ThresholdScope::Label);
    let collector = collected(num_documents, keeps_labels);
    let bands = collector.bands();
    Calibration::fit(&collector.finish(), bands, config)
}

#[test]
fn calibrated_scores_are_better_on_documents_that_were_held_out() {
    for method in [Method::Isotonic, Method::Platt] {
        let mut errors = Vec::new();
        for by_frequency in [false, true] {
            let config = CalibrationConfig {
                method,
                by_frequency,
                thresholds: Some(ThresholdScope::Label),
                ..CalibrationConfig::default()
            };
            let found = fit(2000, &config).unwrap();
            let quality = &found.quality;
            assert!(quality.is_held_out);
            assert!(quality.ece_after < 0.5 * quality.ece_before, "{quality:?}");
            assert!(quality.micro_f1_after > quality.micro_f1_before);
            errors.push((found.probability(0.5, 400) - 0.125).abs());
            errors.push((found.probability(0.5, 3) - 0.5).abs());
        }
        assert!(errors[2] < 0.05 && errors[3] < 0.05, "{errors:?}");
        assert!(errors[2] < errors[0] && errors[3] < errors[1], "{errors:?}");
    }
}

#[test]
fn maps_rise_and_stay_from_0_to_1() {
    for method in [Method::Isotonic, Method::Platt] {
        let config = CalibrationConfig {
            method,
            by_frequency: true,
            ..CalibrationConfig::default()
        };
        let found = fit(500, &config).unwrap();
        for frequency in [0, 3, 40, 400] {
            let mut last = 0.0;
            for step in 0..=1000 {
                let value = found.probability(step as f32 / 1000.0, frequency);
                assert!((last..=1.0).contains(&value), "{value} after {last}");
                last = value;
            }
        }
        // Nothing was fitted for labels without training documents.
        assert_eq!(found.probability(0.3, 0), found.map.apply(0.3));
    }
}

#[test]
fn bands_and_labels_with_too_few_true_labels_fall_back() {
    let config = CalibrationConfig {
        by_frequency: true,
        thresholds: Some(ThresholdScope::Label),
        min_band_true: 400,
        min_label_true: 30,
        ..CalibrationConfig::default()
    };
    let found = fit(250, &config).unwrap();
    assert!(found.band_maps.tail.is_some() && found.band_maps.head.is_none());
    assert_eq!(found.probability(0.5, 400), found.map.apply(0.5));
    let thresholds = found.thresholds.as_ref().unwrap();
    assert!(thresholds.bands.tail.is_some() && thresholds.bands.head.is_none());
    assert!(!thresholds.labels.is_empty() && thresholds.labels.len() < 40);
    let without = (0..8)
        .map(LabelId)
        .find(|label| !thresholds.labels.contains_key(label));
    assert_eq!(
        found.threshold(without.unwrap(), 400),
        Some(thresholds.global)
    );
}

#[test]
fn what_cannot_be_fitted_to_is_refused() {
    let config = CalibrationConfig::default();
    for (num_documents, config, start) in [
        (0, config.clone(), "no document has labels"),
        (1, config.clone(), "only one document has labels"),
        (
            2,
            CalibrationConfig {
                min_true: 1000,
                ..config.clone()
            },
            "only ",
        ),
        (
            2,
            CalibrationConfig { depth: 0, ..config },
            "depth: expected at least 1",
        ),
    ] {
        let error = fit(num_documents, &config).unwrap_err().to_string();
        assert!(error.starts_with(start), "{error}");
    }
}

#[test]
fn a_saved_calibration_gives_the_same_scores() {
    let folder = tempfile::tempdir().unwrap();
    for method in [Method::Isotonic, Method::Platt] {
        let config = CalibrationConfig {
            method,
            by_frequency: true,
            thresholds: Some(ThresholdScope::Label),
            ..CalibrationConfig::default()
        };
        let fitted = fit(400, &config).unwrap();
        let target = folder.path().join("model");
        let writer = ModelWriter::create(&target, true).unwrap();
        writer.write_json(CALIBRATION_FILE, &fitted).unwrap();
        writer.finish("parabel", serde_json::json!({})).unwrap();
        let model = ModelReader::open(&target).unwrap();
        let read = Calibration::of(&model, 40).unwrap().unwrap();
        assert_eq!(
            (&read.map, &read.band_maps),
            (&fitted.map, &fitted.band_maps)
        );
        assert_eq!(read.thresholds, fitted.thresholds);
        let error = Calibration::of(&model, 7).unwrap_err().to_string();
        assert!(
            error.contains("calibration.json: there is a threshold for label"),
            "{error}"
        );
    }
}
