//! Training a whole linear system: label features, trees, classifiers, one file per tree.

use std::time::Instant;

use plethora_core::artifact::WorkFolder;
use plethora_core::corpus::LabelSpace;
use plethora_core::tree::{add_label_text, build, label_features};
use plethora_core::{IndexRows, Progress, Result, SeedStream, SparseMatrix};
use plethora_system::Shard;
use serde::Serialize;

use crate::fingerprint::fingerprint;
use crate::trees::config::LinearConfig;
use crate::trees::division::Division;
use crate::trees::model::tree_file_name;
use crate::trees::train_tree::TreeTraining;
use crate::trees::tree_file::TreeFileWriter;

/// What a linear system learns from, and how.
#[derive(Clone, Copy)]
pub struct LinearTrainer<'a> {
    /// Features of the training documents, rows of unit length.
    pub features: &'a SparseMatrix,
    /// Features whose small weights are dropped: the first so many, the terms. Behind them there may be the
    /// numbers of vectors, whose weights are all small and count together.
    pub num_pruned: usize,
    /// Labels of the training documents.
    pub labels_of_documents: &'a IndexRows,
    /// The labels.
    pub space: &'a LabelSpace,
    /// Labels that another model ranks highest for each document, where one was asked: nodes above them have the
    /// document as a hard negative.
    pub candidates: Option<&'a IndexRows>,
    /// Features of the labels' own names, where these shall shape the trees.
    pub label_names: Option<&'a SparseMatrix>,
    /// The settings, the seed among them.
    pub config: &'a LinearConfig,
}

/// Seconds of wall time that the stages of training took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct StageTimes {
    /// Summing documents to label features.
    pub label_features_s: f64,
    /// Building the trees.
    pub trees_s: f64,
    /// Training the classifiers.
    pub classifiers_s: f64,
}

impl LinearTrainer<'_> {
    /// Says which data, settings and seed a run has, so that only an equal one resumes it.
    pub fn fingerprint(&self) -> Result<String> {
        let settings = (self.config, self.space.labels());
        fingerprint(&settings, self.features, self.labels_of_documents)
    }

    /// Trains the trees that `work` does not hold yet, one after another, each into a file of its
    /// own that appears when it is complete.
    pub fn run(&self, work: &WorkFolder, progress: &dyn Progress) -> Result<StageTimes> {
        self.run_piece(Shard::WHOLE, work, progress)
    }

    /// As [`run`](Self::run), one share of the work: some of the trees, or a share of one.
    pub fn run_piece(
        &self,
        shard: Shard,
        work: &WorkFolder,
        progress: &dyn Progress,
    ) -> Result<StageTimes> {
        self.config.validate()?;
        let mut times = StageTimes::default();
        let missing: Vec<(usize, Shard)> = (shard.of_parts(self.config.num_trees).into_iter())
            .filter(|&(tree, share)| !work.contains(&share.part_name(&tree_file_name(tree))))
            .collect();
        if missing.is_empty() {
            return Ok(times);
        }
        let documents_of_labels = self.labels_of_documents.transpose(self.space.len());
        let candidates = (self.candidates).map(|labels| labels.transpose(self.space.len()));
        let started = Instant::now();
        progress.start("label features", None);
        let label_vectors = self.label_vectors(&documents_of_labels);
        progress.finish(&format!("{} labels", self.space.len()));
        times.label_features_s = started.elapsed().as_secs_f64();
        for (number, share) in missing {
            let tree = OneTree {
                trainer: self,
                number,
                share,
                label_vectors: &label_vectors,
                documents_of_labels: &documents_of_labels,
                documents_of_candidates: candidates.as_ref(),
                seed: SeedStream::new(self.config.seed)
                    .named("tree")
                    .child(number as u64),
            };
            tree.run(work, progress, &mut times)?;
        }
        Ok(times)
    }

    fn label_vectors(&self, documents_of_labels: &IndexRows) -> SparseMatrix {
        let tree = &self.config.tree;
        let vectors = label_features(self.features, documents_of_labels, tree.max_label_features);
        match self.label_names {
            Some(names) if tree.label_text_weight > 0.0 => {
                add_label_text(&vectors, names, tree.label_text_weight)
            }
            _ => vectors,
        }
    }
}

/// One tree of a [`LinearTrainer`].
struct OneTree<'a> {
    trainer: &'a LinearTrainer<'a>,
    number: usize,
    /// Which of its classifiers are trained.
    share: Shard,
    label_vectors: &'a SparseMatrix,
    documents_of_labels: &'a IndexRows,
    documents_of_candidates: Option<&'a IndexRows>,
    seed: SeedStream,
}

impl OneTree<'_> {
    fn run(
        &self,
        work: &WorkFolder,
        progress: &dyn Progress,
        times: &mut StageTimes,
    ) -> Result<()> {
        let LinearTrainer {
            features,
            num_pruned,
            space,
            config,
            ..
        } = *self.trainer;
        let of_all = format!("{} of {}", self.number + 1, config.num_trees);
        let started = Instant::now();
        progress.start(&format!("label tree {of_all}"), None);
        let tree = build(self.label_vectors, space, &config.tree, self.seed)?;
        progress.finish(&format!("{} nodes", tree.num_nodes()));
        times.trees_s += started.elapsed().as_secs_f64();

        let started = Instant::now();
        let name = self.share.part_name(&tree_file_name(self.number));
        let mut file = TreeFileWriter::create(&work.path(&name), &tree)?;
        let training = TreeTraining {
            documents: features,
            num_pruned,
            documents_of_labels: self.documents_of_labels,
            documents_of_candidates: self.documents_of_candidates,
            tree: &tree,
            division: &Division::new(&tree, self.share),
            config,
            seed: self.seed,
        };
        progress.start(
            &format!("classifiers {of_all}"),
            Some(training.num_classifiers()),
        );
        training.run(progress, &mut file)?;
        file.finish()?;
        progress.finish(&format!("{} labels", space.len()));
        times.classifiers_s += started.elapsed().as_secs_f64();
        Ok(())
    }
}
