//! The families of words and of TReaderXML as a job knows them: settings, training with a run's documents,
//! saving, opening, explaining.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex};

use plethora_catalogue::{Catalogue, CatalogueConfig};
use plethora_core::artifact::{ModelDetails, ModelReader, ModelWriter, save_label_space};
use plethora_core::corpus::{Content, Document, Label};
use plethora_core::{Progress, Result, SparseVector};
use plethora_neural::treader::TREADER;
use plethora_neural::words::WORDS;
use plethora_system::settings::{AssignedValue, Assignment, Settings};
use plethora_system::{
    Compute, DocumentSource, DocumentStream, Effort, Method, RankOptions, Registry, RunContext,
    Trained,
};
use tempfile::TempDir;

static REGISTRY: LazyLock<Registry> = LazyLock::new(|| Registry::new([&WORDS as _, &TREADER as _]));

const OPTIONS: RankOptions = RankOptions {
    top_k: 5,
    beam: None,
};

/// Documents in memory.
struct Corpus {
    documents: Vec<Document>,
    path: PathBuf,
}

struct Stream<'a>(std::slice::Iter<'a, Document>);

impl DocumentStream for Stream<'_> {
    fn next_document(&mut self) -> Result<Option<Document>> {
        Ok(self.0.next().cloned())
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

impl DocumentSource for Corpus {
    fn open(&self) -> Result<Box<dyn DocumentStream + '_>> {
        Ok(Box::new(Stream(self.documents.iter())))
    }

    fn path(&self) -> &Path {
        &self.path
    }
}

/// Remembers the stages that were finished.
#[derive(Default)]
struct Told(Mutex<Vec<String>>);

impl Progress for Told {
    fn start(&self, stage: &str, _total: Option<u64>) {
        self.0.lock().unwrap().push(stage.to_owned());
    }

    fn advance(&self, _steps: u64) {}

    fn finish(&self, summary: &str) {
        let mut told = self.0.lock().unwrap();
        let stage = told.last_mut().unwrap();
        *stage = format!("{stage}: {summary}");
    }

    fn is_cancelled(&self) -> bool {
        false
    }
}

fn corpus() -> Corpus {
    let config = CatalogueConfig {
        num_documents: 240,
        ..CatalogueConfig::default()
    };
    let documents = Catalogue::new(config).unwrap();
    let documents = documents.documents().map(|record| Document {
        id: record.id,
        content: Content::Text(format!("{}\n{}", record.title, record.text)),
        labels: record.labels,
    });
    Corpus {
        documents: documents.collect(),
        path: "books.jsonl".into(),
    }
}

fn small(system: &str, changes: &[(&str, &str)]) -> Settings {
    let mut settings = REGISTRY.recipe(system).unwrap();
    let always = [
        ("words.max_length", "40"),
        ("vectors.width", "12"),
        ("vectors.start", "random"),
        ("train.epochs", "4"),
    ];
    for (key, value) in always.iter().chain(changes) {
        let assignment = Assignment {
            key: (*key).to_owned(),
            value: AssignedValue::Text((*value).to_owned()),
            origin: "--set".to_owned(),
        };
        settings.assign(&assignment).unwrap();
    }
    settings
}

fn run<'a>(
    output: &'a Path,
    valid: Option<&'a dyn DocumentSource>,
    progress: &'a dyn Progress,
) -> RunContext<'a> {
    RunContext {
        compute: Compute::default(),
        epoch_share: 0.5,
        valid,
        piece_cache: None,
        encoder_cache: None,
        output,
        resumes: false,
        progress,
    }
}

fn save(trained: &Trained, system: &str, target: &Path) {
    let writer = ModelWriter::create(target, false).unwrap();
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
}

/// Trains with validation documents, saves and opens; gives what was told.
fn goes_all_the_way(settings: &Settings) -> Vec<String> {
    let corpus = corpus();
    let valid = Corpus {
        documents: corpus.documents[..30].to_vec(),
        path: "valid.jsonl".into(),
    };
    let folder = TempDir::new().unwrap();
    let target = folder.path().join("model");
    let told = Told::default();
    let run = run(&target, Some(&valid), &told);
    let config = settings.config().unwrap();
    assert_eq!(config.effort(), Effort::Epochs(Some(4)));
    config.check(&run).unwrap();
    let mut documents = Stream(corpus.documents.iter());
    let trained = config.train(&mut documents, &run).unwrap();
    let stages: Vec<&str> = trained.stages.iter().map(|(stage, _)| stage).collect();
    assert_eq!(stages, ["reading", "tokenising", "training"]);
    assert_eq!(trained.num_documents, 240);
    let facts = &trained.facts.values;
    assert_eq!(facts["reads"], "words");
    assert_eq!(facts["n_words"], trained.num_features);
    assert_eq!(facts["device"], "cpu");
    let rankings = trained
        .ranker
        .rank(&corpus.documents[..9], OPTIONS)
        .unwrap();
    save(&trained, settings.system(), &target);
    let predictor = REGISTRY.open(&target).unwrap();
    let opened = predictor.rank(&corpus.documents[..9], OPTIONS).unwrap();
    assert_eq!(opened, rankings.labels);
    let model = ModelReader::open(&target).unwrap();
    let num_parameters = REGISTRY.num_parameters(&model).unwrap();
    assert_eq!(facts["n_parameters"], num_parameters.unwrap());
    let saved: serde_json::Value = model.read_json("config.json").unwrap();
    assert_eq!(saved["train"]["epochs"], 2, "half of the epochs");
    let text = corpus.documents[0].text().unwrap();
    let best = opened[0][0];
    let found = predictor.explain(text, best.label).unwrap();
    assert!((found.score - best.score).abs() < 1e-5 && !found.spans.is_empty());
    let votes = found.method == Method::Neighbours;
    assert_eq!(votes, !found.neighbours.is_empty());
    let mut features = corpus.documents[0].clone();
    features.content = Content::Features(SparseVector::default());
    let error = predictor
        .rank(&[features], OPTIONS)
        .unwrap_err()
        .to_string();
    assert!(error.contains("has features, but the model was trained on texts"));
    told.0.into_inner().unwrap()
}

#[test]
fn words_are_trained_saved_opened_and_explained() {
    let changes = [("encoder.hidden", "8"), ("head.layers", "8")];
    let told = goes_all_the_way(&small("attentionxml", &changes));
    let is_told = |start: &str| told.iter().any(|line| line.starts_with(start));
    assert!(is_told("reading: 240 documents, "), "{told:?}");
    assert!(is_told("reading validation: 30 documents"), "{told:?}");
    assert!(is_told("settings: batches of 16 documents"), "{told:?}");
}

#[test]
fn treaderxml_is_trained_saved_opened_and_explained() {
    let changes = [("head.bottleneck", "16"), ("train.batch_size", "32")];
    let told = goes_all_the_way(&small("treaderxml", &changes));
    let is_told = |start: &str| told.iter().any(|line| line.starts_with(start));
    assert!(is_told("index: 240 documents"), "{told:?}");
    assert!(!is_told("settings"), "{told:?}");
}

#[test]
fn what_is_missing_shows_before_anything_is_read() {
    let folder = TempDir::new().unwrap();
    let progress = Told::default();
    let from_standard_input = Corpus {
        documents: Vec::new(),
        path: "-".into(),
    };
    for system in ["xml-cnn", "treaderxml"] {
        let valid: Option<&dyn DocumentSource> = Some(&from_standard_input);
        let run_of = |valid| run(folder.path(), valid, &progress);
        let config = small(system, &[]).config().unwrap();
        let error = config.check(&run_of(valid)).unwrap_err().to_string();
        assert!(error.starts_with("valid: must be a file"), "{error}");
        let config = small(system, &[("vectors.file", "/nowhere/glove.txt")]);
        let error = config.config().unwrap().check(&run_of(None));
        let message = error.unwrap_err().to_string();
        assert!(message.contains("/nowhere/glove.txt"), "{message}");
    }
}
