//! The settings of a run, and what training with them will cost.

use plethora_core::{Error, Result};
use plethora_system::settings::{AssignedValue, Assignment, SYSTEM, Settings, Step, resolve};
use plethora_system::{Device, TrainingSize};

use super::catalogue::Papers;
use super::commands::Place;
use super::plan::Piece;
use crate::figures::duration;

impl Papers {
    /// The settings that `plethora train` would make of a run's words.
    pub(super) fn settings(&self, words: &[String]) -> Result<Settings> {
        let mut steps = Vec::new();
        let mut presets = Vec::new();
        let mut words = words.iter();
        while let Some(option) = words.next() {
            let value = words
                .next()
                .ok_or_else(|| Error::usage(format!("{option}: expected a value")))?;
            let named = |key: &str| Assignment {
                key: key.to_owned(),
                value: AssignedValue::Text(value.clone()),
                origin: option.clone(),
            };
            match option.as_str() {
                "--system" => steps.push(Step::Option(named(SYSTEM))),
                "--preset" => presets.push(named("preset")),
                "--set" => steps.push(Step::Setting(Assignment::parse(value, option)?)),
                _ => {
                    return Err(Error::usage(format!(
                        "{option}: runs have --system, --preset and --set"
                    )));
                }
            }
        }
        resolve(self.registry, &steps, &presets)
    }

    /// How long a piece will take, roughly, where that can be told from its data.
    pub fn expected(&self, piece: &Piece, place: &Place) -> Option<String> {
        let run = self.runs.get(&piece.run)?;
        let size = TrainingSize::from(self.data_of(&piece.data)?.size?);
        let settings = self.settings(&self.train_arguments(run, piece)).ok()?;
        let estimate = settings.config().ok()?.estimate(&size);
        let device: Device = place.device.parse().ok()?;
        let is_fast = device != Device::Cpu && self.spec(run)?.uses_devices();
        let seconds = estimate.wall_seconds(device, 1);
        let unit = if is_fast { "of a GPU" } else { "of one core" };
        Some(format!("to be run, about {} {unit}", duration(seconds)))
    }
}
