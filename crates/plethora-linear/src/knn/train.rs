//! Writing the index of the training documents.

use plethora_core::artifact::WorkFolder;
use plethora_core::neighbours::{KnownDocuments, TermIndex};
use plethora_core::{Error, Progress, Result};

use super::config::KnnConfig;
use super::model::{DOCUMENTS_FILE, INDEX_FILE};
use super::training_set::KnnSet;
use crate::fingerprint::fingerprint;

/// What the system `knn` remembers, and how.
#[derive(Clone, Copy)]
pub struct KnnTrainer<'a> {
    /// The training documents.
    pub set: &'a KnnSet,
    /// The settings.
    pub config: &'a KnnConfig,
}

impl KnnTrainer<'_> {
    /// Says which data and settings a run has, so that only an equal one resumes it.
    pub fn fingerprint(&self) -> Result<String> {
        let set = &self.set.set;
        let settings = (self.config, set.space.labels());
        fingerprint(&settings, &set.features, &set.labels_of_documents)
    }

    /// Writes what `work` does not hold yet.
    pub fn run(&self, work: &WorkFolder, progress: &dyn Progress) -> Result<()> {
        self.config.validate()?;
        let set = &self.set.set;
        if progress.is_cancelled() {
            return Err(Error::Interrupted);
        }
        progress.start("index", None);
        if !work.contains(DOCUMENTS_FILE) {
            let all = 0..set.labels_of_documents.num_rows();
            let path = work.path(DOCUMENTS_FILE);
            KnownDocuments::write(&path, &self.set.names, &set.labels_of_documents, all)?;
        }
        if !work.contains(INDEX_FILE) {
            TermIndex::write(&set.features, &work.path(INDEX_FILE))?;
        }
        progress.finish(&format!(
            "{} documents, {} terms in them",
            set.features.num_rows(),
            set.features.num_entries()
        ));
        Ok(())
    }
}
