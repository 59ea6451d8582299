//! The labels of a model: looking for some, adding more and removing some without training.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use plethora_core::artifact::{ModelDetails, ModelReader, ModelWriter, load_label_space};
use plethora_core::corpus::{Document, Label, LabelSpace, VocabularyFile};
use plethora_core::{Error, LabelId, Progress, Result};
use plethora_system::{LabelEdit, Registry};
use serde::Serialize;

use crate::model_folder::about_model;
use crate::training::Corpus;
use crate::{Session, tell_warnings};

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

/// Which labels to give to a model, or to take from it.
#[derive(Debug)]
pub struct LabelEditJob {
    /// The systems that the model may be of.
    pub registry: &'static Registry,
    /// Folder of the model.
    pub model: PathBuf,
    /// Labels and names to add: a vocabulary in any format.
    pub added: Option<VocabularyFile>,
    /// Documents of the labels to add; without a vocabulary, those of their labels are added that the model
    /// does not know, by their keys.
    pub documents: Option<Corpus>,
    /// Labels to take away: a file with a key per line, behind which a tab and anything may stand.
    pub retired: Option<PathBuf>,
    /// Folder for the new model.
    pub output: PathBuf,
    /// Replace a model at the output.
    pub replaces: bool,
}

/// A model that knows other labels than before.
#[derive(Debug, Serialize)]
pub struct EditedModel {
    /// Its folder.
    pub model: PathBuf,
    /// Labels that it did not have.
    #[serde(rename = "n_new_labels")]
    pub num_new: usize,
    /// Labels that it had already, and that may have new names now.
    #[serde(rename = "n_known_labels")]
    pub num_known: usize,
    /// Labels that are gone.
    #[serde(rename = "n_removed_labels")]
    pub num_retired: usize,
    /// Documents of new labels.
    #[serde(rename = "n_documents")]
    pub num_documents: usize,
    /// All its labels.
    #[serde(rename = "n_labels")]
    pub num_labels: usize,
}

impl LabelEditJob {
    /// Reads, joins and writes. Metrics and calibration are of the old labels, so they are left out.
    ///
    /// # Errors
    /// [`Error::Model`] if the model is of a system that learns labels from
    /// documents alone; [`Error::Input`] if it has none of the labels that are
    /// to go, or no document has a label that is to come.
    pub fn run(&self, session: &Session) -> Result<EditedModel> {
        let progress = session.progress();
        ModelWriter::check_target(&self.output, self.replaces)?;
        let folder = ModelReader::open(&self.model)?;
        let old = load_label_space(&folder)?;
        let edit = LabelEdit {
            added: match &self.added {
                Some(file) => file.read()?,
                None => Vec::new(),
            },
            retired: match &self.retired {
                Some(path) => read_keys(path)?,
                None => Vec::new(),
            },
            documents: Vec::new(),
        };
        let edit = self.with_documents(edit, &folder, &old, session)?;
        tell_unknown(&edit, &old, progress);
        progress.start("changing labels", None);
        let writer = ModelWriter::create(&self.output, self.replaces)?;
        let labels = self
            .registry
            .edit_labels(&folder, &edit, writer)
            .map_err(|error| match (&self.retired, error) {
                (Some(path), Error::Data(message)) => Error::input(path, None, message),
                (_, error) => about_model(error, &self.output),
            })?;
        let num_known = |labels: &mut dyn Iterator<Item = &str>| {
            labels.filter(|key| old.id(key).is_some()).count()
        };
        let num_old = num_known(&mut edit.added.iter().map(|label| label.key.as_str()));
        let edited = EditedModel {
            model: self.output.clone(),
            num_new: edit.added.len() - num_old,
            num_known: num_old,
            num_retired: num_known(&mut edit.retired.iter().map(String::as_str)),
            num_documents: edit.documents.len(),
            num_labels: labels.len(),
        };
        progress.finish(&format!(
            "{} new ones, {} gone",
            edited.num_new, edited.num_retired
        ));
        Ok(edited)
    }

    /// The edit with the documents that have labels to add.
    fn with_documents(
        &self,
        mut edit: LabelEdit,
        folder: &ModelReader,
        old: &LabelSpace,
        session: &Session,
    ) -> Result<LabelEdit> {
        let Some(corpus) = &self.documents else {
            return Ok(edit);
        };
        let mut reader = corpus.open_for(&ModelDetails::of(folder)?)?;
        let mut documents = reader.by_ref().collect::<Result<Vec<Document>>>()?;
        tell_warnings(&reader, session.progress());
        if self.added.is_none() {
            let keys = documents.iter().flat_map(|document| &document.labels);
            let unknown: BTreeSet<&String> = keys.filter(|key| old.id(key).is_none()).collect();
            edit.added = unknown.into_iter().map(Label::from_key).collect();
        }
        let added: HashSet<&str> = edit.added.iter().map(|label| label.key.as_str()).collect();
        let is_added = |key: &String| added.contains(key.as_str());
        documents.retain(|document| document.labels.iter().any(is_added));
        if documents.is_empty() {
            let message = match self.added {
                Some(_) => "no document has one of the labels to add",
                None => "the model knows all labels of these documents",
            };
            return Err(Error::input(&corpus.path, None, message));
        }
        Ok(LabelEdit { documents, ..edit })
    }
}

/// Counts keys that the model does not have.
fn tell_unknown(edit: &LabelEdit, old: &LabelSpace, progress: &dyn Progress) {
    let unknown = edit.retired.iter().filter(|key| old.id(key).is_none());
    let count = unknown.count();
    if count > 0 && count < edit.retired.len() {
        let warning = format!("{count} of the labels to remove are not in the model");
        progress.warn(&warning.into());
    }
}

/// The keys of a list, one per line; behind a tab anything may stand.
fn read_keys(path: &Path) -> Result<Vec<String>> {
    let text = fs::read_to_string(path).map_err(Error::read(path))?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let keys: Vec<String> = lines
        .map(|line| {
            let key = line.split('\t').next().unwrap_or_default().trim();
            let bare = key.strip_prefix('<').and_then(|key| key.strip_suffix('>'));
            bare.unwrap_or(key).to_owned()
        })
        .collect();
    if keys.is_empty() {
        return Err(Error::input(path, None, "the file has no labels"));
    }
    Ok(keys)
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
    fn lists_of_keys_are_read_line_by_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gone.tsv");
        fs::write(&path, "gnd:1\tTides\n\n <http://a/2> \n").unwrap();
        assert_eq!(read_keys(&path).unwrap(), ["gnd:1", "http://a/2"]);
        fs::write(&path, "\n").unwrap();
        assert!(read_keys(&path).is_err());
    }
}
