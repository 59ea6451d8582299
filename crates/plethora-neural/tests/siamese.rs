//! The system `siamese` by the traits of a system alone: with and without training, with and without
//! documents, saving, opening, resuming, explaining, and labels that come later.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::{LazyLock, Mutex};
use std::vec::IntoIter;

use plethora_catalogue::{Catalogue, CatalogueConfig};
use plethora_core::artifact::{ModelDetails, ModelReader, ModelWriter, save_label_space};
use plethora_core::corpus::{Content, Document, Label, LabelSpace};
use plethora_core::{Error, Progress, Result, ScoredLabel};
use plethora_neural::siamese::Siamese;
use plethora_system::settings::{Assignment, Settings};
use plethora_system::{
    Compute, Device, DocumentStream, LabelEdit, Precision, Predictor, RankOptions, Registry,
    RunContext, Trained,
};
use tempfile::TempDir;

static REGISTRY: LazyLock<Registry> = LazyLock::new(|| Registry::new([&Siamese as _]));

/// A random BERT of three layers, which knows nothing.
const ENCODER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/encoder");

const OPTIONS: RankOptions = RankOptions {
    top_k: 5,
    beam: None,
};

const COMPUTE: Compute = Compute {
    device: Device::Cpu,
    precision: Precision::F32,
};

/// Documents and a vocabulary in memory.
struct Stream(IntoIter<Document>, Vec<Label>);

impl DocumentStream for Stream {
    fn next_document(&mut self) -> Result<Option<Document>> {
        Ok(self.0.next())
    }

    fn limit(&self) -> Option<u64> {
        None
    }

    fn labels(&self) -> &[Label] {
        &self.1
    }

    fn num_features(&self) -> Option<usize> {
        None
    }
}

/// Remembers what it was told, and stops at a stage.
#[derive(Default)]
struct Told {
    stages: Mutex<Vec<String>>,
    warnings: Mutex<Vec<String>>,
    /// Texts that were to be encoded, by stage.
    encoded: Mutex<Vec<(String, u64)>>,
    stops_at: &'static str,
}

impl Progress for Told {
    fn start(&self, stage: &str, total: Option<u64>) {
        self.stages.lock().unwrap().push(stage.to_owned());
        if let Some(total) = total.filter(|_| stage.starts_with("vectors")) {
            self.encoded.lock().unwrap().push((stage.to_owned(), total));
        }
    }

    fn advance(&self, _steps: u64) {}

    fn finish(&self, _summary: &str) {}

    fn warn(&self, warning: &plethora_core::Message) {
        self.warnings.lock().unwrap().push(warning.to_string());
    }

    fn is_cancelled(&self) -> bool {
        let stages = self.stages.lock().unwrap();
        !self.stops_at.is_empty() && stages.iter().any(|stage| stage.starts_with(self.stops_at))
    }
}

fn documents(num_documents: u64) -> Vec<Document> {
    let config = CatalogueConfig {
        num_documents,
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

fn label(key: &str, name: &str) -> Label {
    Label {
        name: name.to_owned(),
        ..Label::from_key(key)
    }
}

/// Labels that no document has.
fn vocabulary() -> Vec<Label> {
    vec![
        label("x:1", "tide mills"),
        label("x:2", "harbour cranes"),
        Label {
            alternatives: vec!["apiculture".into()],
            ..label("x:3", "beekeeping")
        },
        Label::from_key("x:4"),
    ]
}

fn settings(changes: &[&str]) -> Settings {
    let mut settings = REGISTRY.recipe("siamese").unwrap();
    let encoder = format!("encoder.folder={ENCODER}");
    let small = [
        "document.max_length=16",
        "train.precision=f32",
        "train.epochs=2",
    ];
    for change in [encoder.as_str()].iter().chain(&small).chain(changes) {
        settings
            .assign(&Assignment::parse(change, "--set").unwrap())
            .unwrap();
    }
    settings
}

/// A place for a model.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn train(
        &self,
        changes: &[&str],
        documents: Vec<Document>,
        resumes: bool,
        told: &Told,
    ) -> Result<Trained> {
        let output = self.0.path().join("model");
        let run = RunContext {
            compute: COMPUTE,
            epoch_share: 1.0,
            valid: None,
            piece_cache: None,
            encoder_cache: None,
            output: &output,
            resumes,
            progress: told,
        };
        let trainable = settings(changes).config()?;
        trainable.check(&run)?;
        trainable.train(&mut Stream(documents.into_iter(), vocabulary()), &run)
    }

    fn save(&self, trained: &Trained) -> ModelReader {
        let output = self.0.path().join("model");
        let writer = ModelWriter::create(&output, false).unwrap();
        trained.ranker.save(&trained.work, &writer).unwrap();
        complete(writer, &trained.labels);
        ModelReader::open(&output).unwrap()
    }
}

fn complete(writer: ModelWriter, labels: &LabelSpace) {
    save_label_space(labels, &writer).unwrap();
    let details = ModelDetails {
        system: "siamese".to_owned(),
        num_labels: labels.len() as u64,
        num_documents: 0,
        num_features: 0,
        takes_text: true,
        text_fields: Vec::new(),
    };
    writer.finish("siamese", details.to_json()).unwrap();
}

fn trained(changes: &[&str], num_documents: u64) -> (Place, Trained) {
    let place = Place::new();
    let all = documents(num_documents);
    let trained = place.train(changes, all, false, &Told::default()).unwrap();
    (place, trained)
}

fn ranked(trained: &Trained) -> Vec<Vec<ScoredLabel>> {
    let rankings = trained.ranker.rank(&documents(20), OPTIONS).unwrap();
    rankings.labels
}

fn text(text: &str) -> Document {
    Document {
        id: String::new(),
        content: Content::Text(text.to_owned()),
        labels: Vec::new(),
    }
}

fn best(predictor: &Predictor, query: &str) -> (String, f32) {
    let ranking = predictor.rank(&[text(query)], OPTIONS).unwrap().remove(0);
    let key = predictor.labels().label(ranking[0].label).key.clone();
    (key, ranking[0].score)
}

/// With a matrix behind the encoder, and with an encoder that learns: a pool smaller than the labels, so that
/// wrong ones are looked for.
#[test]
fn a_model_comes_back_and_ranks_texts_alone_as_among_others() {
    for trains_encoder in ["encoder.trained=false", "encoder.trained=true"] {
        let changes = [trains_encoder, "negatives.pool=40", "train.batch_size=32"];
        let (place, trained) = trained(&changes, 220);
        let expected = ranked(&trained);
        let reader = place.save(&trained);
        let config: serde_json::Value = reader.read_json("config.json").unwrap();
        assert_eq!(
            config["encoder"]["trained"],
            trains_encoder.ends_with("true")
        );
        assert!(config["labels"]["centroid"].is_number());
        let num_parameters = REGISTRY.num_parameters(&reader).unwrap().unwrap();
        assert_eq!(trained.facts.values["n_parameters"], num_parameters);
        let opened = REGISTRY.open_on(reader.folder(), COMPUTE).unwrap();
        let asked = documents(20);
        assert_eq!(opened.rank(&asked, OPTIONS).unwrap(), expected);
        for (document, expected) in asked.iter().zip(&expected) {
            let alone = opened
                .rank(std::slice::from_ref(document), OPTIONS)
                .unwrap();
            for (alone, expected) in alone[0].iter().zip(expected) {
                assert!((alone.score - expected.score).abs() < 2e-3);
            }
        }
        let ten = RankOptions {
            top_k: 10,
            ..OPTIONS
        };
        assert_eq!(opened.rank(&asked, ten).unwrap()[0][..5], expected[0]);
    }
}

/// What training is for: labels of the documents themselves come up.
#[test]
fn training_brings_the_right_labels_to_the_top() {
    let hits = |changes: &[&str]| {
        let (_place, trained) = trained(changes, 150);
        let all = documents(150);
        let rankings = trained.ranker.rank(&all, OPTIONS).unwrap().labels;
        let is_hit = |(document, ranking): &(&Document, &Vec<ScoredLabel>)| {
            let key = &trained.labels.label(ranking[0].label).key;
            document.labels.contains(key)
        };
        all.iter().zip(&rankings).filter(is_hit).count()
    };
    let without = hits(&["train.epochs=0", "labels.centroid=0"]);
    let means = hits(&["train.epochs=0", "labels.centroid=4"]);
    let fitted = hits(&[
        "train.epochs=60",
        "labels.centroid=0",
        "train.batch_size=32",
        "train.learning_rate=1e-2",
    ]);
    assert!(means > without + 15, "{means} {without}");
    assert!(fitted > without + 15, "{fitted} {without}");
}

#[test]
fn names_alone_make_a_model() {
    let unlabelled = vec![text("a harbour"), text("a mill")];
    let place = Place::new();
    let told = Told::default();
    let trained = place.train(&[], unlabelled, false, &told).unwrap();
    assert_eq!((trained.labels.len(), trained.num_documents), (4, 0));
    assert_eq!(
        *told.warnings.lock().unwrap(),
        ["1 labels have no name in words"]
    );
    let reader = place.save(&trained);
    let opened = REGISTRY.open_on(reader.folder(), COMPUTE).unwrap();
    assert_eq!(best(&opened, "tide mills").0, "x:1");
    assert_eq!(best(&opened, "harbour cranes").0, "x:2");
    let all = opened.rank(&[text("tide mills")], OPTIONS).unwrap();
    let never = trained.labels.id("x:4").unwrap();
    assert!(all[0].iter().all(|scored| scored.label != never));
}

#[test]
fn documents_are_read_only_where_they_count() {
    let encoded = |changes: &[&str]| {
        let told = Told::default();
        let place = Place::new();
        let trained = place.train(changes, documents(60), false, &told).unwrap();
        assert_eq!(trained.num_documents, 60);
        let encoded = told.encoded.lock().unwrap();
        let of_documents = encoded
            .iter()
            .find(|(stage, _)| stage.ends_with("documents"));
        of_documents.unwrap().1
    };
    assert_eq!(encoded(&["train.epochs=0", "labels.centroid=0"]), 0);
    assert_eq!(encoded(&["train.epochs=0", "labels.centroid=1"]), 60);
}

#[test]
fn equal_seeds_give_equal_models() {
    let of_seed = |seed: &str| {
        let changes = ["negatives.pool=30", "train.batch_size=32", seed];
        ranked(&trained(&changes, 210).1)
    };
    let first = of_seed("seed=3");
    assert_eq!(first, of_seed("seed=3"));
    assert_ne!(first, of_seed("seed=4"));
}

#[test]
fn an_interrupted_run_is_resumed_to_the_same_model() {
    let changes = ["negatives.pool=40", "train.batch_size=32"];
    let expected = ranked(&trained(&changes, 220).1);
    for stops_at in ["training round-1", "labels"] {
        let place = Place::new();
        let told = Told {
            stops_at,
            ..Told::default()
        };
        let stopped = place.train(&changes, documents(220), false, &told);
        assert!(
            matches!(stopped.err(), Some(Error::Interrupted)),
            "{stops_at}"
        );
        let resumed = place.train(&changes, documents(220), true, &Told::default());
        assert_eq!(ranked(&resumed.unwrap()), expected);
    }
}

#[test]
fn explanations_say_which_words_matter() {
    let place = Place::new();
    let alone = vec![text("a mill")];
    let trained = place.train(&[], alone, false, &Told::default()).unwrap();
    let label = trained.labels.id("x:1").unwrap();
    let query = "tide mills\nand other things";
    let found = trained.ranker.explain(query, label).unwrap();
    let ranking = trained.ranker.rank(&[text(query)], OPTIONS).unwrap().labels;
    let scored = ranking[0].iter().find(|scored| scored.label == label);
    assert!((found.score - scored.unwrap().score).abs() < 2e-3);
    let words: Vec<&str> = (found.spans.iter())
        .map(|span| &query[span.start..span.end])
        .collect();
    assert_eq!(words, ["tide", "mills", "and", "other", "things"]);
    assert!(found.spans.iter().any(|span| span.weight != 0.0));
    let long = "word ".repeat(500);
    assert!(trained.ranker.explain(&long, label).unwrap().spans.len() <= 48);
}

#[test]
fn labels_come_later_by_their_names_or_with_documents() {
    let (place, trained) = trained(&["labels.centroid=30"], 60);
    let reader = place.save(&trained);
    let opened = REGISTRY.open_on(reader.folder(), COMPUTE).unwrap();
    let edit = LabelEdit {
        added: vec![label("y:1", "steam locomotives"), label("y:2", "zz")],
        documents: vec![Document {
            labels: vec!["y:2".to_owned(), "x:1".to_owned()],
            ..text("volcanoes of the northern islands")
        }],
        ..LabelEdit::default()
    };
    let path = place.0.path().join("wider");
    let writer = ModelWriter::create(&path, false).unwrap();
    REGISTRY.edit_labels(&reader, &edit, writer).unwrap();
    let widened = REGISTRY.open_on(&path, COMPUTE).unwrap();
    assert_eq!(best(&widened, "steam locomotives").0, "y:1");
    assert_eq!(best(&widened, "volcanoes of the northern islands").0, "y:2");
    // Nothing else changes its place.
    let deep = RankOptions {
        top_k: 50,
        beam: None,
    };
    for document in documents(20) {
        let keys = |predictor: &Predictor| -> Vec<String> {
            let ranking = predictor
                .rank(std::slice::from_ref(&document), deep)
                .unwrap();
            let keys = ranking[0].iter().map(|scored| {
                let label = predictor.labels().label(scored.label);
                label.key.clone()
            });
            keys.filter(|key| !key.starts_with("y:")).take(40).collect()
        };
        assert_eq!(keys(&widened), keys(&opened));
    }
    let edit = LabelEdit {
        retired: vec!["y:1".to_owned(), "x:2".to_owned()],
        ..LabelEdit::default()
    };
    let smaller = place.0.path().join("smaller");
    let writer = ModelWriter::create(&smaller, false).unwrap();
    let wider = ModelReader::open(&path).unwrap();
    let left = REGISTRY.edit_labels(&wider, &edit, writer).unwrap();
    assert_eq!(left.len(), widened.labels().len() - 2);
    let smaller = REGISTRY.open_on(&smaller, COMPUTE).unwrap();
    assert_ne!(best(&smaller, "steam locomotives").0, "y:1");
    assert_eq!(best(&smaller, "volcanoes of the northern islands").0, "y:2");
}

#[test]
fn what_cannot_work_is_refused_by_its_key() {
    for (change, message) in [
        (
            "encoder.folder=/nowhere",
            "encoder: /nowhere: no such folder",
        ),
        (
            "document.max_length=2",
            "document.max_length: must be at least 3",
        ),
        ("names.max_words=0", "names.max_words: must be at least 1"),
        (
            "labels.centroid=-1",
            "labels.centroid: must be a number from 0",
        ),
        (
            "labels.temperature=0",
            "labels.temperature: must be a number above 0",
        ),
        ("negatives.rounds=0", "negatives.rounds: must be from 1"),
        ("negatives.pool=1", "negatives.pool: must be at least 2"),
        ("train.warm_up=2", "train.warm_up: must be"),
    ] {
        let refused = Place::new().train(&[change], documents(5), false, &Told::default());
        let found = refused.err().unwrap().to_string();
        assert!(found.starts_with(message), "{found}");
    }
    let place = Place::new();
    let told = Told::default();
    let output = place.0.path().join("model");
    let run = RunContext {
        compute: COMPUTE,
        epoch_share: 1.0,
        valid: None,
        piece_cache: None,
        encoder_cache: None,
        output: &output,
        resumes: false,
        progress: &told,
    };
    let nameless = vec![Label::from_key("x:4")];
    let mut stream = Stream(vec![text("a mill")].into_iter(), nameless);
    let trainable = settings(&[]).config().unwrap();
    let refused = trainable
        .train(&mut stream, &run)
        .err()
        .unwrap()
        .to_string();
    assert!(
        refused.starts_with("no label has a name in words"),
        "{refused}"
    );
}
