//! Finding labels by parts of their names, among a million of them.

use std::cmp::Reverse;

use memchr::memmem;
use plethora_core::LabelId;
use plethora_core::corpus::LabelSpace;

/// Stands before every name, so that the start of one can be told from its middle.
const MARK: char = '\n';

/// Names, keys and other names of all labels in lower case, in one text that is searched as a whole.
#[derive(Debug)]
pub(crate) struct LabelIndex {
    text: String,
    /// Where the names of each label begin.
    starts: Vec<usize>,
}

/// A part of what was found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// Number of labels that were found.
    pub(crate) total: usize,
    /// Those of the page.
    pub(crate) labels: Vec<LabelId>,
}

/// How well a label fits: whole names before starts of names, then of words, then anything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    Whole,
    Start,
    Word,
    Inside,
}

impl LabelIndex {
    /// Writes down all names.
    pub(crate) fn new(labels: &LabelSpace) -> Self {
        let mut text = String::new();
        let mut starts = Vec::with_capacity(labels.len());
        for label in labels.labels() {
            starts.push(text.len());
            let key = (label.key != label.name).then_some(&label.key);
            let names = [&label.name].into_iter().chain(key);
            for name in names.chain(&label.alternatives) {
                text.push(MARK);
                push_folded(&mut text, name);
            }
        }
        text.push(MARK);
        text.shrink_to_fit();
        Self { text, starts }
    }

    /// Labels whose names hold `wanted`: the best fitting first, then those of most documents.
    pub(crate) fn search(
        &self,
        wanted: &str,
        train_counts: &[u32],
        offset: usize,
        limit: usize,
    ) -> Found {
        let mut needle = String::new();
        push_folded(&mut needle, wanted.trim());
        if needle.is_empty() {
            let all = 0..self.starts.len();
            let page = all.skip(offset).take(limit);
            return Found {
                total: self.starts.len(),
                labels: page.map(|label| LabelId(label as u32)).collect(),
            };
        }
        let mut found = self.matches(&needle);
        let total = found.len();
        let rank = |&(fit, label): &(Fit, u32)| {
            let count = train_counts.get(label as usize).copied().unwrap_or(0);
            (fit, Reverse(count), label)
        };
        let end = offset.saturating_add(limit).min(total);
        if 0 < end && end < total {
            found.select_nth_unstable_by_key(end - 1, rank);
        }
        found.truncate(end);
        found.sort_unstable_by_key(rank);
        let page = found.into_iter().skip(offset);
        Found {
            total,
            labels: page.map(|(_, label)| LabelId(label)).collect(),
        }
    }

    /// Every label that holds the needle, once, with its best fit.
    fn matches(&self, needle: &str) -> Vec<(Fit, u32)> {
        let mut found: Vec<(Fit, u32)> = Vec::new();
        let mut label = 0;
        for place in memmem::find_iter(self.text.as_bytes(), needle) {
            // Matches come in the order of the text, so that the label is here or not far ahead.
            if self
                .starts
                .get(label + 1)
                .is_some_and(|&next| next <= place)
            {
                label += self.starts[label..].partition_point(|&start| start <= place) - 1;
            }
            let fit = self.fit(place, place + needle.len());
            match found.last_mut() {
                Some((best, last)) if *last == label as u32 => *best = fit.min(*best),
                _ => found.push((fit, label as u32)),
            }
        }
        found
    }

    fn fit(&self, start: usize, end: usize) -> Fit {
        let before = self.text[..start].chars().next_back();
        match before {
            Some(MARK) if self.text[end..].starts_with(MARK) => Fit::Whole,
            Some(MARK) => Fit::Start,
            Some(before) if before.is_alphanumeric() => Fit::Inside,
            _ => Fit::Word,
        }
    }
}

/// Adds a name in lower case and on one line.
fn push_folded(text: &mut String, name: &str) {
    let one_line = |character: char| {
        if character.is_control() {
            ' '
        } else {
            character
        }
    };
    text.extend(name.chars().flat_map(char::to_lowercase).map(one_line));
}

#[cfg(test)]
mod tests {
    use plethora_core::corpus::Label;

    use super::*;

    fn space() -> LabelSpace {
        let labels = [
            ("k0", "Tides", "Ebb and flow"),
            ("k1", "Low tides", ""),
            ("k2", "Riptides", ""),
            ("k3", "TIDE", "Tide tables"),
            ("k4", "Bees\nand tides", ""),
            ("tides", "Other", ""),
        ];
        let label = |(key, name, other): (&str, &str, &str)| Label {
            key: key.into(),
            name: name.into(),
            alternatives: [other]
                .into_iter()
                .filter(|other| !other.is_empty())
                .map(Into::into)
                .collect(),
            parents: Vec::new(),
        };
        LabelSpace::new(labels.map(label).into(), vec![1, 5, 9, 2, 7, 3])
    }

    fn found(wanted: &str, offset: usize, limit: usize) -> (usize, Vec<u32>) {
        let space = space();
        let index = LabelIndex::new(&space);
        let found = index.search(wanted, space.train_counts(), offset, limit);
        let labels = found.labels.iter().map(|label| label.0).collect();
        (found.total, labels)
    }

    #[test]
    fn whole_names_come_first_then_starts_then_words_then_the_rest() {
        assert_eq!(found("TIDE", 0, 10), (6, vec![3, 5, 0, 4, 1, 2]));
        assert_eq!(found("tides", 0, 10), (5, vec![5, 0, 4, 1, 2]));
        assert_eq!(found("k4", 0, 10), (1, vec![4]));
        assert_eq!(found("flow", 0, 10), (1, vec![0]));
        assert_eq!(found("tidesk1", 0, 10), (0, vec![]));
        assert_eq!(found("zebra", 0, 10), (0, vec![]));
    }

    #[test]
    fn pages_are_parts_of_the_whole() {
        let (_, all) = found("tide", 0, 100);
        for offset in 0..8 {
            let page = found("tide", offset, 2).1;
            let end = all.len().min(offset + 2);
            assert_eq!(page, all[offset.min(end)..end], "{offset}");
        }
        assert_eq!(found("", 4, 10), (6, vec![4, 5]));
        assert_eq!(found("tide", usize::MAX, usize::MAX), (6, vec![]));
        assert_eq!(found("tide", 0, 0), (6, vec![]));
    }

    #[test]
    fn a_million_labels_are_few() {
        let label = |number: u32| Label {
            key: format!("K{number:07}"),
            name: format!("Subject {number} of the sea"),
            ..Label::default()
        };
        let labels: Vec<Label> = (0..1_000_000).map(label).collect();
        let space = LabelSpace::new(labels, vec![1; 1_000_000]);
        let index = LabelIndex::new(&space);
        let search = |wanted| index.search(wanted, space.train_counts(), 10, 3);
        let found = search("SEA");
        assert_eq!(found.total, 1_000_000);
        assert_eq!(found.labels, [LabelId(10), LabelId(11), LabelId(12)]);
        assert_eq!(search("subject 99999").total, 11);
        assert_eq!(search("k0999999").total, 1);
    }
}
