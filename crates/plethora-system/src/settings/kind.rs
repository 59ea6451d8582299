//! What a setting takes.

use std::fmt;

use serde_json::Value;

use super::auto::AUTO;

/// The type of a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// True or false.
    Switch,
    /// A whole number.
    Count,
    /// Whole numbers.
    Counts,
    /// A number.
    Number,
    /// Numbers.
    Numbers,
    /// A name.
    Text,
    /// One of some words.
    Choice(Vec<String>),
    /// A value, or the word that leaves it to the data and the machine.
    Auto(Box<Kind>),
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Switch => "true or false",
            Self::Count => "a whole number from 0",
            Self::Counts => "whole numbers, as 512,256",
            Self::Number => "a number",
            Self::Numbers => "numbers, as 0.5,0.2",
            Self::Text => "a name",
            Self::Choice(words) => return write!(formatter, "one of {}", words.join(", ")),
            Self::Auto(kind) => return write!(formatter, "{kind}, or {AUTO}"),
        })
    }
}

impl Kind {
    /// The value that a text without type stands for.
    pub fn parse(&self, text: &str) -> Option<Value> {
        match self {
            Self::Switch => text.parse::<bool>().ok().map(Value::from),
            Self::Count => text.parse::<u64>().ok().map(Value::from),
            Self::Counts => list(text, |count| count.parse::<u64>().ok()).map(Value::from),
            Self::Number => number(text).map(Value::from),
            Self::Numbers => list(text, number).map(Value::from),
            Self::Text => Some(Value::from(text.trim_matches('"'))),
            Self::Choice(words) => {
                let word = text.trim_matches('"');
                words.iter().any(|known| known == word).then(|| word.into())
            }
            Self::Auto(_) if text.trim_matches('"') == AUTO => Some(AUTO.into()),
            Self::Auto(kind) => kind.parse(text),
        }
    }

    /// True for a value with a type of its own that fits.
    pub fn accepts(&self, value: &Value) -> bool {
        match self {
            Self::Switch => value.is_boolean(),
            Self::Count => value.is_u64(),
            Self::Counts => value
                .as_array()
                .is_some_and(|list| list.iter().all(Value::is_u64)),
            Self::Number => value.is_number(),
            Self::Numbers => value
                .as_array()
                .is_some_and(|list| list.iter().all(Value::is_number)),
            Self::Text => value.is_string(),
            Self::Choice(words) => words.iter().any(|word| value == word),
            Self::Auto(kind) => value == AUTO || kind.accepts(value),
        }
    }
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// `512,256`, or the same in brackets as files have it.
fn list<T>(text: &str, one: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    let inner = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'));
    let list = inner.unwrap_or(text);
    if list.trim().is_empty() {
        return Some(Vec::new());
    }
    list.split(',').map(|entry| one(entry.trim())).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lists_are_read_with_and_without_brackets() {
        for (text, expected) in [
            ("512,256", Some(json!([512, 256]))),
            ("[512, 256]", Some(json!([512, 256]))),
            ("512", Some(json!([512]))),
            ("[]", Some(json!([]))),
            ("512,", None),
            ("wide", None),
            ("[512", None),
        ] {
            assert_eq!(Kind::Counts.parse(text), expected, "{text}");
        }
        assert_eq!(Kind::Numbers.parse("0.6,1"), Some(json!([0.6, 1.0])));
        assert_eq!(Kind::Numbers.parse("[0.6, inf]"), None);
        assert!(Kind::Numbers.accepts(&json!([0.5, 1])));
        assert!(!Kind::Numbers.accepts(&json!(["a"])));
        assert!(Kind::Counts.accepts(&json!([1, 2])));
        assert!(!Kind::Counts.accepts(&json!([1.5])));
        assert!(!Kind::Counts.accepts(&json!(1)));
    }
}
