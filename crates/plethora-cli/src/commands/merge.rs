//! `merge`: what several processes have made, as if one had made it.

use std::path::PathBuf;

use clap::Args;
use plethora_core::{Error, grouped};
use plethora_jobs::merging::{MergeJob, MergeSummary};

use crate::figures::bytes;
use crate::prediction_pieces::{MergedPredictions, merge_predictions};
use crate::session::Session;
use crate::{interrupt, results};

const EXAMPLES: &str = "\
Examples:
  plethora train books.jsonl --system bonsai --shard 0/3 -o piece-0     on three machines: 0/3, 1/3, 2/3
  plethora merge piece-0 piece-1 piece-2 -o model
  plethora predict model new.jsonl --shard 0/2 -o new-0.jsonl           on two: 0/2, 1/2
  plethora merge new-0.jsonl new-1.jsonl -o ranked.jsonl

All pieces have to be there, in any order; what comes out is equal, to the last byte, to what one
process gives that does everything. docs/scale.md has jobs for Slurm, Kubernetes and GNU parallel.";

/// Merge the pieces of a model, or of predictions, that were made with --shard
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct MergeArgs {
    /// Folders from `train --shard`, or files from `predict --shard`
    #[arg(required = true, value_name = "PIECE")]
    pieces: Vec<PathBuf>,

    /// Folder for the model, or file for the predictions; it appears when it is complete
    #[arg(short, long, value_name = "PATH")]
    output: PathBuf,

    /// Replace the output if it exists
    #[arg(long)]
    force: bool,

    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

impl MergeArgs {
    /// Checks the pieces and writes the whole.
    pub(crate) fn run(&self, session: &Session) -> anyhow::Result<()> {
        interrupt::install();
        let is_file = |path: &&PathBuf| path.is_file();
        match (
            self.pieces.iter().find(is_file),
            self.pieces.iter().find(|path| path.is_dir()),
        ) {
            (Some(file), Some(folder)) => Err(Error::usage(format!(
                "{} has predictions and {} a model: merge them apart",
                file.display(),
                folder.display()
            ))
            .into()),
            (Some(_), None) => {
                let merged = merge_predictions(&self.pieces, &self.output, self.force, session)?;
                results::show(self.json, &merged, of_predictions)
            }
            _ => {
                let job = MergeJob {
                    registry: crate::registry(),
                    pieces: self.pieces.clone(),
                    output: self.output.clone(),
                    replaces: self.force,
                };
                results::show(self.json, &job.run(session)?, of_model)
            }
        }
    }
}

fn of_model(summary: &MergeSummary) -> String {
    format!(
        "model       {} ({}, {})\n\
         labels      {}\n\
         pieces      {}\n",
        summary.model.display(),
        summary.system,
        bytes(summary.model_bytes),
        grouped(summary.num_labels),
        summary.num_pieces
    )
}

fn of_predictions(merged: &MergedPredictions) -> String {
    format!(
        "predictions {}\n\
         documents   {}\n\
         pieces      {}\n",
        merged.output.display(),
        grouped(merged.num_documents),
        merged.num_pieces
    )
}
