//! A model that is ready to rank.

use std::sync::Arc;

use plethora_core::artifact::{
    CONFIG_FILE, Manifest, ModelDetails, ModelReader, TrainedOn, load_label_space,
};
use plethora_core::calibration::Calibration;
use plethora_core::corpus::{Document, LabelSpace};
use plethora_core::{Error, LabelId, Result, ScoredLabel};

use crate::{Compute, Embeddings, Explanation, OpenParts, RankOptions, Ranker, Rankings, Registry};

/// Asked for by the user, so that it is no fault of the model if it is not there.
const DEVICE: &str = "device";

/// Ranks labels for documents, with a model of any system; [`Registry::open`] opens one.
#[derive(Debug)]
pub struct Predictor {
    ranker: Box<dyn Ranker>,
    labels: Arc<LabelSpace>,
    details: ModelDetails,
    manifest: Option<Manifest>,
    calibration: Option<Calibration>,
    trained_on: Option<TrainedOn>,
}

impl Predictor {
    /// Opens a model whose files were compared with its manifest.
    pub(crate) fn from_folder(
        folder: &ModelReader,
        registry: &'static Registry,
        compute: Compute,
    ) -> Result<Self> {
        let details = ModelDetails::of(folder)?;
        let labels = load_label_space(folder)?;
        if labels.len() as u64 != details.num_labels {
            return Err(Error::model(
                folder.folder(),
                format!(
                    "has {} labels where the manifest says {}",
                    labels.len(),
                    details.num_labels
                ),
            ));
        }
        let calibration = Calibration::of(folder, labels.len())?;
        let parts = OpenParts {
            details: &details,
            labels: &labels,
            compute,
            registry,
        };
        let ranker = registry
            .family_of(folder)?
            .open(folder, &parts)
            .map_err(|error| as_model_error(error, folder))?;
        Ok(Self {
            ranker,
            labels: Arc::new(labels),
            details,
            manifest: Some(folder.manifest().clone()),
            calibration,
            trained_on: TrainedOn::of(folder)?,
        })
    }

    /// A predictor from parts that are not saved yet.
    ///
    /// # Panics
    /// If there are other labels than `details` says.
    pub fn from_parts(ranker: Box<dyn Ranker>, labels: LabelSpace, details: ModelDetails) -> Self {
        assert_eq!(labels.len() as u64, details.num_labels);
        Self {
            ranker,
            labels: Arc::new(labels),
            details,
            manifest: None,
            calibration: None,
            trained_on: None,
        }
    }

    /// The same model with what is known of the documents that it was trained on.
    #[must_use]
    pub fn with_trained_on(self, trained_on: TrainedOn) -> Self {
        Self {
            trained_on: Some(trained_on),
            ..self
        }
    }

    /// The best labels of each document, best first. A document gets the same scores alone and
    /// among others.
    ///
    /// # Errors
    /// [`Error::Data`] if a document is a text and the model takes features, or the reverse.
    pub fn rank(
        &self,
        documents: &[Document],
        options: RankOptions,
    ) -> Result<Vec<Vec<ScoredLabel>>> {
        Ok(self.rank_timed(documents, options)?.labels)
    }

    /// As [`rank`](Self::rank), with what features cost.
    pub fn rank_timed(&self, documents: &[Document], options: RankOptions) -> Result<Rankings> {
        let Some(calibration) = &self.calibration else {
            return self.rank_raw(documents, options);
        };
        let deep = RankOptions {
            top_k: calibration.rank_depth(options.top_k),
            ..options
        };
        let mut rankings = self.rank_raw(documents, deep)?;
        for ranking in &mut rankings.labels {
            calibration.apply(ranking, self.labels.train_counts());
            ranking.truncate(options.top_k);
        }
        Ok(rankings)
    }

    /// As [`rank_timed`](Self::rank_timed), with the scores of the system itself, whether the model
    /// was calibrated or not.
    pub fn rank_raw(&self, documents: &[Document], options: RankOptions) -> Result<Rankings> {
        let options = RankOptions {
            // More labels than there are would only be numbers that libraries cannot hold.
            top_k: options.top_k.min(self.labels.len()),
            ..options
        };
        self.ranker.rank(documents, options)
    }

    /// Why `label` has its score for a text.
    ///
    /// # Errors
    /// [`Error::Data`] if the model was trained on features, has no such label, or is of a system
    /// that cannot tell.
    pub fn explain(&self, text: &str, label: LabelId) -> Result<Explanation> {
        if label.index() >= self.labels.len() {
            return Err(Error::data(format!(
                "there is no label number {}, the model has {}",
                label.0,
                self.labels.len()
            )));
        }
        if !self.details.takes_text {
            let message = "the model was trained on features, so it has no words to explain with";
            return Err(Error::Data(message.into()));
        }
        let found = self.ranker.explain(text, label)?;
        Ok(Explanation {
            score: self.shown_score(label, found.score),
            // What calibration made of the score must not look like the votes' doing.
            network_score: found.network_score.filter(|_| self.calibration.is_none()),
            ..found
        })
    }

    /// Vectors of texts, which are the nearer the more alike texts are.
    ///
    /// # Errors
    /// [`Error::Data`] if the model is of a system that has none.
    pub fn embed(&self, texts: &[&str]) -> Result<Embeddings> {
        self.ranker.embed(texts)?.ok_or_else(|| {
            let system = &self.details.system;
            let message = format!("a model of the system {system} has no vectors of texts");
            Error::Data(message.into())
        })
    }

    /// Documents to rank together: enough to keep the machine busy, few enough that a
    /// batch takes seconds.
    pub fn documents_per_batch(&self) -> usize {
        self.ranker.documents_per_batch()
    }

    /// How scores become probabilities, if the model was calibrated.
    pub fn calibration(&self) -> Option<&Calibration> {
        self.calibration.as_ref()
    }

    /// The same model with the scores of its system as they are. Members of an ensemble stay
    /// calibrated: their probabilities are what it combines.
    pub fn without_calibration(self) -> Self {
        Self {
            calibration: None,
            ..self
        }
    }

    /// The same model, ranking with the first so many of its trees or networks alone. Calibration is of all of them
    /// together, so it is left out.
    ///
    /// # Errors
    /// [`Error::Usage`] if it has fewer, or is not made of members.
    pub fn with_members(mut self, num_members: usize) -> Result<Self> {
        self.ranker.keep_members(num_members)?;
        Ok(self.without_calibration())
    }

    /// The tuned threshold of each label, if the model has any.
    pub fn label_thresholds(&self) -> Option<Vec<f32>> {
        let calibration = self.calibration.as_ref()?;
        let counts = (0..).map(LabelId).zip(self.labels.train_counts());
        counts
            .map(|(label, &count)| calibration.threshold(label, count))
            .collect()
    }

    /// The score that users see for what the system gives a label; 0 stands for a label that was not
    /// ranked, and stays.
    fn shown_score(&self, label: LabelId, score: f32) -> f32 {
        match &self.calibration {
            Some(calibration) if score > 0.0 => {
                calibration.probability(score, self.labels.train_counts()[label.index()])
            }
            _ => score,
        }
    }

    /// The labels, with the number of training documents of each.
    pub fn labels(&self) -> &LabelSpace {
        &self.labels
    }

    /// The same labels, for threads that outlive a borrow.
    pub fn shared_labels(&self) -> Arc<LabelSpace> {
        Arc::clone(&self.labels)
    }

    /// The trained part.
    pub fn ranker(&self) -> &dyn Ranker {
        self.ranker.as_ref()
    }

    /// System and sizes.
    pub fn details(&self) -> &ModelDetails {
        &self.details
    }

    /// The documents that the model was trained on, as far as it is known.
    pub fn trained_on(&self) -> Option<&TrainedOn> {
        self.trained_on.as_ref()
    }

    /// Number of documents the model was trained on.
    pub fn num_train_documents(&self) -> u64 {
        self.details.num_documents
    }

    /// The manifest; absent for a model that was never saved.
    pub fn manifest(&self) -> Option<&Manifest> {
        self.manifest.as_ref()
    }
}

/// Settings that cannot work are the user's mistake elsewhere, but damage in a model.
pub(crate) fn as_model_error(error: Error, folder: &ModelReader) -> Error {
    match error {
        Error::Config { ref key, .. } if key != DEVICE => {
            Error::model(&folder.folder().join(CONFIG_FILE), error.to_string())
        }
        // What does not fit is in the folder, and nowhere else.
        Error::Data(_) => Error::model(folder.folder(), error.to_string()),
        other => other,
    }
}
