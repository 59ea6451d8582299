//! Training label trees as a system.

use plethora_core::artifact::ModelWriter;
use plethora_core::text::TfIdf;
use plethora_core::tree::label_texts;
use plethora_core::{Error, LabelId, Result, ScoredLabel, SparseMatrix};
use plethora_system::{
    BIAS, DocumentStream, Estimate, Explanation, Method, RankOptions, RunContext, Shard,
    TermContribution, Trainable, Trained, TrainingSize, keep_first, spans_of, terms_of,
};

use super::config::LinearConfig;
use super::model::LinearModel;
use super::train::LinearTrainer;
use crate::feature_system::{RowModel, check_device, read, trained};
use crate::training_set::{TrainingSet, TrainingSetBuilder};

impl Trainable for LinearConfig {
    fn check(&self, run: &RunContext<'_>) -> Result<()> {
        check_device(&self.system, run);
        Ok(())
    }

    fn estimate(&self, size: &TrainingSize) -> Estimate {
        self.cost(size)
    }

    fn train(&self, documents: &mut dyn DocumentStream, run: &RunContext<'_>) -> Result<Trained> {
        self.train_piece(Shard::WHOLE, documents, run)
    }

    fn train_piece(
        &self,
        shard: Shard,
        documents: &mut dyn DocumentStream,
        run: &RunContext<'_>,
    ) -> Result<Trained> {
        let builder = TrainingSetBuilder::new(self.text.clone())?;
        let (set, mut stages) = read(
            documents,
            run,
            builder,
            TrainingSetBuilder::add,
            |builder, read| builder.finish(read.labels(), read.num_features()),
        )?;
        let label_names = label_names(self, &set)?;
        let trainer = LinearTrainer {
            features: &set.features,
            num_pruned: set.features.num_columns(),
            labels_of_documents: &set.labels_of_documents,
            space: &set.space,
            candidates: None,
            label_names: label_names.as_ref(),
            config: self,
        };
        let work = run.open_work(&trainer.fingerprint()?, self.resume_point())?;
        let times = trainer.run_piece(shard, &work, run.progress)?;
        stages.add("trees", times.label_features_s + times.trees_s);
        stages.add("classifiers", times.classifiers_s);
        let sizes = (set.features.num_columns(), set.space.len());
        let model = LinearModel::open_piece(shard, &work, self.clone(), sizes.0, sizes.1)?;
        Ok(trained(model, set, work, stages))
    }

    fn resume_point(&self) -> &'static str {
        "the last complete tree"
    }
}

impl RowModel for LinearModel {
    fn rank(&self, rows: &SparseMatrix, options: RankOptions) -> Vec<Vec<ScoredLabel>> {
        Self::rank(self, rows, options)
    }

    fn keep_members(&mut self, num_members: usize) -> Result<()> {
        keep_first(&mut self.trees, num_members)
    }

    fn explain(&self, text: &str, tfidf: &TfIdf, label: LabelId) -> Explanation {
        let document = tfidf.transform_one(text);
        let found = Self::explain(self, document.as_row(), label);
        let mut terms = terms_of(&found.features, tfidf);
        if found.bias != 0.0 {
            terms.push(TermContribution {
                term: BIAS.to_owned(),
                value: 1.0,
                weight: found.bias,
                contribution: found.bias,
            });
        }
        Explanation {
            spans: spans_of(&found.features, tfidf, text),
            terms,
            ..Explanation::new(label, found.score, Method::Contributions)
        }
    }

    fn save_config(&self, writer: &ModelWriter, name: &str) -> Result<()> {
        writer.write_json(name, self.config())
    }

    fn file_names(&self) -> Vec<String> {
        self.files().to_vec()
    }
}

/// Features of the labels' own names, where these shall shape the trees.
fn label_names(config: &LinearConfig, set: &TrainingSet) -> Result<Option<SparseMatrix>> {
    if config.tree.label_text_weight <= 0.0 {
        return Ok(None);
    }
    let Some(tfidf) = &set.tfidf else {
        return Err(Error::config(
            "tree.label_text_weight",
            "must be 0 where documents come as features: names have none",
        ));
    };
    Ok(Some(tfidf.transform(&label_texts(&set.space))))
}
