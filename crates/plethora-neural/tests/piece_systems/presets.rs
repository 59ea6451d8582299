//! Every preset trains.

use std::path::Path;
use std::sync::LazyLock;

use plethora_core::NoProgress;
use plethora_neural::pretrained::PRETRAINED;
use plethora_system::settings::{Assignment, Settings, parse_config};
use plethora_system::{Compute, Registry, RunContext};
use tempfile::TempDir;

use crate::family::Stream;
use crate::workshop::{ENCODER, OPTIONS, documents};

static REGISTRY: LazyLock<Registry> = LazyLock::new(|| Registry::new([&PRETRAINED as _]));

/// Sizes for a test; all else is the preset's.
const SMALL: &[&str] = &[
    "encoder.layers=2",
    "document.max_length=16",
    "train.epochs=2",
    "train.averaging_every=2",
    "train.precision=f32",
];

/// Of the form with clusters alone.
const SMALL_CLUSTERS: &[&str] = &[
    "head.bottleneck=16",
    "clusters.beam=3",
    "clusters.tree.max_leaf=12",
];

fn preset(name: &str) -> Settings {
    let mut settings = REGISTRY.recipe("lightxml").unwrap();
    let spec = settings.spec();
    let preset = spec.presets.iter().find(|preset| preset.name == name);
    for assignment in parse_config(Path::new(name), preset.unwrap().text).unwrap() {
        settings.assign(&assignment).unwrap();
    }
    settings
}

fn change(settings: &mut Settings, changes: &[&str]) {
    for change in changes {
        let change = Assignment::parse(change, "--set").unwrap();
        settings.assign(&change).unwrap();
    }
}

#[test]
fn every_preset_of_lightxml_trains_and_ranks() {
    let spec = REGISTRY.recipe("lightxml").unwrap().spec();
    assert!(spec.presets.len() >= 6);
    for found in spec.presets {
        let mut settings = preset(found.name);
        let is_clustered = settings.get("head.form").unwrap() == "clustered";
        change(&mut settings, &[&format!("encoder.folder={ENCODER}")]);
        change(&mut settings, SMALL);
        if is_clustered {
            change(&mut settings, SMALL_CLUSTERS);
        }
        let folder = TempDir::new().unwrap();
        let run = RunContext {
            compute: Compute::default(),
            epoch_share: 1.0,
            valid: None,
            piece_cache: None,
            encoder_cache: None,
            output: &folder.path().join("model"),
            resumes: false,
            progress: &NoProgress,
        };
        let trainable = settings.config().unwrap();
        trainable.check(&run).unwrap();
        let documents = documents(220);
        let mut stream = Stream(documents.clone().into_iter());
        let trained = trainable.train(&mut stream, &run).unwrap();
        let ranked = trained.ranker.rank(&documents[..20], OPTIONS).unwrap();
        for ranking in &ranked.labels {
            assert_eq!(ranking.len(), 5, "{}", found.name);
            assert!(ranking.iter().all(|one| (0.0..=1.0).contains(&one.score)));
        }
    }
}

/// Nobody trains the recipe's small encoder by a preset with the paper's name.
#[test]
fn presets_of_the_paper_name_its_encoder() {
    for name in [
        "paper-eurlex",
        "paper-wiki10",
        "paper-amazoncat",
        "paper-wiki500k",
        "paper-amazon670k",
    ] {
        let settings = preset(name);
        assert_eq!(
            settings.get("encoder.folder").unwrap(),
            "bert-base-uncased",
            "{name}"
        );
        assert_eq!(settings.get("document.lowercase").unwrap(), true, "{name}");
        assert_eq!(settings.get("train.epsilon").unwrap(), 1e-6, "{name}");
        assert_eq!(
            settings.get("train.return_held_back").unwrap(),
            false,
            "{name}"
        );
    }
}
