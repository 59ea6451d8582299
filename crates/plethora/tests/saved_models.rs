//! Models as they are saved and opened: the same scores before and after, alone and in batches,
//! and clear errors for what does not fit.

#![expect(clippy::unwrap_used, reason = "a failed set-up fails the test")]

mod support;

use plethora::registry;
use plethora_core::Error;
use plethora_core::corpus::Content;
use plethora_system::{Predictor, RankOptions};
use support::{as_features, config, documents, train, train_unsaved};
use tempfile::TempDir;

const OPTIONS: RankOptions = RankOptions {
    top_k: 5,
    beam: None,
};

#[test]
fn scores_are_the_same_saved_or_not_alone_or_in_a_batch() {
    let folder = TempDir::new().unwrap();
    let texts = documents();
    for (name, documents) in [("texts", texts.clone()), ("features", as_features(&texts))] {
        for system in ["wide-tree", "parabel", "one-vs-all"] {
            let target = folder.path().join(format!("{name}-{system}"));
            let before = train_unsaved(&documents, &config(system), &target);
            let saved = train(&documents, &config(system), &target);
            let sizes = |model: &Predictor| {
                let details = model.details();
                (
                    details.num_labels,
                    details.num_documents,
                    details.num_features,
                )
            };
            assert_eq!(sizes(&saved), sizes(&before));
            assert_eq!(saved.details().takes_text, before.details().takes_text);
            assert_eq!(saved.manifest().unwrap().kind, system);
            let rankings = saved.rank(&documents, OPTIONS).unwrap();
            assert_eq!(rankings, before.rank(&documents, OPTIONS).unwrap());
            for (document, ranking) in documents.iter().zip(&rankings).step_by(50) {
                let alone = saved.rank(std::slice::from_ref(document), OPTIONS).unwrap();
                assert_eq!(alone, std::slice::from_ref(ranking), "{name} {system}");
            }
            assert!(
                rankings
                    .iter()
                    .all(|ranking| ranking.len() == OPTIONS.top_k)
            );
        }
    }
}

#[test]
fn texts_and_features_are_not_confused() {
    let folder = TempDir::new().unwrap();
    let texts = documents();
    let features = as_features(&texts);
    let target = folder.path().join("model");
    let of_texts = train(&texts, &config("wide-tree"), &target);
    let error = of_texts.rank(&features[..1], OPTIONS).unwrap_err();
    assert!(error.to_string().contains("trained on texts"), "{error}");
    let of_features = train(&features, &config("wide-tree"), &target);
    let error = of_features.rank(&texts[..1], OPTIONS).unwrap_err();
    assert!(error.to_string().contains("trained on features"), "{error}");
}

#[test]
fn features_beyond_the_models_own_count_for_nothing() {
    let folder = TempDir::new().unwrap();
    let documents = as_features(&documents());
    let predictor = train(
        &documents,
        &config("wide-tree"),
        &folder.path().join("model"),
    );
    let mut wider = documents[0].clone();
    if let Content::Features(features) = &mut wider.content {
        features.columns.push(1_000_000);
        features.values.push(3.0);
    }
    let known = predictor.rank(&documents[..1], OPTIONS).unwrap();
    assert_eq!(predictor.rank(&[wider], OPTIONS).unwrap(), known);
}

#[test]
fn a_changed_folder_is_refused() {
    let folder = TempDir::new().unwrap();
    let target = folder.path().join("model");
    train(&documents(), &config("wide-tree"), &target);
    let tree = target.join("tree-0.safetensors");
    let mut bytes = std::fs::read(&tree).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&tree, bytes).unwrap();
    let error = registry().open(&target).unwrap_err();
    assert!(matches!(error, Error::Model { .. }), "{error}");
    let error = registry().open(&folder.path().join("nowhere")).unwrap_err();
    assert!(
        error.to_string().contains("no such model folder"),
        "{error}"
    );
}
