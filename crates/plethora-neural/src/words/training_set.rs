//! What a system of words is trained on.

use plethora_core::text::{Words, WordsBuilder};
use plethora_core::tree::TreeConfig;
use plethora_core::{IndexRows, Result};

use super::config::WordConfig;
use super::label_grouping::{LabelGrouping, LabelGroupingBuilder};
use crate::systems::{HeldTexts, ReadsTexts, TextSet, TextSetBuilder, Texts};

/// What a system of words is trained on.
pub type WordSet = TextSet<WordTexts>;

/// Makes a [`WordSet`] of documents.
pub type WordSetBuilder = TextSetBuilder<WordReader>;

/// Training texts as words.
#[derive(Debug)]
pub struct WordTexts {
    /// The words that are known.
    pub words: Words,
    /// The words of each document.
    pub sequences: IndexRows,
    /// What labels will be found through.
    pub(super) structure: Structure,
}

impl Texts for WordTexts {
    fn known(&self) -> (&'static str, u64) {
        ("words", self.words.vocabulary().len() as u64)
    }

    fn sequence(&self, document: usize) -> &[u32] {
        self.sequences.row(document)
    }

    fn sequences_of(&self, texts: &[String]) -> IndexRows {
        self.words.sequences(texts)
    }
}

/// What labels are found through, with what it takes to build that.
#[derive(Debug)]
pub(super) enum Structure {
    /// All labels side by side.
    Flat,
    /// A tree of labels.
    Tree(Box<LabelGrouping>),
    /// Groups of labels by the words of their documents.
    Clusters(TreeConfig),
}

/// Reads texts as words.
#[derive(Debug)]
pub struct WordReader {
    words: WordsBuilder,
    structure: StructureBuilder,
}

#[derive(Debug)]
enum StructureBuilder {
    Flat,
    Tree(Box<LabelGroupingBuilder>),
    Clusters(TreeConfig),
}

impl WordReader {
    /// Reads texts as a system with these settings does.
    pub fn new<Batch>(config: &WordConfig<Batch>) -> Result<Self> {
        let structure = match (&config.plt, &config.clusters) {
            (Some(plt), _) => StructureBuilder::Tree(Box::new(LabelGroupingBuilder::new(plt)?)),
            (None, Some(clusters)) => StructureBuilder::Clusters(clusters.tree.clone()),
            (None, None) => StructureBuilder::Flat,
        };
        Ok(Self {
            words: WordsBuilder::new(config.words.clone())?,
            structure,
        })
    }
}

impl ReadsTexts for WordReader {
    type Read = WordTexts;

    fn push_batch(&mut self, texts: &[String]) {
        self.words.push_batch(texts);
        if let StructureBuilder::Tree(grouping) = &mut self.structure {
            grouping.push_batch(texts);
        }
    }

    fn finish(self) -> Result<WordTexts> {
        let (words, sequences) = self.words.finish()?;
        let structure = match self.structure {
            StructureBuilder::Flat => Structure::Flat,
            StructureBuilder::Clusters(tree) => Structure::Clusters(tree),
            StructureBuilder::Tree(grouping) => {
                let grouping = grouping.finish().map_err(|error| error.within("plt"))?;
                Structure::Tree(Box::new(grouping))
            }
        };
        Ok(WordTexts {
            words,
            sequences,
            structure,
        })
    }

    fn finish_without(&self, held: &[u32]) -> Result<(WordTexts, HeldTexts)> {
        let (words, sequences, of_held) = self.words.finish_without(held)?;
        let structure = match &self.structure {
            StructureBuilder::Flat => Structure::Flat,
            StructureBuilder::Clusters(tree) => Structure::Clusters(tree.clone()),
            StructureBuilder::Tree(grouping) => {
                let grouping = grouping.finish_without(held);
                Structure::Tree(Box::new(grouping.map_err(|error| error.within("plt"))?))
            }
        };
        let texts = WordTexts {
            words,
            sequences,
            structure,
        };
        let held = HeldTexts {
            sequences: of_held,
            features: Vec::new(),
        };
        Ok((texts, held))
    }
}
