//! A model that is ready to rank.

use std::path::Path;
use std::sync::Arc;

use plethora_core::artifact::{Manifest, ModelDetails, ModelReader, load_label_space};
use plethora_core::calibration::Calibration;
use plethora_core::corpus::{Document, LabelSpace};
use plethora_core::text::TfIdf;
use plethora_core::{Error, LabelId, Result, ScoredLabel};
use plethora_linear::knn::KnnModel;
use plethora_linear::{LinearModel, RankOptions};
#[cfg(feature = "torch")]
use plethora_neural::NeuralModel;

use crate::open_system::open_system;
use crate::prepared::{self, Prepared};
use crate::{Compute, EnsembleModel};

/// The trained part of a model. A new family of systems is one more arm.
#[cfg_attr(
    feature = "torch",
    expect(
        clippy::large_enum_variant,
        reason = "a program has one or two of them"
    )
)]
#[derive(Debug)]
#[non_exhaustive]
pub enum System {
    /// Linear classifiers on label trees.
    Linear(LinearModel),
    /// The labels of the nearest training documents.
    Knn(KnnModel),
    /// Networks.
    #[cfg(feature = "torch")]
    Neural(NeuralModel),
    /// Several models that rank as one.
    Ensemble(EnsembleModel),
}

/// Ranks labels for documents.
#[derive(Debug)]
pub struct Predictor {
    system: System,
    labels: Arc<LabelSpace>,
    tfidf: Option<TfIdf>,
    details: ModelDetails,
    manifest: Option<Manifest>,
    calibration: Option<Calibration>,
}

impl Predictor {
    /// Opens a model folder of any system, to compute on the processor.
    ///
    /// # Errors
    /// [`Error::Model`] if there is no model, or it is damaged or of a system that this program
    /// does not know.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_on(path, Compute::default())
    }

    /// Opens a model folder of any system; neural ones compute as told, linear ones always on
    /// the processor.
    ///
    /// # Errors
    /// As [`open`](Self::open); [`Error::Config`] if the machine has no such device.
    pub fn open_on(path: &Path, compute: impl Into<Compute>) -> Result<Self> {
        Self::from_folder(&ModelReader::open(path)?, compute.into())
    }

    /// Opens a model whose files were compared with its manifest.
    pub(crate) fn from_folder(folder: &ModelReader, compute: Compute) -> Result<Self> {
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
        let (system, tfidf) = open_system(folder, &details, &labels, compute)?;
        Ok(Self {
            system,
            labels: Arc::new(labels),
            tfidf,
            details,
            manifest: Some(folder.manifest().clone()),
            calibration,
        })
    }

    /// A predictor from parts that are not saved yet; `tfidf` makes the features of linear systems
    /// that take texts.
    ///
    /// # Panics
    /// If the parts have other sizes than `details` says.
    pub fn from_parts(
        system: System,
        labels: LabelSpace,
        tfidf: Option<TfIdf>,
        details: ModelDetails,
    ) -> Self {
        assert_eq!(labels.len() as u64, details.num_labels);
        match system {
            System::Linear(_) | System::Knn(_) => {
                assert_eq!(tfidf.is_some(), details.takes_text);
            }
            #[cfg(feature = "torch")]
            System::Neural(_) => assert!(tfidf.is_none() && details.takes_text),
            System::Ensemble(_) => assert!(tfidf.is_none()),
        }
        Self {
            system,
            labels: Arc::new(labels),
            tfidf,
            details,
            manifest: None,
            calibration: None,
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
        self.rank_prepared(&self.prepare(documents)?, options)
    }

    /// Documents in the form that the model ranks: the first half of [`rank`](Self::rank).
    pub fn prepare(&self, documents: &[Document]) -> Result<Prepared> {
        match &self.system {
            System::Linear(_) | System::Knn(_) => {
                Prepared::rows(documents, self.tfidf.as_ref(), self.num_features())
            }
            #[cfg(feature = "torch")]
            System::Neural(_) => Prepared::texts(documents),
            System::Ensemble(model) => model.prepare(documents).map(Prepared::Members),
        }
    }

    /// The best labels of documents that [`prepare`](Self::prepare) of the same predictor gave: the
    /// second half of [`rank`](Self::rank).
    pub fn rank_prepared(
        &self,
        prepared: &Prepared,
        options: RankOptions,
    ) -> Result<Vec<Vec<ScoredLabel>>> {
        let Some(calibration) = &self.calibration else {
            return self.rank_raw(prepared, options);
        };
        let deep = RankOptions {
            top_k: calibration.rank_depth(options.top_k),
            ..options
        };
        let mut rankings = self.rank_raw(prepared, deep)?;
        for ranking in &mut rankings {
            calibration.apply(ranking, self.labels.train_counts());
            ranking.truncate(options.top_k);
        }
        Ok(rankings)
    }

    /// As [`rank_prepared`](Self::rank_prepared), with the scores of the system itself, whether the
    /// model was calibrated or not.
    pub fn rank_raw(
        &self,
        prepared: &Prepared,
        options: RankOptions,
    ) -> Result<Vec<Vec<ScoredLabel>>> {
        match (&self.system, prepared) {
            (System::Linear(model), Prepared::Rows(rows)) => Ok(model.rank(rows, options)),
            (System::Knn(model), Prepared::Rows(rows)) => Ok(model.rank(rows, options)),
            #[cfg(feature = "torch")]
            (System::Neural(model), Prepared::Texts(texts)) => {
                let options = plethora_neural::RankOptions {
                    top_k: options.top_k,
                    beam: options.beam,
                };
                let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                Ok(model.rank(&texts, options)?)
            }
            (System::Ensemble(model), Prepared::Members(members)) => model.rank(members, options),
            _ => Err(prepared::of_another_model()),
        }
    }

    /// Documents to rank together: enough to keep the machine busy, few enough to go on from one to
    /// the next within seconds.
    pub fn documents_per_batch(&self) -> usize {
        match &self.system {
            System::Linear(_) | System::Knn(_) => 4096,
            #[cfg(feature = "torch")]
            System::Neural(_) => 512,
            System::Ensemble(model) => model.documents_per_batch(),
        }
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
    pub(crate) fn shown_score(&self, label: LabelId, score: f32) -> f32 {
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
    pub fn system(&self) -> &System {
        &self.system
    }

    /// How texts become features; absent where documents come as features, and for neural systems and
    /// ensembles.
    pub fn tfidf(&self) -> Option<&TfIdf> {
        self.tfidf.as_ref()
    }

    /// System and sizes.
    pub fn details(&self) -> &ModelDetails {
        &self.details
    }

    /// Number of documents the model was trained on.
    pub fn num_train_documents(&self) -> u64 {
        self.details.num_documents
    }

    /// The manifest; absent for a model that was never saved.
    pub fn manifest(&self) -> Option<&Manifest> {
        self.manifest.as_ref()
    }

    fn num_features(&self) -> usize {
        self.details.num_features as usize
    }
}
