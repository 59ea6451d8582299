//! The options that shape a model.

use std::env::{self, VarError};
use std::path::PathBuf;

use clap::Args;
use plethora_core::{Error, Result};
use plethora_system::Precision;
use plethora_system::settings::{
    AssignedValue, Assignment, SYSTEM, Settings, Step, read_config, resolve,
};
use serde_json::Value;

use crate::{environment, registry};

/// Names the choice of systems by the data, which is made where nobody names one.
const AUTO: &str = "auto";

/// What members of a model are chosen by, beside data and machine.
#[derive(Debug)]
pub(crate) struct AutoChoice {
    /// Seed of all random choices.
    pub(crate) seed: u64,
    /// Pretrained transformer to start from.
    pub(crate) encoder: Option<String>,
    /// File with pretrained word vectors.
    pub(crate) vectors: Option<PathBuf>,
}

/// The options that shape a model; the words here are those of `--help`.
#[expect(clippy::doc_markdown, reason = "backticks would show in the help")]
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Settings")]
pub(crate) struct SettingsArgs {
    #[arg(long, value_name = "NAME", help = format!("System to train: {}. Without it, `train` chooses several by the data", systems()))]
    pub(crate) system: Option<String>,

    #[arg(long, value_name = "NAME", help = preset_help())]
    pub(crate) preset: Vec<String>,

    /// File with settings, TOML or JSON; `plethora init` writes one
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// A setting, as --set tree.max_leaf=50; repeat it for more. PLETHORA_SET takes the same,
    /// separated by commas
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,

    /// Seed of all random choices; equal seeds give equal models
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,

    /// Tree nodes kept per level in prediction
    #[arg(short, long, value_name = "N")]
    pub(crate) beam: Option<u64>,

    /// File with pretrained word vectors for neural systems that read words: GloVe, word2vec or fastText
    #[arg(long, value_name = "FILE")]
    pub(crate) vectors: Option<PathBuf>,

    /// Pretrained transformer to start from: a Hugging Face folder, the folder of a model that was trained from one, or
    /// a name in the Hugging Face cache. Without --system, a sentence encoder from that cache is taken if there is one;
    /// none: no encoder
    #[arg(long, value_name = "FOLDER")]
    pub(crate) encoder: Option<String>,
}

impl SettingsArgs {
    /// The settings of the run, checked; `dtype` is what the device options ask for.
    pub(crate) fn resolve(&self, dtype: Precision) -> Result<Settings> {
        let mut steps = Vec::new();
        if let Some(path) = &self.config {
            steps.extend(read_config(path)?.into_iter().map(Step::Setting));
        }
        steps.extend(from_environment()?);
        let mut settings = self.finish(steps)?;
        if dtype != Precision::Auto {
            set_precision(&mut settings, dtype)?;
        }
        Ok(settings)
    }

    /// What members are chosen by, where nobody names a system or changes one.
    pub(crate) fn auto(&self) -> Result<Option<AutoChoice>> {
        let variables = from_environment()?;
        let variable = |name: &str| {
            variables.iter().find_map(|step| match step {
                Step::Option(Assignment {
                    key,
                    value: AssignedValue::Text(value),
                    ..
                }) if key == name => Some(value.clone()),
                _ => None,
            })
        };
        let is_changed = !self.preset.is_empty()
            || self.config.is_some()
            || !self.set.is_empty()
            || self.beam.is_some()
            || variables
                .iter()
                .any(|step| matches!(step, Step::Setting(_)))
            || variable("beam").is_some();
        let is_auto = match self.system.clone().or_else(|| variable(SYSTEM)) {
            Some(name) => name == AUTO,
            None => !is_changed,
        };
        if !is_auto {
            return Ok(None);
        }
        let seed = match (self.seed, variable("seed")) {
            (Some(seed), _) => seed,
            (None, Some(text)) => text.parse().map_err(|_| {
                Error::usage(format!(
                    "PLETHORA_SEED: expected a whole number, found `{text}`"
                ))
            })?,
            (None, None) => 1,
        };
        Ok(Some(AutoChoice {
            seed,
            encoder: self.encoder.clone().or_else(|| variable("encoder")),
            vectors: (self.vectors.clone()).or_else(|| variable("vectors").map(PathBuf::from)),
        }))
    }

    pub(super) fn finish(&self, mut steps: Vec<Step>) -> Result<Settings> {
        for text in &self.set {
            steps.push(Step::Setting(Assignment::parse(text, "--set")?));
        }
        steps.extend(self.flags());
        let presets = self.preset.iter().map(|name| Assignment {
            key: "preset".into(),
            value: AssignedValue::Text(name.clone()),
            origin: "--preset".into(),
        });
        let settings = resolve(registry(), &steps, &presets.collect::<Vec<_>>())?;
        settings.config()?;
        Ok(settings)
    }

    fn flags(&self) -> impl Iterator<Item = Step> {
        let flag = |key: &str, value: Option<Value>| {
            value.map(|value| {
                Step::Option(Assignment {
                    key: key.into(),
                    value: AssignedValue::Typed(value),
                    origin: format!("--{key}"),
                })
            })
        };
        let vectors = self.vectors.as_ref().map(|path| path.to_string_lossy());
        [
            flag(SYSTEM, self.system.as_deref().map(Value::from)),
            flag("seed", self.seed.map(Value::from)),
            flag("beam", self.beam.map(Value::from)),
            flag("vectors", vectors.as_deref().map(Value::from)),
            flag("encoder", self.encoder.as_deref().map(Value::from)),
        ]
        .into_iter()
        .flatten()
    }
}

/// The settings of the default system.
pub(crate) fn default_settings() -> Result<Settings> {
    registry()
        .recipe(registry().default_system().name)
        .map_err(plethora_core::Error::usage)
}

/// Trains with these numbers, where the system has a choice.
fn set_precision(settings: &mut Settings, precision: Precision) -> Result<()> {
    if settings.option("dtype").is_none() {
        tracing::warn!(
            "{} computes with f32, not with {}",
            settings.system(),
            precision.name()
        );
        return Ok(());
    }
    settings.assign_option(&Assignment {
        key: "dtype".into(),
        value: AssignedValue::Text(precision.name().into()),
        origin: "--dtype".into(),
    })
}

/// The names of all systems for `--help`, the default first.
pub(crate) fn systems() -> String {
    let names: Vec<&str> = registry().systems().map(|spec| spec.name).collect();
    names.join(", ").replacen(',', " (default),", 1)
}

/// The names of all presets for `--help`.
fn preset_help() -> String {
    let of_system = registry().systems().flat_map(|spec| {
        let presets = spec.presets.iter();
        presets.map(|preset| format!("{} ({})", preset.name, spec.name))
    });
    let shown: Vec<String> = of_system.collect();
    let list = match shown.as_slice() {
        [] => "none in this program".to_owned(),
        shown => shown.join(", "),
    };
    format!(
        "Named changes of a system's recipe; repeat it for more, of which later ones win: {list}"
    )
}

/// What variables say, those of single settings last.
fn from_environment() -> Result<Vec<Step>> {
    let read = |option: &str| {
        let variable = environment::variable(option);
        match env::var(&variable) {
            Ok(value) => Ok((variable, value)),
            Err(VarError::NotPresent) => Ok((variable, String::new())),
            Err(VarError::NotUnicode(_)) => Err(Error::usage(format!(
                "{variable}: the value is not Unicode"
            ))),
        }
    };
    let (variable, list) = read("set")?;
    let mut steps = Vec::new();
    for part in assignments_of(&list) {
        steps.push(Step::Setting(Assignment::parse(&part, &variable)?));
    }
    for key in environment::SETTINGS {
        let (origin, value) = read(key)?;
        if !value.is_empty() {
            steps.push(Step::Option(Assignment {
                key: key.into(),
                value: AssignedValue::Text(value),
                origin,
            }));
        }
    }
    Ok(steps)
}

/// The assignments of a list with commas between them; a number alone continues the list of
/// numbers before it.
fn assignments_of(list: &str) -> Vec<String> {
    let mut assignments: Vec<String> = Vec::new();
    for part in list.split(',').filter(|part| !part.is_empty()) {
        match assignments.last_mut() {
            Some(last) if part.trim_end_matches(']').trim().parse::<u64>().is_ok() => {
                last.push(',');
                last.push_str(part);
            }
            _ => assignments.push(part.to_owned()),
        }
    }
    assignments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_in_a_variable_stay_together() {
        let list = "seed=3,head.layers=512,256,train.epochs=5,x=[1,2],y";
        let expected = [
            "seed=3",
            "head.layers=512,256",
            "train.epochs=5",
            "x=[1,2]",
            "y",
        ];
        assert_eq!(assignments_of(list), expected);
    }
}
