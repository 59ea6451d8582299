//! Ensembles as models that a registry opens.

use plethora_core::artifact::{ModelReader, ModelWriter};
use plethora_core::{Error, Result};
use schemars::Schema;

use super::ENSEMBLE;
use super::label_edit::write_members;
use super::model::EnsembleModel;
use crate::settings::Settings;
use crate::{Device, Family, LabelChange, OpenParts, Ranker, SystemSpec, Trainable};

/// Models that others are put together to. None is trained by itself.
#[derive(Debug)]
pub struct Ensembles;

impl Family for Ensembles {
    fn systems(&self) -> &'static [SystemSpec] {
        &[]
    }

    fn schema(&self) -> Schema {
        Schema::default()
    }

    fn config(&self, settings: &Settings) -> Result<Box<dyn Trainable>> {
        let message = "is made of trained models, not trained itself";
        Err(Error::config(settings.system(), message))
    }

    fn open(&self, folder: &ModelReader, parts: &OpenParts<'_>) -> Result<Box<dyn Ranker>> {
        Ok(Box::new(EnsembleModel::open(folder, parts)?))
    }

    fn opens(&self, kind: &str) -> bool {
        kind == ENSEMBLE
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
        write_members(folder, parts, change, writer)
    }

    /// Its members know what to do with a device; by itself it is of no use to any.
    fn computes_on(&self, _device: Device) -> bool {
        false
    }
}
