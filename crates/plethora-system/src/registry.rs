//! The systems that a program knows.

use std::path::Path;

use plethora_core::artifact::{
    ModelCard, ModelDetails, ModelReader, ModelWriter, load_label_space, save_label_space,
};
use plethora_core::corpus::LabelSpace;
use plethora_core::{Error, Result};

use crate::piece::{PIECE, is_no_model};
use crate::settings::{Settings, nearest};
use crate::{Compute, Device, Family, LabelEdit, OpenParts, Predictor, SystemSpec};

/// Families of systems: all that jobs, servers and front ends know of them.
#[derive(Debug, Default)]
pub struct Registry {
    families: Vec<&'static dyn Family>,
    absent: Option<Absent>,
}

/// Systems that a program could have been built with.
#[derive(Debug, Clone, Copy)]
pub struct Absent {
    /// Their names.
    pub systems: &'static [&'static str],
    /// What they are, as `neural systems`.
    pub what: &'static str,
    /// How to get a program that has them.
    pub remedy: &'static str,
}

impl Registry {
    /// A registry of these families; the first system of the first one is the default.
    pub fn new(families: impl IntoIterator<Item = &'static dyn Family>) -> Self {
        Self {
            families: families.into_iter().collect(),
            absent: None,
        }
    }

    /// One family more.
    #[must_use]
    pub fn with(mut self, family: &'static dyn Family) -> Self {
        self.families.push(family);
        self
    }

    /// Says of systems that are not here how to get them.
    #[must_use]
    pub fn without(mut self, absent: Absent) -> Self {
        self.absent = Some(absent);
        self
    }

    /// Systems that the program could have been built with.
    pub fn absent(&self) -> Option<Absent> {
        self.absent
    }

    /// All systems that can be trained, the default first.
    pub fn systems(&self) -> impl Iterator<Item = &'static SystemSpec> {
        self.families.iter().flat_map(|family| family.systems())
    }

    /// What trains where nobody names a system.
    ///
    /// # Panics
    /// If there is no system at all.
    pub fn default_system(&self) -> &'static SystemSpec {
        self.systems().next().expect("a registry has systems")
    }

    /// A system by its name, or what to tell those who asked for it.
    pub fn find(&self, name: &str) -> Result<(&'static dyn Family, &'static SystemSpec), String> {
        for family in &self.families {
            if let Some(spec) = family.systems().iter().find(|spec| spec.name == name) {
                return Ok((*family, spec));
            }
        }
        if let Some(absent) = self.absent.filter(|absent| absent.systems.contains(&name)) {
            return Err(format!(
                "`{name}`: this program was built without {}; {}",
                absent.what, absent.remedy
            ));
        }
        let names: Vec<&str> = self.systems().map(|spec| spec.name).collect();
        let guess = nearest(name, names.iter().copied())
            .map(|guess| format!("did you mean `{guess}`? "))
            .unwrap_or_default();
        Err(format!(
            "unknown system `{name}`; {guess}Systems: {}",
            names.join(", ")
        ))
    }

    /// The settings of a system's recipe.
    pub fn recipe(&self, system: &str) -> Result<Settings, String> {
        let (family, spec) = self.find(system)?;
        Settings::of_recipe(family, spec)
    }

    /// Opens a model folder of any system, to compute on the processor.
    ///
    /// # Errors
    /// [`Error::Model`] if there is no model, or it is damaged or of a system that this program does
    /// not know.
    pub fn open(&'static self, path: &Path) -> Result<Predictor> {
        self.open_on(path, Compute::default())
    }

    /// Opens a model folder of any system; those that have no use for the device say so.
    ///
    /// # Errors
    /// As [`open`](Self::open); [`Error::Config`] if the machine has no such device.
    pub fn open_on(&'static self, path: &Path, compute: impl Into<Compute>) -> Result<Predictor> {
        let compute = compute.into();
        let folder = ModelReader::open(path)?;
        let family = self.family_of(&folder)?;
        if family.computes_on(compute.device) {
            family.open_device(compute.device)?;
        } else if !family.systems().is_empty() {
            warn_of_device(&folder.manifest().kind, compute.device);
        }
        Predictor::from_folder(&folder, self, compute)
    }

    /// Refuses a device that no system of this program computes on.
    pub fn check_device(&self, device: Device) -> Result<()> {
        if self
            .families
            .iter()
            .any(|family| family.computes_on(device))
        {
            return Ok(());
        }
        let reason = match self.absent {
            Some(absent) => format!(
                "this program was built without {}, which alone compute elsewhere than on the cpu",
                absent.what
            ),
            None => "no system of this program computes elsewhere than on the cpu".to_owned(),
        };
        Err(Error::config(
            "device",
            format!("\"{device}\" cannot be used: {reason}"),
        ))
    }

    /// Makes a device ready. libtorch looks for GPUs once, when it is first used, so where models are
    /// opened on the processor too, this comes before.
    ///
    /// # Errors
    /// [`Error::Config`] if the machine has no such device, or no system of this program uses it.
    pub fn open_device(&self, device: Device) -> Result<()> {
        self.check_device(device)?;
        let families = self.families.iter();
        let mut users = families.filter(|family| family.computes_on(device));
        users.try_for_each(|family| family.open_device(device))
    }

    /// Number of trained values of a model, where that says something.
    pub fn num_parameters(&self, folder: &ModelReader) -> Result<Option<u64>> {
        self.family_of(folder)?.num_parameters(folder)
    }

    /// Writes the model in `folder` with other labels, and completes it. Metrics and calibration are of the
    /// old labels, so they are left out.
    ///
    /// # Errors
    /// [`Error::Model`] for systems whose labels are learnt alone; [`Error::Data`] if nothing would change,
    /// or no label stay.
    pub fn edit_labels(
        &'static self,
        folder: &ModelReader,
        edit: &LabelEdit,
        writer: ModelWriter,
    ) -> Result<LabelSpace> {
        let details = ModelDetails::of(folder)?;
        let labels = load_label_space(folder)?;
        let parts = OpenParts {
            details: &details,
            labels: &labels,
            compute: Compute::default(),
            registry: self,
        };
        let edited = edit.of(&labels)?;
        let family = self.family_of(folder)?;
        family.change_labels(folder, &parts, &edited.change(edit), &writer)?;
        save_label_space(&edited.labels, &writer)?;
        let details = ModelDetails {
            num_labels: edited.labels.len() as u64,
            ..details
        };
        ModelCard::new(&details, None).save(&writer)?;
        writer.finish(&folder.manifest().kind, details.to_json())?;
        Ok(edited.labels)
    }

    /// The family of a model.
    pub(crate) fn family_of(&self, folder: &ModelReader) -> Result<&'static dyn Family> {
        let kind = folder.manifest().kind.as_str();
        if kind == PIECE {
            return Err(is_no_model(folder.folder()));
        }
        let found = self.families.iter().find(|family| family.opens(kind));
        found.copied().ok_or_else(|| {
            let absent = self.absent.filter(|absent| absent.systems.contains(&kind));
            let message = match absent {
                Some(absent) => format!(
                    "`{kind}` is one of the {}, and this program was built without them",
                    absent.what
                ),
                None => format!("this program does not know the system `{kind}`"),
            };
            Error::model(folder.folder(), message)
        })
    }
}

/// Says that a system has no use for a device.
pub fn warn_of_device(system: &str, device: Device) {
    if device != Device::Cpu {
        tracing::warn!("{system} computes on the processor, not on {device}");
    }
}
