//! All settings of a system by their dotted keys, each with its type.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::assignment::{AssignedValue, Assignment};
use super::kind::Kind;
use super::{SystemConfig, UsageError, recipes};

/// Below this similarity (1 is equal) a suggestion would only puzzle.
const MIN_SIMILARITY: f64 = 0.6;

/// Options of their own, and the settings they stand for in one system or another.
const OPTIONS: [(&str, &[&str]); 4] = [
    ("seed", &["seed"]),
    ("beam", &["beam", "plt.beam", "clusters.predict_beam"]),
    ("vectors", &["vectors.file"]),
    ("encoder", &["encoder.folder"]),
];

/// The last part of settings that tell which other settings a group has: they make the system.
const GROUP_KIND: &str = ".kind";

/// Settings that change one by one, so that a refusal names the one to blame.
pub struct SettingTable {
    config: SystemConfig,
    kinds: BTreeMap<String, Kind>,
}

impl SettingTable {
    /// The recipe of a known system.
    pub(super) fn of_system(system: &str) -> Result<Self, UsageError> {
        let recipe = recipes::recipe(system).map_err(UsageError::new)?;
        let refuse = |error: &dyn std::fmt::Display| UsageError::new(format!("{system}: {error}"));
        let config = SystemConfig::from_toml(system, recipe).map_err(|error| refuse(&error))?;
        // With the settings that may be absent, as their keys would not be known otherwise.
        let complete = SystemConfig::from_toml(system, &with_optional_settings(recipe))
            .map_err(|error| refuse(&error))?;
        let mut kinds = BTreeMap::new();
        let settings = serde_json::to_value(&complete).map_err(|error| refuse(&error))?;
        collect_kinds(&settings, "", &mut kinds);
        Ok(Self { config, kinds })
    }

    /// The settings of a run that was resolved already.
    pub fn of_config(config: SystemConfig) -> Result<Self, UsageError> {
        let recipe = Self::of_system(config.system())?;
        Ok(Self { config, ..recipe })
    }

    /// What a setting takes, or what to tell those who name it.
    pub fn kind_of(&self, key: &str) -> Result<Kind, String> {
        let kind = self.kinds.get(key).copied();
        kind.ok_or_else(|| self.explain_unknown(key))
    }

    /// Takes in one setting.
    pub fn assign(&mut self, assignment: &Assignment) -> Result<(), UsageError> {
        let Assignment { key, value, origin } = assignment;
        let refuse = |message: String| UsageError::new(format!("{origin}: {message}"));
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
        let Some(accepted) = accepted else {
            let expectation = kind.expectation();
            return Err(refuse(format!(
                "{key}: expected {expectation}, found `{shown}`"
            )));
        };
        let mut settings = serde_json::to_value(&self.config)
            .map_err(|error| refuse(format!("{key}: {error}")))?;
        let place = entry(&mut settings, key);
        if key.ends_with(GROUP_KIND) && *place != accepted {
            return Err(refuse(format!(
                "{key}: must be {place} in {}, which would be another system otherwise",
                self.config.system()
            )));
        }
        *place = accepted;
        self.config = (self.config.replaced_by(settings))
            .map_err(|error| refuse(format!("{key}: {error}")))?;
        Ok(())
    }

    /// Takes in the value of an option of its own.
    pub(super) fn assign_option(&mut self, option: &Assignment) -> Result<(), UsageError> {
        let candidates = OPTIONS.iter().find(|(name, _)| *name == option.key);
        let known = candidates.and_then(|(_, keys)| {
            let mut keys = keys.iter();
            keys.find(|key| self.kinds.contains_key(**key))
        });
        let Some(key) = known else {
            return Err(UsageError::new(format!(
                "{}: {} has no such setting",
                option.origin,
                self.config.system()
            )));
        };
        self.assign(&Assignment {
            key: (*key).to_owned(),
            ..option.clone()
        })
    }

    /// The settings.
    pub fn into_config(self) -> SystemConfig {
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
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(name, candidate), candidate))
        .filter(|&(similarity, _)| similarity >= MIN_SIMILARITY)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, candidate)| candidate)
}

/// A recipe with the settings that it shows in comments, as `# max_features = 200000`.
fn with_optional_settings(recipe: &str) -> String {
    let lines: Vec<&str> = recipe
        .lines()
        .map(|line| match line.strip_prefix("# ") {
            Some(setting) if is_setting(setting) => setting,
            _ => line,
        })
        .collect();
    lines.join("\n")
}

fn is_setting(line: &str) -> bool {
    let is_name = |name: &str| {
        name.bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    };
    line.split_once(" = ")
        .is_some_and(|(name, _)| is_name(name))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_in_comments_are_known_and_remarks_are_none() {
        let recipe = "# Terms kept = many.\n# max_features = 200\n# 1 + x = y\nmin_df = 2";
        assert_eq!(
            with_optional_settings(recipe),
            "# Terms kept = many.\nmax_features = 200\n# 1 + x = y\nmin_df = 2"
        );
        for (system, _) in recipes::recipes() {
            let table = SettingTable::of_system(system).unwrap();
            let optional = (table.kinds.keys()).filter(|key| key.ends_with("max_features"));
            let has_features = !matches!(
                system,
                "attentionxml"
                    | "xml-rnn"
                    | "xml-cnn"
                    | "lightxml"
                    | "aplc-xlnet"
                    | "lightattention"
            );
            assert_eq!(optional.count(), usize::from(has_features), "{system}");
        }
    }
}
