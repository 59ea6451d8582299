//! What systems whose documents are rows of features have in common.

use std::fmt::Debug;
use std::time::Instant;

use plethora_core::artifact::{CONFIG_FILE, ModelWriter, WorkFolder};
use plethora_core::corpus::Document;
use plethora_core::text::TfIdf;
use plethora_core::{LabelId, Result, ScoredLabel, SparseMatrix, grouped};
use plethora_system::resources::cpu_seconds;
use plethora_system::{
    DocumentStream, Explanation, Facts, RankOptions, Ranker, Rankings, RunContext, Stages, Trained,
    keep_first, warn_of_device,
};
use serde_json::json;

use crate::feature_reader::FeatureReader;
use crate::training_set::TrainingSet;

/// Ranks rows of features.
pub(crate) trait RowModel: Send + Sync + Debug {
    /// The best labels of each row, best first.
    fn rank(&self, rows: &SparseMatrix, options: RankOptions) -> Vec<Vec<ScoredLabel>>;

    /// From now on ranks with the first so many of its trees alone.
    ///
    /// # Errors
    /// [`Error::Usage`](plethora_core::Error::Usage) if it has fewer.
    fn keep_members(&mut self, num_members: usize) -> Result<()> {
        keep_first(&mut vec![()], num_members)
    }

    /// Why a label has its score for a text.
    fn explain(&self, text: &str, tfidf: &TfIdf, label: LabelId) -> Explanation;

    /// Writes the settings.
    fn save_config(&self, writer: &ModelWriter, name: &str) -> Result<()>;

    /// The files that training left in its work folder.
    fn file_names(&self) -> Vec<String>;
}

/// A model of rows, and what makes these of documents.
#[derive(Debug)]
pub(crate) struct FeatureRanker<M> {
    pub(crate) model: M,
    pub(crate) reader: FeatureReader,
}

impl<M: RowModel> Ranker for FeatureRanker<M> {
    fn rank(&self, documents: &[Document], options: RankOptions) -> Result<Rankings> {
        let started = cpu_seconds();
        let rows = self.reader.rows(documents)?;
        let features_s = cpu_seconds() - started;
        Ok(Rankings {
            labels: self.model.rank(&rows, options),
            features_s,
        })
    }

    fn keep_members(&mut self, num_members: usize) -> Result<()> {
        self.model.keep_members(num_members)
    }

    fn explain(&self, text: &str, label: LabelId) -> Result<Explanation> {
        Ok(self.model.explain(text, self.reader.tfidf()?, label))
    }

    fn save(&self, work: &WorkFolder, writer: &ModelWriter) -> Result<()> {
        for name in self.model.file_names() {
            work.give(&name, writer)?;
        }
        self.model.save_config(writer, CONFIG_FILE)?;
        self.reader.save(writer)
    }

    fn documents_per_batch(&self) -> usize {
        4096
    }
}

/// These systems compute on the processor and in 32 bits only.
pub(crate) fn check_device(system: &str, run: &RunContext<'_>) {
    warn_of_device(system, run.compute.device);
}

/// Hands all documents to `add`, then has `finish` make a set of them; says what was read.
pub(crate) fn read<B, S: AsRef<TrainingSet>>(
    documents: &mut dyn DocumentStream,
    run: &RunContext<'_>,
    mut builder: B,
    add: impl Fn(&mut B, Document) -> Result<()>,
    finish: impl FnOnce(B, &dyn DocumentStream) -> Result<S>,
) -> Result<(S, Stages)> {
    let started = Instant::now();
    run.progress.start("reading", documents.limit());
    while let Some(document) = documents.next_document()? {
        add(&mut builder, document)?;
    }
    let read = finish(builder, documents)?;
    let set = read.as_ref();
    run.progress.finish(&format!(
        "{} documents, {} labels, {} features",
        set.labels_of_documents.num_rows() as u64 + set.num_without_labels,
        set.space.len(),
        set.features.num_columns()
    ));
    let mut stages = Stages::default();
    let seconds = started.elapsed().as_secs_f64();
    stages.add("reading", seconds - set.features_s);
    stages.add("features", set.features_s);
    Ok((read, stages))
}

/// A model of rows that training has left in `work`, as a system.
pub(crate) fn trained(
    model: impl RowModel + 'static,
    set: TrainingSet,
    work: WorkFolder,
    stages: Stages,
) -> Trained {
    let num_features = set.features.num_columns();
    let mut facts = Facts::default();
    (facts.values).insert("n_features".into(), json!(num_features));
    (facts.values).insert(
        "n_feature_entries".into(),
        json!(set.features.num_entries()),
    );
    (facts.lines).push(("features", grouped(num_features as u64)));
    Trained {
        num_documents: set.labels_of_documents.num_rows() as u64,
        num_features: num_features as u64,
        takes_text: set.tfidf.is_some(),
        labels: set.space,
        ranker: Box::new(FeatureRanker {
            model,
            reader: match set.tfidf {
                Some(tfidf) => FeatureReader::Texts(Box::new(tfidf)),
                None => FeatureReader::Given(num_features),
            },
        }),
        facts,
        work,
        stages,
    }
}
