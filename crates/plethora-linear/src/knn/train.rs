//! Writing the index of the training documents.

use plethora_core::artifact::WorkFolder;
use plethora_core::neighbours::{CHOSEN_BY, KnownDocuments, TermIndex};
use plethora_core::{Error, Progress, Result};

use super::config::{KnnConfig, OpenKnnConfig};
use plethora_system::settings::Auto;

use super::model::{DOCUMENTS_FILE, INDEX_FILE, KnnModel};
use super::training_set::KnnSet;
use crate::fingerprint::fingerprint;

/// What the system `knn` remembers, and how.
#[derive(Clone, Copy)]
pub struct KnnTrainer<'a> {
    /// The training documents.
    pub set: &'a KnnSet,
    /// The settings.
    pub config: &'a OpenKnnConfig,
}

impl KnnTrainer<'_> {
    /// Says which data and settings a run has, so that only an equal one resumes it.
    pub fn fingerprint(&self) -> Result<String> {
        let set = &self.set.set;
        let settings = (self.config, set.space.labels());
        fingerprint(&settings, &set.features, &set.labels_of_documents)
    }

    /// Writes what `work` does not hold yet; gives the settings, and in them a power where none was
    /// set.
    pub fn run(&self, work: &WorkFolder, progress: &dyn Progress) -> Result<KnnConfig> {
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
        match self.config.power {
            Auto::Set(power) => Ok(self.config.settled(power)),
            Auto::Auto => self.choose_power(work, progress),
        }
    }

    /// The settings with the power that suits the training documents.
    fn choose_power(&self, work: &WorkFolder, progress: &dyn Progress) -> Result<KnnConfig> {
        progress.start("power", None);
        let set = &self.set.set;
        let any = self.config.settled(1.0);
        let num_features = set.features.num_columns();
        let model = KnnModel::open_unsaved(work, any, num_features, set.space.len())?;
        let chosen = model.choose_power(&set.features, progress)?;
        progress.finish(&format!(
            "{} is best for {} training documents: {CHOSEN_BY} {:.4}",
            chosen.power, chosen.num_asked, chosen.score
        ));
        Ok(self.config.settled(chosen.power))
    }
}
