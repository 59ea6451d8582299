//! The systems that read words.

use plethora_core::Result;
use plethora_core::artifact::{CONFIG_FILE, ModelReader, WorkFolder};
use plethora_system::{AutoMember, Estimate, NameUse, RunContext, SystemSpec, TrainingSize};

use super::config::{OpenWordConfig, WordConfig};
use super::estimate::estimate;
use super::levels::Levels;
use super::model::{levels_file_name, network_file_name};
use super::training_set::{WordReader, WordSet};
use crate::systems::recipes::system;
use crate::systems::run_settings::{begun_with, keep_settings};
use crate::systems::{DTYPE, NeuralFamily, NeuralSettings, SEED, VECTORS};
use crate::train::HoldingBack;

/// The family of systems that read words: AttentionXML with its baselines, and LightAttention.
pub static WORDS: NeuralFamily<OpenWordConfig> = NeuralFamily::new();

/// What an automatic choice of systems trains: documents that choose between members return by training these
/// again, not within each, and few are left out to stop by.
const AUTO_SETTINGS: &str = r"
train.valid_share = 0.02
train.return_held_back = false
";

pub(super) static SYSTEMS: [SystemSpec; 5] = [
    system! {
        name: "attentionxml",
        about: "AttentionXML: an LSTM over words, and every label attends to those that matter to it",
        presets: ["paper-eurlex", "paper-wiki10", "paper-amazoncat", "demo"],
        options: &[SEED, VECTORS, DTYPE],
        example: "--system attentionxml --vectors glove.txt --device cuda",
        auto: [AutoMember::new("attentionxml", AUTO_SETTINGS, NameUse::Ignored).on_gpus().spare()],
    },
    system! {
        name: "attentionxml-plt",
        about: "AttentionXML on a label tree, for label sets too large for it",
        presets: ["paper-amazon670k", "paper-wiki500k", "paper-amazon3m"],
        options: &[SEED, ("beam", "plt.beam"), VECTORS, DTYPE],
        example: "",
    },
    system! {
        name: "xml-rnn",
        about: "the baseline of AttentionXML with an LSTM and no attention",
        presets: ["paper-eurlex", "paper-wiki10", "paper-amazoncat"],
        options: &[SEED, VECTORS, DTYPE],
        example: "",
    },
    system! {
        name: "xml-cnn",
        about: "the baseline of AttentionXML with convolutions",
        presets: ["paper-medium", "paper-large"],
        options: &[SEED, VECTORS, DTYPE],
        example: "",
    },
    system! {
        name: "lightattention",
        about: "LightAttention: clusters of labels attend first, then the labels of the best ones, learnt together",
        presets: ["paper-eurlex", "paper-wiki10", "paper-amazoncat", "paper-amazon670k", "equation-5"],
        options: &[SEED, ("beam", "clusters.predict_beam"), VECTORS, DTYPE],
        example: "",
    },
];

impl NeuralSettings for OpenWordConfig {
    type Reader = WordReader;
    type Settled = WordConfig;

    fn systems() -> &'static [SystemSpec] {
        &SYSTEMS
    }

    fn validate(&self) -> Result<()> {
        WordConfig::validate(self)
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
        estimate(&self.settled(size.num_documents as usize), size)
    }

    fn reader(&self, _run: &RunContext<'_>) -> Result<WordReader> {
        WordReader::new(self)
    }

    fn settle(&self, set: &WordSet, run: &RunContext<'_>, work: &WorkFolder) -> Result<WordConfig> {
        let chosen = self.settled(set.labels_of_documents.num_rows());
        if !self.train.batch_size.is_auto() {
            return Ok(chosen);
        }
        if let Some(begun) = begun_with(work) {
            return Ok(begun);
        }
        keep_settings(work, &chosen)?;
        run.progress.start("settings", None);
        run.progress
            .finish(&format!("batches of {} documents", chosen.train.batch_size));
        Ok(chosen)
    }

    fn network_files(folder: &ModelReader) -> Result<Vec<String>> {
        let config: WordConfig = folder.read_json(CONFIG_FILE)?;
        let mut names = Vec::new();
        for tree in 0..config.num_trees() {
            let levels: Levels = folder.read_json(&levels_file_name(tree))?;
            names.extend((0..levels.len()).map(|level| network_file_name(tree, level)));
        }
        Ok(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems::recipes::check_systems;

    #[test]
    fn every_recipe_and_preset_is_valid() {
        check_systems(&WORDS);
    }

    #[test]
    fn the_beam_is_an_option_of_those_that_have_one() {
        let has_beam = |spec: &&SystemSpec| spec.options.iter().any(|(name, _)| *name == "beam");
        let names: Vec<&str> = SYSTEMS
            .iter()
            .filter(has_beam)
            .map(|spec| spec.name)
            .collect();
        assert_eq!(names, ["attentionxml-plt", "lightattention"]);
    }
}
