//! The system `lexical`.

use plethora_core::Result;
use plethora_core::artifact::{CONFIG_FILE, ModelReader, ModelWriter};
use plethora_system::settings::{Settings, schema_of};
use plethora_system::{
    AutoMember, Family, LabelChange, NameUse, OpenParts, Ranker, SystemSpec, Trainable,
};
use schemars::Schema;

use super::addition::write_phrases;
use super::config::OpenLexicalConfig;
use super::model::{FOREST_FILE, LexicalModel};

/// The family of names found in texts.
#[derive(Debug)]
pub struct Lexical;

static SYSTEMS: [SystemSpec; 1] = [SystemSpec {
    name: "lexical",
    about: "names of labels in the text, and phrases learnt as further names; knows labels without documents",
    recipe: include_str!("../../../../recipes/lexical.toml"),
    presets: &[],
    ranges: include_str!("../../../../recipes/ranges/lexical.toml"),
    auto: &[AutoMember::new("lexical", "", NameUse::Needed)],
    options: &[],
    example: "--system lexical --vocabulary subjects.ttl",
}];

/// The settings of the recipe.
#[cfg(test)]
pub(super) fn recipe() -> OpenLexicalConfig {
    toml::from_str(SYSTEMS[0].recipe).expect("the recipe is valid")
}

impl Family for Lexical {
    fn systems(&self) -> &'static [SystemSpec] {
        &SYSTEMS
    }

    fn schema(&self) -> Schema {
        schema_of::<OpenLexicalConfig>()
    }

    fn config(&self, settings: &Settings) -> Result<Box<dyn Trainable>> {
        let config: OpenLexicalConfig = settings.read_as()?;
        config.validate()?;
        config.settled(Default::default)?;
        Ok(Box::new(config))
    }

    fn open(&self, folder: &ModelReader, parts: &OpenParts<'_>) -> Result<Box<dyn Ranker>> {
        let num_documents = parts.details.num_documents;
        let model = LexicalModel::open(folder, parts.labels, num_documents)?;
        Ok(Box::new(model))
    }

    fn changes_labels(&self) -> bool {
        true
    }

    fn change_labels(
        &self,
        folder: &ModelReader,
        parts: &OpenParts<'_>,
        change: &LabelChange<'_>,
        writer: &ModelWriter,
    ) -> Result<()> {
        let model = LexicalModel::open(folder, parts.labels, parts.details.num_documents)?;
        write_phrases(&model, change, writer)?;
        for name in [CONFIG_FILE, FOREST_FILE] {
            if folder.contains(name) {
                writer.write_bytes(name, &folder.read_bytes(name)?)?;
            }
        }
        Ok(())
    }
}
