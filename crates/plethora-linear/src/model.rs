//! A trained linear system: ranks labels for feature rows.

use std::path::PathBuf;

use plethora_core::artifact::ModelReader;
use plethora_core::{Error, LabelId, Result, ScoredLabel, SparseMatrix, SparseRow};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::beam::{BeamSearch, DOCUMENTS_PER_SEARCH, FeatureTable, Reached};
use crate::config::LinearConfig;
use crate::tree_file::TreeFile;

/// Labels of each tree that take part in the average of several trees, as a multiple of the labels
/// asked for: a label far down in one tree does not come to the top of the mean.
const CANDIDATES_PER_LABEL: usize = 10;

/// How to rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankOptions {
    /// Labels a document.
    pub top_k: usize,
    /// Nodes kept a level; the model's own where absent.
    pub beam: Option<usize>,
}

/// A linear model, its weights mapped from disk.
#[derive(Debug)]
pub struct LinearModel {
    config: LinearConfig,
    num_features: usize,
    trees: Vec<TreeFile>,
}

/// The file of a tree within a model folder.
pub(crate) fn tree_file_name(tree: usize) -> String {
    format!("tree-{tree}.safetensors")
}

impl LinearModel {
    /// The names of the files that hold the trees of a model with these settings.
    pub fn file_names(config: &LinearConfig) -> Vec<String> {
        (0..config.num_trees).map(tree_file_name).collect()
    }

    /// Opens the trees of a model folder for `num_features` features and `num_labels` labels.
    pub fn open(
        folder: &ModelReader,
        config: LinearConfig,
        num_features: usize,
        num_labels: usize,
    ) -> Result<Self> {
        config.validate()?;
        let open = |name: String| {
            let path: PathBuf = folder.path(&name)?;
            let tree = TreeFile::open(&path)?;
            let features = tree.weights().features;
            if features
                .iter()
                .any(|&feature| feature as usize >= num_features)
            {
                return Err(Error::model(
                    &path,
                    "has weights for features the model does not know",
                ));
            }
            if tree.label_bound() > num_labels {
                return Err(Error::model(
                    &path,
                    "has labels that the model does not know",
                ));
            }
            Ok(tree)
        };
        let trees = Self::file_names(&config)
            .into_iter()
            .map(open)
            .collect::<Result<_>>()?;
        Ok(Self {
            config,
            num_features,
            trees,
        })
    }

    /// The settings the model was trained with.
    pub fn config(&self) -> &LinearConfig {
        &self.config
    }

    /// Number of features of a document.
    pub fn num_features(&self) -> usize {
        self.num_features
    }

    /// The best labels of each row, best first. Rows are ranked in parallel and independently: a
    /// row gets the same scores alone and among others.
    pub fn rank(&self, documents: &SparseMatrix, options: RankOptions) -> Vec<Vec<ScoredLabel>> {
        assert!(documents.num_columns() <= self.num_features);
        (0..documents.num_rows().div_ceil(DOCUMENTS_PER_SEARCH))
            .into_par_iter()
            .map_init(FeatureTable::default, |table, batch| {
                let start = batch * DOCUMENTS_PER_SEARCH;
                let end = documents.num_rows().min(start + DOCUMENTS_PER_SEARCH);
                let rows: Vec<SparseRow<'_>> = (start..end).map(|row| documents.row(row)).collect();
                self.rank_batch(&rows, options, table)
            })
            .flatten_iter()
            .collect()
    }

    fn rank_batch(
        &self,
        rows: &[SparseRow<'_>],
        options: RankOptions,
        table: &mut FeatureTable,
    ) -> Vec<Vec<ScoredLabel>> {
        let limit = match self.trees.len() {
            1 => options.top_k,
            _ => options.top_k.saturating_mul(CANDIDATES_PER_LABEL),
        };
        let mut candidates: Vec<Vec<ScoredLabel>> = vec![Vec::new(); rows.len()];
        for tree in &self.trees {
            let search = BeamSearch {
                tree: tree.tree(),
                weights: tree.weights(),
                first_node: 0,
                num_features: self.num_features,
                loss: self.config.solver.loss,
                beam: options.beam.unwrap_or(self.config.beam).max(1),
            };
            for (scored, reached) in candidates.iter_mut().zip(search.run(rows, table)) {
                scored.extend(self.best(&reached, limit));
            }
        }
        candidates
            .into_iter()
            .map(|scored| self.average(scored, options.top_k))
            .collect()
    }

    /// The `limit` best labels of one tree, with probabilities.
    fn best(&self, reached: &[Reached], limit: usize) -> Vec<ScoredLabel> {
        let log_score = |reached: &Reached| {
            self.config.path_weight * reached.path_log_score + reached.log_score
        };
        let mut scored: Vec<ScoredLabel> = (reached.iter())
            .map(|reached| ScoredLabel {
                label: reached.label,
                score: log_score(reached),
            })
            .collect();
        keep_best(&mut scored, limit);
        for scored in &mut scored {
            scored.score = scored.score.exp();
        }
        scored
    }

    /// The mean over trees, where a tree without a label counts as 0, best first.
    fn average(&self, scored: Vec<ScoredLabel>, top_k: usize) -> Vec<ScoredLabel> {
        let mut means = scored;
        if self.trees.len() > 1 {
            let share = 1.0 / self.trees.len() as f32;
            let mut sums: FxHashMap<LabelId, f32> = FxHashMap::default();
            for ScoredLabel { label, score } in means {
                *sums.entry(label).or_default() += share * score;
            }
            means = sums
                .into_iter()
                .map(|(label, score)| ScoredLabel { label, score })
                .collect();
        }
        keep_best(&mut means, top_k);
        means.sort_unstable_by(by_rank);
        means
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature that sorting asks for"
)]
/// Higher scores first; equal ones by label.
fn by_rank(left: &ScoredLabel, right: &ScoredLabel) -> std::cmp::Ordering {
    right
        .score
        .total_cmp(&left.score)
        .then(left.label.cmp(&right.label))
}

fn keep_best(scored: &mut Vec<ScoredLabel>, limit: usize) {
    if limit == 0 {
        scored.clear();
    } else if scored.len() > limit {
        scored.select_nth_unstable_by(limit - 1, by_rank);
        scored.truncate(limit);
    }
}
