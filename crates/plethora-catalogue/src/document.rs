//! One record of the catalogue.

use plethora_core::SeedStream;
use rand::Rng;
use serde::{Deserialize, Serialize};

/// A record: title, abstract and subject headings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CatalogueDocument {
    /// The record's number, the same in every catalogue.
    pub id: String,
    /// The title, without a full stop.
    pub title: String,
    /// The abstract.
    pub text: String,
    /// Keys of the labels, between two and five.
    pub labels: Vec<String>,
    /// What the record is for.
    pub split: Split,
}

/// Eight of ten records train a model, one chooses settings, one measures it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Split {
    /// For training.
    Train,
    /// For choosing settings.
    Dev,
    /// For the final measurement.
    Test,
}

impl Split {
    /// The split of a record, by its number alone, so that it stays when a catalogue grows.
    pub(crate) fn of(index: u64) -> Self {
        match SeedStream::new(index).named("split").rng().next_u64() % 10 {
            0..8 => Self::Train,
            8 => Self::Dev,
            _ => Self::Test,
        }
    }

    /// The name used in files and flags.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Dev => "dev",
            Self::Test => "test",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_are_near_eighty_ten_ten() {
        let count = |split| {
            (0..10_000)
                .filter(|&index| Split::of(index) == split)
                .count() as i64
        };
        assert!((count(Split::Train) - 8_000).abs() < 150);
        assert!((count(Split::Dev) - 1_000).abs() < 120);
        assert!((count(Split::Test) - 1_000).abs() < 120);
    }
}
