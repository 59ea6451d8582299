//! Further trainings with lower learning rates, once the weights have stopped getting better.

use plethora_core::SeedStream;

use super::batches::TReaderBatches;
use super::config::TReaderConfig;
use super::network::TReaderNetwork;
use super::run::{STAGE, TReaderRun};
use super::validator::TReaderValidator;
use crate::Result;
use crate::systems::NetworkStage;
use crate::train::{Network as _, TrainConfig, Validator as _};

/// How weights are found in a round; the first training is number 0.
fn train_in_round(config: &TReaderConfig, round: usize) -> TrainConfig {
    let mut train = config.train.clone();
    if round > 0 {
        train.learning_rate *= config.decay.factor.powi(round as i32);
        train.warm_up = 0.0;
    }
    train
}

impl TReaderRun<'_> {
    /// Trains, then again from the best weights at each lower learning rate. A round that gains nothing
    /// leaves the weights as they were.
    pub(super) fn train_in_rounds(
        &mut self,
        network: &TReaderNetwork,
        batches: &TReaderBatches<'_>,
        validator: TReaderValidator<'_>,
        seed: SeedStream,
    ) -> Result<()> {
        // Without validation documents nothing says when to go on.
        let rounds = if self.valid.is_empty() {
            0
        } else {
            self.config.decay.rounds
        };
        for round in 0..=rounds {
            let (train, name) = (train_in_round(self.config, round), format!("decay-{round}"));
            let stage = NetworkStage {
                name: if round == 0 { STAGE } else { &name },
                is_only: rounds == 0,
                train: &train,
                seed: if round == 0 {
                    seed.named("training")
                } else {
                    seed.named("decay").child(round as u64)
                },
            };
            if round == 0 {
                self.train_network(&stage, network, batches, Some(validator))?;
                continue;
            }
            let score = || {
                let mut validator = validator;
                tch::no_grad(|| validator.validate(network)).map(|found| found.score)
            };
            let before = score()?;
            let kept = network.parameters().trained().copy_to(network.device());
            self.train_network(&stage, network, batches, Some(validator))?;
            if score()? < before {
                tch::no_grad(|| network.parameters().trained().copy_from(&kept));
                network.refresh();
            }
        }
        Ok(())
    }
}
