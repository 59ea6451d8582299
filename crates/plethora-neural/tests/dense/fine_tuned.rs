//! An encoder that learns the labels first, and encoders of models as encoders to start from.

use std::path::Path;

use plethora_core::artifact::ModelReader;
use plethora_core::corpus::{Content, Document};
use plethora_core::{Error, ScoredLabel};
use plethora_system::TrainingSize;
use plethora_system::settings::Settings;

use crate::workshop::{
    COMPUTE, OPTIONS, Place, REGISTRY, Source, Told, With, documents, ranked, settings,
};

/// A network that is trained in no time, and whose mistakes count.
const SMALL: [&str; 5] = [
    "fine_tuning.epochs=2",
    "fine_tuning.batch_size=32",
    "fine_tuning.learning_rate=0.002",
    "fine_tuning.label_rate=5",
    "fine_tuning.candidates=3",
];

fn xr(changes: &[&str]) -> Settings {
    settings("xr-transformer", &[&SMALL[..], changes].concat())
}

fn trained(settings: &Settings, told: &Told) -> (Place, plethora_system::Trained) {
    let place = Place::new();
    let trained = place
        .train_system(settings, 240, With::default(), told)
        .unwrap();
    (place, trained)
}

/// All numbers of the weights of an encoder in a model folder.
fn weights(reader: &ModelReader, file: &str) -> Vec<(String, Vec<f32>)> {
    let arrays = reader.map(file).unwrap();
    let names = arrays.names().filter(|name| name.starts_with("encoder."));
    names
        .map(|name| (name.to_owned(), arrays.array::<f32>(name).unwrap().to_vec()))
        .collect()
}

fn distance(found: &[Vec<ScoredLabel>], expected: &[Vec<ScoredLabel>]) -> f32 {
    let pairs = found.iter().flatten().zip(expected.iter().flatten());
    let distances = pairs.map(|(found, expected)| (found.score - expected.score).abs());
    distances.fold(0.0, f32::max)
}

#[test]
fn a_fine_tuned_model_comes_back_and_its_encoder_is_another() {
    let told = Told::default();
    let (place, trained) = trained(&xr(&[]), &told);
    assert!(told.has("candidates: 3 labels for each of 240 documents"));
    assert!(told.has("vectors: 240 documents as 32 numbers"));
    let stages: Vec<&str> = trained.stages.iter().map(|(stage, _)| stage).collect();
    assert_eq!(stages, ["reading", "fine-tuning", "vectors", "training"]);
    let expected = ranked(&trained);
    let reader = place.save("xr-transformer", &trained);
    let config: serde_json::Value = reader.read_json("config.json").unwrap();
    assert_eq!(config["fine_tuning"]["form"], "flat");
    assert!(reader.contains("metrics.jsonl") || reader.folder().join("metrics.jsonl").is_file());

    let opened = REGISTRY.open_on(reader.folder(), COMPUTE).unwrap();
    let asked = documents(20);
    assert_eq!(opened.rank(&asked, OPTIONS).unwrap(), expected);
    for (document, expected) in asked.iter().zip(&expected) {
        let alone = opened.rank(std::slice::from_ref(document), OPTIONS);
        let alone = alone.unwrap();
        assert!(distance(&alone, std::slice::from_ref(expected)) < 1e-3);
    }
    let text = asked[0].text().unwrap();
    let found = trained.ranker.explain(text, expected[0][0].label).unwrap();
    assert!(found.terms.iter().any(|term| term.term == "(vector)"));

    let (frozen_place, frozen) = {
        let place = Place::new();
        let frozen = place
            .train(&[], 240, With::default(), &Told::default())
            .unwrap();
        (place, frozen)
    };
    let frozen = frozen_place.save("dense", &frozen);
    let file = "encoder.safetensors";
    let (tuned, frozen) = (weights(&reader, file), weights(&frozen, file));
    assert_eq!(tuned.len(), frozen.len());
    let changed = tuned
        .iter()
        .zip(&frozen)
        .filter(|(one, other)| one != other);
    assert!(changed.count() > tuned.len() / 2);
}

#[test]
fn a_run_that_is_stopped_anywhere_is_resumed_to_the_same_model() {
    let expected = ranked(&trained(&xr(&[]), &Told::default()).1);
    // While the network learns, before its encoder is left, before vectors, between classifiers and weights.
    for stops_at in ["training", "candidates", "vectors", "weights"] {
        let place = Place::new();
        let told = Told {
            stops_at,
            ..Told::default()
        };
        let stopped = place.train_system(&xr(&[]), 240, With::default(), &told);
        assert!(
            matches!(stopped.err(), Some(Error::Interrupted)),
            "{stops_at}"
        );
        let resuming = With {
            resumes: true,
            ..With::default()
        };
        let told = Told::default();
        let resumed = place.train_system(&xr(&[]), 240, resuming, &told).unwrap();
        assert_eq!(ranked(&resumed), expected, "{stops_at}");
        let has_network = ["vectors", "weights"].contains(&stops_at);
        assert_eq!(!told.has("candidates"), has_network, "{stops_at}");
    }
}

#[test]
fn validation_documents_choose_for_network_and_neighbours() {
    let valid = Source("valid.jsonl", documents(30));
    let with_valid = With {
        valid: Some(&valid),
        ..With::default()
    };
    let told = Told::default();
    let settings = xr(&["fine_tuning.candidates=0", "fine_tuning.form=exact"]);
    let place = Place::new();
    place
        .train_system(&settings, 240, with_valid, &told)
        .unwrap();
    assert!(told.has("for 30 documents") && !told.has("candidates"));
    assert!(told.has("vectors: 30 documents"));
}

#[test]
fn what_cannot_be_fine_tuned_is_refused_by_its_key() {
    for (change, message) in [
        (
            "fine_tuning.form=attention",
            "fine_tuning.form: must be flat",
        ),
        ("fine_tuning.epochs=0", "fine_tuning.epochs: must be"),
        (
            "fine_tuning.learning_rate=0",
            "fine_tuning.learning_rate: must be",
        ),
        (
            "fine_tuning.vector_dropout=1",
            "fine_tuning.vector_dropout: must be",
        ),
        (
            "fine_tuning.candidates=5000",
            "fine_tuning.candidates: must be",
        ),
    ] {
        let refused = xr(&[change]).config().err().unwrap().to_string();
        assert!(refused.starts_with(message), "{refused}");
    }
}

#[test]
fn fine_tuning_costs_more_the_longer_it_lasts() {
    let size = TrainingSize {
        num_documents: 40_000,
        num_entries: 4_000_000,
        num_features: 80_000,
        num_labels: 1000,
        num_assignments: 200_000,
    };
    // An encoder of usual size, which only a run would know.
    let usual = "encoder.folder=usual";
    let seconds = |settings: Settings| settings.config().unwrap().estimate(&size).cpu_seconds;
    let frozen = seconds(settings("dense", &[usual]));
    let short = seconds(xr(&[usual]));
    assert!(short > 2.0 * frozen, "{short} {frozen}");
    assert!(seconds(xr(&[usual, "fine_tuning.epochs=20"])) > 5.0 * short);
}

/// Trains a small network of pieces and saves it.
fn network(system: &str, pooling: &str, place: &Place) -> ModelReader {
    let pooling = format!("encoder.pooling={pooling}");
    let settings = settings(
        system,
        &[
            "train.epochs=1",
            "train.batch_size=32",
            "encoder.layers=2",
            &pooling,
        ],
    );
    let trained = place
        .train_system(&settings, 240, With::default(), &Told::default())
        .unwrap();
    place.save(system, &trained)
}

fn from_folder(folder: &Path) -> String {
    format!("encoder.folder={}", folder.display())
}

#[test]
fn the_encoder_of_a_model_is_read_as_that_model_has_it() {
    for (system, pooling) in [("lightxml", "mean"), ("aplc-xlnet", "cls")] {
        let place = Place::new();
        let reader = network(system, pooling, &place);
        let other = Place::new();
        let dense = other
            .train(
                &[&from_folder(reader.folder())],
                240,
                With::default(),
                &Told::default(),
            )
            .unwrap();
        let dense = other.save("dense", &dense);
        let config: serde_json::Value = dense.read_json("config.json").unwrap();
        let expected: serde_json::Value = reader.read_json("config.json").unwrap();
        assert_eq!(config["encoder"]["pooling"], expected["encoder"]["pooling"]);
        assert_eq!(config["encoder"]["pooling"], pooling);
        let kept = weights(&dense, "encoder.safetensors");
        assert!(!kept.is_empty());
        assert_eq!(kept, weights(&reader, "member-0.safetensors"));
        let tokenizer = |reader: &ModelReader| reader.read_bytes("tokenizer.json").unwrap();
        assert_eq!(tokenizer(&dense), tokenizer(&reader));
        // A model of a model: its encoder is a file of its own.
        let third = Place::new();
        let siamese = settings("siamese", &[&from_folder(dense.folder()), "train.epochs=0"]);
        let siamese = third
            .train_system(&siamese, 240, With::default(), &Told::default())
            .unwrap();
        let siamese = third.save("siamese", &siamese);
        assert_eq!(weights(&siamese, "encoder.safetensors"), kept);
        // ... and networks go on from it.
        let fourth = Place::new();
        let again = settings(
            system,
            &[
                &from_folder(siamese.folder()),
                "train.epochs=1",
                "encoder.layers=2",
            ],
        );
        let again = again.config().unwrap();
        let output = fourth.0.path().join("model");
        let told = Told::default();
        again
            .check(&crate::workshop::run(&output, With::default(), &told))
            .unwrap();
    }
}

#[test]
fn vectors_in_the_cache_are_those_of_one_encoder() {
    let place = Place::new();
    let reader = network("lightxml", "mean", &place);
    let cache = tempfile::TempDir::new().unwrap();
    let with_cache = With {
        cache: Some(cache.path()),
        ..With::default()
    };
    let pooling = "encoder.pooling=mean";
    let folder = from_folder(reader.folder());
    for (changes, from_cache) in [
        (vec![pooling], 0),
        (vec![pooling, &folder], 0),
        (vec![pooling], 300),
    ] {
        let told = Told::default();
        Place::new()
            .train(&changes, 300, with_cache, &told)
            .unwrap();
        assert!(
            told.has(&format!("each, {from_cache} of them from the cache")),
            "{changes:?}"
        );
    }
}

#[test]
fn models_without_an_encoder_and_damaged_ones_are_refused() {
    let refusal = |folder: &Path| {
        let refused = Place::new().train(
            &[&from_folder(folder)],
            240,
            With::default(),
            &Told::default(),
        );
        refused.err().unwrap().to_string()
    };
    let place = Place::new();
    let reader = network("lightxml", "mean", &place);
    let weights = reader.folder().join("member-0.safetensors");
    let mut bytes = std::fs::read(&weights).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(&weights, bytes).unwrap();
    let refused = refusal(reader.folder());
    assert!(
        refused.contains("member-0.safetensors: the file is damaged"),
        "{refused}"
    );

    let old = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/model_v1");
    let refused = refusal(Path::new(old));
    assert!(
        refused.starts_with("encoder: ") && refused.contains("which has no encoder"),
        "{refused}"
    );
}

#[test]
fn a_text_without_words_is_ranked_by_a_fine_tuned_model_too() {
    let (_place, trained) = trained(&xr(&["fine_tuning.epochs=1"]), &Told::default());
    let empty = Document {
        id: "empty".into(),
        content: Content::Text(String::new()),
        labels: Vec::new(),
    };
    assert_eq!(
        trained.ranker.rank(&[empty], OPTIONS).unwrap().labels.len(),
        1
    );
}
