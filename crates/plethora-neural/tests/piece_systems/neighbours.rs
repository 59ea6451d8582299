//! Training documents that vote beside a network, found by its vectors.

use plethora_core::ScoredLabel;
use plethora_neural::NeuralModel as _;
use plethora_neural::pretrained::{PieceConfig, PieceModel};
use plethora_system::settings::Auto;
use plethora_system::{Method, Precision, RankOptions};

use crate::adaptive;
use crate::workshop::{
    OPTIONS, Watch, Workshop, distance, documents, rank, rankings_of, set, set_apart, small, texts,
};

const VOTES: &str =
    "head.form = \"flat\"\nencoder.pooling = \"mean\"\nneighbours.num_neighbours = 7";

/// Ranks as many labels as the votes have to be added to.
fn deep(model: &PieceModel, texts: &[String]) -> Vec<Vec<ScoredLabel>> {
    let options = RankOptions {
        top_k: 400,
        ..OPTIONS
    };
    model.rank_texts(texts, options).unwrap()
}

#[test]
fn neighbours_vote_and_come_back_from_a_folder() {
    let config = small(VOTES);
    let (set, held) = set_apart(&config);
    let mut workshop = Workshop::new(&set, &config);
    workshop.valid = Some(&held);
    let watch = Watch::stopping_after(u64::MAX);
    let (model, work) = workshop.try_train(&watch).unwrap();
    let ends = watch.ends.lock().unwrap();
    let chosen = ends
        .iter()
        .find(|end| end.contains("for neighbours"))
        .unwrap();
    assert!(chosen.contains("for 15 documents: nDCG@5"), "{chosen}");
    // The choice is part of the settings of a model.
    assert!(matches!(model.config().neighbours.weight, Auto::Set(_)));
    let reader = workshop.save(&model, &work);
    let saved: PieceConfig = reader.read_json("config.json").unwrap();
    assert_eq!(saved.neighbours, model.config().neighbours);
    let opened = workshop.open(&reader, Precision::F32);
    assert!(distance(&rank(&opened), &rank(&model)) < 1e-6);
    let alone: Vec<Vec<ScoredLabel>> = texts()
        .iter()
        .map(|text| model.rank_texts(&[text], OPTIONS).unwrap().remove(0))
        .collect();
    assert!(distance(&alone, &rank(&model)) < 1e-5);
}

#[test]
fn votes_count_by_their_weight() {
    let of = |more: &str| small(&format!("{VOTES}\n{more}"));
    let set = set(&of(""));
    let ranked = |more: &str| rankings_of(&set, &of(more));
    let without = ranked("neighbours.num_neighbours = 0");
    assert_eq!(ranked("neighbours.weight = 0.0"), without);
    let some = ranked("neighbours.weight = 0.5\nneighbours.temperature = 0.1");
    assert!(distance(&some, &without) > 1e-3);
    let cold = ranked("neighbours.weight = 0.5\nneighbours.temperature = 0.001");
    assert!(distance(&some, &cold) > 1e-6);
    // With all the weight a training document has the labels of the nearest, which is itself.
    let config = of("neighbours.weight = 1.0\nneighbours.temperature = 0.0001");
    let model = Workshop::new(&set, &config).train().0;
    let documents = documents(20);
    let texts: Vec<String> = documents
        .iter()
        .map(|document| document.text().unwrap().to_owned())
        .collect();
    let mut num_right = 0;
    for (document, ranking) in documents.iter().zip(deep(&model, &texts)) {
        let mut expected: Vec<u32> = (document.labels.iter())
            .map(|key| set.space.id(key).unwrap().0)
            .collect();
        let voted = ranking.iter().filter(|one| one.score > 0.5);
        let mut voted: Vec<u32> = voted.map(|one| one.label.0).collect();
        expected.sort_unstable();
        voted.sort_unstable();
        num_right += usize::from(expected == voted);
    }
    assert!(num_right >= 18, "{num_right}");
}

#[test]
fn explanations_name_the_neighbours_with_their_shares() {
    let config = small(&format!(
        "{VOTES}\nneighbours.weight = 0.4\nneighbours.temperature = 0.05"
    ));
    let set = set(&config);
    let model = Workshop::new(&set, &config).train().0;
    let document = documents(1).remove(0);
    let text = document.text().unwrap();
    let best = model.rank_texts(&[text], OPTIONS).unwrap().remove(0)[0];
    let explanation = model.explain_text(text, best.label).unwrap();
    assert_eq!(explanation.method, Method::Neighbours);
    assert!((explanation.score - best.score).abs() < 1e-6);
    assert_eq!(explanation.neighbours.len(), 7);
    assert_eq!(explanation.neighbours[0].id, document.id);
    let sum: f32 = explanation.neighbours.iter().map(|one| one.share).sum();
    assert!((sum - 0.4).abs() < 1e-5, "{sum}");
    let of_votes: f32 = (explanation.neighbours.iter())
        .filter(|one| one.labels.contains(&best.label))
        .map(|one| one.share)
        .sum();
    let of_network = 0.6 * explanation.network_score.unwrap();
    assert!((of_votes + of_network - best.score).abs() < 1e-5);
}

#[test]
fn other_heads_and_windows_have_neighbours_too() {
    for more in [
        "head.form = \"attention\"\ndocument.max_length = 16\ndocument.windows = 3",
        "head.form = \"clustered\"\nclusters.num_clusterings = 2",
    ] {
        let config = small(&format!("{VOTES}\n{more}\nneighbours.weight = 0.3"));
        let set = set(&config);
        let workshop = Workshop::new(&set, &config);
        let (model, work) = workshop.train();
        let reader = workshop.save(&model, &work);
        let opened = workshop.open(&reader, Precision::F32);
        assert!(distance(&rank(&opened), &rank(&model)) < 1e-6, "{more}");
    }
    let config = adaptive::adaptive("neighbours.num_neighbours = 3\nneighbours.weight = 0.3");
    let set = set(&config);
    let with = rankings_of(&set, &config);
    let without = rankings_of(&set, &adaptive::adaptive(""));
    assert!(distance(&with, &without) > 1e-3);
}

#[test]
fn a_run_that_was_stopped_has_the_same_neighbours() {
    let config = small(VOTES);
    let set = set(&config);
    let whole = rankings_of(&set, &config);
    let stopped = Workshop::new(&set, &config);
    assert!(stopped.try_train(&Watch::stopping_after(5)).is_err());
    assert_eq!(rank(&stopped.train().0), whole);
}
