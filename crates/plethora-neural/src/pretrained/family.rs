//! The family of systems that read pieces through a pretrained transformer.

use plethora_core::Result;
use plethora_core::artifact::{CONFIG_FILE, ModelReader, WorkFolder};
use plethora_system::{AutoMember, Estimate, NameUse, RunContext, SystemSpec, TrainingSize};

use super::config::{OpenPieceConfig, PieceConfig};
use super::encoder_files::check_encoder;
use super::estimate::estimate;
use super::pieces::resolve_encoder;
use super::training_set::{CutsTexts, PieceSet};
use crate::systems::recipes::{recipe_of, system};
use crate::systems::{DTYPE, NeuralFamily, NeuralSettings, SEED};
use crate::train::HoldingBack;
use crate::transformer::trained_folder::member_file_name;

/// `LightXML` and APLC-XLNet: one network of pieces, or several with clusterings of their own.
pub static PRETRAINED: NeuralFamily<OpenPieceConfig> = NeuralFamily::new();

/// The pretrained transformer.
const ENCODER: (&str, &str) = ("encoder", "encoder.folder");

/// What an automatic choice of systems trains: whole documents where they are long, a long run whose weights
/// are averaged rather than chosen by held-back documents, of which so few are left out, and neighbours. Documents
/// that choose between members return by training these again, not within each.
const AUTO_SETTINGS: &str = r#"
document.windows = "auto"
neighbours.num_neighbours = 50
train.averaging = "mean"
train.averaging_start = 0.4
train.patience = 0
train.validate_every = 100.0
train.valid_share = 0.02
train.return_held_back = false
"#;

pub(super) static SYSTEMS: [SystemSpec; 2] = [
    system! {
        name: "lightxml",
        about: "LightXML: a pretrained transformer, and one layer over all labels, clusters of labels, or all of them chunk by chunk",
        presets: [
            "paper-eurlex", "paper-wiki10", "paper-amazoncat", "paper-wiki500k",
            "paper-amazon670k", "quick"
        ],
        options: &[SEED, ("beam", "clusters.predict_beam"), ENCODER, DTYPE],
        example: "--system lightxml --encoder ./all-MiniLM-L6-v2 --device cuda",
        auto: [AutoMember::new("lightxml", AUTO_SETTINGS, NameUse::Ignored).training_encoder()],
    },
    system! {
        name: "aplc-xlnet",
        about: "APLC-XLNet: a pretrained transformer, frequent labels scored always, rarer ones in tails of narrower vectors",
        presets: [
            "paper-eurlex", "paper-wiki10", "paper-amazoncat", "paper-wiki500k",
            "paper-amazon670k", "program-eurlex", "program-wiki10", "program-amazoncat",
            "program-wiki500k", "program-amazon670k", "quick"
        ],
        options: &[SEED, ENCODER, DTYPE],
        example: "",
    },
];

/// The settings of the first system's recipe, for families that train such a network for something else.
pub(crate) fn recipe() -> Result<OpenPieceConfig> {
    recipe_of(&SYSTEMS, SYSTEMS[0].name)
}

impl NeuralSettings for OpenPieceConfig {
    type Reader = CutsTexts;
    type Settled = PieceConfig;

    fn systems() -> &'static [SystemSpec] {
        &SYSTEMS
    }

    fn validate(&self) -> Result<()> {
        PieceConfig::validate(self)
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
        self.train.epochs.set()
    }

    /// The settings with the folder of the encoder instead of its name.
    fn resolved(&self, run: &RunContext<'_>) -> Result<Self> {
        let folder = resolve_encoder(&self.encoder.folder, run.encoder_cache)?;
        let mut config = self.clone();
        config.encoder.folder = folder.to_string_lossy().into_owned();
        Ok(config)
    }

    fn check_files(&self) -> Result<()> {
        Ok(check_encoder(self)?)
    }

    fn estimate(&self, size: &TrainingSize) -> Estimate {
        estimate(self, size)
    }

    fn reader(&self, run: &RunContext<'_>) -> Result<CutsTexts> {
        Ok(CutsTexts::new(self, run.piece_cache)?)
    }

    fn settle(
        &self,
        set: &PieceSet,
        run: &RunContext<'_>,
        work: &WorkFolder,
    ) -> Result<PieceConfig> {
        let choices = set.settle_run(self, run.compute.device, work)?;
        run.progress.start("settings", None);
        run.progress.finish(&choices.summary);
        Ok(choices.config)
    }

    fn network_files(folder: &ModelReader) -> Result<Vec<String>> {
        let config: PieceConfig = folder.read_json(CONFIG_FILE)?;
        Ok((0..config.num_members()).map(member_file_name).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::LazyLock;

    use plethora_system::Registry;
    use plethora_system::settings::parse_config;

    use super::*;

    static REGISTRY: LazyLock<Registry> = LazyLock::new(|| Registry::new([&PRETRAINED as _]));

    #[test]
    fn recipes_and_presets_are_settings_that_work() {
        for spec in &SYSTEMS {
            let settings = REGISTRY.recipe(spec.name).unwrap();
            settings.config().unwrap();
            assert_eq!(settings.get("system").unwrap(), spec.name);
            for (_, key) in spec.options {
                settings.kind_of(key).unwrap();
            }
            for preset in spec.presets {
                let mut settings = settings.clone();
                for assignment in parse_config(Path::new(preset.name), preset.text).unwrap() {
                    settings.assign(&assignment).unwrap();
                }
                settings.config().unwrap();
            }
        }
    }

    #[test]
    fn every_value_of_a_recipe_is_of_a_setting() {
        for spec in &SYSTEMS {
            let settings = REGISTRY.recipe(spec.name).unwrap();
            for assignment in parse_config(Path::new(spec.name), spec.recipe).unwrap() {
                settings.kind_of(&assignment.key).unwrap();
            }
        }
        let settings = REGISTRY.recipe("lightxml").unwrap();
        let kind = |key: &str| settings.kind_of(key).unwrap().to_string();
        assert_eq!(kind("train.epochs"), "a whole number from 0, or auto");
        assert_eq!(kind("train.learning_rate"), "a number, or auto");
        assert_eq!(
            kind("head.form"),
            "one of flat, clustered, exact, attention, adaptive, or auto"
        );
        assert_eq!(kind("train.precision"), "one of auto, f32, bf16, int8");
    }
}
