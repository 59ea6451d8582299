//! What a document's teacher may know: never its own labels, nor any of validation documents.

use plethora_core::NoProgress;
use plethora_core::artifact::WorkFolder;
use plethora_core::corpus::{Content, Document, Label};
use plethora_system::Device;
use tch::Kind;

use super::super::config::NeighbourVectors;
use super::super::training_set::{TReaderReader, TReaderSetBuilder};
use super::*;
use crate::systems::{SystemTrainer, ValidationDocuments};

const TWIN: &str = "ebb and flood of the northern harbour";

fn document(id: &str, text: &str, label: &str) -> Document {
    Document {
        id: id.into(),
        content: Content::Text(text.into()),
        labels: vec![label.into()],
    }
}

/// A text twice with labels of their own, one that is like it, and some about something else.
fn documents() -> Vec<Document> {
    let mut documents = vec![
        document("twin-1", TWIN, "Tides"),
        document("twin-2", TWIN, "Harbours"),
        document("cousin", "flood in a harbour", "Floods"),
    ];
    for number in 0..4 {
        let text = format!("queen with hive number {number}");
        documents.push(document(&format!("hive-{number}"), &text, "Bees"));
    }
    documents
}

/// Labels of which some stand below others.
fn vocabulary() -> Vec<Label> {
    let label = |key: &str, parents: &[&str]| Label {
        parents: parents.iter().map(ToString::to_string).collect(),
        ..Label::from_key(key)
    };
    vec![
        label("Tides", &["Sea"]),
        label("Harbours", &["Buildings", "Floods"]),
        label("Floods", &[]),
        label("Sea", &[]),
        label("Buildings", &[]),
    ]
}

fn config(by: NeighbourVectors, skips_copies: bool) -> TReaderConfig {
    let mut config = TReaderConfig::of_system("treaderxml").unwrap();
    config.words.min_df = 1;
    config.vectors.width = 8;
    config.teacher.read = true;
    config.neighbours.by = by;
    config.neighbours.skips_copies = skips_copies;
    config
}

/// What each training and validation document reads, by the keys of labels and parents.
fn read(config: &TReaderConfig, documents: &[u32]) -> (Vec<Vec<String>>, Vec<Vec<String>>) {
    let mut builder = TReaderSetBuilder::new(TReaderReader::new(config).unwrap());
    for document in self::documents() {
        builder.add(document).unwrap();
    }
    let set = builder.finish(&vocabulary()).unwrap();
    let planted = document("planted", TWIN, "Planted");
    let mut valid = ValidationDocuments::new();
    let sequences = |texts: &[String]| set.texts.words.sequences(texts);
    valid.add(&set.space, &planted, sequences).unwrap();
    let features = set.texts.features_of(&[TWIN.into()]);
    let features = features.iter().flat_map(|rows| rows.rows().map(Into::into));
    let valid = valid.finish(sequences).with_features(features.collect());
    let words = &set.texts.words;
    let folder = tempfile::tempdir().unwrap();
    let work = WorkFolder::open(&folder.path().join("model"), "x", false).unwrap();
    let start = Start::seeded(SeedStream::new(3));
    let word_vectors = start.normal(&[words.num_rows() as i64, 8], 1.0);
    let zero = Tensor::zeros([8], (Kind::Float, tch::Device::Cpu));
    word_vectors.narrow(0, 0, 1).copy_(&zero);
    let trainer = SystemTrainer {
        config,
        set: &set,
        device: Device::Cpu,
        valid: None,
    };
    let run = trainer.begin(&valid, documents, &work, &NoProgress);
    let known = set.texts.known.as_ref().unwrap();
    let (known, index) = run.index(known, &word_vectors).unwrap();
    let rows = run.rows(config, &known, &index).unwrap();
    let known: Vec<&Label> = (set.space.labels().iter())
        .chain(set.space.broader())
        .collect();
    let keys = |rows: &[TeacherRow]| -> Vec<Vec<String>> {
        let of_row = |row: &TeacherRow| {
            assert!(
                row.votes
                    .iter()
                    .all(|vote| vote.label.index() < set.space.len())
            );
            let tokens = row.tokens.iter();
            let mut keys: Vec<String> = tokens
                .map(|token| known[token.label.index()].key.clone())
                .collect();
            keys.sort();
            keys
        };
        rows.iter().map(of_row).collect()
    };
    (keys(&rows.train.unwrap()), keys(&rows.valid))
}

#[test]
fn a_copy_with_other_labels_brings_these_and_never_the_document_its_own() {
    let all: Vec<u32> = (0..7).collect();
    let (train, _) = read(&config(NeighbourVectors::TfIdf, false), &all);
    // The second twin stands below buildings and floods, the cousin has floods itself.
    assert_eq!(train[0], ["Buildings", "Floods", "Harbours"]);
    assert_eq!(train[1], ["Floods", "Sea", "Tides"]);
    assert_eq!(
        train[2],
        ["Buildings", "Floods", "Harbours", "Sea", "Tides"]
    );
    assert_eq!(train[3], ["Bees"], "other hives have it too");
    let (train, _) = read(&config(NeighbourVectors::TfIdf, true), &all);
    assert_eq!(train[0], ["Floods"], "copies are none");
    assert_eq!(train[1], ["Floods"]);
    let (train, _) = read(&config(NeighbourVectors::Mean, false), &all);
    assert!(train[0].contains(&"Harbours".to_owned()));
    assert!(!train[0].contains(&"Tides".to_owned()));
    assert!(!train[1].contains(&"Harbours".to_owned()));
}

#[test]
fn validation_documents_read_training_labels_and_bring_none() {
    let all: Vec<u32> = (0..7).collect();
    let without_twins: Vec<u32> = (2..7).collect();
    for by in [NeighbourVectors::TfIdf, NeighbourVectors::Mean] {
        let config = config(by, false);
        let (train, valid) = read(&config, &all);
        for label in ["Harbours", "Tides"] {
            assert!(valid[0].contains(&label.to_owned()), "{valid:?}");
        }
        assert!(
            train
                .iter()
                .chain(&valid)
                .flatten()
                .all(|key| key != "Planted")
        );
        // Documents that are held back are in nobody's sight, as if they had never been there.
        let (train, valid) = read(&config, &without_twins);
        assert_eq!(train.len(), 5);
        for label in ["Harbours", "Tides", "Sea", "Buildings"] {
            let is_read = |keys: &Vec<String>| keys.iter().any(|key| key == label);
            assert!(!train.iter().any(is_read) && !valid.iter().any(is_read));
        }
    }
}
