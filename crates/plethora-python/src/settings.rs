//! Keyword arguments as settings of a system.

use plethora_predict::{Device, Precision};
use plethora_train::settings::{
    AssignedValue, Assignment, SYSTEM, Step, SystemConfig, apply, recipes,
};
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::errors::{config_error, exception};

/// Arguments that stand for a setting, which one depends on the system.
const OPTIONS: [&str; 4] = ["seed", "beam", "vectors", "encoder"];

/// What a classifier was made with, as Python writes it.
#[derive(Debug, Deserialize)]
pub(crate) struct Request {
    system: String,
    preset: Option<String>,
    dtype: String,
    settings: Map<String, Value>,
}

impl Request {
    /// Reads what `plethora._estimator` has written.
    pub(crate) fn parse(text: &str) -> PyResult<Self> {
        serde_json::from_str(text).map_err(|error| config_error(&error.to_string()))
    }

    /// The settings of the system, checked.
    pub(crate) fn resolve(&self) -> PyResult<SystemConfig> {
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
        let preset = self.preset.as_ref().map(|name| Assignment {
            origin: "preset".into(),
            ..assignment("preset", &Value::from(name.as_str()))
        });
        let mut config =
            apply(&steps, preset.as_ref()).map_err(|error| config_error(&error.to_string()))?;
        let precision = self.dtype.parse::<Precision>();
        let precision = precision.map_err(|error| exception(&error))?;
        config.set_precision(precision);
        config.validate().map_err(|error| exception(&error))?;
        Ok(config)
    }
}

/// A device by its name.
pub(crate) fn device(name: &str) -> PyResult<Device> {
    let known = name.parse::<Device>();
    known.map_err(|error| config_error(&error.to_string()))
}

/// The systems that can be trained, the default first.
#[pyfunction]
pub(crate) fn systems() -> Vec<&'static str> {
    recipes().into_iter().map(|(name, _)| name).collect()
}

/// All settings that a classifier is trained with, as JSON.
#[pyfunction]
pub(crate) fn resolve(request: &str) -> PyResult<String> {
    let config = Request::parse(request)?.resolve()?;
    serde_json::to_string(&config).map_err(|error| config_error(&error.to_string()))
}
