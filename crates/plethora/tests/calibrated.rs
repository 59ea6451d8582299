//! Calibrated models, alone and in ensembles of every combination.

#![expect(clippy::unwrap_used, reason = "a failed set-up fails the test")]

mod support;

use std::collections::BTreeMap;
use std::fs;

use plethora::registry;
use plethora_core::artifact::{ModelCopy, ModelReader, ModelWriter};
use plethora_core::calibration::{
    CALIBRATION_FILE, Calibration, CalibrationCollector, CalibrationConfig, Method, ThresholdScope,
};
use plethora_core::corpus::Document;
use plethora_core::{LabelId, NoProgress, ScoredLabel};
use plethora_system::{
    Combination, Compute, EnsembleConfig, EnsembleParts, Predictor, RankOptions, StackingFitter,
};
use support::documents;
use support::models::Models;

const OPTIONS: RankOptions = RankOptions {
    top_k: 5,
    beam: None,
};
const DEEP: RankOptions = RankOptions {
    top_k: 100,
    beam: None,
};

fn truth(predictor: &Predictor, document: &Document) -> Vec<LabelId> {
    let labels = document.labels.iter();
    labels
        .filter_map(|key| predictor.labels().id(key))
        .collect()
}

/// Calibrates a model in its place.
fn calibrate(models: &Models, name: &str, config: &CalibrationConfig) -> Calibration {
    let predictor = models.open(name).without_calibration();
    let mut collector = CalibrationCollector::new(predictor.labels().train_counts(), true);
    let rankings = predictor.rank(&models.documents, DEEP).unwrap();
    for (document, ranking) in models.documents.iter().zip(&rankings) {
        collector.add(&truth(&predictor, document), ranking);
    }
    let bands = collector.bands();
    let calibration = Calibration::fit(&collector.finish(), bands, config).unwrap();
    let model = ModelReader::open(&models.path(name)).unwrap();
    let writer = ModelWriter::create(&models.path(name), true).unwrap();
    let copy = ModelCopy {
        without: Some(CALIBRATION_FILE),
        by_link: true,
        ..ModelCopy::default()
    };
    copy.run(&model, &writer, &NoProgress).unwrap();
    writer.write_json(CALIBRATION_FILE, &calibration).unwrap();
    let manifest = model.manifest();
    writer
        .finish(&manifest.kind, manifest.details.clone())
        .unwrap();
    calibration
}

fn rank(predictor: &Predictor, document: &Document, options: RankOptions) -> Vec<ScoredLabel> {
    let mut rankings = predictor
        .rank(std::slice::from_ref(document), options)
        .unwrap();
    rankings.remove(0)
}

#[test]
fn a_calibrated_model_ranks_by_what_its_calibration_says() {
    let models = Models::train(documents());
    for (method, by_frequency) in [(Method::Isotonic, false), (Method::Platt, true)] {
        let raw = models.open("two").without_calibration();
        let config = CalibrationConfig {
            method,
            by_frequency,
            min_band_true: 50,
            thresholds: Some(ThresholdScope::Label),
            ..CalibrationConfig::default()
        };
        let fitted = calibrate(&models, "two", &config);
        let opened = models.open("two");
        assert_eq!(opened.calibration().unwrap().map, fitted.map);
        assert_eq!(fitted.band_maps.is_empty(), !by_frequency);
        let counts = opened.labels().train_counts();
        for document in models.documents.iter().step_by(60) {
            let mut expected = rank(&raw, document, DEEP);
            fitted.apply(&mut expected, counts);
            expected.truncate(5);
            assert_eq!(rank(&opened, document, OPTIONS), expected);
            let first = expected[0];
            let text = document.text().unwrap();
            let explained = opened.explain(text, first.label).unwrap();
            assert!((explained.score - first.score).abs() < 1e-5);
        }
        let thresholds = opened.label_thresholds().unwrap();
        assert_eq!(thresholds.len(), counts.len());
        assert_eq!(Some(thresholds[3]), fitted.threshold(LabelId(3), counts[3]));
    }
    assert!(models.open("one").label_thresholds().is_none());
}

/// What combining by the definition gives: keys and scores.
fn slow(
    members: &[&Predictor],
    document: &Document,
    combination: Combination,
) -> BTreeMap<String, f64> {
    let mut votes: BTreeMap<String, Vec<(f64, usize)>> = BTreeMap::new();
    for member in members {
        for (place, scored) in rank(member, document, DEEP).iter().enumerate() {
            let key = member.labels().label(scored.label).key.clone();
            let vote = (f64::from(scored.score), place + 1);
            votes.entry(key).or_default().push(vote);
        }
    }
    let score = |votes: &[(f64, usize)]| match combination {
        Combination::NoisyOr => 1.0 - votes.iter().map(|(score, _)| 1.0 - score).product::<f64>(),
        Combination::ReciprocalRank => {
            let ranks = votes.iter().map(|&(_, rank)| 61.0 / (60.0 + rank as f64));
            ranks.sum::<f64>() / members.len() as f64
        }
        _ => votes.iter().map(|(score, _)| score).sum::<f64>() / members.len() as f64,
    };
    votes
        .into_iter()
        .map(|(key, votes)| (key, score(&votes)))
        .collect()
}

#[test]
fn ensembles_combine_the_probabilities_of_their_members() {
    let models = Models::train(documents());
    calibrate(&models, "one", &CalibrationConfig::default());
    let (one, two) = (models.open("one"), models.open("two"));
    for combination in [
        Combination::Mean,
        Combination::NoisyOr,
        Combination::ReciprocalRank,
    ] {
        let both = models.ensemble(EnsembleConfig {
            combination,
            ..EnsembleConfig::equal(2)
        });
        for document in models.documents.iter().step_by(70) {
            let expected = slow(&[&one, &two], document, combination);
            let ranking = rank(&both, document, DEEP);
            assert!(ranking.is_sorted_by(|left, right| left.score >= right.score));
            for scored in &ranking {
                let expected = expected[&both.labels().label(scored.label).key];
                let found = f64::from(scored.score);
                assert!((found - expected).abs() < 1e-6, "{found}, not {expected}");
                assert!((0.0..=1.0).contains(&scored.score));
            }
            let text = document.text().unwrap();
            let explained = both.explain(text, ranking[0].label).unwrap();
            assert_eq!(explained.score, ranking[0].score);
        }
    }
}

#[test]
fn an_ensemble_can_be_calibrated_itself() {
    let models = Models::train(documents());
    let raw = models.ensemble(EnsembleConfig::equal(2));
    let fitted = calibrate(&models, "both", &CalibrationConfig::default());
    let both = models.open("both");
    let document = &models.documents[9];
    let mut expected = rank(&raw, document, OPTIONS);
    fitted.apply(&mut expected, both.labels().train_counts());
    assert_eq!(rank(&both, document, OPTIONS), expected);
    assert_eq!(
        rank(&both.without_calibration(), document, OPTIONS),
        rank(&raw, document, OPTIONS)
    );
}

#[test]
fn a_stacked_ensemble_is_saved_with_the_weights_that_were_fitted() {
    let models = Models::train(documents());
    let config = EnsembleConfig {
        combination: Combination::Stacked,
        ..EnsembleConfig::equal(2)
    };
    let paths = [models.path("one"), models.path("two")];
    let mut parts = EnsembleParts::open(registry(), &paths, config, &NoProgress).unwrap();
    let error = parts.save(
        ModelWriter::create(&models.path("none"), false).unwrap(),
        &NoProgress,
    );
    let error = error.unwrap_err().to_string();
    assert!(
        error.starts_with("stacking: `stacked` has what was fitted"),
        "{error}"
    );

    let members = parts.open_members(Compute::default()).unwrap();
    let mut fitter = StackingFitter::new(2, parts.labels());
    for documents in models.documents.chunks(100) {
        fitter.add(&members, parts.labels(), documents).unwrap();
    }
    let (weights, stacking) = fitter.fit().unwrap();
    assert!(stacking.ndcg_after >= stacking.ndcg_before);
    parts.set_stacking(weights, stacking.clone());
    let writer = ModelWriter::create(&models.path("stacked"), false).unwrap();
    parts.save(writer, &NoProgress).unwrap();

    let stacked = models.open("stacked");
    let mean = models.ensemble(EnsembleConfig::equal(2));
    let ndcg = |predictor: &Predictor| {
        let rankings = predictor.rank(&models.documents, OPTIONS).unwrap();
        let each = models
            .documents
            .iter()
            .zip(&rankings)
            .map(|(document, ranking)| {
                let keys: std::collections::BTreeSet<_> = document.labels.iter().collect();
                let discount = |rank: usize| 1.0 / ((rank + 2) as f64).log2();
                let ideal: f64 = (0..keys.len().min(5)).map(discount).sum();
                let hits = ranking.iter().enumerate().filter(|(_, scored)| {
                    keys.contains(&predictor.labels().label(scored.label).key)
                });
                hits.map(|(rank, _)| discount(rank)).sum::<f64>() / ideal
            });
        each.sum::<f64>() / models.documents.len() as f64
    };
    assert!((ndcg(&stacked) - stacking.ndcg_after).abs() < 1e-3);
    assert!((ndcg(&mean) - stacking.ndcg_before).abs() < 1e-3);
}

/// Two models and an ensemble that links to them.
fn linked() -> Models {
    let models = Models::train(documents());
    let paths = [models.path("one"), models.path("two")];
    let mut parts =
        EnsembleParts::open(registry(), &paths, EnsembleConfig::equal(2), &NoProgress).unwrap();
    parts.link(&models.path("linked")).unwrap();
    let writer = ModelWriter::create(&models.path("linked"), false).unwrap();
    parts.save(writer, &NoProgress).unwrap();
    models
}

fn refusal(models: &Models, name: &str) -> String {
    registry().open(&models.path(name)).unwrap_err().to_string()
}

#[test]
fn linked_members_are_found_from_the_ensemble_and_watched() {
    let models = linked();
    let both = models.ensemble(EnsembleConfig::equal(2));
    let linked = models.open("linked");
    let document = &models.documents[5];
    assert_eq!(
        rank(&linked, document, OPTIONS),
        rank(&both, document, OPTIONS)
    );
    let files = &linked.manifest().unwrap().files;
    assert!(
        !files.keys().any(|name| name.contains('/')),
        "nothing is copied"
    );
    let explained = linked
        .explain(
            document.text().unwrap(),
            rank(&linked, document, OPTIONS)[0].label,
        )
        .unwrap();
    assert_eq!(explained.member.unwrap().name, "../one");

    // Together they may go anywhere.
    let moved = tempfile::tempdir().unwrap();
    for name in ["one", "two", "linked"] {
        fs::rename(models.path(name), moved.path().join(name)).unwrap();
    }
    let opened = registry().open(&moved.path().join("linked")).unwrap();
    assert_eq!(
        rank(&opened, document, OPTIONS),
        rank(&both, document, OPTIONS)
    );
}

#[test]
fn a_linked_member_that_was_moved_or_changed_is_told() {
    let models = linked();
    fs::rename(models.path("two"), models.path("elsewhere")).unwrap();
    let message = refusal(&models, "linked");
    assert!(
        message.ends_with(
            "linked: the member ../two is not there any more: put it back, or make the ensemble \
             again"
        ),
        "{message}"
    );
    fs::rename(models.path("elsewhere"), models.path("two")).unwrap();
    calibrate(&models, "two", &CalibrationConfig::default());
    let message = refusal(&models, "linked");
    assert!(
        message.ends_with(
            "linked: the member ../two was changed since the ensemble was made: make the ensemble \
             again"
        ),
        "{message}"
    );
    fs::write(models.path("one/labels.jsonl"), "").unwrap();
    let message = refusal(&models, "linked");
    assert!(
        message.contains("labels.jsonl: the file is truncated"),
        "{message}"
    );
}

#[test]
fn an_ensemble_of_links_is_not_copied_but_linked_to() {
    let models = linked();
    let error = models
        .combine(&["one", "linked"], EnsembleConfig::equal(2), "nested")
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("links to its members, so it cannot be copied"),
        "{error}"
    );
    let paths = [models.path("one"), models.path("linked")];
    let mut parts =
        EnsembleParts::open(registry(), &paths, EnsembleConfig::equal(2), &NoProgress).unwrap();
    let target = models.path("deep/er/nested");
    parts.link(&target).unwrap();
    parts
        .save(ModelWriter::create(&target, false).unwrap(), &NoProgress)
        .unwrap();
    assert!(registry().open(&target).is_ok());
}

#[test]
fn models_without_a_label_in_common_are_refused() {
    let models = Models::train(documents());
    let others: Vec<Document> = (models.documents.iter())
        .map(|document| Document {
            labels: document
                .labels
                .iter()
                .map(|key| format!("x{key}"))
                .collect(),
            ..document.clone()
        })
        .collect();
    support::train(
        &others,
        &support::config("wide-tree"),
        &models.path("other"),
    );
    let error = models
        .combine(&["one", "other"], EnsembleConfig::equal(2), "refused")
        .unwrap_err()
        .to_string();
    assert!(error.contains("other: shares no label with "), "{error}");
    assert!(
        error.ends_with("they were trained on other label spaces"),
        "{error}"
    );
}
