//! Runs that were stopped or are over, and documents that choose weights.

use plethora_core::metrics::{EvaluationConfig, Evaluator};
use plethora_core::{Error as CoreError, LabelId};
use plethora_neural::{Error, NeuralModel as _, ValidationDocuments};
use serde_json::Value;

use crate::workshop::{OPTIONS, Watch, Workshop, documents, rank, rankings_of, set, set_of, small};

#[test]
fn a_stopped_run_goes_on_to_the_weights_of_an_undisturbed_one() {
    for changes in [
        "head.form = \"flat\"",
        "head.form = \"exact\"",
        "head.form = \"attention\"\nhead.bottleneck = 8\ndocument.windows = 3",
        "head.form = \"clustered\"\nclusters.num_clusterings = 2",
        "head.form = \"clustered\"\nhead.negatives = \"static\"",
        "head.form = \"clustered\"\nhead.negatives = \"static-two-encoders\"",
    ] {
        let config = small(changes);
        let set = set(&config);
        let whole = rankings_of(&set, &config);
        let stopped = Workshop::new(&set, &config);
        // Two stages of 18 steps, or one: in the first, between both and in the second.
        for steps in [4, 15, 25] {
            match stopped.try_train(&Watch::stopping_after(steps)) {
                Err(Error::Core(CoreError::Interrupted)) => {}
                Ok(_) => assert_eq!(steps, 25, "{changes}"),
                Err(other) => panic!("{changes}: {other}"),
            }
        }
        assert_eq!(rank(&stopped.train().0), whole, "{changes}");
    }
}

#[test]
fn a_finished_run_is_taken_as_it_is() {
    let config = small("head.form = \"clustered\"\nclusters.num_clusterings = 2");
    let set = set(&config);
    let workshop = Workshop::new(&set, &config);
    let (model, work) = workshop.train();
    drop(work);
    let watch = Watch::stopping_after(u64::MAX);
    let (again, _) = workshop.try_train(&watch).unwrap();
    assert_eq!(rank(&again), rank(&model));
    let ends = watch.ends.lock().unwrap();
    let of_training = ends.iter().filter(|end| end.contains("steps"));
    let is_taken: Vec<bool> = of_training
        .map(|end| end.starts_with("complete already: "))
        .collect();
    assert_eq!(is_taken, [true, true], "{ends:?}");
}

/// Steps far too long, so that the last weights are not the best.
const WILD: &str = r#"
head.form = "flat"
train.epochs = 4
train.learning_rate = 0.05
train.schedule = "constant"
train.averaging = "none"
train.patience = 0
"#;

#[test]
fn validation_documents_choose_the_best_weights() {
    let config = small(WILD);
    let mut to_train = documents(300);
    let held_back = to_train.split_off(240);
    let set = set_of(&config, to_train);
    let mut valid = ValidationDocuments::new();
    for document in &held_back {
        valid
            .add(&set.space, document, |texts| {
                set.texts.reader.sequences(texts)
            })
            .unwrap();
    }
    let valid = valid.finish(|texts| set.texts.reader.sequences(texts));
    let mut workshop = Workshop::new(&set, &config);
    workshop.valid = Some(&valid);
    let (model, work) = workshop.train();

    let log = std::fs::read_to_string(work.path("metrics.jsonl")).unwrap();
    let scores: Vec<f64> = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter_map(|record| record["valid/nDCG@5"].as_f64())
        .collect();
    assert_eq!(scores.len(), 4, "{log}");
    let best = scores.iter().copied().fold(0.0, f64::max);
    assert!(
        best > scores[3],
        "the last weights are the best: {scores:?}"
    );

    let texts: Vec<&str> = held_back.iter().map(|one| one.text().unwrap()).collect();
    let counts = vec![1; set.space.len()];
    let mut evaluator = Evaluator::new(EvaluationConfig::default(), &counts, 1).unwrap();
    // Labels that training never saw are truth all the same.
    let unseen = |place: usize| LabelId((set.space.len() + place) as u32);
    for (document, ranking) in held_back
        .iter()
        .zip(model.rank_texts(&texts, OPTIONS).unwrap())
    {
        let keys = document.labels.iter().enumerate();
        let truth: Vec<LabelId> = keys
            .map(|(place, key)| set.space.id(key).unwrap_or(unseen(place)))
            .collect();
        evaluator.add(&truth, &ranking);
    }
    let kept = evaluator.finish().get("nDCG@5").unwrap();
    assert!((kept - best).abs() < 1e-6, "{kept} of {scores:?}");
}
