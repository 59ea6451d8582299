//! What users may have meant by an option that does not exist.

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use serde_json::Value;

use crate::registry;

/// Settings that are named at most.
const MAX_SETTINGS: usize = 3;

/// Says of an unknown option that is a setting how it is set. clap's own advice, to give it as a value
/// behind `--`, is never what is meant.
pub(crate) fn explain(mut error: clap::Error) -> clap::Error {
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let name = option.trim_start_matches('-').replace('-', "_");
    let name = name.split('=').next().unwrap_or_default();
    let keys = settings_named(name);
    error.remove(ContextKind::Suggested);
    if !keys.is_empty() {
        let shown: Vec<String> = (keys.iter().take(MAX_SETTINGS))
            .map(|key| format!("--set {key}=VALUE"))
            .collect();
        let tip = format!("it is a setting: {}", shown.join(" or "));
        let tips = ContextValue::StyledStrs(vec![StyledStr::from(tip)]);
        error.insert(ContextKind::Suggested, tips);
    }
    error
}

/// Keys of all systems' settings with this name, the most frequent first.
fn settings_named(name: &str) -> Vec<String> {
    let mut found: Vec<(usize, String)> = Vec::new();
    for spec in registry().systems() {
        let Ok(values) = registry()
            .recipe(spec.name)
            .map(|recipe| serde_json::json!(recipe))
        else {
            continue;
        };
        let mut keys = Vec::new();
        collect(&values, "", name, &mut keys);
        for key in keys {
            match found.iter_mut().find(|(_, known)| *known == key) {
                Some((count, _)) => *count += 1,
                None => found.push((1, key)),
            }
        }
    }
    found.sort_by(|left, right| right.0.cmp(&left.0).then(left.1.cmp(&right.1)));
    found.into_iter().map(|(_, key)| key).collect()
}

fn collect(values: &Value, prefix: &str, name: &str, keys: &mut Vec<String>) {
    for (own, value) in values.as_object().into_iter().flatten() {
        let key = if prefix.is_empty() {
            own.clone()
        } else {
            format!("{prefix}.{own}")
        };
        if value.is_object() {
            collect(value, &key, name, keys);
        } else if own == name {
            keys.push(key);
        }
    }
}
