//! What a setting takes.

use serde_json::Value;

/// The type of a setting, told by its value in the recipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// True or false.
    Switch,
    /// A whole number.
    Count,
    /// Whole numbers.
    Counts,
    /// A number.
    Number,
    /// A name.
    Text,
}

impl Kind {
    /// The kind of a value.
    pub fn of(value: &Value) -> Self {
        match value {
            Value::Bool(_) => Self::Switch,
            Value::Number(number) if number.is_u64() => Self::Count,
            Value::Number(_) => Self::Number,
            Value::Array(_) => Self::Counts,
            _ => Self::Text,
        }
    }

    /// The kind in words, for messages.
    pub fn expectation(self) -> &'static str {
        match self {
            Self::Switch => "true or false",
            Self::Count => "a whole number from 0",
            Self::Counts => "whole numbers, as 512,256",
            Self::Number => "a number",
            Self::Text => "a name",
        }
    }

    /// The value that a text without type stands for.
    pub fn parse(self, text: &str) -> Option<Value> {
        match self {
            Self::Switch => text.parse::<bool>().ok().map(Value::from),
            Self::Count => text.parse::<u64>().ok().map(Value::from),
            Self::Counts => counts(text).map(Value::from),
            Self::Number => text
                .parse::<f64>()
                .ok()
                .filter(|number| number.is_finite())
                .map(Value::from),
            Self::Text => Some(Value::from(text.trim_matches('"'))),
        }
    }

    /// True for a value with a type of its own that fits.
    pub fn accepts(self, value: &Value) -> bool {
        match self {
            Self::Switch => value.is_boolean(),
            Self::Count => value.is_u64(),
            Self::Counts => value
                .as_array()
                .is_some_and(|list| list.iter().all(Value::is_u64)),
            Self::Number => value.is_number(),
            Self::Text => value.is_string(),
        }
    }
}

/// `512,256`, or the same in brackets as files have it.
fn counts(text: &str) -> Option<Vec<u64>> {
    let inner = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'));
    let list = inner.unwrap_or(text);
    if list.trim().is_empty() {
        return Some(Vec::new());
    }
    list.split(',')
        .map(|count| count.trim().parse().ok())
        .collect()
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
        assert!(Kind::Counts.accepts(&json!([1, 2])));
        assert!(!Kind::Counts.accepts(&json!([1.5])));
        assert!(!Kind::Counts.accepts(&json!(1)));
    }
}
