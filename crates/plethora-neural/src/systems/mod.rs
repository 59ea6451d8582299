//! The neural systems: from documents to a trained model that ranks labels.

use std::ops::Range;

use plethora_core::artifact::{ModelDetails, ModelReader, ModelWriter, WorkFolder};
use plethora_core::corpus::{Document, Label, LabelSpace};
use plethora_core::metrics::Evaluation;
use plethora_core::{IndexRows, LabelId, Progress, ScoredLabel};

use crate::config::NeuralConfig;
use crate::{Device, Result};

/// What a neural system is trained on.
#[derive(Debug)]
pub struct NeuralSet {
    /// All labels of the documents.
    pub space: LabelSpace,
    /// Documents without labels, which were left out.
    pub num_without_labels: u64,
    /// The labels of each document.
    pub labels_of_documents: IndexRows,
}

/// Takes documents one by one.
pub struct NeuralSetBuilder;

impl NeuralSetBuilder {
    /// An empty set.
    pub fn new(_config: &NeuralConfig) -> Result<Self> {
        unimplemented!()
    }

    /// Adds a document; one without labels is counted and left out.
    pub fn add(&mut self, _document: Document) -> Result<()> {
        unimplemented!()
    }

    /// Number of documents with labels so far.
    pub fn num_documents(&self) -> usize {
        unimplemented!()
    }

    /// Fits the words and puts the labels in order.
    pub fn finish(self, _vocabulary: &[Label]) -> Result<NeuralSet> {
        unimplemented!()
    }
}

/// Documents to stop early on.
pub struct ValidationDocuments;

impl ValidationDocuments {
    /// None yet.
    pub fn new(_set: &NeuralSet) -> Self {
        unimplemented!()
    }

    /// Adds a document.
    pub fn add(&mut self, _set: &NeuralSet, _document: &Document) -> Result<()> {
        unimplemented!()
    }
}

/// Trains a neural system.
pub struct NeuralTrainer<'a> {
    /// The training documents.
    pub set: &'a NeuralSet,
    /// The documents to stop early on; where absent some are held back.
    pub valid: Option<&'a ValidationDocuments>,
    /// The settings.
    pub config: &'a NeuralConfig,
    /// Where to compute.
    pub device: Device,
}

impl NeuralTrainer<'_> {
    /// Says which data, settings and seed a run has.
    pub fn fingerprint(&self) -> Result<String> {
        unimplemented!()
    }

    /// Trains, or goes on with what `work` holds.
    pub fn run(&self, _work: &WorkFolder, _progress: &dyn Progress) -> Result<NeuralModel> {
        unimplemented!()
    }
}

/// How to rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankOptions {
    /// Labels a document.
    pub top_k: usize,
    /// Nodes kept a level; the model's own where absent.
    pub beam: Option<usize>,
}

/// A trained neural system.
#[derive(Debug)]
pub struct NeuralModel;

impl NeuralModel {
    /// Opens the weights of a model folder.
    pub fn open(
        _folder: &ModelReader,
        _config: NeuralConfig,
        _num_labels: usize,
        _device: Device,
    ) -> Result<Self> {
        unimplemented!()
    }

    /// The best labels of each text, best first.
    pub fn rank(&self, _texts: &[&str], _options: RankOptions) -> Result<Vec<Vec<ScoredLabel>>> {
        unimplemented!()
    }

    /// The settings the model was trained with.
    pub fn config(&self) -> &NeuralConfig {
        unimplemented!()
    }

    /// Number of weights.
    pub fn num_parameters(&self) -> u64 {
        unimplemented!()
    }

    /// Where it computes.
    pub fn device(&self) -> Device {
        unimplemented!()
    }

    /// How much a label attends to each place of a text.
    pub fn attention(
        &self,
        _text: &str,
        _label: LabelId,
    ) -> Result<Option<Vec<(Range<usize>, f32)>>> {
        unimplemented!()
    }
}

/// What a model folder of a neural system is made of.
#[derive(Debug, Clone, Copy)]
pub struct NeuralParts<'a> {
    /// The settings.
    pub config: &'a NeuralConfig,
    /// The labels.
    pub space: &'a LabelSpace,
    /// Fields that the texts came from.
    pub text_fields: &'a [String],
    /// Number of training documents.
    pub num_documents: u64,
    /// How well the model does, and on which documents.
    pub evaluation: Option<(&'a Evaluation, &'a str)>,
}

impl NeuralParts<'_> {
    /// Sizes of the model.
    pub fn details(&self, _model: &NeuralModel) -> ModelDetails {
        unimplemented!()
    }

    /// Completes the model of `writer`.
    pub fn save(
        &self,
        _model: &NeuralModel,
        _work: &WorkFolder,
        _writer: ModelWriter,
    ) -> Result<()> {
        unimplemented!()
    }
}
