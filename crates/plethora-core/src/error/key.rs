//! What an error in the configuration is about.

use std::fmt;

use super::hint::{Argument, Canonical, Wording};

/// A setting or an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    /// A setting, written as in a recipe (`tree.max_leaf`).
    Setting(String),
    /// An argument.
    Argument(Argument),
}

impl Key {
    pub(super) fn worded(&self, wording: &dyn Wording) -> String {
        match self {
            Self::Setting(key) => key.clone(),
            Self::Argument(argument) => wording.argument(*argument),
        }
    }

    pub(super) fn within(&mut self, section: &str) {
        if let Self::Setting(key) = self {
            *key = format!("{section}.{key}");
        }
    }

    pub(super) fn rename(&mut self, rename: fn(Argument) -> Argument) {
        if let Self::Argument(argument) = self {
            *argument = rename(*argument);
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.worded(&Canonical))
    }
}

impl From<String> for Key {
    fn from(key: String) -> Self {
        Self::Setting(key)
    }
}

impl From<&str> for Key {
    fn from(key: &str) -> Self {
        Self::Setting(key.to_owned())
    }
}

impl From<Argument> for Key {
    fn from(argument: Argument) -> Self {
        Self::Argument(argument)
    }
}

/// True for the setting of that name.
impl PartialEq<str> for Key {
    fn eq(&self, other: &str) -> bool {
        matches!(self, Self::Setting(key) if key == other)
    }
}
