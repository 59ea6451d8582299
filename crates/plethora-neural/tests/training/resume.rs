//! Interrupted, killed and resumed runs end as if nothing had happened.

use std::fs;

use plethora_neural::Error;
use plethora_neural::train::{Averaging, Clip, LossScale, TrainConfig, TrainingOutcome};

use crate::toy::{ToyNetwork, ToyValidator};
use crate::workshop::{Run, Workshop, config};

const CHECKPOINT: &str = "toy.checkpoint.safetensors";
const WEIGHTS: &str = "toy.weights.safetensors";

/// Settings under which everything that a checkpoint holds has an influence on the end.
fn configs() -> [TrainConfig; 3] {
    [
        TrainConfig {
            averaging: Averaging::Mean,
            validate_every: 0.6,
            ..config()
        },
        TrainConfig {
            averaging: Averaging::Moving,
            loss: LossScale::Mean,
            accumulate: 2,
            batch_size: 4,
            patience: 2,
            ..config()
        },
        TrainConfig {
            clip: Clip::Fixed,
            ..config()
        },
    ]
}

/// All of an outcome but the time it took.
fn figures(outcome: TrainingOutcome) -> TrainingOutcome {
    TrainingOutcome {
        train_seconds: 0.0,
        ..outcome
    }
}

fn assert_equal_ends(run: Run, expected: &Run) {
    let outcome = figures(run.outcome.unwrap());
    assert_eq!(outcome, figures(expected.outcome.as_ref().unwrap().clone()));
    let bits = |run: &ToyNetwork| -> Vec<u32> {
        run.weights()
            .iter()
            .map(|weight| weight.to_bits())
            .collect()
    };
    assert_eq!(bits(&run.network), bits(&expected.network));
}

fn is_interrupted(run: &Run) -> bool {
    matches!(
        run.outcome,
        Err(Error::Core(plethora_core::Error::Interrupted))
    )
}

fn train_until(workshop: &Workshop, config: &TrainConfig, step: u64) -> Run {
    let network = ToyNetwork::new(workshop.dropout);
    workshop.train_with(config, 1, network, ToyValidator::default(), Some(step))
}

#[test]
fn interrupted_and_resumed_equals_uninterrupted() {
    for config in configs() {
        let expected = Workshop::new().train(&config, 1);
        for stops in [&[1][..], &[5], &[9], &[15], &[2, 3, 6, 10, 14]] {
            let workshop = Workshop::new();
            for &stop in stops {
                let run = train_until(&workshop, &config, stop);
                assert!(is_interrupted(&run), "{:?}", run.outcome);
                assert!(workshop.path(CHECKPOINT).is_file());
            }
            let run = workshop.train(&config, 1);
            assert_eq!(run.journal.resumed_at, stops.last().copied());
            assert_equal_ends(run, &expected);
            assert!(!workshop.path(CHECKPOINT).exists());
        }
    }
}

#[test]
fn killed_and_resumed_equals_uninterrupted() {
    for config in configs() {
        let config = TrainConfig {
            checkpoint_minutes: 0.0,
            ..config
        };
        let expected = Workshop::new().train(&config, 1);
        for dies_at in [3, 6, 11] {
            let workshop = Workshop::new();
            let mut network = ToyNetwork::new(workshop.dropout);
            network.dies_at = Some(dies_at);
            let run = workshop.train_with(&config, 1, network, ToyValidator::default(), None);
            let error = run.outcome.unwrap_err().to_string();
            assert_eq!(error, "libtorch: the machine is gone");
            assert_equal_ends(workshop.train(&config, 1), &expected);
        }
    }
}

#[test]
fn interrupted_validation_is_made_again() {
    for config in configs() {
        let expected = Workshop::new().train(&config, 1);
        let workshop = Workshop::new();
        let validator = ToyValidator {
            interrupted_at: Some(1),
            ..ToyValidator::default()
        };
        let network = ToyNetwork::new(workshop.dropout);
        let run = workshop.train_with(&config, 1, network, validator, None);
        assert!(is_interrupted(&run));
        assert_equal_ends(workshop.train(&config, 1), &expected);
    }
}

#[test]
fn complete_stage_is_not_trained_again() {
    let workshop = Workshop::new();
    let first = workshop.train(&config(), 1);
    assert!(workshop.path(WEIGHTS).is_file());
    let again = workshop.train(&config(), 1);
    assert_eq!(again.network.num_learnt.get(), 0);
    assert_eq!(again.validator.num_validations, 0);
    assert_eq!(again.journal.resumed_at, Some(15));
    assert_eq!(
        again.outcome.as_ref().unwrap().train_seconds,
        first.outcome.as_ref().unwrap().train_seconds
    );
    assert_equal_ends(again, &first);
}

#[test]
fn checkpoint_that_cannot_be_written_keeps_the_one_before() {
    let workshop = Workshop::new();
    let expected = Workshop::new().train(&config(), 1);
    assert!(is_interrupted(&train_until(&workshop, &config(), 6)));
    let before = fs::read(workshop.path(CHECKPOINT)).unwrap();
    // A folder where the file is to grow: nobody can write there, whatever his rights.
    let obstacle = workshop.path(&format!(".{CHECKPOINT}.new.part-0"));
    fs::create_dir(&obstacle).unwrap();
    let error = train_until(&workshop, &config(), 9)
        .outcome
        .unwrap_err()
        .to_string();
    assert!(
        error.contains(&format!("{CHECKPOINT}: cannot write: ")),
        "{error}"
    );
    assert_eq!(fs::read(workshop.path(CHECKPOINT)).unwrap(), before);
    fs::remove_dir(&obstacle).unwrap();
    assert_equal_ends(workshop.train(&config(), 1), &expected);
}

#[test]
fn checkpoint_of_another_network_is_refused() {
    let workshop = Workshop::new();
    assert!(is_interrupted(&train_until(&workshop, &config(), 6)));
    let wider = || ToyNetwork::with(0.3, 8, tch::Device::Cpu);
    let run = workshop.train_with(&config(), 1, wider(), ToyValidator::default(), None);
    let error = run.outcome.unwrap_err().to_string();
    assert!(
        error.ends_with(
            "toy.checkpoint.safetensors: checkpoint of another network: it holds labels [6, 4] \
             where this one has labels [8, 4]; pass force instead of resume to start anew"
        ),
        "{error}"
    );
    workshop.train(&config(), 1).outcome.unwrap();
    let run = workshop.train_with(&config(), 1, wider(), ToyValidator::default(), None);
    let error = run.outcome.unwrap_err().to_string();
    assert!(
        error.contains("toy.weights.safetensors: checkpoint of another"),
        "{error}"
    );
}

#[test]
fn damaged_checkpoint_is_named() {
    let workshop = Workshop::new();
    assert!(is_interrupted(&train_until(&workshop, &config(), 6)));
    let bytes = fs::read(workshop.path(CHECKPOINT)).unwrap();
    fs::write(workshop.path(CHECKPOINT), &bytes[..bytes.len() / 2]).unwrap();
    let error = workshop
        .train(&config(), 1)
        .outcome
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("toy.checkpoint.safetensors: array "),
        "{error}"
    );
    assert!(
        error.ends_with("truncated or damaged; pass force instead of resume to start anew"),
        "{error}"
    );
}
