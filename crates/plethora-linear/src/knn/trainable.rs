//! Training `knn` as a system.

use std::time::Instant;

use plethora_core::artifact::ModelWriter;
use plethora_core::neighbours::ChosenPower;
use plethora_core::text::TfIdf;
use plethora_core::{LabelId, Result, ScoredLabel, SparseMatrix};
use plethora_system::{
    BASE_BYTES, DocumentStream, ENTRY_BYTES, Estimate, ExplainingNeighbour, Explanation,
    FeatureContribution, Method, RankOptions, RunContext, TERM_BYTES, TermContribution, Trainable,
    Trained, TrainingSize, spans_of, terms_of,
};

use super::config::OpenKnnConfig;
use super::model::KnnModel;
use super::train::KnnTrainer;
use super::training_set::KnnSetBuilder;
use crate::feature_system::{RowModel, check_device, read, trained};

/// Seconds of CPU for an entry of a document in an index, tokenising included.
const INDEX_ENTRY_S: f64 = 2.5e-7;

/// Seconds of CPU for an entry of the index when a document is asked for its neighbours, to choose
/// how much the nearest count.
const ASKED_ENTRY_S: f64 = 3.5e-10;

/// Stands for what does not come from neighbours; no term is spelt so.
const PRIOR: &str = "(frequency)";

impl Trainable for OpenKnnConfig {
    fn check(&self, run: &RunContext<'_>) -> Result<()> {
        check_device(&self.system, run);
        Ok(())
    }

    /// An index holds the entries of all documents once, and is written from a second copy.
    fn estimate(&self, size: &TrainingSize) -> Estimate {
        let size = size.with_pairs();
        let asked = ChosenPower::asked(size.num_documents as usize).len() as f64;
        Estimate {
            cpu_seconds: (INDEX_ENTRY_S + ASKED_ENTRY_S * asked) * size.num_entries as f64,
            peak_memory_bytes: BASE_BYTES
                + ENTRY_BYTES * 3 * size.num_entries
                + TERM_BYTES * size.num_features,
            gpu_share: 0.0,
        }
    }

    fn train(&self, documents: &mut dyn DocumentStream, run: &RunContext<'_>) -> Result<Trained> {
        let builder = KnnSetBuilder::new(self.text.clone())?;
        let (set, mut stages) = read(
            documents,
            run,
            builder,
            KnnSetBuilder::add,
            |builder, read| builder.finish(read.labels(), read.num_features()),
        )?;
        let trainer = KnnTrainer {
            set: &set,
            config: self,
        };
        let work = run.open_work(&trainer.fingerprint()?, self.resume_point())?;
        let started = Instant::now();
        let config = trainer.run(&work, run.progress)?;
        stages.end("index", started);
        let set = set.set;
        let num_features = set.features.num_columns();
        let model = KnnModel::open_unsaved(&work, config, num_features, set.space.len())?;
        Ok(trained(model, set, work, stages))
    }

    fn resume_point(&self) -> &'static str {
        "the last complete part of the index"
    }
}

impl RowModel for KnnModel {
    fn rank(&self, rows: &SparseMatrix, options: RankOptions) -> Vec<Vec<ScoredLabel>> {
        Self::rank(self, rows, options)
    }

    /// The label's votes, by the documents that cast them and by the terms that made these near.
    fn explain(&self, text: &str, tfidf: &TfIdf, label: LabelId) -> Explanation {
        let document = tfidf.transform_one(text);
        let found = Self::explain(self, document.as_row(), label);
        let features: Vec<FeatureContribution> = found.terms.iter().map(Into::into).collect();
        let mut terms = terms_of(&features, tfidf);
        if found.prior > 0.0 {
            terms.push(TermContribution {
                term: PRIOR.to_owned(),
                value: 1.0,
                weight: found.prior,
                contribution: found.prior,
            });
        }
        let votes = found.neighbours.iter();
        Explanation {
            spans: spans_of(&features, tfidf, text),
            terms,
            neighbours: votes
                .map(|vote| ExplainingNeighbour::new(vote.neighbour, vote.share, self.documents()))
                .collect(),
            ..Explanation::new(label, found.score, Method::Neighbours)
        }
    }

    fn save_config(&self, writer: &ModelWriter, name: &str) -> Result<()> {
        writer.write_json(name, self.config())
    }

    fn file_names(&self) -> Vec<String> {
        Self::file_names().map(str::to_owned).to_vec()
    }
}
