//! Fine-tuning the encoder: a network learns the labels of the documents, and its encoder is what stays.

use plethora_core::IndexRows;
use plethora_core::artifact::WorkFolder;
use plethora_linear::TrainingSet;
use plethora_system::RunContext;

use super::candidates::{self, CANDIDATES_FILE};
use super::config::{EncoderConfig, OpenDenseConfig};
use super::fine_tuning_config::{FineTuning, OpenFineTuning};
use crate::Result;
use crate::guard::guarded;
use crate::pretrained::{PieceConfig, PieceSet, PieceTexts, PieceTrainer};
use crate::systems::run_settings::{kept_as, write_json};
use crate::systems::{Trains as _, ValidationDocuments};
use crate::transformer::trained_folder::ENCODER_FILE;

/// Name of the network's settings in a work folder.
const NETWORK_FILE: &str = "network.json";

/// What a network is trained from.
pub(super) struct FineTuner<'a> {
    pub(super) config: &'a OpenDenseConfig,
    pub(super) tuning: &'a OpenFineTuning,
    /// The encoder as it was found.
    pub(super) encoder: &'a EncoderConfig,
    /// Labels of the documents.
    pub(super) set: &'a TrainingSet,
    /// Their pieces.
    pub(super) texts: PieceTexts,
    /// Documents to choose weights by, where some are given.
    pub(super) valid: Option<&'a ValidationDocuments>,
    pub(super) run: &'a RunContext<'a>,
}

/// What is left of the network.
pub(super) struct Tuned {
    /// The settings with what was chosen.
    pub(super) settings: FineTuning,
    /// The labels that it ranks highest for each document.
    pub(super) candidates: Option<IndexRows>,
    /// The pieces of the documents.
    pub(super) texts: PieceTexts,
}

impl FineTuner<'_> {
    /// Trains the network, or resumes what `work` has of it, and leaves its encoder there.
    pub(super) fn run(self, work: &WorkFolder) -> Result<Tuned> {
        let run = self.run;
        let set = PieceSet {
            space: self.set.space.clone(),
            labels_of_documents: self.set.labels_of_documents.clone(),
            num_without_labels: self.set.num_without_labels,
            texts: self.texts,
        };
        let network: PieceConfig = if let Some(network) = kept_as(work, NETWORK_FILE) {
            network
        } else {
            let open = self.tuning.network(self.config, self.encoder)?;
            let choices = set.settle(&open, run.compute.device)?;
            run.progress.start("settings", None);
            run.progress.finish(&choices.summary);
            write_json(work, NETWORK_FILE, &choices.config)?;
            choices.config
        };
        let keep = self.tuning.candidates;
        // The encoder comes last: where it is, the rest is, too.
        if !work.contains(ENCODER_FILE) {
            let model = PieceTrainer {
                set: &set,
                valid: self.valid,
                config: &network.with_epoch_share(run.epoch_share),
                device: run.compute.device,
            }
            .run(work, run.progress)?;
            if keep > 0 {
                let rank = || model.best_labels(&set.texts.rows, keep, run.progress);
                let labels = guarded(rank)?;
                candidates::write(&labels, &work.path(CANDIDATES_FILE))?;
            }
            model.write_encoder(&work.path(ENCODER_FILE))?;
        }
        let candidates = match keep {
            0 => None,
            _ => Some(candidates::read(&work.path(CANDIDATES_FILE))?),
        };
        Ok(Tuned {
            settings: self.tuning.settled(&network),
            candidates,
            texts: set.texts,
        })
    }
}
