//! All settings of a system by their dotted keys, each with its type.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::sync::Arc;

use plethora_core::{Error, Result};
use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::assignment::{AssignedValue, Assignment};
use super::kind::Kind;
use super::schema::{GROUP_KIND, joined, kinds};
use crate::{Family, SystemSpec, Trainable};

/// Of so many letters one may be wrong; with more of them a suggestion would only puzzle.
const LETTERS_PER_SLIP: usize = 3;

/// From this length on, the beginning of a name stands for it.
const MIN_BEGINNING: usize = 3;

/// The settings of one system, which change one by one, so that a refusal names the one to blame.
#[derive(Clone)]
pub struct Settings {
    family: &'static dyn Family,
    spec: &'static SystemSpec,
    values: Value,
    kinds: Arc<BTreeMap<String, Kind>>,
}

impl Settings {
    /// The recipe of a system, or why it cannot be read.
    pub(crate) fn of_recipe(
        family: &'static dyn Family,
        spec: &'static SystemSpec,
    ) -> Result<Self, String> {
        let values: Value =
            toml::from_str(spec.recipe).map_err(|error| format!("{}: {error}", spec.name))?;
        let kinds = Arc::new(kinds(&family.schema(), &values));
        Ok(Self {
            family,
            spec,
            values,
            kinds,
        })
    }

    /// The system that they are of.
    pub fn spec(&self) -> &'static SystemSpec {
        self.spec
    }

    /// Name of the system.
    pub fn system(&self) -> &'static str {
        self.spec.name
    }

    /// The value of a setting, where it has one.
    pub fn get(&self, key: &str) -> Option<&Value> {
        let mut place = &self.values;
        for name in key.split('.') {
            place = place.get(name)?;
        }
        Some(place)
    }

    /// The seed of all random choices; 0 for systems that draw nothing.
    pub fn seed(&self) -> u64 {
        self.get("seed").and_then(Value::as_u64).unwrap_or(0)
    }

    /// The settings as a family has them.
    ///
    /// # Errors
    /// [`Error::Config`] if they are not of that form.
    pub fn read_as<T: DeserializeOwned>(&self) -> Result<T> {
        T::deserialize(&self.values)
            .map_err(|error| Error::config(self.system(), error.to_string()))
    }

    /// The system with these settings, checked.
    pub fn config(&self) -> Result<Arc<dyn Trainable>> {
        self.family.config(self).map(Arc::from)
    }

    /// What a setting takes, or what to tell those who name it.
    pub fn kind_of(&self, key: &str) -> Result<&Kind, String> {
        self.kinds.get(key).ok_or_else(|| self.explain_unknown(key))
    }

    /// Takes in one setting.
    pub fn assign(&mut self, assignment: &Assignment) -> Result<()> {
        let Assignment { key, value, origin } = assignment;
        let refuse = |message: String| Error::usage(format!("{origin}: {message}"));
        if *value == AssignedValue::EmptyGroup && self.is_group(key) {
            return Ok(());
        }
        let kind = self.kind_of(key).map_err(refuse)?;
        let (accepted, shown) = match value {
            AssignedValue::Text(text) => (kind.parse(text), text.clone()),
            AssignedValue::Typed(value) => (
                kind.accepts(value).then(|| value.clone()),
                value.to_string(),
            ),
            AssignedValue::EmptyGroup => (None, "{}".to_owned()),
        };
        let is_group_kind = key.ends_with(&format!(".{GROUP_KIND}"));
        let Some(accepted) = accepted else {
            return Err(refuse(if is_group_kind {
                let place = self.get(key).unwrap_or(&Value::Null);
                let system = self.system();
                format!(
                    "{key}: must be {place} in {system}, which would be another system otherwise"
                )
            } else {
                format!("{key}: expected {kind}, found `{shown}`")
            }));
        };
        *entry(&mut self.values, key) = accepted;
        Ok(())
    }

    /// The setting that an option of its own stands for in this system.
    pub fn option(&self, name: &str) -> Option<&'static str> {
        self.spec.option(name)
    }

    /// Takes in the value of an option of its own.
    pub fn assign_option(&mut self, option: &Assignment) -> Result<()> {
        let Some(key) = self.option(&option.key) else {
            return Err(Error::usage(format!(
                "{}: {} has no such setting",
                option.origin,
                self.system()
            )));
        };
        self.assign(&Assignment {
            key: key.to_owned(),
            ..option.clone()
        })
    }

    /// The settings as a TOML document, in the order of the recipe.
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        self.write_group(&self.values, "", &mut text);
        text
    }

    fn write_group(&self, group: &Value, prefix: &str, text: &mut String) {
        let entries = group.as_object().into_iter().flatten();
        let mut entries: Vec<(&String, &Value)> = entries.collect();
        let place = |name: &str| {
            let in_recipe = [format!("\n{name} ="), format!("{name}]\n")];
            let found = in_recipe
                .iter()
                .filter_map(|form| self.spec.recipe.find(form));
            found.min().unwrap_or(usize::MAX)
        };
        entries.sort_by_key(|(name, value)| (value.is_object(), place(name)));
        let (groups, values): (Vec<_>, Vec<_>) = entries
            .into_iter()
            .partition(|(_, value)| value.is_object());
        for (name, value) in values {
            // Numbers, words, switches and lists of numbers are the same in both languages.
            let _ = writeln!(text, "{name} = {value}");
        }
        for (name, value) in groups {
            let key = joined(prefix, name);
            let _ = writeln!(text, "\n[{key}]");
            self.write_group(value, &key, text);
        }
    }

    /// True for a name that stands before others, and for the whole file.
    fn is_group(&self, key: &str) -> bool {
        let mut known = self
            .kinds
            .keys()
            .filter_map(|known| known.strip_prefix(key));
        key.is_empty() || known.any(|rest| rest.starts_with('.'))
    }

    fn explain_unknown(&self, key: &str) -> String {
        if self.is_group(key) {
            return format!("`{key}` is a group of settings, name one as {key}.NAME=VALUE");
        }
        let known = || self.kinds.keys().map(String::as_str);
        // Those who leave out the group, or name another, mean the setting all the same.
        let is_named = |name: &str| {
            let suffix = format!(".{name}");
            known().find(|known| *known == name || known.ends_with(&suffix))
        };
        let name = key.rsplit('.').next().unwrap_or(key);
        let guess = is_named(key)
            .or_else(|| nearest(key, known()))
            .or_else(|| is_named(name));
        if let Some(guess) = guess {
            format!("unknown setting `{key}`; did you mean `{guess}`?")
        } else {
            let system = self.spec.name;
            format!(
                "unknown setting `{key}`; `plethora init --system {system}` writes all that \
                 {system} has"
            )
        }
    }
}

impl PartialEq for Settings {
    fn eq(&self, other: &Self) -> bool {
        self.spec.name == other.spec.name && self.values == other.values
    }
}

impl Serialize for Settings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.values.serialize(serializer)
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.values, formatter)
    }
}

/// The candidate that a name is most likely a misspelling of.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = |text: &str| text.chars().count();
    let is_alike = |candidate: &&str| {
        let longest = length(name).max(length(candidate));
        strsim::osa_distance(name, candidate) <= (longest / LETTERS_PER_SLIP).max(1)
            || (length(name) >= MIN_BEGINNING && candidate.starts_with(name))
    };
    candidates
        .into_iter()
        .filter(is_alike)
        .map(|candidate| (strsim::jaro_winkler(name, candidate), candidate))
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, candidate)| candidate)
}

/// The place of a setting; it is null where the setting is absent.
fn entry<'a>(settings: &'a mut Value, key: &str) -> &'a mut Value {
    let mut place = settings;
    for name in key.split('.') {
        if !place.is_object() {
            *place = Value::Object(Map::new());
        }
        place = &mut place[name];
    }
    place
}
