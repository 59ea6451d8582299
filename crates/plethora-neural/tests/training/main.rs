//! The training loop on a toy network: what it promises whatever the system. Everything here ends
//! in weights that are compared; parts of the loop are tested where they are written.

#![expect(clippy::unwrap_used, reason = "tests stop where something is wrong")]

mod resume;
mod toy;
mod workshop;

use plethora_neural::train::{Averaging, Schedule, TrainConfig};
use plethora_neural::{Error, open_device};
use plethora_system::Device;
use toy::{ToyNetwork, ToyValidator, WIDTH};
use workshop::{Workshop, config};

#[test]
fn training_learns_and_says_so() {
    let workshop = Workshop::new();
    let config = TrainConfig {
        epochs: 60,
        schedule: Schedule::Cosine,
        warm_up: 0.1,
        ..config()
    };
    let run = workshop.train(&config, 1);
    let outcome = run.outcome.unwrap();
    assert_eq!((outcome.steps, outcome.epochs), (300, 60.0));
    assert!(outcome.train_seconds > 0.0);
    let losses = run.journal.values("loss");
    assert!(losses.len() >= 6, "one at least every 50 steps");
    assert!(losses[losses.len() - 1] < 0.7 * losses[0], "{losses:?}");
    let validations = run.journal.values("valid/score");
    assert_eq!(validations.len(), 60);
    let best = validations.iter().copied().fold(f64::MIN, f64::max);
    assert_eq!(outcome.best.unwrap().score, best);
    assert!(best > validations[0]);
    assert!(
        run.journal
            .values("documents_per_s")
            .iter()
            .all(|&speed| speed > 0.0)
    );
    assert!(
        run.journal
            .values("learning_rate")
            .iter()
            .all(|&rate| rate > 0.0 && rate <= 0.05)
    );
    let shown = run.shown.last().unwrap();
    assert!(
        shown.starts_with("loss ") && shown.contains(" documents/s, best score -"),
        "{shown}"
    );
}

#[test]
fn seed_decides_the_weights() {
    let train = |seed| Workshop::new().train(&config(), seed).network.weights();
    assert_eq!(train(1), train(1));
    assert_ne!(train(1), train(2));
}

#[test]
fn tables_that_are_not_trained_stay() {
    let (before, after) = (
        ToyNetwork::new(0.0),
        Workshop::new().train(&config(), 1).network,
    );
    let numbers = before.weights().len();
    let fixed = 30 * 6;
    let split = numbers - fixed;
    assert_eq!(before.weights()[split..], after.weights()[split..]);
    assert!(before.weights()[..4].iter().all(|&bias| bias == 0.0));
    assert!(
        after.weights()[..split]
            .iter()
            .zip(&before.weights())
            .all(|(a, b)| a != b)
    );
}

#[test]
fn accumulated_batches_equal_one_large_batch() {
    let train = |batch_size, accumulate| {
        let config = TrainConfig {
            batch_size,
            accumulate,
            ..config()
        };
        let mut workshop = Workshop::new();
        workshop.dropout = 0.0;
        let run = workshop.train(&config, 1);
        assert_eq!(run.outcome.unwrap().steps, 15);
        run.network.weights()
    };
    for (whole, parts) in train(8, 1).into_iter().zip(train(4, 2)) {
        assert!((whole - parts).abs() < 1e-5, "{whole} {parts}");
    }
}

/// On the processor alone where there is no GPU: stopping, going on and averaging must work either way.
#[test]
fn gpu_gives_the_weights_of_the_processor() {
    let config = TrainConfig {
        averaging: Averaging::Mean,
        batch_size: 4,
        accumulate: 2,
        ..config()
    };
    let train = |device| {
        let network = ToyNetwork::with(0.0, WIDTH, device);
        let workshop = Workshop::new();
        let validator = ToyValidator::default();
        let stopped = workshop.train_with(&config, 1, network, validator, Some(4));
        assert!(stopped.outcome.is_err());
        let network = ToyNetwork::with(0.0, WIDTH, device);
        let run = workshop.train_with(&config, 1, network, ToyValidator::default(), None);
        run.outcome.unwrap();
        run.network.weights()
    };
    let on_cpu = train(tch::Device::Cpu);
    let Ok(device) = open_device(Device::Cuda(0)) else {
        return;
    };
    for (on_gpu, on_cpu) in train(device).into_iter().zip(on_cpu) {
        assert!((on_gpu - on_cpu).abs() < 1e-4, "{on_gpu} {on_cpu}");
    }
}

#[test]
fn best_weights_are_kept_and_patience_ends() {
    let workshop = Workshop::new();
    let config = TrainConfig {
        epochs: 100,
        validate_every: 0.5,
        patience: 3,
        ..config()
    };
    let validator = ToyValidator {
        scores: Some(vec![0.1, 0.2, 0.5, 0.4, 0.3, 0.5, 9.0]),
        ..ToyValidator::default()
    };
    let run = workshop.train_with(&config, 1, ToyNetwork::new(0.3), validator, None);
    let outcome = run.outcome.unwrap();
    assert!(outcome.stopped_early);
    assert_eq!(outcome.best.unwrap().score, 0.5);
    assert_eq!((outcome.steps, outcome.epochs), (15, 3.0));
    assert_eq!(run.network.weights(), run.validator.seen[2]);
    assert_ne!(run.network.weights(), run.validator.seen[5]);
}

#[test]
fn averages_are_validated_and_kept() {
    let scores: Vec<f64> = (1..=3).map(f64::from).collect();
    let train = |averaging| {
        let config = TrainConfig {
            averaging,
            averaging_start: 0.7,
            averaging_every: 2,
            ..config()
        };
        let validator = ToyValidator {
            scores: Some(scores.clone()),
            ..ToyValidator::default()
        };
        Workshop::new().train_with(&config, 1, ToyNetwork::new(0.3), validator, None)
    };
    let (plain, mean, moving) = (
        train(Averaging::None),
        train(Averaging::Mean),
        train(Averaging::Moving),
    );
    // The first two of three epochs end before averaging begins, and it does not change the steps.
    assert_eq!(plain.validator.seen[..2], mean.validator.seen[..2]);
    assert_ne!(plain.validator.seen[2], mean.validator.seen[2]);
    assert_ne!(mean.validator.seen[2], moving.validator.seen[2]);
    for run in [plain, mean, moving] {
        assert_eq!(run.network.weights(), run.validator.seen[2]);
    }
}

#[test]
fn divergence_is_an_error_and_not_saved() {
    let workshop = Workshop::new();
    let config = TrainConfig {
        checkpoint_minutes: 0.0,
        ..config()
    };
    let mut network = ToyNetwork::new(0.3);
    network.poisoned_after = Some(6);
    let run = workshop.train_with(&config, 1, network, ToyValidator::default(), None);
    let error = run.outcome.unwrap_err();
    assert!(matches!(error, Error::Diverged { step: 8 }), "{error}");
    assert!(
        error.to_string().contains("not finite at step 8"),
        "{error}"
    );
    // The checkpoint is that of the last step with a loss that was a number.
    let resumed = workshop.train(&config, 1);
    assert_eq!(resumed.journal.resumed_at, Some(7));
}

#[test]
fn corpus_without_documents_is_an_error() {
    let mut workshop = Workshop::new();
    workshop.num_documents = 0;
    let error = workshop.train(&config(), 1).outcome.unwrap_err();
    assert_eq!(error.to_string(), "there are no documents to train on");
}
