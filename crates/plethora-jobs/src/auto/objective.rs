//! What a model should be best at.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

/// What a model should be best at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Objective {
    /// True labels in the first five places, the first ones before all.
    #[default]
    Ndcg,
    /// True labels in the first five places, of which rare ones count more.
    Psp,
    /// Labels above a threshold that are right.
    MicroF1,
}

impl Objective {
    /// All of them, the usual one first.
    pub const ALL: [Self; 3] = [Self::Ndcg, Self::Psp, Self::MicroF1];

    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ndcg => "nDCG@5",
            Self::Psp => "PSP@5",
            Self::MicroF1 => "micro-F1",
        }
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Objective {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut all = Self::ALL.into_iter();
        all.find(|objective| objective.name().eq_ignore_ascii_case(text))
            .ok_or_else(|| format!("expected {}", Self::ALL.map(Self::name).join(", ")))
    }
}

impl Serialize for Objective {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
