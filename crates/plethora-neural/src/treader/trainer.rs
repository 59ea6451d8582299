//! Training TReaderXML as a whole.

use plethora_core::artifact::WorkFolder;
use plethora_core::{Progress, SeedStream, SparseVector};
use plethora_system::Device;

use super::config::TReaderConfig;
use super::model::TReaderModel;
use super::run::TReaderRun;
use super::training_set::{TReaderSet, TReaderValidation};
use crate::Result;
use crate::guard::guarded;
use crate::systems::fingerprint::Fingerprint;
use crate::systems::journal::Journal;
use crate::systems::validation_documents::Split;
use crate::systems::word_vectors::first_vectors;

/// What TReaderXML learns from, and how.
#[derive(Clone, Copy)]
pub struct TReaderTrainer<'a> {
    /// The training documents.
    pub set: &'a TReaderSet,
    /// Documents to choose the best weights by; some are held back where absent.
    pub valid: Option<&'a TReaderValidation>,
    /// The settings, the seed among them.
    pub config: &'a TReaderConfig,
    /// The device that computes.
    pub device: Device,
}

impl TReaderTrainer<'_> {
    /// Says which data, settings and seed a run has, so that only an equal one resumes it.
    pub fn fingerprint(&self) -> Result<String> {
        let mut fingerprint = Fingerprint::new(self.config, self.set.space.labels())?;
        fingerprint.add_rows(self.set.texts.sequences.rows());
        fingerprint.add_rows(self.set.labels_of_documents.rows());
        // Features tell of a text what lies behind the words that are read.
        if let Some(terms) = self.set.texts.terms() {
            fingerprint.add_features(terms.features.rows());
        }
        if let Some(valid) = self.valid {
            fingerprint.add_validation(&valid.documents);
            fingerprint.add_features(valid.features.iter().map(SparseVector::as_row));
        }
        fingerprint.add_files(&self.config.vectors.files())?;
        Ok(fingerprint.finish())
    }

    /// Trains the network, or resumes what `work` has of it.
    pub fn run(&self, work: &WorkFolder, progress: &dyn Progress) -> Result<TReaderModel> {
        guarded(|| self.train(work, progress))
    }

    fn train(&self, work: &WorkFolder, progress: &dyn Progress) -> Result<TReaderModel> {
        let Self { set, config, .. } = *self;
        config.validate()?;
        let seed = SeedStream::new(config.seed);
        let texts = &set.texts;
        let total = texts.sequences.num_rows();
        let (split, held);
        let valid = if let Some(valid) = self.valid {
            split = Split::none_held(total);
            valid
        } else {
            split = Split::hold_back(total, config.train.held_back(), seed);
            held = TReaderValidation::held_back(set, &split.held);
            &held
        };
        let read = (&texts.words, &texts.sequences);
        let word_vectors = first_vectors(read, &config.vectors, seed, progress)?;
        let run = TReaderRun {
            config,
            set,
            device: self.device,
            valid,
            documents: &split.documents,
            word_vectors: &word_vectors,
            work,
            progress,
            journal: Journal::new(work.folder()),
        };
        let (network, retriever) = run.train(seed)?;
        Ok(TReaderModel {
            config: config.clone(),
            words: texts.words.clone(),
            network,
            retriever,
        })
    }
}
