//! Documents, settings small enough for tests, and a way from both to a model folder.

use std::path::Path;
use std::sync::{LazyLock, Mutex};
use std::vec::IntoIter;

use plethora_catalogue::{Catalogue, CatalogueConfig};
use plethora_core::artifact::{ModelDetails, ModelReader, ModelWriter, save_label_space};
use plethora_core::corpus::{Content, Document, Label};
use plethora_core::{Progress, Result, ScoredLabel};
use plethora_neural::dense::Dense;
use plethora_neural::pretrained::PRETRAINED;
use plethora_neural::siamese::Siamese;
use plethora_system::settings::{Assignment, Settings};
use plethora_system::{
    Compute, Device, DocumentSource, DocumentStream, Precision, RankOptions, Registry, RunContext,
    Trained,
};
use tempfile::TempDir;

pub(crate) static REGISTRY: LazyLock<Registry> =
    LazyLock::new(|| Registry::new([&Dense as _, &PRETRAINED as _, &Siamese as _]));

/// A random BERT of three layers, which knows nothing.
pub(crate) const ENCODER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/encoder");

pub(crate) const OPTIONS: RankOptions = RankOptions {
    top_k: 5,
    beam: None,
};

pub(crate) const COMPUTE: Compute = Compute {
    device: Device::Cpu,
    precision: Precision::F32,
};

/// Documents in memory.
struct Stream(IntoIter<Document>);

pub(crate) struct Source(pub(crate) &'static str, pub(crate) Vec<Document>);

impl DocumentStream for Stream {
    fn next_document(&mut self) -> Result<Option<Document>> {
        Ok(self.0.next())
    }

    fn limit(&self) -> Option<u64> {
        None
    }

    fn labels(&self) -> &[Label] {
        &[]
    }

    fn num_features(&self) -> Option<usize> {
        None
    }
}

impl DocumentSource for Source {
    fn open(&self) -> Result<Box<dyn DocumentStream + '_>> {
        Ok(Box::new(Stream(self.1.clone().into_iter())))
    }

    fn path(&self) -> &Path {
        Path::new(self.0)
    }
}

/// Remembers the stages that were finished, and stops at one.
#[derive(Default)]
pub(crate) struct Told {
    pub(crate) stages: Mutex<Vec<String>>,
    pub(crate) stops_at: &'static str,
}

impl Told {
    pub(crate) fn has(&self, text: &str) -> bool {
        let stages = self.stages.lock().unwrap();
        stages.iter().any(|stage| stage.contains(text))
    }
}

impl Progress for Told {
    fn start(&self, stage: &str, _total: Option<u64>) {
        self.stages.lock().unwrap().push(stage.to_owned());
    }

    fn advance(&self, _steps: u64) {}

    fn finish(&self, summary: &str) {
        let mut stages = self.stages.lock().unwrap();
        let stage = stages.last_mut().unwrap();
        *stage = format!("{stage}: {summary}");
    }

    fn is_cancelled(&self) -> bool {
        let stages = self.stages.lock().unwrap();
        !self.stops_at.is_empty() && stages.iter().any(|stage| stage.starts_with(self.stops_at))
    }
}

pub(crate) fn documents(num_documents: u64) -> Vec<Document> {
    let config = CatalogueConfig {
        num_documents,
        ..CatalogueConfig::default()
    };
    let catalogue = Catalogue::new(config).unwrap();
    (catalogue.documents())
        .map(|record| Document {
            id: record.id,
            content: Content::Text(format!("{}\n{}", record.title, record.text)),
            labels: record.labels,
        })
        .collect()
}

/// The recipe of a system, made small, with these changes.
pub(crate) fn settings(system: &str, changes: &[&str]) -> Settings {
    let mut settings = REGISTRY.recipe(system).unwrap();
    let encoder = format!("encoder.folder={ENCODER}");
    let small = ["document.max_length=24", "train.precision=f32"];
    for change in [encoder.as_str()].iter().chain(&small).chain(changes) {
        settings
            .assign(&Assignment::parse(change, "--set").unwrap())
            .unwrap();
    }
    settings
}

/// A place for a model.
pub(crate) struct Place(pub(crate) TempDir);

/// What a run may have.
#[derive(Default, Clone, Copy)]
pub(crate) struct With<'a> {
    pub(crate) cache: Option<&'a Path>,
    pub(crate) valid: Option<&'a dyn DocumentSource>,
    pub(crate) resumes: bool,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    /// Trains `dense`.
    pub(crate) fn train(
        &self,
        changes: &[&str],
        num_documents: u64,
        with: With<'_>,
        told: &Told,
    ) -> Result<Trained> {
        self.train_system(&settings("dense", changes), num_documents, with, told)
    }

    pub(crate) fn train_system(
        &self,
        settings: &Settings,
        num_documents: u64,
        with: With<'_>,
        told: &Told,
    ) -> Result<Trained> {
        let output = self.0.path().join("model");
        let run = run(&output, with, told);
        let trainable = settings.config()?;
        trainable.check(&run)?;
        trainable.train(&mut Stream(documents(num_documents).into_iter()), &run)
    }

    /// Makes a model folder of what was trained.
    pub(crate) fn save(&self, system: &str, trained: &Trained) -> ModelReader {
        let output = self.0.path().join("model");
        let writer = ModelWriter::create(&output, false).unwrap();
        trained.ranker.save(&trained.work, &writer).unwrap();
        save_label_space(&trained.labels, &writer).unwrap();
        let details = ModelDetails {
            system: system.to_owned(),
            num_labels: trained.labels.len() as u64,
            num_documents: trained.num_documents,
            num_features: trained.num_features,
            takes_text: trained.takes_text,
            text_fields: Vec::new(),
        };
        writer.finish(system, details.to_json()).unwrap();
        ModelReader::open(&output).unwrap()
    }
}

/// The surroundings of a run that makes a model of this path.
pub(crate) fn run<'a>(output: &'a Path, with: With<'a>, told: &'a Told) -> RunContext<'a> {
    RunContext {
        compute: COMPUTE,
        epoch_share: 1.0,
        valid: with.valid,
        piece_cache: with.cache,
        encoder_cache: None,
        output,
        resumes: with.resumes,
        progress: told,
    }
}

pub(crate) fn ranked(trained: &Trained) -> Vec<Vec<ScoredLabel>> {
    let rankings = trained.ranker.rank(&documents(20), OPTIONS).unwrap();
    rankings.labels
}
