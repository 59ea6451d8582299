//! A trained model: finds labels in texts and ranks them.

use std::fs;

use plethora_core::artifact::{CONFIG_FILE, MappedArrays, ModelReader, ModelWriter, WorkFolder};
use plethora_core::corpus::{Document, LabelSpace};
use plethora_core::forest::Forest;
use plethora_core::{Error, LabelId, Result, ScoredLabel};
use plethora_system::{Explanation, RankOptions, Ranker, Rankings};
use rayon::prelude::*;

use super::candidates::{Candidates, FEATURES, Knowledge};
use super::config::LexicalConfig;
use super::explain::explain;
use super::phrases::{PHRASES_FILE, Phrases};
use super::relations::Relations;
use super::words::{TextWords, WordReader};
use crate::feature_reader::text_of;
use crate::ranking::{by_rank, keep_best};

/// Name of the trees in a model folder; absent where no training document had labels.
pub(super) const FOREST_FILE: &str = "forest.safetensors";

/// Documents that are read together, so that words they share are stemmed once.
const DOCUMENTS_PER_CHUNK: usize = 128;

/// Finds labels by their names, and by what training has learnt to take for names.
#[derive(Debug)]
pub(super) struct LexicalModel {
    pub(super) config: LexicalConfig,
    pub(super) phrases: Phrases,
    forest: Option<Forest>,
    relations: Relations,
    train_counts: Vec<u32>,
    num_documents: u64,
}

impl LexicalModel {
    pub(super) fn new(
        config: LexicalConfig,
        phrases: Phrases,
        forest: Option<Forest>,
        space: &LabelSpace,
        num_documents: u64,
    ) -> Self {
        Self {
            config,
            phrases,
            forest,
            relations: Relations::new(space),
            train_counts: space.train_counts().to_vec(),
            num_documents,
        }
    }

    /// Opens the files of a model folder.
    pub(super) fn open(
        folder: &ModelReader,
        space: &LabelSpace,
        num_documents: u64,
    ) -> Result<Self> {
        let config: LexicalConfig = folder.read_json(CONFIG_FILE)?;
        config.validate()?;
        let phrases = Phrases::open(&folder.path(PHRASES_FILE)?, space.len())?;
        let forest = if folder.contains(FOREST_FILE) {
            let path = folder.path(FOREST_FILE)?;
            let read = Forest::read(&MappedArrays::open(&path)?, FEATURES.len())?;
            let message = "the trees do not fit each other or what is known of labels";
            Some(read.ok_or_else(|| Error::model(&path, message))?)
        } else {
            None
        };
        Ok(Self::new(config, phrases, forest, space, num_documents))
    }

    /// What is known of labels.
    pub(super) fn knowledge(&self) -> Knowledge<'_> {
        Knowledge {
            config: &self.config,
            phrases: &self.phrases,
            relations: &self.relations,
            train_counts: &self.train_counts,
            num_documents: self.num_documents,
        }
    }

    /// The labels of a text with their probabilities, the best `top_k` in order.
    pub(super) fn rank_one(&self, text: &TextWords, top_k: usize) -> Vec<ScoredLabel> {
        let found = (self.knowledge()).candidates(&text.words, text.num_title, None);
        let mut scored = self.scores(&found);
        keep_best(&mut scored, top_k);
        scored.sort_unstable_by(by_rank);
        scored
    }

    fn scores(&self, found: &Candidates) -> Vec<ScoredLabel> {
        let scores: Vec<f32> = match &self.forest {
            Some(forest) => forest.probabilities(&found.rows, FEATURES.len()),
            None => found.guesses().collect(),
        };
        (found.labels.iter().zip(scores))
            .map(|(&label, score)| ScoredLabel {
                label: LabelId(label),
                score,
            })
            .collect()
    }

    pub(super) fn reader(&self) -> WordReader {
        WordReader::new(&self.config.language)
    }
}

impl Ranker for LexicalModel {
    fn rank(&self, documents: &[Document], options: RankOptions) -> Result<Rankings> {
        let texts: Vec<&str> = documents.iter().map(text_of).collect::<Result<_>>()?;
        let rankings: Vec<Vec<ScoredLabel>> = (texts.par_chunks(DOCUMENTS_PER_CHUNK))
            .flat_map_iter(|texts| {
                let mut reader = self.reader();
                texts.iter().map(move |text| {
                    let words = reader.read(text, self.config.max_words);
                    self.rank_one(&words, options.top_k)
                })
            })
            .collect();
        Ok(rankings.into())
    }

    fn explain(&self, text: &str, label: LabelId) -> Result<Explanation> {
        Ok(explain(self, text, label))
    }

    fn save(&self, work: &WorkFolder, writer: &ModelWriter) -> Result<()> {
        let forest = self.forest.as_ref().map(|_| FOREST_FILE);
        for name in [PHRASES_FILE].into_iter().chain(forest) {
            let target = writer.path(name);
            fs::copy(work.path(name), &target).map_err(Error::write(&target))?;
        }
        writer.write_json(CONFIG_FILE, &self.config)
    }

    fn documents_per_batch(&self) -> usize {
        4096
    }
}
