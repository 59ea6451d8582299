//! What papers report on the data that a model was measured on.

use std::collections::BTreeMap;
use std::path::Path;

use plethora_core::grouped;
use serde::{Deserialize, Serialize};

/// Results of papers and other sources, with what tells their data from others.
const PUBLISHED: &str = include_str!("../../data/published.toml");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PublishedFile {
    dataset: Vec<PublishedDataset>,
}

/// A data set with results.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PublishedDataset {
    pub(super) name: String,
    /// Names that files of it usually have, in small letters and digits alone.
    #[serde(skip_serializing)]
    aliases: Vec<String>,
    #[serde(rename = "train_documents")]
    pub(super) num_train_documents: u64,
    #[serde(rename = "test_documents")]
    pub(super) num_test_documents: u64,
    #[serde(rename = "labels")]
    pub(super) num_labels: u64,
    /// Labels of training documents, where these are known to be fewer.
    #[serde(rename = "train_labels")]
    num_train_labels: Option<u64>,
    /// What else is to be known about it.
    pub(super) note: Option<String>,
    #[serde(rename = "result")]
    pub(super) results: Vec<PublishedResult>,
}

/// One system's figures.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PublishedResult {
    pub(super) system: String,
    pub(super) source: String,
    /// In percent, as printed.
    pub(super) values: BTreeMap<String, f64>,
    pub(super) note: Option<String>,
}

/// What a report shows of published figures.
#[derive(Debug, Default, Serialize)]
pub(super) struct PublishedResults {
    /// The data set that was recognised.
    pub(super) dataset: Option<PublishedDataset>,
    /// By what.
    pub(super) matched_by: Option<String>,
    /// Data sets that look alike and are others.
    pub(super) warnings: Vec<String>,
}

/// What is known of the data that was measured on.
#[derive(Debug)]
pub(super) struct Evidence<'a> {
    pub(super) path: &'a Path,
    pub(super) num_test_documents: u64,
    /// Numbers of labels: those of each model, these with the unseen ones of the test documents, and
    /// those of the test documents.
    pub(super) label_counts: &'a [u64],
}

/// Finds the data set of the same counts, and warns of those of a similar name with other counts.
pub(super) fn look_up(evidence: &Evidence<'_>) -> PublishedResults {
    let datasets = datasets();
    let is_match = |dataset: &&PublishedDataset| {
        dataset.num_test_documents == evidence.num_test_documents
            && dataset.matching_labels(evidence).is_some()
    };
    let parts: Vec<String> = (evidence.path.components())
        .map(|part| letters(&part.as_os_str().to_string_lossy()))
        .collect();
    let is_named = |dataset: &&PublishedDataset| {
        let mut aliases = dataset.aliases.iter();
        aliases.any(|alias| parts.iter().any(|part| part.contains(alias.as_str())))
    };
    let matches: Vec<&PublishedDataset> = datasets.iter().filter(is_match).collect();
    // Where sets have the same counts (one with titles alone, one with texts), the name decides.
    let found = match matches[..] {
        [found] => Some(found),
        _ => matches.iter().copied().find(|found| is_named(found)),
    };
    if let Some(found) = found {
        return PublishedResults::of(found, evidence);
    }
    let looks_alike = |dataset: &&PublishedDataset| {
        is_named(dataset) || dataset.num_test_documents == evidence.num_test_documents
    };
    let counts: Vec<String> = {
        let mut counts = evidence.label_counts.to_vec();
        counts.sort_unstable();
        counts.dedup();
        counts.iter().map(|&count| grouped(count)).collect()
    };
    let warn = |dataset: &PublishedDataset| {
        format!(
            "This looks like {} ({} training documents, {} test documents, {} labels), but has {} test \
             documents and {} labels (of models or documents): figures published for it are of other \
             data and are not shown.",
            dataset.name,
            grouped(dataset.num_train_documents),
            grouped(dataset.num_test_documents),
            grouped(dataset.num_labels),
            grouped(evidence.num_test_documents),
            counts.join(", ")
        )
    };
    PublishedResults {
        warnings: datasets.iter().filter(looks_alike).map(warn).collect(),
        ..PublishedResults::default()
    }
}

impl PublishedResults {
    fn of(found: &PublishedDataset, evidence: &Evidence<'_>) -> Self {
        let labels = found.matching_labels(evidence).unwrap_or(found.num_labels);
        let matched_by = format!(
            "{} test documents and {} labels, both equal",
            grouped(found.num_test_documents),
            grouped(labels)
        );
        Self {
            dataset: Some(found.clone()),
            matched_by: Some(matched_by),
            warnings: Vec::new(),
        }
    }
}

impl PublishedDataset {
    /// The number of labels that the data has in common with this set.
    fn matching_labels(&self, evidence: &Evidence<'_>) -> Option<u64> {
        let known = [Some(self.num_labels), self.num_train_labels];
        let mut known = known.into_iter().flatten();
        known.find(|count| evidence.label_counts.contains(count))
    }
}

fn datasets() -> Vec<PublishedDataset> {
    let file: PublishedFile =
        toml::from_str(PUBLISHED).expect("a test reads the published results");
    file.dataset
}

fn letters(name: &str) -> String {
    let lower = name.to_lowercase();
    lower.chars().filter(char::is_ascii_alphanumeric).collect()
}

#[cfg(test)]
mod tests {
    use plethora_core::metrics::{average_ranks, wilcoxon};

    use super::*;

    fn look(path: &str, num_test_documents: u64, label_counts: &[u64]) -> PublishedResults {
        look_up(&Evidence {
            path: Path::new(path),
            num_test_documents,
            label_counts,
        })
    }

    #[test]
    fn the_file_can_be_read_and_every_figure_has_a_source() {
        let datasets = datasets();
        assert!(datasets.len() >= 9);
        for dataset in &datasets {
            assert!(!dataset.results.is_empty() && !dataset.aliases.is_empty());
            for alias in &dataset.aliases {
                assert_eq!(*alias, letters(alias), "{}", dataset.name);
            }
            for result in &dataset.results {
                assert!(!result.source.is_empty() && !result.values.is_empty());
                let is_percent = |value: &f64| (0.0..=100.0).contains(value);
                assert!(result.values.values().all(is_percent), "{}", result.system);
            }
        }
    }

    /// Every figure of its tables 2 and 3 goes into these, so that none was copied wrongly.
    #[test]
    fn figures_of_the_oldest_paper_give_the_ranks_and_p_values_that_it_prints() {
        let datasets = datasets();
        let mut results = datasets.iter().flat_map(|dataset| &dataset.results);
        let source = &results
            .find(|result| result.values.get("nDCG@5") == Some(&67.67))
            .unwrap()
            .source;
        for (family, ranks, p_values) in [
            (
                "P",
                [1.33, 5.73, 3.20, 5.73, 7.20, 2.53, 6.13, 4.13],
                [
                    8.55e-4, 4.27e-3, 1.22e-4, 6.10e-5, 1.53e-3, 6.10e-5, 6.10e-5,
                ],
            ),
            (
                "nDCG",
                [1.40, 5.80, 3.00, 6.00, 7.33, 2.53, 5.87, 4.07],
                [
                    6.10e-4, 5.37e-3, 1.22e-4, 6.10e-5, 6.10e-4, 6.10e-5, 6.10e-5,
                ],
            ),
        ] {
            // Its own system first, then the others in the order of its tables.
            let rows: Vec<Vec<f64>> = datasets
                .iter()
                .flat_map(|dataset| [1, 3, 5].map(|k| (dataset, format!("{family}@{k}"))))
                .map(|(dataset, key)| {
                    let own = dataset
                        .results
                        .iter()
                        .filter(|result| result.source == *source);
                    let single = own.filter(|result| !result.system.contains("consensus"));
                    single
                        .filter_map(|result| result.values.get(&key).copied())
                        .collect()
                })
                .filter(|row: &Vec<f64>| !row.is_empty())
                .collect();
            assert_eq!(rows.len(), 15);
            for (found, printed) in average_ranks(&rows).iter().zip(ranks) {
                assert!(
                    (found - printed).abs() < 0.006,
                    "{family}: {found} {printed}"
                );
            }
            for (place, printed) in (1..).zip(p_values) {
                let pairs = rows.iter().map(|row| (row[0], row[place]));
                let sizes = pairs.clone().map(|(own, other)| (own - other).abs());
                let mut sizes: Vec<f64> = sizes.collect();
                sizes.sort_unstable_by(f64::total_cmp);
                // The paper takes the signs of ranks 1 to 15 also where differences are equal.
                let has_ties = sizes.windows(2).any(|two| two[1] - two[0] < 1e-9);
                let tolerance = if has_ties { 0.11 } else { 5e-3 };
                let p = wilcoxon(pairs).unwrap();
                assert!(
                    (p / printed - 1.0).abs() < tolerance,
                    "{place}: {p} {printed}"
                );
            }
        }
    }

    #[test]
    fn counts_tell_the_versions_of_eurlex_apart() {
        let attention = look("eurlex-4k/test.txt", 3_865, &[3_956]);
        let repository = look("eurlex-4k/test.txt", 3_809, &[3_993]);
        let name =
            |found: &PublishedResults| found.dataset.as_ref().map(|found| found.name.clone());
        assert_ne!(name(&attention), name(&repository));
        assert!(attention.warnings.is_empty() && repository.warnings.is_empty());
        let neither = look("data/EURLex-4K/tst.txt", 3_865, &[3_993]);
        assert!(neither.dataset.is_none());
        assert_eq!(neither.warnings.len(), 2, "{:?}", neither.warnings);
        assert!(neither.warnings[0].contains("15,449 training documents"));
    }

    #[test]
    fn wiki_500k_is_not_wikipedia_500k() {
        let wiki = look("test.txt", 769_421, &[501_008]).dataset.unwrap();
        let wikipedia = look("test.txt", 783_743, &[501_070]).dataset.unwrap();
        assert_ne!(wiki.name, wikipedia.name);
        assert!(wiki.note.unwrap().contains("Wikipedia-500K"));
        let swapped = look("Wiki-500K/test.txt", 783_743, &[501_008]);
        assert!(swapped.dataset.is_none() && swapped.warnings.len() >= 2);
    }

    #[test]
    fn the_name_decides_between_sets_of_equal_counts() {
        let look = |path: &str| look(path, 134_835, &[131_073]);
        let titles = look("LF-AmazonTitles-131K/tst.json").dataset.unwrap();
        assert_eq!(titles.name, "LF-AmazonTitles-131K");
        let texts = look("LF-Amazon-131K/tst.json").dataset.unwrap();
        assert_eq!(texts.name, "LF-Amazon-131K");
        let unnamed = look("tst.json");
        assert!(unnamed.dataset.is_none() && unnamed.warnings.len() == 2);
    }

    #[test]
    fn labels_of_training_documents_are_enough_and_strangers_match_nothing() {
        let found = look("docs.jsonl", 6_000, &[4_108, 4_193]);
        assert!(found.matched_by.unwrap().contains("4,108 labels"));
        let stranger = look("library/books.jsonl", 77, &[12]);
        assert!(stranger.dataset.is_none() && stranger.warnings.is_empty());
    }
}
