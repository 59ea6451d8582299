//! Classifiers and weights from documents with vectors.

use std::path::PathBuf;

use plethora_core::artifact::WorkFolder;
use plethora_core::{IndexRows, LabelId, Result, SeedStream, SparseMatrix};
use plethora_linear::trees::{LinearModel, LinearTrainer};
use plethora_system::{RankOptions, RunContext};

use super::blend::{Blend, CANDIDATES, Said};
use super::config::{DenseConfig, EncoderConfig, OpenDenseConfig};
use super::fine_tuning_config::FineTuning;
use super::fit::{Judged, usual};
use super::indexes::{Asked, Indexes};
use super::rows::{side_by_side, some_rows};
use super::training_set::{DenseSet, DenseValidation};
use crate::systems::run_settings::{begun_with, keep_settings};
use crate::systems::validation::truths;
use crate::systems::validation_documents::Split;
use crate::train::HoldingBack;

/// A run.
pub(super) struct DenseTrainer<'a> {
    pub(super) set: &'a DenseSet,
    /// Documents to choose weights by, where some are given.
    pub(super) valid: Option<&'a DenseValidation>,
    pub(super) config: &'a OpenDenseConfig,
    /// The encoder as it was found, and how it was fine-tuned, where it was.
    pub(super) encoder: &'a EncoderConfig,
    pub(super) tuning: Option<&'a FineTuning>,
    /// Labels that a network ranks highest for each document, where there is one.
    pub(super) candidates: Option<&'a IndexRows>,
    /// Says which data and settings the run has.
    pub(super) fingerprint: &'a str,
    pub(super) run: &'a RunContext<'a>,
}

/// Documents that classifiers were not trained on.
struct Unseen<'a> {
    /// As the classifiers take them.
    rows: &'a SparseMatrix,
    asked: &'a Asked,
    /// Their numbers, where they are training documents: none is its own neighbour.
    own: Option<&'a [u32]>,
    truths: Vec<Vec<LabelId>>,
}

impl DenseTrainer<'_> {
    /// Writes what `work` does not hold yet; gives the settings with all choices made.
    pub(super) fn run(&self, work: &WorkFolder) -> Result<DenseConfig> {
        self.run.check_interrupt()?;
        let progress = self.run.progress;
        progress.start("index", None);
        Indexes::write(self.set, work)?;
        let set = &self.set.set;
        let num_entries = set.features.num_entries();
        progress.finish(&format!(
            "{} documents, {num_entries} terms in them",
            self.set.vectors.len()
        ));
        let rows = side_by_side(
            &set.features,
            &self.set.vectors,
            self.config.classifiers.vector_weight,
        );
        let config = if let Some(config) = begun_with(work) {
            config
        } else {
            let blend = self.choose(&rows, work)?;
            let tuning = self.tuning.cloned();
            let config = self.config.settled(self.encoder.clone(), tuning, blend);
            keep_settings(work, &config)?;
            config
        };
        self.train_all(&rows, work)?;
        Ok(config)
    }

    fn train_all(&self, rows: &SparseMatrix, work: &WorkFolder) -> Result<()> {
        let labels = &self.set.set.labels_of_documents;
        self.train(rows, labels, self.candidates, work)
    }

    fn train(
        &self,
        rows: &SparseMatrix,
        labels: &IndexRows,
        candidates: Option<&IndexRows>,
        work: &WorkFolder,
    ) -> Result<()> {
        let trainer = LinearTrainer {
            features: rows,
            num_pruned: self.set.set.features.num_columns(),
            labels_of_documents: labels,
            space: &self.set.set.space,
            candidates,
            label_names: None,
            config: &self.config.linear(),
        };
        trainer.run(work, self.run.progress)?;
        Ok(())
    }

    /// The blend that ranks the labels of documents best that the classifiers have not seen.
    fn choose(&self, rows: &SparseMatrix, work: &WorkFolder) -> Result<Blend> {
        if !self.config.leaves_choices() {
            return Ok(usual(self.config));
        }
        let set = &self.set.set;
        if let Some(valid) = self.valid {
            self.train_all(rows, work)?;
            let (features, vectors) = (&valid.asked.features, &valid.asked.vectors);
            let weight = self.config.classifiers.vector_weight;
            let unseen = Unseen {
                rows: &side_by_side(features, vectors, weight),
                asked: &valid.asked,
                own: None,
                truths: truths(&valid.labels).collect(),
            };
            return self.judge(unseen, work, work);
        }
        let fit = &self.config.train;
        let seed = SeedStream::new(self.config.seed);
        let holding = HoldingBack {
            share: fit.valid_share,
            most: fit.valid_max,
            returns: true,
        };
        let split = Split::hold_back(rows.num_rows(), holding, seed);
        if split.held.is_empty() {
            return Ok(usual(self.config));
        }
        let without = WorkFolder::open(&self.held_output(), self.fingerprint, self.run.resumes)?;
        let labels_of = |documents: &[u32]| some_labels(&set.labels_of_documents, documents);
        let (seen, held) = (&split.documents, &split.held);
        let candidates = (self.candidates).map(|candidates| some_labels(candidates, seen));
        let (rows_seen, labels_seen) = (some_rows(rows, seen), labels_of(seen));
        self.train(&rows_seen, &labels_seen, candidates.as_ref(), &without)?;
        let unseen = Unseen {
            rows: &some_rows(rows, held),
            asked: &Asked {
                features: some_rows(&set.features, held),
                vectors: self.set.vectors.some(held),
            },
            own: Some(held),
            truths: truths(&labels_of(held)).collect(),
        };
        let blend = self.judge(unseen, &without, work)?;
        without.remove()?;
        Ok(blend)
    }

    /// The best blend of the classifiers in one folder with the neighbours in another.
    fn judge(
        &self,
        unseen: Unseen<'_>,
        classifiers: &WorkFolder,
        work: &WorkFolder,
    ) -> Result<Blend> {
        let progress = self.run.progress;
        progress.start("weights", None);
        let set = &self.set.set;
        let num_labels = set.space.len();
        let path_of = |name: &str| Ok(work.path(name));
        let (width, num_terms) = (self.set.vectors.width(), set.features.num_columns());
        let indexes = Indexes::open(path_of, width, num_terms, num_labels)?;
        let num_features = unseen.rows.num_columns();
        let linear = self.config.linear();
        let model = LinearModel::open_unsaved(classifiers, linear, num_features, num_labels)?;
        let options = RankOptions {
            top_k: CANDIDATES,
            beam: None,
        };
        let limits = self.config.voices().map(|voice| voice.num_neighbours);
        let neighbours = match unseen.own {
            Some(own) => indexes.nearest_others(unseen.asked, own, limits),
            None => indexes.nearest(unseen.asked, limits),
        };
        let rankings = model.rank(unseen.rows, options).into_iter();
        let said = rankings
            .zip(neighbours)
            .map(|(classifiers, neighbours)| Said {
                classifiers,
                neighbours,
            });
        let judged = Judged {
            said: said.collect(),
            truths: unseen.truths,
            documents: &indexes.documents,
            num_labels,
        };
        let chosen = judged.choose(self.config, self.run)?;
        progress.finish(&format!(
            "{} for {} documents: nDCG@5 {:.4}",
            chosen.blend,
            judged.truths.len(),
            chosen.score
        ));
        Ok(chosen.blend)
    }

    /// Where the classifiers are trained that have not seen the held-back documents.
    fn held_output(&self) -> PathBuf {
        let mut name = self.run.output.file_name().unwrap_or_default().to_owned();
        name.push(".held-back");
        self.run.output.with_file_name(name)
    }
}

/// The labels of some documents.
fn some_labels(labels: &IndexRows, documents: &[u32]) -> IndexRows {
    let rows = documents.iter();
    rows.map(|&document| labels.row(document as usize).iter().copied())
        .collect()
}
