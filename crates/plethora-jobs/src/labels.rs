//! The labels of a model: looking for some, and adding more without training.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::PathBuf;

use plethora_core::artifact::{
    ModelCard, ModelDetails, ModelReader, ModelWriter, load_label_space, save_label_space,
};
use plethora_core::corpus::{Label, LabelSpace, read_vocabulary};
use plethora_core::{LabelId, Result};
use plethora_system::{LabelAddition, Registry};
use serde::Serialize;

use crate::Session;
use crate::model_folder::about_model;

/// Labels whose key or names hold `wanted` in any case: those with that name first, then those that
/// begin so, then the others; among them those of most training documents first. All, in the order of
/// their keys, where nothing is wanted.
pub fn search_labels(labels: &LabelSpace, wanted: &str) -> Vec<LabelId> {
    let wanted = wanted.trim().to_lowercase();
    let ids = (0..labels.len() as u32).map(LabelId);
    if wanted.is_empty() {
        return ids.collect();
    }
    let fit = |name: &String| {
        let name = name.to_lowercase();
        name.contains(&wanted)
            .then(|| u8::from(name != wanted) + u8::from(!name.starts_with(&wanted)))
    };
    let mut found: Vec<(u8, Reverse<u32>, LabelId)> = ids
        .filter_map(|id| {
            let label = labels.label(id);
            let names = [&label.key, &label.name].into_iter();
            let best = names.chain(&label.alternatives).filter_map(fit).min()?;
            Some((best, Reverse(labels.train_counts()[id.index()]), id))
        })
        .collect();
    found.sort_unstable();
    found.into_iter().map(|(.., id)| id).collect()
}

/// Which labels to add to which model.
#[derive(Debug)]
pub struct LabelAdditionJob {
    /// The systems that the model may be of.
    pub registry: &'static Registry,
    /// Folder of the model.
    pub model: PathBuf,
    /// Labels and names to add: a vocabulary in any format.
    pub labels: PathBuf,
    /// Folder for the new model.
    pub output: PathBuf,
    /// Replace a model at the output.
    pub replaces: bool,
}

/// A model that knows more labels than before.
#[derive(Debug, Serialize)]
pub struct WidenedModel {
    /// Its folder.
    pub model: PathBuf,
    /// Labels that it did not know before.
    #[serde(rename = "n_new_labels")]
    pub num_new: usize,
    /// Labels that it knew, and that may have new names.
    #[serde(rename = "n_known_labels")]
    pub num_known: usize,
    /// All its labels.
    #[serde(rename = "n_labels")]
    pub num_labels: usize,
}

impl LabelAdditionJob {
    /// Reads, joins and writes. Metrics and calibration are of the old labels, so they are left out.
    ///
    /// # Errors
    /// [`Error::Model`](plethora_core::Error::Model) if the model is of a system that learns labels from
    /// documents alone.
    pub fn run(&self, session: &Session) -> Result<WidenedModel> {
        let progress = session.progress();
        ModelWriter::check_target(&self.output, self.replaces)?;
        let added = read_vocabulary(&self.labels)?;
        let folder = ModelReader::open(&self.model)?;
        let old = load_label_space(&folder)?;
        progress.start("adding labels", None);
        let (labels, num_new) = joined(&old, &added);
        let id = |key: &str| labels.id(key).expect("the space has the labels of both");
        let ids = |labels: &[Label]| -> Vec<LabelId> {
            labels.iter().map(|label| id(&label.key)).collect()
        };
        let addition = LabelAddition {
            labels: &labels,
            new_ids: &ids(old.labels()),
            added: &ids(&added),
        };
        let writer = ModelWriter::create(&self.output, self.replaces)?;
        self.save(&folder, &addition, writer)
            .map_err(|error| about_model(error, &self.output))?;
        progress.finish(&format!("{num_new} new ones"));
        Ok(WidenedModel {
            model: self.output.clone(),
            num_new,
            num_known: added.len() - num_new,
            num_labels: labels.len(),
        })
    }

    fn save(
        &self,
        folder: &ModelReader,
        addition: &LabelAddition<'_>,
        writer: ModelWriter,
    ) -> Result<()> {
        self.registry.add_labels(folder, addition, &writer)?;
        save_label_space(addition.labels, &writer)?;
        let details = ModelDetails {
            num_labels: addition.labels.len() as u64,
            ..ModelDetails::of(folder)?
        };
        ModelCard::new(&details, None).save(&writer)?;
        writer.finish(&folder.manifest().kind, details.to_json())
    }
}

/// The labels of both, and how many are new. What is new of a known label are other names and broader
/// labels.
fn joined(old: &LabelSpace, added: &[Label]) -> (LabelSpace, usize) {
    let mut all: BTreeMap<String, (Label, u32)> = (old.labels().iter().zip(old.train_counts()))
        .map(|(label, &count)| (label.key.clone(), (label.clone(), count)))
        .collect();
    let num_old = all.len();
    for label in added {
        match all.get_mut(&label.key) {
            Some((known, _)) => extend(known, label),
            None => {
                all.insert(label.key.clone(), (label.clone(), 0));
            }
        }
    }
    let num_new = all.len() - num_old;
    let (labels, counts) = all.into_values().unzip();
    (LabelSpace::new(labels, counts), num_new)
}

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
    use super::*;

    fn label(key: &str, name: &str, alternatives: &[&str]) -> Label {
        Label {
            key: key.into(),
            name: name.into(),
            alternatives: alternatives.iter().map(ToString::to_string).collect(),
            ..Label::default()
        }
    }

    #[test]
    fn labels_are_found_by_their_names_best_first() {
        let labels = vec![
            label("1", "The sea", &[]),
            label("2", "Sea", &[]),
            label("3", "Seafaring", &[]),
            label("4", "Oceans", &["sea"]),
            label("5", "Air", &[]),
        ];
        let space = LabelSpace::new(labels, vec![9, 1, 5, 7, 3]);
        let found = search_labels(&space, " SEA ");
        assert_eq!(found, [3, 1, 2, 0].map(LabelId));
        assert_eq!(search_labels(&space, "").len(), 5);
        assert!(search_labels(&space, "fire").is_empty());
    }

    #[test]
    fn known_labels_get_names_and_new_ones_get_places() {
        let old = LabelSpace::new(
            vec![label("b", "b", &[]), label("d", "Dune", &["x"])],
            vec![1, 2],
        );
        let added = [
            label("c", "Coast", &[]),
            label("b", "Bay", &[]),
            label("d", "Dunes", &["x", "y"]),
        ];
        let (space, num_new) = joined(&old, &added);
        assert_eq!((num_new, space.train_counts()), (1, &[1, 0, 2][..]));
        let expected = [
            label("b", "Bay", &[]),
            label("c", "Coast", &[]),
            label("d", "Dune", &["x", "Dunes", "y"]),
        ];
        assert_eq!(space.labels(), expected);
    }
}
