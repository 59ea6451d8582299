//! TReaderXML on a small catalogue: training, ranking, saving, resuming, and what its teacher may know.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::atomic::{AtomicU64, Ordering};

use plethora_catalogue::{Catalogue, CatalogueConfig};
use plethora_core::artifact::{ModelReader, ModelWriter, WorkFolder};
use plethora_core::corpus::{Content, Document, Label};
use plethora_core::neighbours::KnownDocuments;
use plethora_core::{NoProgress, Progress, ScoredLabel};
use plethora_neural::train::Averaging;
use plethora_neural::treader::{
    Descriptions, LabelStart, NeighbourVectors, TREADER, TReaderConfig, TReaderForm, TReaderModel,
    TReaderReader, TReaderSet, TReaderSetBuilder, TReaderTrainer, TeacherTokens,
};
use plethora_neural::{NeuralModel as _, ValidationDocuments};
use plethora_system::settings::Auto;
use plethora_system::{Device, Family as _, Method, RankOptions};
use tempfile::TempDir;

const OPTIONS: RankOptions = RankOptions {
    top_k: 5,
    beam: None,
};

fn catalogue(num_documents: u64) -> (Vec<Document>, Vec<Label>) {
    let catalogue = Catalogue::new(CatalogueConfig {
        num_documents,
        ..CatalogueConfig::default()
    })
    .unwrap();
    let labels = catalogue.labels().collect();
    let documents = catalogue.documents().map(|record| Document {
        id: record.id,
        content: Content::Text(format!("{}\n{}", record.title, record.text)),
        labels: record.labels,
    });
    (documents.collect(), labels)
}

/// The system made small enough for a test.
fn small() -> TReaderConfig {
    let mut config = TReaderConfig::of_system("treaderxml").unwrap();
    config.words.max_length = 60;
    config.vectors.width = 16;
    config.teacher.read = true;
    config.neighbours.limit = 8;
    config.head.bottleneck = 24;
    config.train.epochs = 2;
    config.train.batch_size = 32;
    config.train.learning_rate = 0.01;
    config
}

fn set_of(config: &TReaderConfig, documents: &[Document], labels: &[Label]) -> TReaderSet {
    let mut builder = TReaderSetBuilder::new(TReaderReader::new(config).unwrap());
    for document in documents {
        builder.add(document.clone()).unwrap();
    }
    builder.finish(labels).unwrap()
}

/// The same with every fifth document held back.
fn set_apart(
    config: &TReaderConfig,
    documents: &[Document],
    labels: &[Label],
) -> (TReaderSet, ValidationDocuments) {
    let mut builder = TReaderSetBuilder::new(TReaderReader::new(config).unwrap());
    for document in documents {
        builder.add(document.clone()).unwrap();
    }
    let held: Vec<u32> = (0..documents.len() as u32).step_by(5).collect();
    builder.end(labels).unwrap().apart(&held).unwrap()
}

/// Trains on the documents of a set, or resumes what the folder has.
fn train_with(
    set: &TReaderSet,
    config: &TReaderConfig,
    folder: &TempDir,
    progress: &dyn Progress,
) -> (plethora_neural::Result<TReaderModel>, WorkFolder) {
    train_validated((set, None), config, folder, progress)
}

/// As [`train_with`], validated by some documents.
fn train_validated(
    (set, valid): (&TReaderSet, Option<&ValidationDocuments>),
    config: &TReaderConfig,
    folder: &TempDir,
    progress: &dyn Progress,
) -> (plethora_neural::Result<TReaderModel>, WorkFolder) {
    let trainer = TReaderTrainer {
        set,
        valid,
        config,
        device: Device::Cpu,
    };
    let target = folder.path().join("model");
    let work = WorkFolder::open(&target, &set.fingerprint(config, None).unwrap(), true).unwrap();
    (trainer.run(&work, progress), work)
}

fn train(set: &TReaderSet, config: &TReaderConfig, folder: &TempDir) -> (TReaderModel, WorkFolder) {
    let (model, work) = train_with(set, config, folder, &NoProgress);
    (model.unwrap(), work)
}

fn texts(documents: &[Document]) -> Vec<String> {
    let some = documents.iter().take(20);
    some.map(|document| document.text().unwrap().to_owned())
        .chain([String::new(), "unknownword ".repeat(100_000)])
        .collect()
}

fn assert_close(found: &[Vec<ScoredLabel>], expected: &[Vec<ScoredLabel>]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!((found.score - expected.score).abs() < 1e-5);
        }
    }
}

fn trains_ranks_and_comes_back(config: &TReaderConfig) {
    config.validate().unwrap();
    let (documents, labels) = catalogue(260);
    let set = set_of(config, &documents, &labels);
    let folder = TempDir::new().unwrap();
    let (model, work) = train(&set, config, &folder);
    let texts = texts(&documents);
    let rankings = model.rank_texts(&texts, OPTIONS).unwrap();
    for ranking in &rankings {
        assert_eq!(ranking.len(), 5);
        assert!(ranking.is_sorted_by(|left, right| left.score >= right.score));
        assert!(ranking.iter().all(|one| (0.0..=1.0).contains(&one.score)));
    }
    let alone: Vec<Vec<ScoredLabel>> = texts
        .iter()
        .map(|text| model.rank_texts(&[text], OPTIONS).unwrap().remove(0))
        .collect();
    assert_close(&alone, &rankings);

    let target = folder.path().join("model");
    let writer = ModelWriter::create(&target, false).unwrap();
    model.save(&work, &writer).unwrap();
    writer.finish("treaderxml", serde_json::json!({})).unwrap();
    work.remove().unwrap();
    let reader = ModelReader::open(&target).unwrap();
    let opened = TReaderModel::open(&reader, set.space.len(), Device::Cpu).unwrap();
    let num_parameters = TREADER.num_parameters(&reader).unwrap();
    assert_eq!(num_parameters, Some(opened.num_parameters()));
    assert_eq!(opened.rank_texts(&texts, OPTIONS).unwrap(), rankings);
    let best = rankings[0][0];
    let found = opened.explain_text(&texts[0], best.label).unwrap();
    assert!((found.score - best.score).abs() < 1e-5);
    assert_eq!(!found.neighbours.is_empty(), config.teacher.used);
    if config.teacher.used {
        assert_eq!(found.network_score.is_some(), config.teacher.mixed);
    } else {
        assert_eq!(found.method, Method::Gradient);
        assert!(found.spans.iter().any(|span| span.weight != 0.0));
    }
}

#[test]
fn it_trains_ranks_and_comes_back_from_its_folder() {
    trains_ranks_and_comes_back(&small());
}

#[test]
fn labels_may_be_learnt_chunk_by_chunk() {
    let mut config = small();
    config.head.form = TReaderForm::Exact;
    config.train.label_chunk = 50;
    trains_ranks_and_comes_back(&config);
}

#[test]
fn documents_may_be_compared_by_their_words_vectors_as_in_the_paper() {
    let mut config = small();
    config.neighbours.by = NeighbourVectors::Mean;
    config.teacher.tokens = TeacherTokens::Positions;
    config.teacher.own_scores = false;
    config.teacher.label_words = 3;
    trains_ranks_and_comes_back(&config);
}

#[test]
fn the_text_can_stand_alone() {
    let mut config = small();
    config.teacher.used = false;
    trains_ranks_and_comes_back(&config);
}

#[test]
fn a_masked_attention_may_join_the_sides_and_labels_be_read_by_their_documents() {
    let mut config = small();
    config.interaction.cross = false;
    config.interaction.masked = true;
    config.teacher.descriptions = Descriptions::Documents;
    config.teacher.label_vectors = false;
    config.head.start = LabelStart::Random;
    trains_ranks_and_comes_back(&config);
}

#[test]
fn the_power_of_votes_is_chosen_and_kept() {
    let mut config = small();
    config.neighbours.power = Auto::Auto;
    config.train.epochs = 1;
    let (documents, labels) = catalogue(260);
    let set = set_of(&config, &documents, &labels);
    let (chosen, _) = train(&set, &config, &TempDir::new().unwrap());
    let power = chosen.config().neighbours.power;
    assert!(!power.is_auto());
    let rank = |model: &TReaderModel| model.rank_texts(&texts(&documents), OPTIONS).unwrap();
    let mut set_to = |power: Auto<f32>| {
        config.neighbours.power = power;
        train(&set, &config, &TempDir::new().unwrap()).0
    };
    assert_eq!(rank(&set_to(power)), rank(&chosen));
    assert_ne!(rank(&set_to(40.0.into())), rank(&chosen));
}

/// Learns fast, so that it soon stops getting better, and then more slowly.
fn decaying() -> TReaderConfig {
    let mut config = small();
    config.train.learning_rate = 0.02;
    config.train.epochs = 2;
    config.train.patience = 1;
    config.train.averaging = Averaging::None;
    config.decay.rounds = 2;
    config
}

#[test]
fn lower_learning_rates_follow_once_weights_stop_getting_better() {
    let config = decaying();
    let (documents, labels) = catalogue(260);
    let (set, held) = set_apart(&config, &documents, &labels);
    let both = (&set, Some(&held));
    let train = |config: &TReaderConfig, folder: &TempDir| {
        let (model, work) = train_validated(both, config, folder, &NoProgress);
        (model.unwrap(), work)
    };
    let folder = TempDir::new().unwrap();
    let (model, work) = train(&config, &folder);
    let log = std::fs::read_to_string(work.folder().join("metrics.jsonl")).unwrap();
    for stage in ["network/", "decay-1/", "decay-2/"] {
        assert!(log.contains(stage), "{stage} is not in {log}");
    }
    let ranked = |model: &TReaderModel| model.rank_texts(&texts(&documents), OPTIONS).unwrap();
    let expected = ranked(&model);
    let mut once = config.clone();
    once.decay.rounds = 0;
    let (once, _) = train(&once, &TempDir::new().unwrap());
    assert_ne!(ranked(&once), expected, "the rounds changed nothing");

    // In the first training, and in the rounds.
    for signs in [9, 14, 20] {
        let folder = TempDir::new().unwrap();
        let progress = StopAfter(AtomicU64::new(signs));
        let (stopped, work) = train_validated(both, &config, &folder, &progress);
        if stopped.is_err() {
            drop(work);
            let (resumed, _) = train(&config, &folder);
            assert_eq!(ranked(&resumed), expected, "{signs}");
        }
    }
}

/// Asks to stop after so many signs of life.
struct StopAfter(AtomicU64);

impl Progress for StopAfter {
    fn start(&self, _stage: &str, _total: Option<u64>) {}
    fn advance(&self, _steps: u64) {
        let _ = (self.0).fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
            left.checked_sub(1)
        });
    }
    fn finish(&self, _summary: &str) {}
    fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::SeqCst) == 0
    }
}

#[test]
fn a_run_that_is_gone_on_with_ends_as_one_that_was_not_interrupted() {
    let config = small();
    let (documents, labels) = catalogue(260);
    let set = set_of(&config, &documents, &labels);
    let texts = texts(&documents);
    let (whole, _) = train(&set, &config, &TempDir::new().unwrap());
    let expected = whole.rank_texts(&texts, OPTIONS).unwrap();
    // While neighbours are looked for, then in the midst of training.
    for signs in [1, 7] {
        let folder = TempDir::new().unwrap();
        let progress = StopAfter(AtomicU64::new(signs));
        let (stopped, work) = train_with(&set, &config, &folder, &progress);
        let message = stopped.unwrap_err().to_string();
        assert_eq!(message, "interrupted");
        drop(work);
        let (resumed, _) = train(&set, &config, &folder);
        assert_eq!(resumed.rank_texts(&texts, OPTIONS).unwrap(), expected);
    }
}

#[test]
fn documents_held_back_for_validation_are_not_in_the_index() {
    let mut config = small();
    config.train.epochs = 1;
    let (documents, labels) = catalogue(300);
    let (set, held) = set_apart(&config, &documents, &labels);
    let folder = TempDir::new().unwrap();
    let (model, work) = train_validated((&set, Some(&held)), &config, &folder, &NoProgress);
    model.unwrap();
    let path = work.path("documents.safetensors");
    let known = KnownDocuments::open(&path, set.space.len()).unwrap();
    assert_eq!(known.len(), 240);
    assert!((0..240).all(|place| known.id(place) != documents[5].id));
}

/// Share of the five best labels that are true.
fn precision(model: &TReaderModel, set: &TReaderSet, documents: &[Document]) -> f64 {
    let texts: Vec<&str> = documents
        .iter()
        .map(|document| document.text().unwrap())
        .collect();
    let rankings = model.rank_texts(&texts, OPTIONS).unwrap();
    let mut hits = 0;
    for (ranking, document) in rankings.iter().zip(documents) {
        let is_true = |one: &&ScoredLabel| {
            let key = &set.space.label(one.label).key;
            document.labels.contains(key)
        };
        hits += ranking.iter().filter(is_true).count();
    }
    hits as f64 / (5 * documents.len()) as f64
}

#[test]
fn the_teacher_is_worth_its_keep() {
    let (mut documents, labels) = catalogue(900);
    let test = documents.split_off(750);
    let mut found = Vec::new();
    for used in [true, false] {
        let mut config = small();
        config.teacher.used = used;
        config.vectors.width = 32;
        config.train.epochs = 6;
        let set = set_of(&config, &documents, &labels);
        let (model, _) = train(&set, &config, &TempDir::new().unwrap());
        found.push(precision(&model, &set, &test));
    }
    assert!(
        found[0] > found[1] + 0.02,
        "P@5 with and without: {found:?}"
    );
}

#[test]
fn votes_are_mixed_in_as_validation_documents_ask_for() {
    let (mut documents, labels) = catalogue(700);
    let test = documents.split_off(600);
    let precision_of = |mixed: bool, read: bool, is_validated: bool| {
        let mut config = small();
        config.teacher.mixed = mixed;
        config.teacher.read = read;
        config.train.epochs = 1;
        // A network that learns nothing.
        config.train.learning_rate = 1e-9;
        let folder = TempDir::new().unwrap();
        let (set, held) = set_apart(&config, &documents, &labels);
        let valid = is_validated.then_some(&held);
        let (model, _) = train_validated((&set, valid), &config, &folder, &NoProgress);
        precision(&model.unwrap(), &set, &test)
    };
    let alone = precision_of(false, true, true);
    for read in [true, false] {
        let with_votes = precision_of(true, read, true);
        assert!(with_votes > alone + 0.1, "{with_votes} and {alone}");
    }
    // They are mixed in without documents to choose by, too.
    let unvalidated = precision_of(true, false, false);
    assert!(unvalidated > alone + 0.05, "{unvalidated} and {alone}");
}
