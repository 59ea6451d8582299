//! Documents, settings small enough for tests, and a way from both to a model.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use plethora_catalogue::{Catalogue, CatalogueConfig};
use plethora_core::artifact::{
    MappedArrays, ModelCard, ModelDetails, ModelReader, ModelWriter, WorkFolder, save_label_space,
};
use plethora_core::corpus::{Content, Document};
use plethora_core::{NoProgress, Progress, ScoredLabel};
use plethora_neural::pretrained::{
    CutsTexts, OpenPieceConfig, PRETRAINED, PieceConfig, PieceModel, PieceSet, PieceSetBuilder,
    PieceTrainer,
};
use plethora_neural::{NeuralModel as _, Result, ValidationDocuments};
use plethora_system::{Compute, Device, Family as _, Precision, RankOptions};
use tempfile::TempDir;
use toml::Value;

pub(crate) const OPTIONS: RankOptions = RankOptions {
    top_k: 5,
    beam: None,
};

/// A random BERT of three layers, which knows nothing.
pub(crate) const ENCODER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/encoder");

/// What makes a run short. Scores of the same weights are equal in 32 bits alone.
const SMALL: &str = r#"
encoder.layers = 2
encoder.pooling = "cls"
document.max_length = 24
head.bottleneck = 16
clusters.beam = 3
clusters.tree.max_leaf = 12
train.epochs = 2
train.batch_size = 32
train.learning_rate = 0.002
train.label_rate = 5.0
train.averaging_every = 2
train.precision = "f32"
"#;

pub(crate) fn documents(num_documents: u64) -> Vec<Document> {
    let catalogue = Catalogue::new(CatalogueConfig {
        num_documents,
        ..CatalogueConfig::default()
    })
    .unwrap();
    catalogue
        .documents()
        .map(|record| Document {
            id: record.id,
            content: Content::Text(format!("{}\n{}", record.title, record.text)),
            labels: record.labels,
        })
        .collect()
}

/// Texts to rank: some of documents, one without a word and one without an end.
pub(crate) fn texts() -> Vec<String> {
    documents(20)
        .iter()
        .map(|document| document.text().unwrap().to_owned())
        .chain([String::new(), "unheard of ".repeat(20_000)])
        .collect()
}

/// The recipe, made small, with further changes in lines of TOML.
pub(crate) fn small(changes: &str) -> OpenPieceConfig {
    let config = of_recipe(&format!("{SMALL}\n{changes}"));
    config.validate().unwrap();
    config
}

/// The recipe with changes in lines as `train.epochs = 2`, of which the last of a key counts.
pub(crate) fn of_recipe(changes: &str) -> OpenPieceConfig {
    of_system("lightxml", changes)
}

/// As [`of_recipe`], with the recipe of any system.
pub(crate) fn of_system(system: &str, changes: &str) -> OpenPieceConfig {
    let mut systems = PRETRAINED.systems().iter();
    let spec = systems.find(|spec| spec.name == system).unwrap();
    let config: OpenPieceConfig = toml::from_str(spec.recipe).unwrap();
    let mut settings = Value::try_from(&config).unwrap();
    settings["encoder"]["folder"] = ENCODER.into();
    for line in changes.lines().filter(|line| !line.trim().is_empty()) {
        let (key, value) = line.split_once(" = ").unwrap();
        let mut place = &mut settings;
        for name in key.trim().split('.') {
            place = place.get_mut(name).unwrap();
        }
        let parsed: toml::Table = toml::from_str(&format!("value = {value}")).unwrap();
        *place = parsed["value"].clone();
    }
    settings.try_into().unwrap()
}

pub(crate) fn set(config: &OpenPieceConfig) -> PieceSet {
    set_of(config, documents(300))
}

pub(crate) fn set_of(config: &OpenPieceConfig, documents: Vec<Document>) -> PieceSet {
    let mut builder = PieceSetBuilder::new(CutsTexts::new(config, None).unwrap());
    for document in documents {
        builder.add(document).unwrap();
    }
    builder.finish(&[]).unwrap()
}

/// The documents of [`set`], of which every twentieth is held back.
pub(crate) fn set_apart(config: &OpenPieceConfig) -> (PieceSet, ValidationDocuments) {
    let mut builder = PieceSetBuilder::new(CutsTexts::new(config, None).unwrap());
    for document in documents(300) {
        builder.add(document).unwrap();
    }
    let held: Vec<u32> = (0..300).step_by(20).collect();
    builder.end(&[]).unwrap().apart(&held).unwrap()
}

/// A run with a folder of its own.
pub(crate) struct Workshop<'a> {
    pub(crate) set: &'a PieceSet,
    pub(crate) open: OpenPieceConfig,
    pub(crate) config: PieceConfig,
    pub(crate) valid: Option<&'a ValidationDocuments>,
    folder: TempDir,
}

impl<'a> Workshop<'a> {
    pub(crate) fn new(set: &'a PieceSet, open: &OpenPieceConfig) -> Self {
        Self {
            set,
            open: open.clone(),
            config: set.settle(open, Device::Cpu).unwrap().config,
            valid: None,
            folder: TempDir::new().unwrap(),
        }
    }

    /// Trains, or resumes what an earlier run has left here.
    pub(crate) fn try_train(&self, progress: &dyn Progress) -> Result<(PieceModel, WorkFolder)> {
        let trainer = PieceTrainer {
            set: self.set,
            valid: self.valid,
            config: &self.config,
            device: Device::Cpu,
        };
        let target = self.folder.path().join("model");
        let fingerprint = self.set.fingerprint(&self.open, self.valid)?;
        let work = WorkFolder::open(&target, &fingerprint, true)?;
        Ok((trainer.run(&work, progress)?, work))
    }

    pub(crate) fn train(&self) -> (PieceModel, WorkFolder) {
        self.try_train(&NoProgress).unwrap()
    }

    /// The model as a folder.
    pub(crate) fn save(&self, model: &PieceModel, work: &WorkFolder) -> ModelReader {
        let target = self.folder.path().join("model");
        let writer = ModelWriter::create(&target, true).unwrap();
        model.save(work, &writer).unwrap();
        save_label_space(&self.set.space, &writer).unwrap();
        let details = ModelDetails {
            system: self.config.system.clone(),
            num_labels: self.set.space.len() as u64,
            num_documents: self.set.texts.rows.num_rows() as u64,
            num_features: model.reader().pieces.vocab_size() as u64,
            takes_text: true,
            text_fields: Vec::new(),
        };
        ModelCard::new(&details, None).save(&writer).unwrap();
        writer
            .finish(&self.config.system, details.to_json())
            .unwrap();
        ModelReader::open(&target).unwrap()
    }

    pub(crate) fn open(&self, reader: &ModelReader, precision: Precision) -> PieceModel {
        let compute = Compute {
            device: Device::Cpu,
            precision,
        };
        PieceModel::open(reader, self.set.space.len(), compute).unwrap()
    }
}

/// Trains with other settings of the same documents, and ranks.
pub(crate) fn rankings_of(set: &PieceSet, config: &OpenPieceConfig) -> Vec<Vec<ScoredLabel>> {
    rank(&Workshop::new(set, config).train().0)
}

pub(crate) fn rank(model: &PieceModel) -> Vec<Vec<ScoredLabel>> {
    model.rank_texts(&texts(), OPTIONS).unwrap()
}

/// Every array of a file of weights.
pub(crate) fn arrays(path: &Path) -> BTreeMap<String, Vec<f32>> {
    let file = MappedArrays::open(path).unwrap();
    let read = |name: &str| Some((name.to_owned(), file.array::<f32>(name).ok()?.to_vec()));
    file.names().filter_map(read).collect()
}

/// The largest difference of scores at equal places of rankings.
pub(crate) fn distance(found: &[Vec<ScoredLabel>], expected: &[Vec<ScoredLabel>]) -> f32 {
    assert_eq!(found.len(), expected.len());
    let mut largest = 0.0_f32;
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            largest = largest.max((found.score - expected.score).abs());
        }
    }
    largest
}

/// Stops a run after some steps, and remembers how stages ended.
pub(crate) struct Watch {
    steps_left: AtomicU64,
    pub(crate) ends: Mutex<Vec<String>>,
}

impl Watch {
    pub(crate) fn stopping_after(steps: u64) -> Self {
        Self {
            steps_left: AtomicU64::new(steps),
            ends: Mutex::default(),
        }
    }
}

impl Progress for Watch {
    fn start(&self, _stage: &str, _total: Option<u64>) {}

    fn advance(&self, steps: u64) {
        let left = self.steps_left.load(Ordering::Relaxed);
        self.steps_left
            .store(left.saturating_sub(steps), Ordering::Relaxed);
    }

    fn finish(&self, summary: &str) {
        self.ends.lock().unwrap().push(summary.to_owned());
    }

    fn is_cancelled(&self) -> bool {
        self.steps_left.load(Ordering::Relaxed) == 0
    }
}
