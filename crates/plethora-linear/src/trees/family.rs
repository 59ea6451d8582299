//! The systems of label trees.

use std::path::{Path, PathBuf};

use plethora_core::Result;
use plethora_core::artifact::{CONFIG_FILE, ModelReader};
use plethora_system::settings::{Settings, schema_of};
use plethora_system::{AutoMember, Family, NameUse, OpenParts, Ranker, SystemSpec, Trainable};
use schemars::Schema;

use super::config::LinearConfig;
use super::division::join;
use super::model::LinearModel;
use crate::feature_reader::FeatureReader;
use crate::feature_system::FeatureRanker;

/// The family of linear classifiers on label trees.
#[derive(Debug)]
pub struct Trees;

/// A system with its recipe and ranges.
macro_rules! system {
    ($name:literal, $about:literal, $example:literal, $auto:expr) => {
        SystemSpec {
            name: $name,
            about: $about,
            recipe: include_str!(concat!("../../../../recipes/", $name, ".toml")),
            presets: &[],
            ranges: include_str!(concat!("../../../../recipes/ranges/", $name, ".toml")),
            auto: $auto,
            options: &[("seed", "seed"), ("beam", "beam")],
            example: $example,
        }
    };
}

pub(super) static SYSTEMS: [SystemSpec; 4] = [
    system!(
        "wide-tree",
        "one shallow, wide label tree; label classifiers also learn from the documents that would \
         reach them by mistake",
        "",
        &[
            AutoMember::new("wide-tree", "", NameUse::Documents),
            AutoMember::new(
                "wide-tree, pairs of words",
                "[text]\nmax_ngram = 2\nmin_df = 2",
                NameUse::Ignored
            ),
            AutoMember::new(
                "wide-tree, parts of words",
                "[text.parts]\nweight = 1.0",
                NameUse::Documents
            ),
        ]
    ),
    system!(
        "parabel",
        "Parabel: three balanced binary trees",
        "--system parabel --seed 7",
        &[]
    ),
    system!(
        "bonsai",
        "Bonsai: three shallow trees of unbalanced clusters",
        "",
        &[AutoMember::new(
            "bonsai",
            "[text]\nmin_df = 1",
            NameUse::Documents
        )]
    ),
    system!(
        "one-vs-all",
        "DiSMEC: every label against all documents",
        "",
        &[]
    ),
];

impl Family for Trees {
    fn systems(&self) -> &'static [SystemSpec] {
        &SYSTEMS
    }

    fn schema(&self) -> Schema {
        schema_of::<LinearConfig>()
    }

    fn config(&self, settings: &Settings) -> Result<Box<dyn Trainable>> {
        let config: LinearConfig = settings.read_as()?;
        config.validate()?;
        Ok(Box::new(config))
    }

    fn open(&self, folder: &ModelReader, parts: &OpenParts<'_>) -> Result<Box<dyn Ranker>> {
        let reader = FeatureReader::open(folder, parts.details)?;
        let config: LinearConfig = folder.read_json(CONFIG_FILE)?;
        let num_features = parts.details.num_features as usize;
        let model = LinearModel::open(folder, config, num_features, parts.labels.len())?;
        Ok(Box::new(FeatureRanker { model, reader }))
    }

    fn join(&self, shares: &[PathBuf], target: &Path) -> Result<()> {
        join(shares, target)
    }
}
