//! Whole systems on a small catalogue: training, ranking, saving, resuming.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "systems/baselines.rs"]
mod baselines;
#[path = "systems/levels.rs"]
mod levels;
#[path = "systems/lightattention.rs"]
mod lightattention;
#[path = "systems/members.rs"]
mod members;
#[path = "systems/presets.rs"]
mod presets;

use plethora_catalogue::{Catalogue, CatalogueConfig};
use plethora_core::artifact::{CONFIG_FILE, ModelReader, ModelWriter, WorkFolder};
use plethora_core::corpus::{Content, Document};
use plethora_core::{LabelId, NoProgress, ScoredLabel, SparseVector};
use plethora_neural::words::{
    OpenWordConfig, WORDS, WordConfig, WordModel, WordReader, WordSet, WordSetBuilder, WordTrainer,
};
use plethora_neural::{NeuralModel as _, ValidationDocuments};
use plethora_system::{Device, Family as _, Method, RankOptions};
use tempfile::TempDir;

const OPTIONS: RankOptions = RankOptions {
    top_k: 5,
    beam: None,
};

fn documents() -> Vec<Document> {
    let catalogue = Catalogue::new(CatalogueConfig {
        num_documents: 300,
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

/// A system made small enough for a test.
fn small(system: &str) -> WordConfig {
    let config = OpenWordConfig::of_system(system).unwrap();
    let mut table = toml::Value::try_from(&config).unwrap();
    let mut set = |path: &str, value: toml::Value| {
        let mut place = &mut table;
        for key in path.split('.') {
            place = place.get_mut(key).unwrap();
        }
        *place = value;
    };
    set("words.max_length", 60.into());
    set("vectors.width", 16.into());
    set("vectors.start", "random".into());
    set("train.epochs", 2.into());
    set("train.batch_size", 32.into());
    set("train.learning_rate", 0.01.into());
    if system == "xml-cnn" {
        set("encoder.filters", 8.into());
    } else {
        set("encoder.hidden", 12.into());
    }
    if system == "lightattention" {
        set("head.generator.layers", vec![16].into());
        set("head.discriminator.layers", vec![16].into());
        set("clusters.tree.max_leaf", 20.into());
        set("clusters.num_clusterings", 2.into());
        set("clusters.beam", 4.into());
    } else {
        set("head.layers", vec![16].into());
    }
    if system == "attentionxml-plt" {
        set("plt.lower_epochs", 2.into());
        set("plt.tree.branching", 4.into());
        set("plt.tree.max_leaf", 40.into());
        set("plt.num_trees", 2.into());
        set("plt.beam", 5.into());
    }
    let config: WordConfig = table.try_into().unwrap();
    config.validate().unwrap();
    config
}

fn set(config: &WordConfig) -> WordSet {
    let mut builder = WordSetBuilder::new(WordReader::new(config).unwrap());
    for document in documents() {
        builder.add(document).unwrap();
    }
    builder.finish(&[]).unwrap()
}

/// The same with every tenth document held back.
fn set_apart(config: &WordConfig) -> (WordSet, ValidationDocuments) {
    let mut builder = WordSetBuilder::new(WordReader::new(config).unwrap());
    let documents = documents();
    let held: Vec<u32> = (0..documents.len() as u32).step_by(10).collect();
    for document in documents {
        builder.add(document).unwrap();
    }
    builder.end(&[]).unwrap().apart(&held).unwrap()
}

fn train(set: &WordSet, config: &WordConfig, folder: &TempDir) -> (WordModel, WorkFolder) {
    train_validated((set, None), config, folder)
}

/// As [`train`], validated by some documents.
fn train_validated(
    (set, valid): (&WordSet, Option<&ValidationDocuments>),
    config: &WordConfig,
    folder: &TempDir,
) -> (WordModel, WorkFolder) {
    let trainer = WordTrainer {
        set,
        valid,
        config,
        device: Device::Cpu,
    };
    let target = folder.path().join("model");
    let fingerprint = set.fingerprint(config, None).unwrap();
    let work = WorkFolder::open(&target, &fingerprint, true).unwrap();
    (trainer.run(&work, &NoProgress).unwrap(), work)
}

fn texts() -> Vec<String> {
    documents()
        .iter()
        .take(20)
        .map(|document| document.text().unwrap().to_owned())
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

fn trains_ranks_and_comes_back(system: &str) {
    let _ = saved_model(&small(system));
}

/// Trains, ranks, saves and opens; gives the model folder.
fn saved_model(config: &WordConfig) -> TempDir {
    let (system, config) = (config.system.as_str(), config.clone());
    let set = set(&config);
    let folder = TempDir::new().unwrap();
    let (model, work) = train(&set, &config, &folder);
    let rankings = model.rank_texts(&texts(), OPTIONS).unwrap();
    for ranking in &rankings {
        assert_eq!(ranking.len(), 5);
        assert!(
            ranking
                .windows(2)
                .all(|pair| pair[0].score >= pair[1].score)
        );
        assert!(ranking.iter().all(|one| (0.0..=1.0).contains(&one.score)));
    }
    let alone: Vec<Vec<ScoredLabel>> = texts()
        .iter()
        .map(|text| model.rank_texts(&[text], OPTIONS).unwrap().remove(0))
        .collect();
    assert_close(&alone, &rankings);

    let target = folder.path().join("model");
    let writer = ModelWriter::create(&target, false).unwrap();
    model.save(&work, &writer).unwrap();
    writer.finish(system, serde_json::json!({})).unwrap();
    let reader = ModelReader::open(&target).unwrap();
    assert!(reader.folder().join("metrics.jsonl").is_file());
    assert_eq!(reader.read_json::<WordConfig>(CONFIG_FILE).unwrap(), config);
    let opened = WordModel::open(&reader, set.space.len(), Device::Cpu).unwrap();
    assert_eq!(opened.rank_texts(&texts(), OPTIONS).unwrap(), rankings);
    let num_parameters = WORDS.num_parameters(&reader).unwrap();
    assert_eq!(num_parameters, Some(opened.num_parameters()));

    let text = "Roman coins and harbours";
    let attention = opened.attention(text, LabelId(0)).unwrap();
    assert_eq!(attention.is_some(), system.contains("attention"));
    if let Some(weights) = attention {
        assert_eq!(&text[weights[1].0.clone()], "coins");
        let sum: f32 = weights.iter().map(|(_, weight)| weight).sum();
        assert!((sum - 1.0).abs() < 1e-4);
    }
    let found = opened.explain_text(text, LabelId(0)).unwrap();
    assert_eq!(&text[found.spans[1].start..found.spans[1].end], "coins");
    if !system.contains("attention") {
        assert_eq!(found.method, Method::Gradient);
        assert!(found.spans.iter().any(|span| span.weight != 0.0));
        let empty = opened.explain_text("", LabelId(0)).unwrap();
        assert!(empty.spans.is_empty());
    }
    folder
}

/// An array of a network of a model folder.
fn array(folder: &TempDir, network: &str, name: &str) -> Vec<f32> {
    let reader = ModelReader::open(&folder.path().join("model")).unwrap();
    let arrays = reader.map(&format!("{network}.safetensors")).unwrap();
    arrays.array::<f32>(name).unwrap().to_vec()
}

#[test]
fn attentionxml_trains_ranks_and_comes_back_from_its_folder() {
    trains_ranks_and_comes_back("attentionxml");
}

#[test]
fn attentionxml_plt_trains_ranks_and_comes_back_from_its_folder() {
    trains_ranks_and_comes_back("attentionxml-plt");
}

#[test]
fn lightattention_trains_ranks_and_comes_back_from_its_folder() {
    trains_ranks_and_comes_back("lightattention");
}

#[test]
fn xml_rnn_trains_ranks_and_comes_back_from_its_folder() {
    trains_ranks_and_comes_back("xml-rnn");
}

#[test]
fn xml_cnn_trains_ranks_and_comes_back_from_its_folder() {
    trains_ranks_and_comes_back("xml-cnn");
}

#[test]
fn equal_seeds_give_equal_models_and_finished_levels_are_not_trained_again() {
    let config = small("attentionxml-plt");
    let set = set(&config);
    let folder = TempDir::new().unwrap();
    let rank = |model: &WordModel| model.rank_texts(&texts(), OPTIONS).unwrap();
    let (first, work) = train(&set, &config, &folder);
    drop(work);
    let (again, _) = train(&set, &config, &folder);
    assert_eq!(rank(&first), rank(&again));
    let (elsewhere, _) = train(&set, &config, &TempDir::new().unwrap());
    assert_eq!(rank(&first), rank(&elsewhere));
    let other = WordConfig {
        seed: 99,
        ..config.clone()
    };
    let (other, _) = train(&set, &other, &TempDir::new().unwrap());
    assert_ne!(rank(&first), rank(&other));
}

#[test]
fn without_validation_documents_training_goes_to_its_end() {
    let mut config = small("xml-cnn");
    config.train.valid_share = 0.0;
    config.train.patience = 1;
    config.train.epochs = 4;
    let set = set(&config);
    let folder = TempDir::new().unwrap();
    let (_, work) = train(&set, &config, &folder);
    let log = std::fs::read_to_string(work.path("metrics.jsonl")).unwrap();
    assert!(!log.contains("valid/"), "{log}");
    let last: serde_json::Value = serde_json::from_str(log.lines().last().unwrap()).unwrap();
    assert_eq!(last["epoch"], 4.0, "{last}");
}

#[test]
fn documents_with_features_alone_are_refused() {
    let config = small("attentionxml");
    let mut builder = WordSetBuilder::new(WordReader::new(&config).unwrap());
    let mut document = documents().remove(0);
    document.content = Content::Features(SparseVector {
        columns: vec![1],
        values: vec![1.0],
    });
    let error = builder.add(document).unwrap_err().to_string();
    assert!(error.contains("has features and no text"), "{error}");
}
