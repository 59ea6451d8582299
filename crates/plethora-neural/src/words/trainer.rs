//! Training a whole system of words.

use plethora_core::artifact::WorkFolder;
use plethora_core::{Progress, SeedStream};
use plethora_system::Device;

use super::config::WordConfig;
use super::model::WordModel;
use super::run::WordRun;
use super::training_set::WordSet;
use crate::Result;
use crate::guard::guarded;
use crate::systems::journal::Journal;
use crate::systems::validation_documents::{Split, ValidationDocuments};
use crate::systems::word_vectors::first_vectors;

/// What a system of words learns from, and how.
#[derive(Clone, Copy)]
pub struct WordTrainer<'a> {
    /// The training documents.
    pub set: &'a WordSet,
    /// Documents to choose the best weights by; some are held back where absent.
    pub valid: Option<&'a ValidationDocuments>,
    /// The settings, the seed among them.
    pub config: &'a WordConfig,
    /// The device that computes.
    pub device: Device,
}

impl WordTrainer<'_> {
    /// Trains all networks; those that `work` has in full are taken from there, and the one that
    /// it has in part is resumed.
    pub fn run(&self, work: &WorkFolder, progress: &dyn Progress) -> Result<WordModel> {
        guarded(|| self.train(work, progress))
    }

    fn train(&self, work: &WorkFolder, progress: &dyn Progress) -> Result<WordModel> {
        let Self { set, config, .. } = *self;
        config.validate()?;
        let seed = SeedStream::new(config.seed);
        let sequences = &set.texts.sequences;
        let total = sequences.num_rows();
        let (split, held);
        let valid = if let Some(valid) = self.valid {
            split = Split::none_held(total);
            valid
        } else {
            split = Split::hold_back(total, config.train.held_back(), seed);
            let sequence = |document| sequences.row(document);
            let labels = &set.labels_of_documents;
            held = ValidationDocuments::held_back(&split.held, sequence, labels);
            &held
        };
        let texts = (&set.texts.words, sequences);
        let word_vectors = first_vectors(texts, &config.vectors, seed, progress)?;
        let mut run = WordRun {
            set,
            config,
            device: self.device,
            valid,
            documents: &split.documents,
            word_vectors: &word_vectors,
            work,
            progress,
            journal: Journal::new(work.folder()),
        };
        let trees = (0..config.num_trees())
            .map(|tree| run.train_tree(tree, seed.named("tree").child(tree as u64)))
            .collect::<Result<_>>()?;
        Ok(WordModel {
            config: config.clone(),
            words: set.texts.words.clone(),
            trees,
            num_labels: set.space.len(),
        })
    }
}
