//! What other families take of a trained network: its encoder, and the labels that it ranks highest.

use std::path::Path;

use plethora_core::{Error, IndexRows, Progress};

use super::model::PieceModel;
use super::pieces::PieceRows;
use super::ranker::PieceRanker;
use super::run::cut;
use crate::Result;
use crate::train::Network as _;
use crate::transformer::trained_folder::write_encoder;

/// Documents that are ranked between two times that the work can be stopped.
const DOCUMENTS_AT_ONCE: usize = 4096;

impl PieceModel {
    /// Writes the encoder of the first network into a file that appears when it is complete.
    pub(crate) fn write_encoder(&self, path: &Path) -> Result<()> {
        let network = &self.members[0].network;
        Ok(write_encoder(network.parameters(), path)?)
    }

    /// The labels that the first network ranks highest for each document, best first.
    pub(crate) fn best_labels(
        &self,
        documents: &PieceRows,
        keep: usize,
        progress: &dyn Progress,
    ) -> Result<IndexRows> {
        let network = &self.members[0].network;
        let ranker = PieceRanker {
            network,
            cut: cut(&self.config, &self.reader, network.device()),
            beam: self.config.clusters.predict_beam(),
            keep,
        };
        progress.start("candidates", Some(documents.num_rows() as u64));
        let mut labels = IndexRows::default();
        let mut rows = documents.rows().peekable();
        while rows.peek().is_some() {
            let rows = rows.by_ref().take(DOCUMENTS_AT_ONCE);
            let sequences: IndexRows = rows.map(|row| row.iter().copied()).collect();
            for ranking in ranker.rank(&sequences)? {
                labels.push(ranking.iter().map(|scored| scored.label.0));
            }
            progress.advance(sequences.num_rows() as u64);
            if progress.is_cancelled() {
                return Err(Error::Interrupted.into());
            }
        }
        progress.finish(&format!(
            "{keep} labels for each of {} documents",
            labels.num_rows()
        ));
        Ok(labels)
    }
}
