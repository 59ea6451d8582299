//! Keyword arguments as settings of a system.

use plethora::registry;
use plethora_core::Error;
use plethora_system::settings::{self, AssignedValue, Assignment, SYSTEM, Settings, Step};
use plethora_system::{Compute, Precision};
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::errors::{config_error, exception};
use crate::watch::{parse, to_json};

/// Arguments that stand for a setting, which one depends on the system.
const OPTIONS: [&str; 4] = ["seed", "beam", "vectors", "encoder"];

/// The option for the numbers that systems compute with.
const DTYPE: &str = "dtype";

/// What a classifier was made with, as Python writes it.
#[derive(Debug, Deserialize)]
pub(crate) struct Request {
    system: String,
    presets: Vec<String>,
    dtype: String,
    settings: Map<String, Value>,
}

impl Request {
    /// The settings of the system, checked.
    pub(crate) fn resolve(&self) -> PyResult<Settings> {
        self.check_absent()?;
        let settings = self.settings().map_err(|error| exception(&error))?;
        settings.config().map_err(|error| exception(&error))?;
        Ok(settings)
    }

    /// Says of systems that this build lacks how to get them.
    fn check_absent(&self) -> PyResult<()> {
        match registry().absent() {
            Some(absent) if absent.systems.contains(&self.system.as_str()) => {
                Err(config_error(&format!(
                    "{}: this build of plethora has no {}; build one with `maturin build --release \
                     --features torch`, or `cargo xtask python` in the repository",
                    self.system, absent.what
                )))
            }
            _ => Ok(()),
        }
    }

    fn settings(&self) -> Result<Settings, Error> {
        let assignment = |key: &str, value: &Value| Assignment {
            key: key.to_owned(),
            value: AssignedValue::Typed(value.clone()),
            origin: self.system.clone(),
        };
        let mut steps = vec![Step::Option(Assignment {
            origin: SYSTEM.into(),
            ..assignment(SYSTEM, &Value::from(self.system.as_str()))
        })];
        steps.extend(self.settings.iter().map(|(key, value)| {
            let assignment = assignment(key, value);
            if OPTIONS.contains(&key.as_str()) {
                Step::Option(Assignment {
                    origin: key.clone(),
                    ..assignment
                })
            } else {
                Step::Setting(assignment)
            }
        }));
        let presets = self.presets.iter().map(|name| Assignment {
            origin: "preset".into(),
            ..assignment("preset", &Value::from(name.as_str()))
        });
        let presets: Vec<Assignment> = presets.collect();
        let mut settings = settings::resolve(registry(), &steps, &presets)?;
        self.set_precision(&mut settings)?;
        Ok(settings)
    }

    /// Numbers to compute with; those of the settings unless others are asked for.
    fn set_precision(&self, settings: &mut Settings) -> Result<(), Error> {
        match self.dtype.parse()? {
            Precision::Auto => Ok(()),
            asked if settings.option(DTYPE).is_some() => settings.assign_option(&Assignment {
                key: DTYPE.into(),
                value: AssignedValue::Typed(asked.name().into()),
                origin: DTYPE.into(),
            }),
            asked => {
                let system = settings.system();
                tracing::warn!("{system} computes with f32, not with {}", asked.name());
                Ok(())
            }
        }
    }
}

/// Where and with which numbers to compute, by their names.
pub(crate) fn compute(device: &str, dtype: &str) -> PyResult<Compute> {
    let named = || -> Result<Compute, Error> {
        Ok(Compute {
            device: device.parse()?,
            precision: dtype.parse()?,
        })
    };
    named().map_err(|error| exception(&error))
}

/// The systems that can be trained, the default first: names, what they are, and whether they can
/// compute elsewhere than on the processor.
#[pyfunction]
pub(crate) fn system_specs() -> Vec<(&'static str, &'static str, bool)> {
    let specs = registry().systems();
    specs
        .map(|spec| (spec.name, spec.about, spec.uses_devices()))
        .collect()
}

/// All settings that a classifier is trained with, as JSON.
#[pyfunction]
pub(crate) fn resolve(request: &str) -> PyResult<String> {
    to_json(&parse::<Request>(request)?.resolve()?)
}
