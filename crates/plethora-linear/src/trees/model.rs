//! A trained linear system: ranks labels for feature rows.

use std::path::{Path, PathBuf};

use plethora_core::artifact::{ModelReader, WorkFolder};
use plethora_core::{Announced, Error, LabelId, Result, ScoredLabel, SparseMatrix, SparseRow};
use plethora_system::{RankOptions, Shard};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::ranking::{by_rank, keep_best};
use crate::trees::beam::{BeamSearch, ChunkLayout, DOCUMENTS_PER_SEARCH, Reached};
use crate::trees::config::LinearConfig;
use crate::trees::tree_file::TreeFile;

/// Labels of each tree that take part in the average of several trees, where no more are asked for:
/// a constant, so that a ranking of five is the start of a ranking of ten.
pub(crate) const CANDIDATES_PER_TREE: usize = 200;

/// A linear model, its weights mapped from disk.
#[derive(Debug)]
pub struct LinearModel {
    pub(crate) config: LinearConfig,
    num_features: usize,
    pub(crate) trees: Vec<TreeFile>,
    /// Names of the files of `trees`.
    files: Vec<String>,
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
        let files = Self::file_names(&config);
        let paths: Vec<PathBuf> = (files.iter())
            .map(|name| folder.path(name))
            .collect::<Result<_>>()?;
        Self::open_files(files, &paths, config, num_features, num_labels)
    }

    /// Opens the trees of a training run that is complete but not saved yet.
    pub fn open_unsaved(
        work: &WorkFolder,
        config: LinearConfig,
        num_features: usize,
        num_labels: usize,
    ) -> Result<Self> {
        Self::open_piece(Shard::WHOLE, work, config, num_features, num_labels)
    }

    /// As [`open_unsaved`](Self::open_unsaved), what training one share of the work has left; such a
    /// model knows the trees and classifiers of its share alone.
    pub fn open_piece(
        shard: Shard,
        work: &WorkFolder,
        config: LinearConfig,
        num_features: usize,
        num_labels: usize,
    ) -> Result<Self> {
        let shares = shard.of_parts(config.num_trees).into_iter();
        let files: Vec<String> = shares
            .map(|(tree, share)| share.part_name(&tree_file_name(tree)))
            .collect();
        let paths: Vec<PathBuf> = files.iter().map(|name| work.path(name)).collect();
        Self::open_files(files, &paths, config, num_features, num_labels)
    }

    fn open_files(
        files: Vec<String>,
        paths: &[PathBuf],
        config: LinearConfig,
        num_features: usize,
        num_labels: usize,
    ) -> Result<Self> {
        config.validate()?;
        let trees: Vec<TreeFile> = paths
            .iter()
            .map(|path| open_tree(path, num_features, num_labels))
            .collect::<Result<_>>()?;
        // Ranking takes memory for every feature, and the trees have one for each that counts.
        let weights = trees.iter().map(|tree| tree.weights().features.len());
        let announced = Announced::new(num_features as u64);
        let is_whole = files == Self::file_names(&config);
        if is_whole && announced.believed(weights.sum()).is_none() {
            let message = format!("has far fewer weights than {num_features} features need");
            let path = paths.first().map_or(Path::new(""), PathBuf::as_path);
            return Err(Error::model(path, message));
        }
        Ok(Self {
            config,
            num_features,
            trees,
            files,
        })
    }

    /// The settings the model was trained with.
    pub fn config(&self) -> &LinearConfig {
        &self.config
    }

    /// The files that the model's trees are in.
    pub(crate) fn files(&self) -> &[String] {
        &self.files
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
            .map_init(ChunkLayout::default, |layout, batch| {
                let start = batch * DOCUMENTS_PER_SEARCH;
                let end = documents.num_rows().min(start + DOCUMENTS_PER_SEARCH);
                let rows: Vec<SparseRow<'_>> = (start..end).map(|row| documents.row(row)).collect();
                self.rank_batch(&rows, options, layout)
            })
            .flatten_iter()
            .collect()
    }

    fn rank_batch(
        &self,
        rows: &[SparseRow<'_>],
        options: RankOptions,
        layout: &mut ChunkLayout,
    ) -> Vec<Vec<ScoredLabel>> {
        let limit = match self.trees.len() {
            1 => options.top_k,
            _ => options.top_k.max(CANDIDATES_PER_TREE),
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
            for (scored, reached) in candidates.iter_mut().zip(search.run(rows, layout)) {
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

fn open_tree(path: &Path, num_features: usize, num_labels: usize) -> Result<TreeFile> {
    let tree = TreeFile::open(path)?;
    let features = tree.weights().features;
    if features
        .iter()
        .any(|&feature| feature as usize >= num_features)
    {
        return Err(Error::model(
            path,
            "has weights for features the model does not know",
        ));
    }
    if tree.label_bound() > num_labels {
        return Err(Error::model(
            path,
            "has labels that the model does not know",
        ));
    }
    Ok(tree)
}

#[cfg(test)]
mod tests {
    use half::bf16;
    use plethora_core::artifact::{ModelWriter, WorkFolder};
    use plethora_core::corpus::{Label, LabelSpace};
    use plethora_core::{IndexRows, NoProgress, SeedStream, SparseVector};
    use rand::RngExt;

    use super::*;
    use crate::trees::LinearTrainer;

    const NUM_FEATURES: usize = 120;
    const NUM_LABELS: usize = 40;

    /// Documents whose features come from their labels, with noise.
    fn documents(seed: u64, count: usize) -> (SparseMatrix, IndexRows) {
        let mut rng = SeedStream::new(seed).rng();
        let mut features = SparseMatrix::builder(NUM_FEATURES);
        let mut labels = IndexRows::default();
        for _ in 0..count {
            let first = rng.random_range(0..NUM_LABELS as u32);
            let second = (first + rng.random_range(1..4)) % NUM_LABELS as u32;
            let mut entries = vec![(first * 3, 1.0), (first * 3 + 1, 0.7), (second * 3, 0.9)];
            entries.extend((0..4).map(|_| (rng.random_range(0..NUM_FEATURES as u32), 0.4)));
            let mut row = SparseVector::from_entries(entries);
            row.normalize();
            features.push(row.as_row());
            labels.push([first.min(second), first.max(second)]);
        }
        (features.finish(), labels)
    }

    fn config(system: &str) -> LinearConfig {
        let mut config = LinearConfig::of_system(system).unwrap();
        config.tree.max_leaf = if system == "one-vs-all" { 1000 } else { 5 };
        config.tree.branching = config.tree.branching.min(3);
        config
    }

    /// Trains on 400 documents; the folder keeps the model's files alive.
    fn trained(config: &LinearConfig) -> (LinearModel, tempfile::TempDir) {
        let (features, labels_of_documents) = documents(1, 400);
        let labels = (0..NUM_LABELS)
            .map(|id| Label::from_key(format!("{id:02}")))
            .collect();
        let space = LabelSpace::new(labels, vec![20; NUM_LABELS]);
        let trainer = LinearTrainer {
            features: &features,
            num_pruned: features.num_columns(),
            labels_of_documents: &labels_of_documents,
            space: &space,
            candidates: None,
            label_names: None,
            config,
        };
        let scratch = tempfile::tempdir().unwrap();
        let target = scratch.path().join("model");
        let work = WorkFolder::open(&target, "test", false).unwrap();
        trainer.run(&work, &NoProgress).unwrap();
        let writer = ModelWriter::create(&target, false).unwrap();
        for name in LinearModel::file_names(config) {
            std::fs::copy(work.path(&name), writer.path(&name)).unwrap();
        }
        writer
            .finish(&config.system, serde_json::json!({}))
            .unwrap();
        let reader = ModelReader::open(&target).unwrap();
        let model = LinearModel::open(&reader, config.clone(), NUM_FEATURES, NUM_LABELS).unwrap();
        (model, scratch)
    }

    /// Every label's score by walking the whole tree with dense weights.
    fn all_scores(model: &LinearModel, document: SparseRow<'_>) -> Vec<f32> {
        let mut totals = vec![0.0; NUM_LABELS];
        for file in &model.trees {
            let (tree, weights) = (file.tree(), file.weights());
            let mut path = vec![0.0_f32; tree.num_nodes()];
            for node in 0..tree.num_nodes() {
                let mut scores = Vec::new();
                for chunk in weights.chunks(node) {
                    let mut dense = vec![vec![0.0; NUM_FEATURES]; chunk.biases.len()];
                    for (row, &feature) in chunk.features.iter().enumerate() {
                        let (classes, values) = chunk.entries(row);
                        for (&class, &value) in classes.iter().zip(values) {
                            dense[class as usize][feature as usize] =
                                bf16::from_bits(value).to_f32();
                        }
                    }
                    let biased = chunk.biases.iter().zip(&dense);
                    scores.extend(biased.map(|(bias, dense)| bias + document.dot(dense)));
                }
                let log = |score: &f32| model.config.solver.loss.log_probability(*score);
                let (children, labels) = scores.split_at(tree.children(node).len());
                for (child, score) in tree.children(node).zip(children) {
                    path[child] = path[node] + log(score);
                }
                for (label, score) in tree.labels(node).iter().zip(labels) {
                    let score = (model.config.path_weight * path[node] + log(score)).exp();
                    totals[label.index()] += score / model.trees.len() as f32;
                }
            }
        }
        totals
    }

    #[test]
    fn a_beam_over_all_nodes_equals_a_full_walk() {
        for system in ["wide-tree", "parabel", "bonsai", "one-vs-all"] {
            let (model, _files) = trained(&config(system));
            let (test, _) = documents(2, 30);
            let options = RankOptions {
                top_k: NUM_LABELS,
                beam: Some(1000),
            };
            for (row, ranking) in model.rank(&test, options).iter().enumerate() {
                let scores = all_scores(&model, test.row(row));
                assert_eq!(ranking.len(), NUM_LABELS, "{system}");
                for scored in ranking {
                    let expected = scores[scored.label.index()];
                    assert!((scored.score - expected).abs() < 1e-5, "{system}");
                }
                assert!(ranking.is_sorted_by(|left, right| left.score >= right.score));
            }
        }
    }

    #[test]
    fn every_system_learns_what_the_labels_are() {
        let (test, truth) = documents(3, 200);
        for system in ["wide-tree", "parabel", "bonsai", "one-vs-all"] {
            for loss in [crate::trees::Loss::SquaredHinge, crate::trees::Loss::Log] {
                let mut config = config(system);
                config.solver.loss = loss;
                let (model, _files) = trained(&config);
                let rankings = model.rank(
                    &test,
                    RankOptions {
                        top_k: 1,
                        beam: None,
                    },
                );
                let hits = (rankings.iter().zip(truth.rows()))
                    .filter(|(ranking, labels)| labels.contains(&ranking[0].label.0))
                    .count();
                assert!(hits >= 180, "{system} with {loss:?}: {hits} of 200");
            }
        }
    }

    #[test]
    fn a_document_gets_the_same_scores_alone_and_among_others() {
        let (model, _files) = trained(&config("wide-tree"));
        let (test, _) = documents(4, 700);
        let options = RankOptions {
            top_k: 5,
            beam: None,
        };
        let together = model.rank(&test, options);
        for row in (0..test.num_rows()).step_by(37) {
            let mut single = SparseMatrix::builder(NUM_FEATURES);
            single.push(test.row(row));
            assert_eq!(model.rank(&single.finish(), options)[0], together[row]);
        }
    }

    #[test]
    fn a_short_ranking_is_the_start_of_a_long_one() {
        let (model, _files) = trained(&config("parabel"));
        let (test, _) = documents(6, 50);
        let rank = |top_k| model.rank(&test, RankOptions { top_k, beam: None });
        for (short, long) in rank(3).iter().zip(&rank(20)) {
            assert_eq!(short[..], long[..3]);
        }
    }

    #[test]
    fn scores_are_probabilities_and_none_are_asked_for_in_vain() {
        let (model, _files) = trained(&config("bonsai"));
        let (test, _) = documents(5, 20);
        let rankings = model.rank(
            &test,
            RankOptions {
                top_k: 3,
                beam: None,
            },
        );
        assert!(
            rankings
                .iter()
                .flatten()
                .all(|scored| (0.0..=1.0).contains(&scored.score))
        );
        let none = model.rank(
            &test,
            RankOptions {
                top_k: 0,
                beam: None,
            },
        );
        assert!(none.iter().all(Vec::is_empty));
    }
}
