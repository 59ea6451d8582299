//! Labels that a trained model is to know from now on.

use std::collections::{BTreeMap, HashSet};

use plethora_core::corpus::{Document, Label, LabelSpace};
use plethora_core::{Error, LabelId, Result};

/// What is to change, by keys.
#[derive(Debug, Clone, Default)]
pub struct LabelEdit {
    /// Labels that are new, or have new names or broader labels.
    pub added: Vec<Label>,
    /// Keys of labels that go.
    pub retired: Vec<String>,
    /// Documents of added labels.
    pub documents: Vec<Document>,
}

/// What changes of a model's labels, by their ids.
#[derive(Debug, Clone, Copy)]
pub struct LabelChange<'a> {
    /// All labels, those that stay and new ones, in the order of their keys.
    pub labels: &'a LabelSpace,
    /// The id that each old label has now; none for those that go.
    pub new_ids: &'a [Option<LabelId>],
    /// Labels that are new, or have new names.
    pub added: &'a [LabelId],
    /// Documents of these labels, by their keys; others may stand among them.
    pub documents: &'a [Document],
}

/// The labels of a model after an edit.
#[derive(Debug)]
pub(crate) struct EditedLabels {
    pub(crate) labels: LabelSpace,
    new_ids: Vec<Option<LabelId>>,
    added: Vec<LabelId>,
}

impl LabelEdit {
    /// The labels of a model with `old` ones.
    ///
    /// # Errors
    /// [`Error::Data`] if no label would be left, or none of those that are to go is there.
    pub(crate) fn of(&self, old: &LabelSpace) -> Result<EditedLabels> {
        let retired: HashSet<&str> = self.retired.iter().map(String::as_str).collect();
        let num_retired = retired.iter().filter(|key| old.id(key).is_some()).count();
        if self.added.is_empty() && num_retired == 0 {
            let example = self.retired.first().map_or("", String::as_str);
            let message = format!("the model has none of these labels, as `{example}`");
            return Err(Error::data(message));
        }
        let mut all: BTreeMap<String, (Label, u32)> = (old.labels().iter())
            .zip(old.train_counts())
            .filter(|(label, _)| !retired.contains(label.key.as_str()))
            .map(|(label, &count)| (label.key.clone(), (label.clone(), count)))
            .collect();
        for label in &self.added {
            match all.get_mut(&label.key) {
                Some((known, _)) => extend(known, label),
                None => {
                    all.insert(label.key.clone(), (label.clone(), 0));
                }
            }
        }
        if all.is_empty() {
            return Err(Error::data("the model would have no label left"));
        }
        let added: HashSet<&str> = self.added.iter().map(|label| label.key.as_str()).collect();
        for document in &self.documents {
            for key in document
                .labels
                .iter()
                .filter(|key| added.contains(key.as_str()))
            {
                if let Some((_, count)) = all.get_mut(key) {
                    *count += 1;
                }
            }
        }
        let (labels, counts) = all.into_values().unzip();
        let labels = LabelSpace::new(labels, counts);
        Ok(EditedLabels {
            new_ids: (old.labels().iter())
                .map(|label| labels.id(&label.key))
                .collect(),
            added: (self.added.iter())
                .filter_map(|label| labels.id(&label.key))
                .collect(),
            labels,
        })
    }
}

impl EditedLabels {
    /// The change as families take it.
    pub(crate) fn change<'a>(&'a self, edit: &'a LabelEdit) -> LabelChange<'a> {
        LabelChange {
            labels: &self.labels,
            new_ids: &self.new_ids,
            added: &self.added,
            documents: &edit.documents,
        }
    }
}

/// What is new of a known label are other names and broader labels.
fn extend(known: &mut Label, added: &Label) {
    if known.name == known.key {
        known.name.clone_from(&added.name);
    }
    for name in [&added.name].into_iter().chain(&added.alternatives) {
        if *name != known.name && *name != known.key && !known.alternatives.contains(name) {
            known.alternatives.push(name.clone());
        }
    }
    for parent in &added.parents {
        if !known.parents.contains(parent) {
            known.parents.push(parent.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use plethora_core::corpus::Content;

    use super::*;

    fn label(key: &str, name: &str, alternatives: &[&str]) -> Label {
        Label {
            key: key.into(),
            name: name.into(),
            alternatives: alternatives.iter().map(ToString::to_string).collect(),
            ..Label::default()
        }
    }

    fn old() -> LabelSpace {
        LabelSpace::new(
            vec![label("b", "b", &[]), label("d", "Dune", &["x"])],
            vec![1, 2],
        )
    }

    #[test]
    fn known_labels_get_names_and_new_ones_get_places() {
        let document = Document {
            id: String::new(),
            content: Content::Text(String::new()),
            labels: vec!["c".into(), "d".into(), "z".into()],
        };
        let edit = LabelEdit {
            added: vec![
                label("c", "Coast", &[]),
                label("b", "Bay", &[]),
                label("d", "Dunes", &["x", "y"]),
            ],
            documents: vec![document],
            ..LabelEdit::default()
        };
        let edited = edit.of(&old()).unwrap();
        let expected = [
            label("b", "Bay", &[]),
            label("c", "Coast", &[]),
            label("d", "Dune", &["x", "Dunes", "y"]),
        ];
        assert_eq!(edited.labels.labels(), expected);
        assert_eq!(edited.labels.train_counts(), [1, 1, 3]);
        let change = edited.change(&edit);
        assert_eq!(change.new_ids, [Some(LabelId(0)), Some(LabelId(2))]);
        assert_eq!(change.added, [1, 0, 2].map(LabelId));
    }

    #[test]
    fn labels_that_go_leave_the_others_in_order() {
        let retire = |keys: &[&str]| LabelEdit {
            retired: keys.iter().map(ToString::to_string).collect(),
            ..LabelEdit::default()
        };
        let edited = retire(&["b", "q"]).of(&old()).unwrap();
        assert_eq!(edited.labels.labels().len(), 1);
        assert_eq!(edited.new_ids, [None, Some(LabelId(0))]);
        let message = retire(&["q"]).of(&old()).unwrap_err().to_string();
        assert_eq!(message, "the model has none of these labels, as `q`");
        let message = retire(&["b", "d"]).of(&old()).unwrap_err().to_string();
        assert_eq!(message, "the model would have no label left");
    }
}
