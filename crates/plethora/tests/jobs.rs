//! Jobs over models of several systems: checks, reports, explanations, calibration, ensembles.

#![expect(clippy::unwrap_used, reason = "tests stop where something is wrong")]

use std::fs;
use std::path::{Path, PathBuf};
use std::slice::from_ref;
use std::sync::Arc;

use plethora::calibration::{CalibrationConfig, ThresholdScope};
use plethora::check::CheckJob;
use plethora::corpus::{Content, Document, DocumentList};
use plethora::ensembles::EnsembleJob;
use plethora::evaluation::EvaluationRun;
use plethora::explanation::ExplanationReport;
use plethora::metrics::{BootstrapConfig, EvaluationConfig};
use plethora::report::ReportRun;
use plethora::{
    CalibrationJob, Combination, Compute, Corpus, Error, LabelId, ModelOpening, NoProgress,
    ScoreKind, Session, SystemSpec, TrainingJob, TrainingSize, registry,
};
use serde_json::Value;

fn session() -> Session {
    Session::new(Arc::new(NoProgress))
}

/// Texts of two subjects, each in its own words and with one word of the other.
fn corpus() -> Corpus {
    let subjects = [("Sea", "tides harbours ships"), ("Bees", "honey hives wax")];
    let documents = (0..60).map(|number| {
        let (label, words) = subjects[number % 2];
        let (_, others) = subjects[1 - number % 2];
        let stray = others.split(' ').nth(number % 3).unwrap();
        Document {
            id: number.to_string(),
            content: Content::Text(format!("{words} {stray}")),
            labels: vec![label.to_owned()],
        }
    });
    Corpus::of_documents("books", DocumentList::new(documents.collect(), None))
}

fn train(folder: &Path, system: &str) -> PathBuf {
    let model = folder.join(system);
    let settings = registry().recipe(system).unwrap();
    let job = TrainingJob::new(corpus(), settings, &model);
    job.run(&session()).unwrap();
    model
}

fn report_of(models: &[PathBuf], scores: ScoreKind, is_tuned: bool) -> ReportRun {
    ReportRun {
        models: models.to_vec(),
        opening: ModelOpening {
            registry: registry(),
            compute: Compute::default(),
            scores,
            members: None,
        },
        data: corpus(),
        evaluation: EvaluationRun {
            config: EvaluationConfig::default(),
            beam: None,
            depth: None,
            is_tuned,
        },
        bootstrap: BootstrapConfig {
            resamples: 100,
            ..BootstrapConfig::default()
        },
    }
}

#[test]
fn every_system_has_an_estimate_that_grows_with_the_corpus() {
    let size = |factor: u64| TrainingSize {
        num_documents: 1000 * factor,
        num_entries: 100_000 * factor,
        num_features: 5000 * factor,
        num_labels: 300 * factor,
        num_assignments: 4000 * factor,
    };
    for spec in registry().systems() {
        let system = registry().recipe(spec.name).unwrap().config().unwrap();
        let (small, large) = (system.estimate(&size(1)), system.estimate(&size(10)));
        assert!(small.cpu_seconds > 0.0 && large.cpu_seconds >= 9.9 * small.cpu_seconds);
        assert!(large.peak_memory_bytes > small.peak_memory_bytes);
    }
}

#[test]
fn checks_estimate_what_every_system_costs() {
    let job = CheckJob {
        registry: registry(),
        data: corpus(),
        against: Some(corpus()),
        vocabulary: None,
    };
    let report = job.run(&session()).unwrap();
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["against"]["also_in_data"]["n_documents"], 60);
    let estimates = json["estimates"].as_array().unwrap();
    let systems: Vec<&str> = estimates
        .iter()
        .map(|estimate| estimate["system"].as_str().unwrap())
        .collect();
    let known: Vec<&str> = registry().systems().map(|spec| spec.name).collect();
    assert_eq!(systems, known);
    assert!(estimates[0]["cpu_seconds"].is_number());
    assert!(estimates[0]["peak_memory_bytes"].is_number());
    let has_devices = registry().systems().any(SystemSpec::uses_devices);
    assert_eq!(report.render().contains("on a GPU"), has_devices);
}

#[test]
fn models_are_reported_calibrated_combined_and_explained() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let models = [train(folder.path(), "parabel"), train(folder.path(), "knn")];

    let run = report_of(&models, ScoreKind::Prob, false);
    let (report, latest) = run.write(&at("report"), false, &session()).unwrap();
    assert_eq!(report.names(), ["parabel", "knn"]);
    assert_eq!(latest.unwrap().predictor.details().system, "knn");
    let written = fs::read(at("report").join("report.json")).unwrap();
    let written: Value = serde_json::from_slice(&written).unwrap();
    assert_eq!(written["models"][0]["metrics"]["P@1"]["value"], 1.0);

    let calibration = CalibrationJob {
        registry: registry(),
        model: models[0].clone(),
        data: corpus(),
        config: CalibrationConfig {
            thresholds: Some(ThresholdScope::Global),
            ..CalibrationConfig::default()
        },
        compute: Compute::default(),
        output: Some(at("calibrated")),
        replaces: false,
    };
    let calibrated = calibration.run(&session()).unwrap();
    assert!(!calibrated.is_replaced && calibrated.calibration.thresholds.is_some());
    for (model, scores, message) in [
        (&models[0], ScoreKind::Prob, "has no tuned thresholds"),
        (&calibrated.model, ScoreKind::Raw, "not for --scores raw"),
    ] {
        let run = report_of(from_ref(model), scores, true);
        let refused = run.write(&at("tuned"), false, &session()).err().unwrap();
        assert!(refused.to_string().contains(message), "{refused}");
    }
    let tuned = report_of(from_ref(&calibrated.model), ScoreKind::Prob, true);
    tuned.write(&at("tuned"), false, &session()).unwrap();

    let ensemble = |output: &str, combination, fit| EnsembleJob {
        registry: registry(),
        models: models.to_vec(),
        output: at(output),
        combination,
        weights: Vec::new(),
        depth: 100,
        fit,
        links: false,
        compute: Compute::default(),
        replaces: false,
    };
    let summary = ensemble("stacked", None, Some(corpus()))
        .run(&session())
        .unwrap();
    assert_eq!((summary.combination, summary.num_labels), ("stacked", 2));
    let refused = ensemble("other", Some(Combination::Stacked), None).run(&session());
    assert!(matches!(refused, Err(Error::Usage(_))));

    let predictor = registry().open(&summary.model).unwrap();
    let text = "honey of the hives";
    let report = ExplanationReport::new(&predictor, "stacked".into(), text, &[LabelId(0)]).unwrap();
    let shown = &report.explanations[0];
    assert_eq!(
        (shown.name.as_str(), shown.title()),
        ("Bees", "Bees".into())
    );
    assert_eq!(shown.spans[0].text, "honey");
    assert_eq!(shown.member.as_ref().unwrap().system, "parabel");
    assert!(report.to_html().contains("honey"));
}
