//! Settings that may be left to the data and the machine.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// How settings say that nobody chose.
pub(super) const AUTO: &str = "auto";

/// A value, or `auto`: then it is chosen by the data and the machine before training starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Auto<T> {
    /// Left open.
    #[default]
    Auto,
    /// Chosen by the user.
    Set(T),
}

impl<T> Auto<T> {
    /// The value, if the user chose one.
    pub fn set(self) -> Option<T> {
        match self {
            Self::Auto => None,
            Self::Set(value) => Some(value),
        }
    }

    /// True where it is left open.
    pub fn is_auto(&self) -> bool {
        matches!(self, Self::Auto)
    }

    /// The user's value, or what `choose` says.
    pub fn unwrap_or_else(self, choose: impl FnOnce() -> T) -> T {
        self.set().unwrap_or_else(choose)
    }
}

impl<T> From<T> for Auto<T> {
    fn from(value: T) -> Self {
        Self::Set(value)
    }
}

impl<T: fmt::Display> fmt::Display for Auto<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => formatter.write_str(AUTO),
            Self::Set(value) => value.fmt(formatter),
        }
    }
}

impl<T: Serialize> Serialize for Auto<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.serialize_str(AUTO),
            Self::Set(value) => value.serialize(serializer),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Auto<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "expected a value or \"auto\"")]
        enum Written<T> {
            Value(T),
            Word(Word),
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "lowercase")]
        enum Word {
            Auto,
        }
        Ok(match Written::deserialize(deserializer)? {
            Written::Value(value) => Self::Set(value),
            Written::Word(Word::Auto) => Self::Auto,
        })
    }
}

impl<T: JsonSchema> JsonSchema for Auto<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Auto_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let value = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [{ "const": AUTO }, value] })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_and_the_word_come_back() {
        for (text, value) in [(json!("auto"), Auto::Auto), (json!(7), Auto::Set(7_u64))] {
            let read: Auto<u64> = serde_json::from_value(text.clone()).unwrap();
            assert_eq!(read, value);
            assert_eq!(serde_json::to_value(read).unwrap(), text);
        }
        assert!(serde_json::from_value::<Auto<u64>>(json!("many")).is_err());
    }
}
