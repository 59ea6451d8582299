//! Systems of the family `dense` by the traits of a system alone: settings, training, cache, saving, opening,
//! explaining.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fine_tuned;
mod workshop;

use plethora_core::Error;
use plethora_system::{Method, RankOptions, TrainingSize};
use tempfile::TempDir;

use workshop::{
    COMPUTE, OPTIONS, Place, REGISTRY, Source, Told, With, documents, ranked, settings,
};

#[test]
fn a_model_comes_back_and_ranks_texts_alone_as_among_others() {
    let place = Place::new();
    let told = Told::default();
    let trained = place.train(&[], 240, With::default(), &told).unwrap();
    assert!(told.has("weights: ") && told.has("vectors: 240 documents as 32 numbers"));
    let stages: Vec<&str> = trained.stages.iter().map(|(stage, _)| stage).collect();
    assert_eq!(stages, ["reading", "vectors", "training"]);
    let expected = ranked(&trained);
    let reader = place.save("dense", &trained);
    let config: serde_json::Value = reader.read_json("config.json").unwrap();
    assert_eq!(config["encoder"]["pooling"], "mean");
    assert!(config["neighbours"]["weight"].is_number());
    let num_parameters = REGISTRY.num_parameters(&reader).unwrap().unwrap();
    assert_eq!(trained.facts.values["n_parameters"], num_parameters);

    let opened = REGISTRY.open_on(reader.folder(), COMPUTE).unwrap();
    let asked = documents(20);
    assert_eq!(opened.rank(&asked, OPTIONS).unwrap(), expected);
    for (document, expected) in asked.iter().zip(&expected) {
        let alone = opened
            .rank(std::slice::from_ref(document), OPTIONS)
            .unwrap();
        for (alone, expected) in alone[0].iter().zip(expected) {
            assert!((alone.score - expected.score).abs() < 1e-3);
        }
    }
    let ten = RankOptions {
        top_k: 10,
        ..OPTIONS
    };
    let deeper = opened.rank(&asked, ten).unwrap();
    assert_eq!(deeper[0][..5], expected[0]);
}

#[test]
fn explanations_have_terms_the_vector_and_documents() {
    let place = Place::new();
    let trained = place
        .train(
            &["neighbours.weight=1"],
            120,
            With::default(),
            &Told::default(),
        )
        .unwrap();
    let documents = documents(3);
    let best = ranked(&trained)[0][0];
    let text = documents[0].text().unwrap();
    let found = trained.ranker.explain(text, best.label).unwrap();
    assert_eq!(found.method, Method::Contributions);
    assert!((found.score - best.score).abs() < 1e-5 && !found.spans.is_empty());
    let has = |name: &str| found.terms.iter().any(|term| term.term == name);
    assert!(has("(vector)") && has("(bias)"));
    assert_eq!(found.neighbours[0].id, documents[0].id);
    let votes: f32 = found.neighbours.iter().map(|one| one.share).sum();
    assert!(votes > 0.3 && votes < 1.0, "{votes}");
}

#[test]
fn equal_seeds_give_equal_models_and_texts_are_encoded_once() {
    let cache = TempDir::new().unwrap();
    let rankings: Vec<_> = [false, true]
        .into_iter()
        .map(|is_known| {
            let told = Told::default();
            let with_cache = With {
                cache: Some(cache.path()),
                ..With::default()
            };
            let trained = Place::new().train(&[], 300, with_cache, &told).unwrap();
            let from_cache = if is_known { 300 } else { 0 };
            assert!(told.has(&format!("each, {from_cache} of them from the cache")));
            ranked(&trained)
        })
        .collect();
    assert_eq!(rankings[0], rankings[1]);
    let other = Place::new()
        .train(
            &["document.max_length=12"],
            300,
            With::default(),
            &Told::default(),
        )
        .unwrap();
    assert_ne!(rankings[0], ranked(&other));
}

#[test]
fn validation_documents_choose_instead_of_held_back_ones() {
    let valid = Source("valid.jsonl", documents(30));
    let told = Told::default();
    let place = Place::new();
    let with_valid = With {
        valid: Some(&valid),
        ..With::default()
    };
    place.train(&[], 240, with_valid, &told).unwrap();
    assert!(told.has("for 30 documents"));
    let told = Told::default();
    let set = [
        "neighbours.weight=0.5",
        "neighbours.power=8",
        "term_neighbours.num_neighbours=0",
    ];
    Place::new()
        .train(&set, 240, With::default(), &told)
        .unwrap();
    assert!(!told.has("weights"), "nothing is left to choose");
}

#[test]
fn an_interrupted_run_is_resumed_to_the_same_model() {
    let expected = ranked(
        &Place::new()
            .train(&[], 240, With::default(), &Told::default())
            .unwrap(),
    );
    let place = Place::new();
    let told = Told {
        stops_at: "weights",
        ..Told::default()
    };
    let stopped = place.train(&[], 240, With::default(), &told);
    assert!(matches!(stopped.err(), Some(Error::Interrupted)));
    let resuming = With {
        resumes: true,
        ..With::default()
    };
    let resumed = place.train(&[], 240, resuming, &Told::default()).unwrap();
    assert_eq!(ranked(&resumed), expected);
    let left = std::fs::read_dir(place.0.path()).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["model.training"]);
}

#[test]
fn what_cannot_work_is_refused_by_its_key() {
    let refusal = |change: &str| {
        let place = Place::new();
        let refused = place.train(&[change], 20, With::default(), &Told::default());
        refused.err().unwrap().to_string()
    };
    for (change, message) in [
        (
            "encoder.folder=/nowhere",
            "encoder: /nowhere: no such folder",
        ),
        (
            "document.max_length=2",
            "document.max_length: must be at least 3",
        ),
        (
            "document.max_length=9999",
            "document.max_length: must be at most",
        ),
        (
            "classifiers.vector_weight=-1",
            "classifiers.vector_weight: must be a number from 0",
        ),
        (
            "classifiers.solver.cost=0",
            "classifiers.solver.cost: must be",
        ),
        (
            "neighbours.power=-1",
            "neighbours.power: must be a number from 0",
        ),
        (
            "term_neighbours.num_neighbours=1000000",
            "term_neighbours.num_neighbours: must be",
        ),
        ("train.valid_share=1", "train.valid_share: must be"),
    ] {
        let found = refusal(change);
        assert!(found.starts_with(message), "{found}");
    }
}

#[test]
fn longer_documents_and_larger_encoders_cost_more() {
    let seconds = |words: u64, more: &[&str]| {
        let size = TrainingSize {
            num_documents: 40_000,
            num_entries: 40_000 * words,
            num_features: 80_000,
            num_labels: 1000,
            num_assignments: 200_000,
        };
        let trainable = settings("dense", more).config().unwrap();
        trainable.estimate(&size).cpu_seconds
    };
    // Not on the disk, so taken for one of the recipe's sizes.
    let encoder = "encoder.folder=sentence-transformers/all-MiniLM-L6-v2";
    let (short, long) = ("document.max_length=16", "document.max_length=256");
    assert!(seconds(100, &[encoder, long]) > 2.0 * seconds(100, &[encoder, short]));
    assert!(seconds(20, &[encoder, long]) < seconds(100, &[encoder, long]));
    let tiny = seconds(100, &[long]);
    assert!(tiny < seconds(100, &[encoder, long]) / 2.0, "{tiny}");
}
