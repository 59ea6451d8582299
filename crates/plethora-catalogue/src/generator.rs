//! The catalogue itself: documents and labels by their numbers.

use plethora_core::corpus::Label;
use plethora_core::{Result, SeedStream};

use crate::config::CatalogueConfig;
use crate::document::{CatalogueDocument, Split};
use crate::draw::Draw;
use crate::facets::Facets;
use crate::headings::Headings;
use crate::prose::Writer;

/// A generated catalogue. It holds a few bytes per label and nothing of its documents.
#[derive(Debug, Clone)]
pub struct Catalogue {
    config: CatalogueConfig,
    headings: Headings,
    documents: SeedStream,
}

impl Catalogue {
    /// Prepares the label vocabulary.
    pub fn new(config: CatalogueConfig) -> Result<Self> {
        config.validate()?;
        let headings = Headings::new(config.seed, config.resolved_num_labels());
        let documents = SeedStream::new(config.seed).named("catalogue documents");
        Ok(Self {
            config,
            headings,
            documents,
        })
    }

    /// The settings this catalogue was made from.
    pub fn config(&self) -> &CatalogueConfig {
        &self.config
    }

    /// Number of documents.
    pub fn num_documents(&self) -> u64 {
        self.config.num_documents
    }

    /// Number of labels in the vocabulary, whether they occur or not.
    pub fn num_labels(&self) -> u32 {
        self.headings.layout.num_labels()
    }

    /// All documents in the order of their numbers.
    pub fn documents(&self) -> impl Iterator<Item = CatalogueDocument> + '_ {
        (0..self.config.num_documents).map(|index| self.document(index))
    }

    /// All labels in the order of their keys.
    pub fn labels(&self) -> impl Iterator<Item = Label> + '_ {
        (0..self.num_labels()).map(|index| self.headings.label(index))
    }

    /// The document with a number. Documents do not depend on one another, nor on the number of
    /// documents where the number of labels is set; numbers at or above
    /// [`num_documents`](Self::num_documents) give further documents of the same kind.
    pub fn document(&self, index: u64) -> CatalogueDocument {
        let mut draw = Draw::new(self.documents.child(index));
        let noise_percent = self.config.noise_percent;
        let facets = Facets::draw(&self.headings, noise_percent, &mut draw);
        let (title, text) = Writer::new(&facets, &self.headings, noise_percent, &mut draw).write();
        CatalogueDocument {
            id: format!("R{index:08}"),
            title,
            text,
            labels: facets
                .labels
                .iter()
                .map(|&heading| self.headings.key(heading))
                .collect(),
            split: Split::of(index),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use super::*;

    fn catalogue(seed: u64, num_documents: u64) -> Catalogue {
        Catalogue::new(CatalogueConfig {
            seed,
            num_documents,
            ..CatalogueConfig::default()
        })
        .unwrap()
    }

    #[test]
    fn equal_seeds_give_equal_documents_and_labels_and_other_seeds_others() {
        let texts = |seed| catalogue(seed, 200).documents().collect::<Vec<_>>();
        assert_eq!(texts(1), texts(1));
        assert!(
            texts(1)
                .iter()
                .zip(&texts(2))
                .all(|(one, two)| one.text != two.text)
        );
        let labels = |seed| catalogue(seed, 2_000).labels().collect::<Vec<_>>();
        assert_eq!(labels(1), labels(1));
        assert_ne!(labels(1), labels(2));
    }

    #[test]
    fn documents_by_number_are_those_of_the_stream() {
        let catalogue = catalogue(3, 300);
        let streamed: Vec<_> = catalogue.documents().collect();
        assert_eq!(streamed.len(), 300);
        for index in (0..300).rev() {
            assert_eq!(catalogue.document(index), streamed[index as usize]);
        }
    }

    #[test]
    fn documents_stay_when_the_catalogue_grows_with_labels_set() {
        let sized = |num_documents| {
            let config = CatalogueConfig {
                num_documents,
                num_labels: Some(500),
                ..CatalogueConfig::default()
            };
            Catalogue::new(config).unwrap()
        };
        assert_eq!(sized(10).document(9), sized(10_000).document(9));
    }

    #[test]
    fn at_least_half_of_the_labels_are_rare() {
        for num_documents in [2_000, 8_000] {
            for seed in 1..4 {
                let mut counts: HashMap<String, u32> = HashMap::new();
                let catalogue = catalogue(seed, num_documents);
                for document in catalogue.documents().filter(|d| d.split == Split::Train) {
                    for label in document.labels {
                        *counts.entry(label).or_default() += 1;
                    }
                }
                let rare = counts.values().filter(|&&count| count <= 5).count();
                assert!(2 * rare >= counts.len(), "{rare} of {}", counts.len());
            }
        }
    }

    #[test]
    fn documents_have_two_to_five_distinct_labels_that_exist() {
        for num_documents in [400, 8_000] {
            let catalogue = catalogue(5, num_documents);
            let keys: HashSet<String> = catalogue.labels().map(|label| label.key).collect();
            for document in catalogue.documents() {
                let distinct: HashSet<&String> = document.labels.iter().collect();
                assert_eq!(distinct.len(), document.labels.len(), "{document:?}");
                assert!((2..=5).contains(&distinct.len()), "{document:?}");
                assert!(distinct.into_iter().all(|key| keys.contains(key)));
            }
        }
    }

    /// Levels from the label up to its highest ancestor.
    fn depth(label: &Label, by_key: &HashMap<&str, &Label>, steps: usize) -> usize {
        assert!(steps < 10, "{} is its own ancestor", label.name);
        let parents = label.parents.iter().map(|parent| by_key[parent.as_str()]);
        1 + parents
            .map(|parent| depth(parent, by_key, steps + 1))
            .max()
            .unwrap_or(0)
    }

    #[test]
    fn parents_exist_and_come_in_at_least_three_levels_without_cycles() {
        let labels: Vec<Label> = catalogue(1, 8_000).labels().collect();
        let by_key: HashMap<&str, &Label> = labels
            .iter()
            .map(|label| (label.key.as_str(), label))
            .collect();
        let depths: Vec<usize> = labels
            .iter()
            .map(|label| depth(label, &by_key, 0))
            .collect();
        assert_eq!(depths.iter().max(), Some(&4));
        assert!(depths.iter().filter(|&&depth| depth >= 3).count() > labels.len() / 2);
    }

    #[test]
    fn a_million_labels_have_distinct_names() {
        let config = CatalogueConfig {
            num_labels: Some(1_000_000),
            ..CatalogueConfig::default()
        };
        let catalogue = Catalogue::new(config).unwrap();
        let mut names: HashSet<String> = HashSet::new();
        for index in (0..catalogue.num_labels()).step_by(7) {
            let label = catalogue.headings.label(index);
            assert!(names.insert(label.name), "{}", label.key);
        }
    }

    #[test]
    fn all_names_of_a_common_catalogue_are_distinct() {
        for seed in 1..6 {
            let mut names = HashSet::new();
            for label in catalogue(seed, 20_000).labels() {
                assert!(
                    names.insert(label.name.clone()),
                    "{} {}",
                    label.key,
                    label.name
                );
            }
        }
    }

    #[test]
    fn texts_read_well() {
        for num_documents in [400, 4_000] {
            for document in catalogue(9, num_documents).documents() {
                assert!(document.text.ends_with('.'), "{document:?}");
                assert!(!document.title.ends_with('.'), "{document:?}");
                let num_words = document.text.split(' ').count();
                assert!((30..=150).contains(&num_words), "{document:?}");
                for part in [&document.title, &document.text] {
                    assert!(reads_well(part), "{document:?}");
                }
            }
        }
    }

    /// No unfilled slot, stray space, doubled small word, wrong article or lower-case start.
    fn reads_well(text: &str) -> bool {
        let words: Vec<&str> = text.split(' ').collect();
        let has_slip = words.windows(2).any(|pair| {
            let is_small = ["a", "an", "the", "in", "of"].contains(&pair[0]);
            let is_article = pair[0].eq_ignore_ascii_case("a");
            (is_small && pair[0] == pair[1])
                || (is_article && pair[1].starts_with(['a', 'e', 'i', 'o']))
        });
        text.starts_with(|first: char| first.is_uppercase())
            && !text.contains(['{', '}', '@', '|'])
            && ["  ", " .", " ,"].iter().all(|slip| !text.contains(slip))
            && !has_slip
    }

    #[test]
    fn labels_are_partly_named_and_partly_implied() {
        let catalogue = catalogue(2, 2_000);
        let labels: HashMap<String, Label> = catalogue
            .labels()
            .map(|label| (label.key.clone(), label))
            .collect();
        let (mut named, mut total) = (0, 0);
        for document in catalogue.documents() {
            let text = format!("{} {}", document.title, document.text).to_lowercase();
            for label in document.labels.iter().map(|key| &labels[key]) {
                let mut names = label.alternatives.iter().chain([&label.name]);
                named += usize::from(names.any(|name| text.contains(&name.to_lowercase())));
                total += 1;
            }
        }
        assert!(
            (total / 4..total * 3 / 4).contains(&named),
            "{named} of {total} are named"
        );
    }
}
