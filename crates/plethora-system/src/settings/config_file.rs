//! Settings from a file, TOML or JSON.

use std::fs;
use std::ops::Range;
use std::path::Path;

use plethora_core::{Error, Result};
use serde_json::Value;
use toml::de::{DeTable, DeValue};

use super::assignment::{AssignedValue, Assignment};
use super::schema::joined;

/// All settings of a file, group by group.
pub fn read(path: &Path) -> Result<Vec<Assignment>> {
    let text = fs::read_to_string(path)
        .map_err(|error| Error::usage(Error::read(path)(error).to_string()))?;
    parse(path, &text)
}

/// All settings of a text; messages call it `path`.
pub fn parse(path: &Path, text: &str) -> Result<Vec<Assignment>> {
    let mut assignments = Vec::new();
    if text.trim_start().starts_with('{') {
        let value = parse_json(path, text)?;
        collect_json(&value, "", &path.display().to_string(), &mut assignments);
    } else {
        let file = TomlFile { path, text };
        file.collect(file.parse()?.get_ref(), "", &mut assignments);
    }
    Ok(assignments)
}

fn parse_json(path: &Path, text: &str) -> Result<Value> {
    serde_json::from_str(text)
        .map_err(|error| Error::usage(format!("{}:{}: {error}", path.display(), error.line())))
}

fn collect_json(value: &Value, key: &str, origin: &str, assignments: &mut Vec<Assignment>) {
    let value = match value {
        Value::Object(entries) if entries.is_empty() => AssignedValue::EmptyGroup,
        Value::Object(entries) => {
            for (name, entry) in entries {
                collect_json(entry, &joined(key, name), origin, assignments);
            }
            return;
        }
        // What is written as nothing is left at its default.
        Value::Null => return,
        value => AssignedValue::Typed(value.clone()),
    };
    assignments.push(Assignment {
        key: key.to_owned(),
        value,
        origin: origin.to_owned(),
    });
}

/// A TOML document, which unlike JSON tells on which line a setting stands.
struct TomlFile<'a> {
    path: &'a Path,
    text: &'a str,
}

impl<'a> TomlFile<'a> {
    fn parse(&self) -> Result<toml::Spanned<DeTable<'a>>> {
        DeTable::parse(self.text).map_err(|error| {
            let place = match error.span() {
                Some(span) => self.place(span.start),
                None => self.path.display().to_string(),
            };
            Error::usage(format!("{place}: {}", error.message()))
        })
    }

    fn collect(&self, table: &DeTable<'_>, group: &str, assignments: &mut Vec<Assignment>) {
        for (name, value) in table {
            let key = joined(group, name.get_ref());
            let value = match value.get_ref() {
                DeValue::Table(entries) if entries.is_empty() => AssignedValue::EmptyGroup,
                DeValue::Table(entries) => {
                    self.collect(entries, &key, assignments);
                    continue;
                }
                other => match typed(other) {
                    Some(value) => AssignedValue::Typed(value),
                    // No setting takes it, but it can be shown.
                    None => AssignedValue::Text(self.slice(value.span()).to_owned()),
                },
            };
            assignments.push(Assignment {
                key,
                value,
                origin: self.place(name.span().start),
            });
        }
    }

    fn slice(&self, span: Range<usize>) -> &str {
        self.text.get(span).unwrap_or_default()
    }

    /// The file and the line of a byte of it.
    fn place(&self, byte: usize) -> String {
        let before = self.slice(0..byte.min(self.text.len()));
        let line = before.matches('\n').count() + 1;
        format!("{}:{line}", self.path.display())
    }
}

/// A value that settings may have, however it is written.
fn typed(value: &DeValue<'_>) -> Option<Value> {
    match value {
        DeValue::Boolean(switch) => Some(Value::from(*switch)),
        DeValue::String(text) => Some(Value::from(text.as_ref())),
        DeValue::Array(list) => list.iter().map(|entry| typed(entry.get_ref())).collect(),
        DeValue::Integer(integer) => {
            let (digits, radix) = (integer.as_str(), integer.radix());
            let positive = u64::from_str_radix(digits, radix).map(Value::from);
            let any = || i64::from_str_radix(digits, radix).map(Value::from);
            positive.or_else(|_| any()).ok()
        }
        DeValue::Float(float) => {
            let number = float.as_str().parse().ok()?;
            serde_json::Number::from_f64(number).map(Value::Number)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> Result<Vec<Assignment>, String> {
        parse(Path::new("settings"), text).map_err(|error| error.to_string())
    }

    fn keys(text: &str) -> Vec<String> {
        let settings = settings(text).unwrap().into_iter();
        settings.map(|one| one.key).collect()
    }

    #[test]
    fn both_formats_give_dotted_keys() {
        let toml = "seed = 3\n[text.tokenizer]\nlowercase = false\n";
        assert_eq!(keys(toml), ["seed", "text.tokenizer.lowercase"]);
        let json = r#"{"seed": 3, "text": {"tokenizer": {"lowercase": false}}}"#;
        assert_eq!(keys(json), ["seed", "text.tokenizer.lowercase"]);
    }

    #[test]
    fn broken_files_are_named_with_the_line() {
        let message = settings("seed = 3\nbeam = = 4\n").unwrap_err();
        assert!(message.starts_with("settings:2: "), "{message}");
        let message = settings("{\"seed\": 3,\n\"beam\"}").unwrap_err();
        assert!(message.starts_with("settings:2: "), "{message}");
    }

    #[test]
    fn settings_know_their_line() {
        let text = "seed = 3\n\n[tree]\n# Larger leaves.\nmax_leaf = 50\nsolver.cost = 1.0\n";
        let places: Vec<_> = settings(text)
            .unwrap()
            .into_iter()
            .map(|one| (one.key, one.origin))
            .collect();
        let expected = [
            ("seed", "settings:1"),
            ("tree.max_leaf", "settings:5"),
            ("tree.solver.cost", "settings:6"),
        ];
        assert_eq!(
            places,
            expected.map(|(key, place)| (key.into(), place.into()))
        );
    }

    #[test]
    fn numbers_may_be_written_in_every_way() {
        for (text, expected) in [
            ("n = 100_000", Value::from(100_000)),
            ("n = 0xff", Value::from(255)),
            ("n = +7", Value::from(7)),
            ("n = -7", Value::from(-7)),
            ("n = 1_0.5e-1", Value::from(1.05)),
        ] {
            let value = settings(text).unwrap().remove(0).value;
            assert_eq!(value, AssignedValue::Typed(expected), "{text}");
        }
    }

    #[test]
    fn lists_may_span_lines() {
        let value = settings("layers = [\n  512, # wide\n  256,\n]")
            .unwrap()
            .remove(0)
            .value;
        assert_eq!(value, AssignedValue::Typed(serde_json::json!([512, 256])));
    }

    #[test]
    fn what_json_cannot_say_is_not_lost() {
        for (text, expected) in [
            ("cost = nan", AssignedValue::Text("nan".into())),
            (
                "cost = 1979-05-27",
                AssignedValue::Text("1979-05-27".into()),
            ),
            ("cost = [ nan ]", AssignedValue::Text("[ nan ]".into())),
            ("[cost]", AssignedValue::EmptyGroup),
        ] {
            assert_eq!(settings(text).unwrap()[0].value, expected, "{text}");
        }
    }
}
