//! From settings to a model and back, by the traits of a system alone.

use std::path::Path;
use std::sync::LazyLock;
use std::vec::IntoIter;

use plethora_core::artifact::{ModelDetails, ModelReader, ModelWriter, save_label_space};
use plethora_core::corpus::{Document, Label};
use plethora_core::{NoProgress, Result};
use plethora_neural::pretrained::PRETRAINED;
use plethora_system::settings::{Assignment, Settings};
use plethora_system::{
    Compute, Device, DocumentSource, DocumentStream, Method, Precision, Registry, RunContext,
    Trained, TrainingSize,
};
use tempfile::TempDir;

use crate::workshop::{ENCODER, OPTIONS, documents, texts};

static REGISTRY: LazyLock<Registry> = LazyLock::new(|| Registry::new([&PRETRAINED as _]));

/// Documents in memory.
pub(crate) struct Stream(pub(crate) IntoIter<Document>);

struct Source(&'static str, Vec<Document>);

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

fn settings(system: &str, changes: &[&str]) -> Settings {
    let mut settings = REGISTRY.recipe(system).unwrap();
    let encoder = format!("encoder.folder={ENCODER}");
    let small = ["encoder.layers=2", "train.epochs=2", "train.precision=f32"];
    for change in [encoder.as_str()].iter().chain(&small).chain(changes) {
        let change = Assignment::parse(change, "--set").unwrap();
        settings.assign(&change).unwrap();
    }
    settings
}

fn run<'a>(output: &'a Path, valid: Option<&'a dyn DocumentSource>) -> RunContext<'a> {
    RunContext {
        compute: Compute::default(),
        epoch_share: 0.5,
        valid,
        piece_cache: None,
        encoder_cache: None,
        output,
        resumes: false,
        progress: &NoProgress,
    }
}

fn save(trained: &Trained, system: &str, output: &Path) {
    let writer = ModelWriter::create(output, false).unwrap();
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

/// Runs of letters and digits, and every other character but white space by itself.
fn words_and_signs(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace()
        .flat_map(|word| {
            let is_sign = |character: char| !character.is_alphanumeric();
            let parts = word.split_inclusive(is_sign);
            parts.flat_map(move |part| match part.strip_suffix(is_sign) {
                Some(start) => [start, &part[start.len()..]],
                None => [part, ""],
            })
        })
        .filter(|part| !part.is_empty())
}

#[test]
fn settings_become_a_model_that_comes_back() {
    for system in ["lightxml", "aplc-xlnet"] {
        let folder = TempDir::new().unwrap();
        let output = folder.path().join("model");
        let valid = Source("valid.jsonl", documents(20));
        let run = run(&output, Some(&valid));
        let trainable = settings(system, &[]).config().unwrap();
        trainable.check(&run).unwrap();
        let mut stream = Stream(documents(120).into_iter());
        let trained = trainable.train(&mut stream, &run).unwrap();
        let stages: Vec<&str> = trained.stages.iter().map(|(stage, _)| stage).collect();
        assert_eq!(stages, ["reading", "tokenising", "training"]);
        assert_eq!(trained.num_documents, 120);
        assert_eq!(trained.facts.values["reads"], "pieces");
        assert_eq!(trained.facts.values["device"], "cpu");
        assert_eq!(trained.facts.values["n_words"], trained.num_features);
        assert_eq!(trained.facts.lines[0].0, "pieces");
        assert!(trained.facts.lines[1].1.ends_with(", trained on cpu"));

        save(&trained, system, &output);
        let reader = ModelReader::open(&output).unwrap();
        // Half of two epochs, and every choice as a number.
        let config: serde_json::Value = reader.read_json("config.json").unwrap();
        assert_eq!(config["train"]["epochs"], 1);
        assert_eq!(config["document"]["max_length"], 64);
        assert_eq!(config["clusters"]["predict_beam"], 0);
        let num_parameters = REGISTRY.num_parameters(&reader).unwrap().unwrap();
        assert_eq!(trained.facts.values["n_parameters"], num_parameters);

        let compute = Compute {
            device: Device::Cpu,
            precision: Precision::F32,
        };
        let opened = REGISTRY.open_on(&output, compute).unwrap();
        let documents = documents(20);
        let expected = trained.ranker.rank(&documents, OPTIONS).unwrap().labels;
        let found = opened.rank(&documents, OPTIONS).unwrap();
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
            assert!((found.score - expected.score).abs() < 1e-6);
        }
        let text = &texts()[0];
        let ranked = expected[0][0];
        let found = opened.explain(text, ranked.label).unwrap();
        assert_eq!(found.method, Method::Gradient);
        assert!((found.score - ranked.score).abs() < 1e-5, "{system}");
        assert!(found.spans.iter().any(|span| span.weight != 0.0));
        let words: Vec<&str> = (found.spans.iter())
            .map(|span| &text[span.start..span.end])
            .collect();
        // Of a text that is too long, the last word that is read may be cut.
        let (last, others) = words.split_last().unwrap();
        let mut expected_words = words_and_signs(text);
        for word in others {
            assert_eq!(Some(*word), expected_words.next());
        }
        assert!(expected_words.next().unwrap().starts_with(last), "{last}");
        let other = opened.explain(text, expected[0][1].label).unwrap();
        assert_ne!(found.spans, other.spans, "each label has its own");
        assert!(opened.explain("", ranked.label).unwrap().spans.is_empty());
    }
}

#[test]
fn settings_that_cannot_work_are_refused_by_their_keys() {
    let refusal = |system: &str, change: &str| {
        let refused = settings(system, &[change]).config().err();
        refused.unwrap().to_string()
    };
    for (change, message) in [
        (
            "train.epochs=0",
            "train.epochs: must be from 1 to 1000000, found 0",
        ),
        (
            "train.learning_rate=0",
            "train.learning_rate: must be a number above 0, found 0",
        ),
        (
            "document.max_length=0",
            "document.max_length: must be at least 3, of which two are special pieces",
        ),
    ] {
        assert_eq!(refusal("lightxml", change), message);
    }
    assert_eq!(
        refusal("aplc-xlnet", "adaptive.hidden=0"),
        "adaptive.hidden: must be from 1 to 65536, found 0"
    );
}

#[test]
fn validation_documents_must_be_readable_twice() {
    let folder = TempDir::new().unwrap();
    let output = folder.path().join("model");
    let trainable = settings("lightxml", &[]).config().unwrap();
    let stdin = Source("-", documents(5));
    let message = trainable.check(&run(&output, Some(&stdin))).unwrap_err();
    assert_eq!(
        message.to_string(),
        "valid: must be a file: neural systems read it during training and again after it"
    );
}

#[test]
fn more_labels_cost_more_and_clusters_cost_less() {
    let seconds = |system: &str, num_labels: u64| {
        let size = TrainingSize {
            num_documents: 40_000,
            num_entries: 40_000 * 100,
            num_features: 80_000,
            num_labels,
            num_assignments: 200_000,
        };
        let trainable = settings(system, &[]).config().unwrap();
        trainable.estimate(&size).cpu_seconds
    };
    let all_labels = seconds("lightxml", 100_000) - seconds("lightxml", 1);
    assert!(all_labels > 0.0);
    assert!(seconds("lightxml", 1_000_000) < seconds("lightxml", 100_000) + 9.0 * all_labels);
    assert!(seconds("lightxml", 1_000_000) < seconds("aplc-xlnet", 1_000_000));
}
