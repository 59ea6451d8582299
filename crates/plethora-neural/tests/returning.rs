//! Documents that are held back to choose by, and that return: for every family that does so.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::vec::IntoIter;

use plethora_catalogue::{Catalogue, CatalogueConfig};
use plethora_core::artifact::{MappedArrays, ModelWriter, WorkFolder};
use plethora_core::corpus::{Content, Document, Label};
use plethora_core::neighbours::KnownDocuments;
use plethora_core::{Error, NoProgress, Progress, Result, ScoredLabel};
use plethora_neural::pretrained::PRETRAINED;
use plethora_neural::siamese::Siamese;
use plethora_neural::treader::TREADER;
use plethora_neural::words::WORDS;
use plethora_system::settings::{Assignment, Settings};
use plethora_system::{
    Compute, Device, DocumentStream, Precision, RankOptions, Registry, RunContext, Trained,
    TrainingSize,
};
use serde_json::Value;
use tempfile::TempDir;

static REGISTRY: LazyLock<Registry> =
    LazyLock::new(|| Registry::new([&WORDS as _, &TREADER as _, &PRETRAINED as _, &Siamese as _]));

/// A random BERT of three layers, which knows nothing.
const ENCODER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/encoder");

const NUM_DOCUMENTS: usize = 240;

/// Every choice that the number of documents has an influence on is made.
const WORDS_SMALL: &[&str] = &[
    "words.max_length=30",
    "vectors.width=12",
    "vectors.start=random",
    "train.batch_size=32",
    "train.learning_rate=0.01",
];

const PIECES_SMALL: &[&str] = &[
    "encoder.layers=2",
    "document.max_length=16",
    "train.batch_size=32",
    "train.learning_rate=0.002",
    "train.label_rate=5",
    "train.precision=f32",
];

/// Systems of all families, with settings that make them small.
fn systems() -> Vec<(&'static str, Vec<&'static str>)> {
    let with = |all: &[&'static str], more: &[&'static str]| [all, more].concat();
    vec![
        (
            "attentionxml",
            with(WORDS_SMALL, &["encoder.hidden=8", "head.layers=[8]"]),
        ),
        (
            "attentionxml-plt",
            with(
                WORDS_SMALL,
                &[
                    "encoder.hidden=8",
                    "head.layers=[8]",
                    "plt.lower_epochs=1",
                    "plt.tree.branching=4",
                    "plt.tree.max_leaf=40",
                    "plt.num_trees=1",
                    "plt.beam=5",
                ],
            ),
        ),
        (
            "treaderxml",
            with(
                WORDS_SMALL,
                &[
                    "teacher.read=true",
                    "teacher.mixed=false",
                    "neighbours.limit=8",
                    "head.bottleneck=16",
                ],
            ),
        ),
        ("lightxml", with(PIECES_SMALL, &["head.form=flat"])),
        (
            "lightxml",
            with(
                PIECES_SMALL,
                &[
                    "head.form=clustered",
                    "head.clusters_by=words",
                    "head.bottleneck=16",
                    "clusters.beam=3",
                    "clusters.tree.max_leaf=12",
                    "clusters.num_clusterings=2",
                ],
            ),
        ),
        (
            "siamese",
            vec![
                "document.max_length=16",
                "train.precision=f32",
                "train.batch_size=32",
                "train.learning_rate=0.001",
                "train.label_rate=10",
                "labels.centroid=1.0",
                "encoder.trained=false",
            ],
        ),
        (
            "siamese",
            vec![
                "document.max_length=16",
                "train.precision=f32",
                "train.batch_size=32",
                "train.learning_rate=0.001",
                "train.label_rate=10",
                "labels.centroid=1.0",
                "encoder.trained=true",
            ],
        ),
    ]
}

fn settings(system: &str, changes: &[&str]) -> Settings {
    let mut settings = REGISTRY.recipe(system).unwrap();
    let encoder = format!("encoder.folder={ENCODER}");
    if settings.get("encoder.folder").is_some() {
        let encoder = Assignment::parse(&encoder, "--set").unwrap();
        settings.assign(&encoder).unwrap();
    }
    for change in changes {
        let change = Assignment::parse(change, "--set").unwrap();
        settings.assign(&change).unwrap();
    }
    settings
}

struct Stream(IntoIter<Document>);

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

fn documents() -> Vec<Document> {
    let config = CatalogueConfig {
        num_documents: NUM_DOCUMENTS as u64,
        ..CatalogueConfig::default()
    };
    let catalogue = Catalogue::new(config).unwrap();
    (catalogue.documents())
        .map(|record| Document {
            id: record.id,
            content: Content::Text(record.title),
            labels: record.labels,
        })
        .collect()
}

/// Stops a run after so many signs of life.
struct Stop(AtomicU64);

impl Stop {
    fn after(signs: u64) -> Self {
        Self(AtomicU64::new(signs))
    }
}

impl Progress for Stop {
    fn start(&self, _stage: &str, _total: Option<u64>) {}

    fn advance(&self, _steps: u64) {
        let left = self.0.load(Ordering::Relaxed);
        self.0.store(left.saturating_sub(1), Ordering::Relaxed);
    }

    fn finish(&self, _summary: &str) {}

    fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }
}

fn train_in(
    folder: &Path,
    (system, changes): (&str, &[&str]),
    progress: &dyn Progress,
) -> Result<Trained> {
    let run = RunContext {
        compute: Compute {
            device: Device::Cpu,
            precision: Precision::F32,
        },
        epoch_share: 1.0,
        valid: None,
        piece_cache: None,
        encoder_cache: None,
        output: &folder.join("model"),
        resumes: true,
        progress,
    };
    let trainable = settings(system, changes).config().unwrap();
    trainable.train(&mut Stream(documents().into_iter()), &run)
}

fn rank(trained: &Trained) -> Vec<Vec<ScoredLabel>> {
    let options = RankOptions {
        top_k: 8,
        beam: None,
    };
    trained
        .ranker
        .rank(&documents()[..30], options)
        .unwrap()
        .labels
}

fn train(system: &str, changes: &[&str]) -> (Trained, TempDir) {
    let folder = TempDir::new().unwrap();
    let trained = train_in(folder.path(), (system, changes), &NoProgress).unwrap();
    (trained, folder)
}

fn log(work: &WorkFolder) -> Vec<Value> {
    let text = std::fs::read_to_string(work.path("metrics.jsonl")).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Where held-back documents can choose nothing, what comes out is what training on all of them gives: words,
/// groups of labels, log-odds and neighbours are of all of them, and training begins anew.
#[test]
fn documents_that_return_leave_no_trace_of_having_been_away() {
    for (system, small) in systems() {
        let with = |more: &[&'static str]| {
            let one_epoch = ["train.epochs=1"];
            train(system, &[&small[..], &one_epoch, more].concat()).0
        };
        let returned = with(&["train.valid_share=0.1"]);
        let whole = with(&["train.valid_share=0"]);
        assert_eq!(rank(&returned), rank(&whole), "{system}");
        assert_eq!(returned.num_features, whole.num_features, "{system}");
        assert_eq!(returned.num_documents, NUM_DOCUMENTS as u64);
        assert_eq!(returned.labels.train_counts(), whole.labels.train_counts());
        let away = with(&["train.valid_share=0.1", "train.return_held_back=false"]);
        assert_ne!(rank(&away), rank(&whole), "{system}");
    }
}

#[test]
fn a_run_stopped_in_either_training_ends_as_one_that_was_not() {
    for (system, small) in systems() {
        let changes = [&small[..], &["train.epochs=2", "train.valid_share=0.1"]].concat();
        let expected = rank(&train(system, &changes).0);
        let folder = TempDir::new().unwrap();
        let mut num_stops = 0;
        for signs in [3, 11, 12, 13, 9, 11] {
            match train_in(folder.path(), (system, &changes), &Stop::after(signs)) {
                Err(Error::Interrupted) => num_stops += 1,
                Ok(_) => break,
                Err(error) => panic!("{system}: {error}"),
            }
        }
        assert!(num_stops >= 2, "{system}: {num_stops}");
        let resumed = train_in(folder.path(), (system, &changes), &NoProgress).unwrap();
        assert_eq!(rank(&resumed), expected, "{system}");
    }
}

/// Steps far too long, so that the last weights are not the best.
const WILD: &[&str] = &[
    "head.form=flat",
    "train.epochs=4",
    "train.learning_rate=0.05",
    "train.schedule=constant",
    "train.averaging=none",
    "train.patience=0",
    "train.valid_share=0.1",
];

#[test]
fn training_with_all_documents_takes_as_long_as_those_held_back_have_chosen() {
    let changes = [PIECES_SMALL, WILD].concat();
    let (trained, _folder) = train("lightxml", &changes);
    let log = log(&trained.work);
    let scores: Vec<f64> = log
        .iter()
        .filter_map(|record| record["valid/nDCG@5"].as_f64())
        .collect();
    assert_eq!(scores.len(), 4, "{log:?}");
    let best = (0..4).fold(0, |best, epoch| {
        if scores[epoch] > scores[best] {
            epoch
        } else {
            best
        }
    });
    assert!(best < 3, "the last weights are the best: {scores:?}");
    let last = log.last().unwrap();
    assert!(last["all/loss"].is_number(), "{last}");
    // Behind the four epochs of the first training.
    assert_eq!(last["epoch"], 4.0 + (best + 1) as f64, "{last}");
    assert!(
        !log.iter()
            .any(|record| record["all/valid/nDCG@5"].is_number())
    );
}

#[test]
fn every_document_is_known_in_the_end_and_the_mixture_stays_that_of_held_back_ones() {
    let small = [WORDS_SMALL, &["train.epochs=1", "head.bottleneck=16"]].concat();
    let mixture_of = |changes: &[&str]| {
        let (trained, folder) = train("treaderxml", &[&small[..], changes].concat());
        let path = trained.work.path("documents.safetensors");
        let known = KnownDocuments::open(&path, trained.labels.len())
            .unwrap()
            .len();
        let writer = ModelWriter::create(&folder.path().join("saved"), false).unwrap();
        trained.ranker.save(&trained.work, &writer).unwrap();
        let arrays = MappedArrays::open(&writer.path("network.safetensors")).unwrap();
        let mixture = arrays.array::<f32>("teacher.mixture").unwrap().to_vec();
        (known, mixture)
    };
    let (all, returned) = mixture_of(&["train.valid_share=0.2"]);
    assert_eq!(all, NUM_DOCUMENTS);
    let (some, away) = mixture_of(&["train.valid_share=0.2", "train.return_held_back=false"]);
    assert_eq!(some, NUM_DOCUMENTS * 4 / 5);
    assert_eq!(returned, away);
    let (_, unfitted) = mixture_of(&["train.valid_share=0"]);
    assert_ne!(returned, unfitted);
}

#[test]
fn training_twice_is_estimated_as_such() {
    let size = TrainingSize {
        num_documents: 40_000,
        num_entries: 40_000 * 100,
        num_features: 80_000,
        num_labels: 4000,
        num_assignments: 200_000,
    };
    for system in [
        "attentionxml",
        "treaderxml",
        "lightxml",
        "aplc-xlnet",
        "siamese",
    ] {
        let seconds = |returns: &str| {
            let changes = ["train.valid_share=0.05", "train.valid_max=1000", returns];
            let trainable = settings(system, &changes).config().unwrap();
            trainable.estimate(&size).cpu_seconds
        };
        let once = seconds("train.return_held_back=false");
        let twice = seconds("train.return_held_back=true");
        let ratio = twice / once;
        // Siamese encodes documents once.
        let range = if system == "siamese" {
            1.05..2.1
        } else {
            2.0..2.1
        };
        assert!(range.contains(&ratio), "{system}: {ratio}");
    }
}
