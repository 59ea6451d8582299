//! All settings of a system by their dotted keys, each with its type.

use std::collections::BTreeMap;

use plethora_linear::LinearConfig;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{AssignedValue, Assignment};
use crate::failure::UsageError;

/// Below this similarity (1 is equal) a suggestion would only puzzle.
const MIN_SIMILARITY: f64 = 0.6;

/// Settings that change one by one, so that a refusal names the one to blame.
pub(super) struct SettingTable {
    config: LinearConfig,
    kinds: BTreeMap<String, Kind>,
}

/// What a setting takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Switch,
    Count,
    Number,
    Text,
}

impl Kind {
    fn of(value: &Value) -> Self {
        match value {
            Value::Bool(_) => Self::Switch,
            Value::Number(number) if number.is_u64() => Self::Count,
            Value::Number(_) => Self::Number,
            _ => Self::Text,
        }
    }

    fn expectation(self) -> &'static str {
        match self {
            Self::Switch => "true or false",
            Self::Count => "a whole number from 0",
            Self::Number => "a number",
            Self::Text => "a name",
        }
    }

    fn parse(self, text: &str) -> Option<Value> {
        match self {
            Self::Switch => text.parse::<bool>().ok().map(Value::from),
            Self::Count => text.parse::<u64>().ok().map(Value::from),
            Self::Number => text
                .parse::<f64>()
                .ok()
                .filter(|number| number.is_finite())
                .map(Value::from),
            Self::Text => Some(Value::from(text.trim_matches('"'))),
        }
    }

    fn accepts(self, value: &Value) -> bool {
        match self {
            Self::Switch => value.is_boolean(),
            Self::Count => value.is_u64(),
            Self::Number => value.is_number(),
            Self::Text => value.is_string(),
        }
    }
}

impl SettingTable {
    /// The recipe of a known system.
    pub(super) fn of_system(system: &str) -> anyhow::Result<Self> {
        let config = LinearConfig::of_system(system)?;
        let mut complete = config.clone();
        // Absent where it has no limit, and then its key would not be known.
        complete.text.max_features = Some(1);
        let mut kinds = BTreeMap::new();
        collect_kinds(&serde_json::to_value(&complete)?, "", &mut kinds);
        Ok(Self { config, kinds })
    }

    /// Takes in one setting.
    pub(super) fn assign(&mut self, assignment: &Assignment) -> Result<(), UsageError> {
        let Assignment { key, value, origin } = assignment;
        let refuse = |message: String| UsageError::new(format!("{origin}: {message}"));
        if *value == AssignedValue::EmptyGroup && self.is_group(key) {
            return Ok(());
        }
        let Some(&kind) = self.kinds.get(key) else {
            return Err(refuse(self.explain_unknown(key)));
        };
        let (accepted, shown) = match value {
            AssignedValue::Text(text) => (kind.parse(text), text.clone()),
            AssignedValue::Typed(value) => (
                kind.accepts(value).then(|| value.clone()),
                value.to_string(),
            ),
            AssignedValue::EmptyGroup => (None, "{}".to_owned()),
        };
        let Some(accepted) = accepted else {
            let expectation = kind.expectation();
            return Err(refuse(format!(
                "{key}: expected {expectation}, found `{shown}`"
            )));
        };
        let changed = serde_json::to_value(&self.config).and_then(|mut settings| {
            put(&mut settings, key, accepted);
            LinearConfig::deserialize(settings)
        });
        self.config = changed.map_err(|error| refuse(format!("{key}: {error}")))?;
        Ok(())
    }

    /// The settings.
    pub(super) fn into_config(self) -> LinearConfig {
        self.config
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
        // Those who leave out the group mean the setting all the same.
        let suffix = format!(".{key}");
        let guess = known()
            .find(|known| known.ends_with(&suffix))
            .or_else(|| nearest(key, known()));
        match guess {
            Some(guess) => format!("unknown setting `{key}`; did you mean `{guess}`?"),
            None => format!("unknown setting `{key}`; `plethora init` writes all that there are"),
        }
    }
}

/// The candidate that a name is most likely a misspelling of.
pub(crate) fn nearest<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(name, candidate), candidate))
        .filter(|&(similarity, _)| similarity >= MIN_SIMILARITY)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, candidate)| candidate)
}

fn collect_kinds(value: &Value, prefix: &str, kinds: &mut BTreeMap<String, Kind>) {
    let Value::Object(entries) = value else {
        kinds.insert(prefix.to_owned(), Kind::of(value));
        return;
    };
    for (name, entry) in entries {
        collect_kinds(entry, &joined(prefix, name), kinds);
    }
}

/// Dotted path of an entry in a group.
pub(super) fn joined(prefix: &str, name: &str) -> String {
    if prefix.is_empty() {
        name.to_owned()
    } else {
        format!("{prefix}.{name}")
    }
}

fn put(settings: &mut Value, key: &str, value: Value) {
    let mut place = settings;
    for name in key.split('.') {
        if !place.is_object() {
            *place = Value::Object(Map::new());
        }
        place = &mut place[name];
    }
    *place = value;
}
