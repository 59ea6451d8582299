//! Families of systems: what the registry holds.

use std::fmt;
use std::path::{Path, PathBuf};

use plethora_core::artifact::{ModelDetails, ModelReader, ModelWriter};
use plethora_core::corpus::LabelSpace;
use plethora_core::{Error, Result};
use schemars::Schema;

use crate::settings::Settings;
use crate::{Compute, Device, LabelChange, Ranker, Registry, Trainable};

/// Systems that share settings, training and a form of model. One folder has all of a family, and
/// one line of a [`Registry`] makes every job know it.
pub trait Family: Sync + fmt::Debug {
    /// The systems that can be trained.
    fn systems(&self) -> &'static [SystemSpec];

    /// The settings that the family's systems have, by their types; see [`schema_of`](crate::settings::schema_of).
    fn schema(&self) -> Schema;

    /// A system with these settings.
    ///
    /// # Errors
    /// [`Error::Config`](plethora_core::Error::Config) with the key of a setting that cannot work.
    fn config(&self, settings: &Settings) -> Result<Box<dyn Trainable>>;

    /// Opens the trained part of a model folder.
    fn open(&self, folder: &ModelReader, parts: &OpenParts<'_>) -> Result<Box<dyn Ranker>>;

    /// True for the models that [`open`](Self::open) opens, by what their manifest says they are.
    fn opens(&self, kind: &str) -> bool {
        self.systems().iter().any(|spec| spec.name == kind)
    }

    /// True for devices that the family has a use for; elsewhere it computes on the processor.
    fn computes_on(&self, device: Device) -> bool {
        device == Device::Cpu
    }

    /// Makes a device that the family computes on ready, so that what is missing shows before any
    /// work.
    ///
    /// # Errors
    /// [`Error::Config`](plethora_core::Error::Config) if the machine has no such device.
    fn open_device(&self, _device: Device) -> Result<()> {
        Ok(())
    }

    /// True for families whose models can be given more labels, or rid of some, without training.
    fn changes_labels(&self) -> bool {
        false
    }

    /// Writes the trained part of a model that knows other labels than the one in `folder`, without
    /// training.
    ///
    /// # Errors
    /// [`Error::Model`](plethora_core::Error::Model) for families whose labels are learnt alone.
    fn change_labels(
        &self,
        folder: &ModelReader,
        _parts: &OpenParts<'_>,
        _change: &LabelChange<'_>,
        _writer: &ModelWriter,
    ) -> Result<()> {
        let kind = &folder.manifest().kind;
        let message = format!("a model of `{kind}` learns labels from documents; train it again");
        Err(Error::model(folder.folder(), message))
    }

    /// Writes the file at `target` of its shares, in their order, where pieces of a model have trained a part
    /// of it each.
    ///
    /// # Errors
    /// [`Error::Model`](plethora_core::Error::Model) if the shares do not fit together.
    fn join(&self, shares: &[PathBuf], target: &Path) -> Result<()> {
        let first = shares.first().map_or(target, PathBuf::as_path);
        let message = "is a part of a file, which this system does not divide";
        Err(Error::model(first, message))
    }

    /// Number of trained values of a model, where that says something.
    fn num_parameters(&self, _folder: &ModelReader) -> Result<Option<u64>> {
        Ok(None)
    }
}

/// One system of a family.
#[derive(Debug)]
pub struct SystemSpec {
    /// What `--system` calls it.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// All its settings with comments, a TOML document: the defaults.
    pub recipe: &'static str,
    /// Named changes of the recipe.
    pub presets: &'static [Preset],
    /// What a search varies: a TOML document with a range per setting; empty for nothing.
    pub ranges: &'static str,
    /// Members that an automatic choice of systems may train.
    pub auto: &'static [AutoMember],
    /// Options of their own (`beam`), and the settings that they stand for.
    pub options: &'static [(&'static str, &'static str)],
    /// What to type behind `plethora train books.jsonl -o model` to train it; empty for no example.
    pub example: &'static str,
}

impl SystemSpec {
    /// The setting that an option of its own stands for.
    pub fn option(&self, name: &str) -> Option<&'static str> {
        let mut options = self.options.iter();
        options
            .find(|(option, _)| *option == name)
            .map(|(_, key)| *key)
    }

    /// True for systems that can compute elsewhere than on the processor, and with other numbers:
    /// those with the option `dtype`.
    pub fn uses_devices(&self) -> bool {
        self.option("dtype").is_some()
    }
}

/// A member that an automatic choice of systems may train.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says one thing of its own"
)]
#[derive(Debug)]
pub struct AutoMember {
    /// What tables call it.
    pub name: &'static str,
    /// The settings that differ from the recipe, a TOML document.
    pub settings: &'static str,
    /// What it makes of names of labels.
    pub names: NameUse,
    /// Whether it trains an encoder that others may start from.
    pub trains_encoder: bool,
    /// Whether it starts from the encoder that another member has trained, rather than from the one that the user names.
    pub starts_trained: bool,
    /// Whether it only gets the time that all others leave: it costs more than it gains where they are there.
    pub is_spare: bool,
    /// Whether it pays on a GPU alone: what a processor has the time for are too few documents for it.
    pub needs_gpu: bool,
}

impl AutoMember {
    /// A member that needs no other.
    pub const fn new(name: &'static str, settings: &'static str, names: NameUse) -> Self {
        Self {
            name,
            settings,
            names,
            trains_encoder: false,
            starts_trained: false,
            is_spare: false,
            needs_gpu: false,
        }
    }

    /// The same, which trains an encoder that others may start from.
    #[must_use]
    pub const fn training_encoder(self) -> Self {
        Self {
            trains_encoder: true,
            ..self
        }
    }

    /// The same, which starts from the encoder that another member has trained.
    #[must_use]
    pub const fn starting_trained(self) -> Self {
        Self {
            starts_trained: true,
            ..self
        }
    }

    /// The same, which pays on a GPU alone.
    #[must_use]
    pub const fn on_gpus(self) -> Self {
        Self {
            needs_gpu: true,
            ..self
        }
    }

    /// The same, which only gets the time that all others leave.
    #[must_use]
    pub const fn spare(self) -> Self {
        Self {
            is_spare: true,
            ..self
        }
    }
}

/// What a member of an automatic choice makes of names of labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameUse {
    /// Nothing.
    Ignored,
    /// It learns from them as from short documents, where there are any.
    Documents,
    /// It is of use only where labels have names of their own.
    Needed,
}

/// Named changes of a recipe.
#[derive(Debug)]
pub struct Preset {
    /// What `--preset` calls it.
    pub name: &'static str,
    /// The settings that differ from the recipe, a TOML document.
    pub text: &'static str,
}

/// What is known of a model before its trained part is opened.
pub struct OpenParts<'a> {
    /// System and sizes.
    pub details: &'a ModelDetails,
    /// The labels.
    pub labels: &'a LabelSpace,
    /// Where and with which numbers to compute.
    pub compute: Compute,
    /// The systems that models inside of this one may be of.
    pub registry: &'static Registry,
}
