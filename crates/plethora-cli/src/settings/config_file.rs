//! Settings from a file, TOML or JSON.

use std::path::Path;

use fs_err as fs;
use serde_json::Value;

use super::setting_table::joined;
use super::{AssignedValue, Assignment};
use crate::failure::UsageError;

/// All settings of a file, in its order of groups.
pub(super) fn read(path: &Path) -> Result<Vec<Assignment>, UsageError> {
    let text = fs::read_to_string(path).map_err(|error| UsageError::new(error.to_string()))?;
    let value = if text.trim_start().starts_with('{') {
        parse_json(path, &text)?
    } else {
        parse_toml(path, &text)?
    };
    let mut assignments = Vec::new();
    collect(&value, "", &path.display().to_string(), &mut assignments);
    Ok(assignments)
}

fn parse_json(path: &Path, text: &str) -> Result<Value, UsageError> {
    serde_json::from_str(text)
        .map_err(|error| UsageError::new(format!("{}:{}: {error}", path.display(), error.line())))
}

fn parse_toml(path: &Path, text: &str) -> Result<Value, UsageError> {
    toml::from_str(text).map_err(|error: toml::de::Error| {
        let line = error
            .span()
            .map(|span| text[..span.start.min(text.len())].lines().count().max(1));
        let place = line.map_or_else(String::new, |line| format!(":{line}"));
        UsageError::new(format!("{}{place}: {}", path.display(), error.message()))
    })
}

fn collect(value: &Value, prefix: &str, origin: &str, assignments: &mut Vec<Assignment>) {
    match value {
        Value::Object(entries) => {
            for (name, entry) in entries {
                collect(entry, &joined(prefix, name), origin, assignments);
            }
        }
        // What is written as nothing is left at its default.
        Value::Null => {}
        value => assignments.push(Assignment {
            key: prefix.to_owned(),
            value: AssignedValue::Typed(value.clone()),
            origin: origin.to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Result<Vec<String>, String> {
        let path = Path::new("settings");
        let value = if text.starts_with('{') {
            parse_json(path, text)
        } else {
            parse_toml(path, text)
        };
        let mut assignments = Vec::new();
        collect(
            &value.map_err(|error| error.to_string())?,
            "",
            "settings",
            &mut assignments,
        );
        Ok(assignments.into_iter().map(|one| one.key).collect())
    }

    #[test]
    fn both_formats_give_dotted_keys() {
        let toml = "seed = 3\n[text.tokenizer]\nlowercase = false\n";
        assert_eq!(keys(toml).unwrap(), ["seed", "text.tokenizer.lowercase"]);
        let json = r#"{"seed": 3, "text": {"tokenizer": {"lowercase": false}}}"#;
        assert_eq!(keys(json).unwrap(), ["seed", "text.tokenizer.lowercase"]);
    }

    #[test]
    fn broken_files_are_named_with_the_line() {
        let message = keys("seed = 3\nbeam = = 4\n").unwrap_err();
        assert!(message.starts_with("settings:2: "), "{message}");
        let message = keys("{\"seed\": 3,\n\"beam\"}").unwrap_err();
        assert!(message.starts_with("settings:2: "), "{message}");
    }
}
