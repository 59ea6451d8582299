//! Everything that a check finds.

use plethora_core::corpus::{Label, VocabularyMistakes};
use plethora_core::{Error, Result};
use plethora_system::{Estimate, Registry, SystemSpec, TrainingSize};
use rustc_hash::FxHashSet;
use serde::Serialize;

use super::content_hashes::Duplicates;
use super::profile::{CorpusProfile, FrequencyRange};

/// Labels named as examples.
const MAX_EXAMPLES: usize = 5;

/// Most frequent labels named.
const MAX_FREQUENT: usize = 10;

/// One corpus, what it lacks against others, and what training on it will cost.
#[derive(Debug, Serialize)]
pub struct CheckReport {
    pub(super) data: CorpusReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) against: Option<AgainstReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unknown_to_vocabulary: Option<MissingLabels>,
    /// What is probably wrong with the vocabulary.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) vocabulary_mistakes: Vec<String>,
    pub(super) size: TrainingSize,
    pub(super) estimates: Vec<SystemEstimate>,
    #[serde(skip)]
    pub(super) num_threads: usize,
    /// Whether a GPU would make some of the estimates smaller.
    #[serde(skip)]
    pub(super) has_devices: bool,
}

/// What training a system with its recipe will need.
#[derive(Debug, Serialize)]
pub(super) struct SystemEstimate {
    pub(super) system: &'static str,
    #[serde(flatten)]
    pub(super) estimate: Estimate,
}

/// The counts of one corpus.
#[derive(Debug, Serialize)]
pub(super) struct CorpusReport {
    pub(super) format: String,
    #[serde(rename = "n_documents")]
    pub(super) num_documents: u64,
    #[serde(rename = "n_documents_without_labels")]
    pub(super) num_documents_without_labels: u64,
    #[serde(rename = "n_empty_documents")]
    pub(super) num_empty_documents: u64,
    #[serde(rename = "n_labels")]
    pub(super) num_labels: u64,
    #[serde(rename = "n_assignments")]
    pub(super) num_assignments: u64,
    pub(super) max_labels_per_document: usize,
    pub(super) duplicates: Duplicates,
    pub(super) label_frequencies: Vec<FrequencyRange>,
    pub(super) most_frequent_labels: Vec<(String, u32)>,
}

/// A test corpus beside the corpus to train on.
#[derive(Debug, Serialize)]
pub(super) struct AgainstReport {
    #[serde(flatten)]
    pub(super) corpus: CorpusReport,
    pub(super) also_in_data: Duplicates,
    pub(super) unseen_labels: MissingLabels,
}

/// Labels that one side has and the other lacks.
#[derive(Debug, Default, Serialize)]
pub(super) struct MissingLabels {
    #[serde(rename = "n_labels")]
    pub(super) num_labels: u64,
    #[serde(rename = "n_assignments")]
    pub(super) num_assignments: u64,
    pub(super) examples: Vec<String>,
}

impl CheckReport {
    /// Puts together what reading gave, and what the systems of `registry` would cost.
    pub fn new(
        registry: &Registry,
        profile: &CorpusProfile,
        against: Option<&CorpusProfile>,
        vocabulary: Option<&[Label]>,
    ) -> Result<Self> {
        let size = profile.training_size();
        let estimate = |spec: &SystemSpec| {
            let recipe = registry.recipe(spec.name).map_err(Error::usage)?;
            Ok(SystemEstimate {
                system: spec.name,
                estimate: recipe.config()?.estimate(&size),
            })
        };
        Ok(Self {
            data: CorpusReport::new(profile),
            against: against.map(|other| AgainstReport {
                corpus: CorpusReport::new(other),
                also_in_data: other.shared.clone(),
                unseen_labels: MissingLabels::of(other, |key| profile.space.id(key).is_some()),
            }),
            unknown_to_vocabulary: vocabulary.map(|labels| {
                let keys: FxHashSet<&str> = labels.iter().map(|label| label.key.as_str()).collect();
                MissingLabels::of(profile, |key| keys.contains(key))
            }),
            vocabulary_mistakes: vocabulary
                .map(|labels| VocabularyMistakes::of(labels).lines())
                .unwrap_or_default(),
            size,
            // Without labels nothing can be trained, and nothing costs nothing.
            estimates: (registry.systems().filter(|_| profile.num_assignments > 0))
                .map(estimate)
                .collect::<Result<_>>()?,
            num_threads: rayon::current_num_threads(),
            has_devices: registry.systems().any(SystemSpec::uses_devices),
        })
    }
}

impl CorpusReport {
    fn new(profile: &CorpusProfile) -> Self {
        Self {
            format: profile.format.clone(),
            num_documents: profile.num_documents,
            num_documents_without_labels: profile.num_without_labels,
            num_empty_documents: profile.num_empty,
            num_labels: profile.space.len() as u64,
            num_assignments: profile.num_assignments,
            max_labels_per_document: profile.max_labels,
            duplicates: profile.duplicates.clone(),
            label_frequencies: profile.histogram(),
            most_frequent_labels: profile
                .most_frequent(MAX_FREQUENT)
                .into_iter()
                .map(|(key, count)| (key.to_owned(), count))
                .collect(),
        }
    }
}

impl MissingLabels {
    fn of(profile: &CorpusProfile, is_known: impl Fn(&str) -> bool) -> Self {
        let mut missing = Self::default();
        let labels = profile.space.labels().iter();
        for (label, &count) in labels.zip(profile.space.train_counts()) {
            if is_known(&label.key) {
                continue;
            }
            missing.num_labels += 1;
            missing.num_assignments += u64::from(count);
            if missing.examples.len() < MAX_EXAMPLES {
                missing.examples.push(label.key.clone());
            }
        }
        missing
    }
}
