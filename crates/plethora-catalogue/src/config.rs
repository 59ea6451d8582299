//! How large a catalogue is and how hard it is to classify.

use plethora_core::{Error, Result};
use serde::{Deserialize, Serialize};

/// Fewer labels leave no room for every kind of heading.
const MIN_LABELS: u32 = 100;
/// The word lists give at least this many distinct names.
const MAX_LABELS: u32 = 1_000_000;
/// With four documents per label, most labels are rare and nearly all occur.
const DOCUMENTS_PER_LABEL: u64 = 4;
/// Twice the usual noise already hides most headings.
const MAX_NOISE_PERCENT: u32 = 200;

/// Settings of a [`Catalogue`](crate::Catalogue).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CatalogueConfig {
    /// Other seeds give other records, other popular topics and other invented names.
    pub seed: u64,
    /// Number of documents.
    pub num_documents: u64,
    /// Number of labels in the vocabulary; a quarter of the documents where not given. Not every
    /// label occurs in a document.
    pub num_labels: Option<u32>,
    /// Strength of misleading mentions, missing and wrong labels and typing errors, 100 being the
    /// strength at which a good linear classifier has about 0.85 precision at 1.
    pub noise_percent: u32,
}

impl Default for CatalogueConfig {
    fn default() -> Self {
        Self {
            seed: 1,
            num_documents: 8_000,
            num_labels: None,
            noise_percent: 100,
        }
    }
}

impl CatalogueConfig {
    /// The number of labels, derived from the number of documents where none is set.
    pub fn resolved_num_labels(&self) -> u32 {
        self.num_labels.unwrap_or_else(|| {
            let derived = self.num_documents / DOCUMENTS_PER_LABEL;
            derived.clamp(u64::from(MIN_LABELS), u64::from(MAX_LABELS)) as u32
        })
    }

    /// Fails when a setting is out of bounds.
    pub fn validate(&self) -> Result<()> {
        let num_labels = self.resolved_num_labels();
        if !(MIN_LABELS..=MAX_LABELS).contains(&num_labels) {
            return Err(Error::config(
                "num_labels",
                format!("{num_labels} is not between {MIN_LABELS} and {MAX_LABELS}"),
            ));
        }
        if self.noise_percent > MAX_NOISE_PERCENT {
            return Err(Error::config(
                "noise_percent",
                format!("{} is above {MAX_NOISE_PERCENT}", self.noise_percent),
            ));
        }
        if self.num_documents == 0 {
            return Err(Error::config(
                "num_documents",
                "0 documents make no catalogue",
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_follow_documents_within_bounds() {
        let labels = |num_documents| {
            CatalogueConfig {
                num_documents,
                ..CatalogueConfig::default()
            }
            .resolved_num_labels()
        };
        assert_eq!(labels(8_000), 2_000);
        assert_eq!(labels(10), MIN_LABELS);
        assert_eq!(labels(u64::MAX), MAX_LABELS);
    }

    #[test]
    fn settings_out_of_bounds_are_refused_by_name() {
        let refused = |config: CatalogueConfig| config.validate().unwrap_err().to_string();
        let default = CatalogueConfig::default;
        assert!(default().validate().is_ok());
        assert!(
            refused(CatalogueConfig {
                num_labels: Some(99),
                ..default()
            })
            .contains("num_labels")
        );
        assert!(
            refused(CatalogueConfig {
                num_documents: 0,
                ..default()
            })
            .contains("num_documents")
        );
        assert!(
            refused(CatalogueConfig {
                noise_percent: 201,
                ..default()
            })
            .contains("noise_percent")
        );
    }
}
