//! The system TReaderXML.

use plethora_core::Result;
use plethora_core::artifact::{ModelReader, WorkFolder};
use plethora_system::{AutoMember, Estimate, NameUse, RunContext, SystemSpec, TrainingSize};

use super::config::TReaderConfig;
use super::estimate::estimate;
use super::model::NETWORK_FILE;
use super::training_set::{TReaderReader, TReaderSet};
use crate::systems::recipes::system;
use crate::systems::{DTYPE, NeuralFamily, NeuralSettings, SEED, VECTORS};
use crate::train::HoldingBack;

/// The family of TReaderXML, which knows the labels of training documents like a text beside its words.
pub static TREADER: NeuralFamily<TReaderConfig> = NeuralFamily::new();

/// What an automatic choice of systems trains: few documents are left out to stop and to mix votes by, and they do not
/// return within this member.
const AUTO_SETTINGS: &str = r#"
neighbours.power = "auto"
train.epochs = 10
train.valid_share = 0.03
train.return_held_back = false
"#;

pub(super) static SYSTEMS: [SystemSpec; 1] = [system! {
    name: "treaderxml",
    about: "TReaderXML: the words of a text beside the labels that training documents like it have",
    presets: [
        "ablation-0", "ablation-1", "ablation-2", "ablation-3", "ablation-4", "ablation-5",
        "ablation-6", "no-teacher", "paper", "paper-eurlex", "paper-amazoncat", "paper-rcv1",
        "reading"
    ],
    options: &[SEED, VECTORS, DTYPE],
    example: "",
    auto: [AutoMember::new("treaderxml", AUTO_SETTINGS, NameUse::Ignored).on_gpus()],
}];

impl NeuralSettings for TReaderConfig {
    type Reader = TReaderReader;
    type Settled = Self;

    fn systems() -> &'static [SystemSpec] {
        &SYSTEMS
    }

    fn validate(&self) -> Result<()> {
        Self::validate(self)
    }

    fn system(&self) -> &str {
        &self.system
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn holding_back(&self) -> HoldingBack {
        self.train.holding_back()
    }

    fn epochs(&self) -> Option<usize> {
        Some(self.train.epochs)
    }

    fn check_files(&self) -> Result<()> {
        self.vectors.check_file()
    }

    fn estimate(&self, size: &TrainingSize) -> Estimate {
        estimate(self, size)
    }

    fn reader(&self, _run: &RunContext<'_>) -> Result<TReaderReader> {
        TReaderReader::new(self)
    }

    /// Nothing is left to choose.
    fn settle(&self, _: &TReaderSet, _: &RunContext<'_>, _: &WorkFolder) -> Result<Self> {
        Ok(self.clone())
    }

    fn network_files(_folder: &ModelReader) -> Result<Vec<String>> {
        Ok(vec![NETWORK_FILE.to_owned()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems::recipes::check_systems;

    #[test]
    fn every_recipe_and_preset_is_valid() {
        check_systems(&TREADER);
    }
}
