//! Scores that can be read as probabilities, and thresholds tuned for F1.

use std::fs;
use std::path::{Path, PathBuf};

use plethora_core::artifact::{ModelCopy, ModelReader, ModelWriter};
use plethora_core::calibration::{
    CALIBRATION_FILE, Calibration, CalibrationCollector, CalibrationConfig, ThresholdScope,
};
use plethora_core::corpus::Document;
use plethora_core::{Error, LabelId, Result};
use plethora_system::{Compute, ENSEMBLE, EnsembleConfig, Predictor, RankOptions, Registry};
use serde::Serialize;

use crate::evaluation::for_each_batch;
use crate::model_folder::about_model;
use crate::training::Corpus;
use crate::{Session, in_file, no_labels, tell_warnings};

/// What to calibrate, and with what.
#[derive(Debug)]
pub struct CalibrationJob {
    /// The systems that the model may be of.
    pub registry: &'static Registry,
    /// Folder of the model.
    pub model: PathBuf,
    /// Documents with true labels that the model was not trained on.
    pub data: Corpus,
    /// How to calibrate.
    pub config: CalibrationConfig,
    /// Where and with which numbers to compute.
    pub compute: Compute,
    /// Folder for the calibrated model; if absent, it takes the place of the model.
    pub output: Option<PathBuf>,
    /// Replace a model at the output.
    pub replaces: bool,
}

/// A model that was calibrated.
#[derive(Debug, Serialize)]
pub struct CalibratedModel {
    /// Its folder.
    pub model: PathBuf,
    /// True if it took the place of the model without calibration.
    pub is_replaced: bool,
    /// How scores become probabilities, and what that has brought.
    #[serde(flatten)]
    pub calibration: Calibration,
}

impl CalibrationJob {
    /// Ranks, fits and writes.
    pub fn run(&self, session: &Session) -> Result<CalibratedModel> {
        let target = self.output.as_deref().unwrap_or(&self.model);
        let replaces = self.output.is_none() || self.replaces;
        self.config.validate()?;
        let folder = ModelReader::open(&self.model)?;
        ModelWriter::check_target(target, replaces)?;
        self.check_links(&folder)?;
        let opened = self.registry.open_on(&self.model, self.compute)?;
        let predictor = opened.without_calibration();
        let calibration = self.fit(&predictor, session)?;
        drop(predictor);
        let writer = ModelWriter::create(target, replaces)?;
        self.save(&folder, &calibration, writer, session)
            .map_err(|error| about_model(error, target))?;
        Ok(CalibratedModel {
            model: target.to_owned(),
            is_replaced: self.output.is_none(),
            calibration,
        })
    }

    fn fit(&self, predictor: &Predictor, session: &Session) -> Result<Calibration> {
        let (config, path) = (&self.config, &self.data.path);
        let mut reader = self.data.open_for(predictor.details())?;
        let keeps_labels = config.thresholds == Some(ThresholdScope::Label);
        let mut collector =
            CalibrationCollector::new(predictor.labels().train_counts(), keeps_labels);
        let rank = RankOptions {
            top_k: config.depth,
            beam: None,
        };
        session.progress().start("ranking", None);
        let batch_size = predictor.documents_per_batch();
        for_each_batch(&mut reader, batch_size, session, |documents| {
            for (document, ranking) in documents.iter().zip(predictor.rank(documents, rank)?) {
                collector.add(&truth_of(document, predictor), &ranking);
            }
            session.progress().advance(documents.len() as u64);
            Ok(())
        })
        .map_err(|error| in_file(error, path))?;
        let num_documents = collector.num_documents();
        session
            .progress()
            .finish(&format!("{num_documents} documents with labels"));
        if num_documents == 0 {
            return Err(no_labels(path, reader.format(), "to calibrate with"));
        }
        let bands = collector.bands();
        let calibration = Calibration::fit(&collector.finish(), bands, config)
            .map_err(|error| in_file(error, path))?;
        tell_warnings(&reader, session.progress());
        Ok(calibration)
    }

    /// Writes the model with its calibration; files stay where they are on the disk if the model
    /// takes its own place.
    fn save(
        &self,
        folder: &ModelReader,
        calibration: &Calibration,
        writer: ModelWriter,
        session: &Session,
    ) -> Result<()> {
        let progress = session.progress();
        let copy = ModelCopy {
            without: Some(CALIBRATION_FILE),
            by_link: self.output.is_none(),
            ..ModelCopy::default()
        };
        progress.start("writing model", Some(copy.num_files(folder)));
        copy.run(folder, &writer, progress)?;
        writer.write_json(CALIBRATION_FILE, calibration)?;
        let manifest = folder.manifest();
        writer.finish(&manifest.kind, manifest.details.clone())?;
        progress.finish("calibrated");
        Ok(())
    }

    /// Paths of members lead elsewhere from another folder.
    fn check_links(&self, folder: &ModelReader) -> Result<()> {
        let Some(output) = &self.output else {
            return Ok(());
        };
        if folder.manifest().kind != ENSEMBLE || EnsembleConfig::of(folder)?.links.is_empty() {
            return Ok(());
        }
        let parent = |path: &Path| {
            let path = std::path::absolute(path).ok()?;
            fs::canonicalize(path.parent()?).ok()
        };
        let (old, new) = (parent(&self.model), parent(output));
        if old.is_some() && old == new {
            return Ok(());
        }
        Err(Error::model(
            &self.model,
            "links to its members by paths that would lead elsewhere from another place; calibrate \
             it without -o, or into the folder it is in",
        ))
    }
}

/// The true labels, each once; all that the model does not know have one id beyond its own, so
/// that the number of true labels stays right.
fn truth_of(document: &Document, predictor: &Predictor) -> Vec<LabelId> {
    let mut keys: Vec<&str> = document.labels.iter().map(String::as_str).collect();
    keys.sort_unstable();
    keys.dedup();
    let labels = predictor.labels();
    let beyond = LabelId(u32::MAX);
    let ids = keys.into_iter();
    ids.map(|key| labels.id(key).unwrap_or(beyond)).collect()
}
