//! The labels a model knows, each with its key, names, parents and training frequency.

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Serialize};

use super::Document;
use crate::LabelId;

/// A label as its vocabulary describes it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Label {
    /// What documents use to name the label: an id, a URI or the name itself.
    pub key: String,
    /// What people read; the key where no vocabulary gives a name.
    pub name: String,
    /// Other names of the same thing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<String>,
    /// Keys of broader labels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parents: Vec<String>,
}

impl Label {
    /// A label whose name is its key.
    pub fn from_key(key: impl Into<String>) -> Self {
        let key = key.into();
        Self {
            name: key.clone(),
            key,
            ..Self::default()
        }
    }

    /// True where people can read what it is called: it has a name of its own, or its key is made of words.
    pub fn is_named(&self) -> bool {
        self.name != self.key && !self.name.trim().is_empty() || is_readable(&self.key)
    }
}

/// True for keys that are words, and neither addresses (`gnd:4`, `https://...`) nor numbers.
pub fn is_readable(key: &str) -> bool {
    let mut after_colons = key.split(':').skip(1);
    let is_address = after_colons.any(|after| !after.starts_with(' '));
    let num_letters = key.chars().filter(|c| c.is_alphabetic()).count();
    let num_digits = key.chars().filter(char::is_ascii_digit).count();
    !is_address && num_letters >= 3 && num_letters > 2 * num_digits
}

/// The labels of the training documents, in the order of their [`LabelId`]s, which is the order of
/// their keys. Test documents never add to it.
#[derive(Debug, Clone, Default)]
pub struct LabelSpace {
    labels: Vec<Label>,
    train_counts: Vec<u32>,
    ids: HashMap<String, LabelId, FxBuildHasher>,
    broader: Vec<Label>,
}

impl LabelSpace {
    /// A label space from labels and the number of training documents of each.
    pub fn new(labels: Vec<Label>, train_counts: Vec<u32>) -> Self {
        assert_eq!(labels.len(), train_counts.len());
        let ids = (0..)
            .zip(&labels)
            .map(|(id, label)| (label.key.clone(), LabelId(id)))
            .collect();
        Self {
            labels,
            train_counts,
            ids,
            broader: Vec::new(),
        }
    }

    /// The same labels with other numbers of training documents.
    ///
    /// # Panics
    /// If there is not one for each label.
    #[must_use]
    pub fn with_train_counts(self, train_counts: Vec<u32>) -> Self {
        assert_eq!(train_counts.len(), self.labels.len());
        Self {
            train_counts,
            ..self
        }
    }

    /// Number of labels.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// True without any label.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The label with this id.
    pub fn label(&self, id: LabelId) -> &Label {
        &self.labels[id.index()]
    }

    /// All labels in the order of their ids.
    pub fn labels(&self) -> &[Label] {
        &self.labels
    }

    /// Number of training documents of each label.
    pub fn train_counts(&self) -> &[u32] {
        &self.train_counts
    }

    /// What the vocabulary says of broader terms that no training document has, but that stand
    /// above a label that some have. They shape trees; they are never predicted or saved.
    pub fn broader(&self) -> &[Label] {
        &self.broader
    }

    /// The id of a key, if training documents used it.
    pub fn id(&self, key: &str) -> Option<LabelId> {
        self.ids.get(key).copied()
    }
}

/// Collects the labels of training documents, one document at a time.
#[derive(Debug, Clone, Default)]
pub struct LabelSpaceBuilder {
    provisional: HashMap<String, u32, FxBuildHasher>,
    counts: Vec<u32>,
}

impl LabelSpaceBuilder {
    /// Counts a document's labels and returns their provisional ids, in order of first sight.
    pub fn add(&mut self, document: &Document) -> Vec<u32> {
        document
            .labels
            .iter()
            .map(|key| self.add_key(key))
            .collect()
    }

    /// Adds a label of a vocabulary, whether documents have it or not, for systems that can predict
    /// what training never showed.
    pub fn add_unused(&mut self, key: &str) {
        self.number(key);
    }

    fn add_key(&mut self, key: &str) -> u32 {
        let id = self.number(key);
        self.counts[id as usize] += 1;
        id
    }

    fn number(&mut self, key: &str) -> u32 {
        let next = self.counts.len() as u32;
        if let Some(&id) = self.provisional.get(key) {
            return id;
        }
        self.provisional.insert(key.to_owned(), next);
        self.counts.push(0);
        next
    }

    /// The finished space, with names from `vocabulary`, and the final id of each provisional one.
    pub fn finish(self, vocabulary: &[Label]) -> (LabelSpace, Vec<LabelId>) {
        let described: HashMap<&str, &Label, FxBuildHasher> = vocabulary
            .iter()
            .map(|label| (label.key.as_str(), label))
            .collect();
        let mut keys: Vec<(String, u32)> = self.provisional.into_iter().collect();
        keys.sort_unstable();
        let mut final_ids = vec![LabelId(0); keys.len()];
        let mut labels = Vec::with_capacity(keys.len());
        let mut train_counts = Vec::with_capacity(keys.len());
        for (id, (key, provisional)) in (0..).zip(keys) {
            final_ids[provisional as usize] = LabelId(id);
            train_counts.push(self.counts[provisional as usize]);
            labels.push(match described.get(key.as_str()) {
                Some(&label) => label.clone(),
                None => Label::from_key(key),
            });
        }
        let mut space = LabelSpace::new(labels, train_counts);
        space.broader = broader_terms(&space, &described);
        (space, final_ids)
    }
}

/// All ancestors of the labels that are no labels themselves, in the order of their keys.
fn broader_terms(
    space: &LabelSpace,
    described: &HashMap<&str, &Label, FxBuildHasher>,
) -> Vec<Label> {
    let mut seen: HashSet<&str, FxBuildHasher> = HashSet::default();
    let mut broader = Vec::new();
    let mut waiting: Vec<&str> = (space.labels.iter())
        .flat_map(|label| label.parents.iter().map(String::as_str))
        .collect();
    while let Some(key) = waiting.pop() {
        if space.id(key).is_none()
            && let Some(&label) = described.get(key)
            && seen.insert(key)
        {
            waiting.extend(label.parents.iter().map(String::as_str));
            broader.push(label.clone());
        }
    }
    broader.sort_unstable_by(|left, right| left.key.cmp(&right.key));
    broader
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::Content;

    fn document(labels: &[&str]) -> Document {
        Document {
            id: String::new(),
            content: Content::Text(String::new()),
            labels: labels.iter().map(ToString::to_string).collect(),
        }
    }

    #[test]
    fn ids_follow_keys_and_counts_follow_documents() {
        let mut builder = LabelSpaceBuilder::default();
        assert_eq!(builder.add(&document(&["sea", "air"])), [0, 1]);
        assert_eq!(builder.add(&document(&["sea"])), [0]);
        let vocabulary = [Label {
            key: "sea".into(),
            name: "The sea".into(),
            ..Label::default()
        }];
        let (space, final_ids) = builder.finish(&vocabulary);
        assert_eq!(final_ids, [LabelId(1), LabelId(0)]);
        assert_eq!(space.train_counts(), [1, 2]);
        assert_eq!(space.label(LabelId(1)).name, "The sea");
        assert_eq!(space.label(LabelId(0)).name, "air");
        assert_eq!(space.id("fire"), None);
    }

    #[test]
    fn labels_that_no_document_has_may_be_added() {
        let mut builder = LabelSpaceBuilder::default();
        builder.add(&document(&["sea"]));
        for key in ["air", "sea"] {
            builder.add_unused(key);
        }
        let (space, final_ids) = builder.finish(&[]);
        assert_eq!(space.train_counts(), [0, 1]);
        assert_eq!(final_ids[0], LabelId(1));
    }
}
