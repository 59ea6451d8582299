//! What is probably wrong with a vocabulary, though it can be used.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::super::Label;
use crate::{IndexRows, grouped, shortened};

/// Longer names are texts.
const MAX_NAME_CHARS: usize = 1000;

/// Counts of labels that somebody should look at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VocabularyMistakes {
    /// Names that several labels are called by, and one of them.
    num_shared_names: usize,
    shared_name: String,
    num_without_name: usize,
    num_long_names: usize,
    num_in_cycles: usize,
}

impl VocabularyMistakes {
    /// Of these labels.
    pub fn of(labels: &[Label]) -> Self {
        let mut found = Self {
            num_in_cycles: num_in_cycles(labels),
            ..Self::default()
        };
        let mut called: BTreeMap<&str, usize> = BTreeMap::new();
        for label in labels {
            let name = label.name.trim();
            found.num_without_name += usize::from(name.is_empty());
            found.num_long_names += usize::from(name.chars().nth(MAX_NAME_CHARS).is_some());
            if !name.is_empty() {
                *called.entry(name).or_default() += 1;
            }
        }
        let mut shared = called.into_iter().filter(|(_, count)| *count > 1);
        if let Some((name, _)) = shared.next() {
            name.clone_into(&mut found.shared_name);
            found.num_shared_names = 1 + shared.count();
        }
        found
    }

    /// A line for each kind.
    pub fn lines(&self) -> Vec<String> {
        let count = |count: usize, one: &str, many: &str| {
            let what = if count == 1 { one } else { many };
            (count > 0).then(|| format!("{} {what}", grouped(count as u64)))
        };
        let shared = count(
            self.num_shared_names,
            "name is that of several labels",
            "names are those of several labels each",
        );
        [
            shared.map(|line| format!("{line}, as `{}`", shortened(&self.shared_name, 60))),
            count(
                self.num_without_name,
                "label has no name",
                "labels have no name",
            ),
            count(
                self.num_long_names,
                "name has more than 1,000 characters",
                "names have more than 1,000 characters",
            ),
            count(
                self.num_in_cycles,
                "label is broader than itself",
                "labels are broader than themselves",
            ),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// Labels that are broader than themselves by way of others.
fn num_in_cycles(labels: &[Label]) -> usize {
    let keys = labels.iter().map(|label| label.key.as_str());
    let ids: HashMap<&str, u32, FxBuildHasher> = keys.zip(0..).collect();
    let mut parents = IndexRows::default();
    for (label, id) in labels.iter().zip(0..) {
        let known = label
            .parents
            .iter()
            .filter_map(|key| ids.get(key.as_str()).copied());
        parents.push(known.filter(|&parent| parent != id));
    }
    let children = parents.transpose(labels.len());
    let mut is_left = vec![true; labels.len()];
    // What has nothing above it that is left, or nothing below, is in no cycle.
    for (above, below) in [(&parents, &children), (&children, &parents)] {
        let mut num_above: Vec<usize> = (0..labels.len())
            .map(|label| {
                let above = above.row(label).iter();
                above.filter(|&&other| is_left[other as usize]).count()
            })
            .collect();
        let mut free: Vec<usize> = (0..labels.len())
            .filter(|&label| is_left[label] && num_above[label] == 0)
            .collect();
        while let Some(label) = free.pop() {
            is_left[label] = false;
            for &other in below.row(label) {
                let other = other as usize;
                num_above[other] = num_above[other].saturating_sub(1);
                if num_above[other] == 0 && is_left[other] {
                    free.push(other);
                }
            }
        }
    }
    is_left.iter().filter(|&&is_left| is_left).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(rows: &[(&str, &str, &[&str])]) -> Vec<Label> {
        let label = |(key, name, parents): &(&str, &str, &[&str])| Label {
            key: (*key).to_owned(),
            name: (*name).to_owned(),
            alternatives: Vec::new(),
            parents: parents.iter().map(ToString::to_string).collect(),
        };
        rows.iter().map(label).collect()
    }

    #[test]
    fn labels_in_cycles_are_counted() {
        let count = |rows| num_in_cycles(&labels(rows));
        let tree: &[(&str, &str, &[&str])] = &[
            ("a", "a", &[]),
            ("b", "b", &["a", "nowhere"]),
            ("c", "c", &["a", "b"]),
        ];
        assert_eq!(count(tree), 0);
        let cycle: &[(&str, &str, &[&str])] = &[
            ("a", "a", &["b"]),
            ("b", "b", &["a"]),
            ("c", "c", &["a"]),
            ("d", "d", &[]),
        ];
        assert_eq!(count(cycle), 2);
        assert_eq!(count(&[("a", "a", &["a"])]), 0);
    }

    #[test]
    fn every_kind_has_a_line() {
        let long = "bees ".repeat(2000);
        let found = VocabularyMistakes::of(&labels(&[
            ("1", "sea", &["2"]),
            ("2", "sea", &["1"]),
            ("3", " ", &[]),
            ("4", &long, &[]),
            ("5", &long, &[]),
        ]));
        let shown = format!("{}\u{2026}", "bees ".repeat(12));
        assert_eq!(
            found.lines(),
            [
                format!("2 names are those of several labels each, as `{shown}`").as_str(),
                "1 label has no name",
                "2 names have more than 1,000 characters",
                "2 labels are broader than themselves",
            ]
        );
        let good = VocabularyMistakes::of(&labels(&[("1", "sea", &[]), ("2", "air", &["1"])]));
        assert!(good.lines().is_empty());
    }
}
