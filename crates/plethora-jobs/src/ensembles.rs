//! Several trained models as one.

use std::fs;
use std::path::PathBuf;

use plethora_core::artifact::ModelWriter;
use plethora_core::corpus::Document;
use plethora_core::{Error, Result};
use plethora_system::{
    Candidates, Combination, Compute, EnsembleConfig, EnsembleModel, EnsembleParts, Fusion,
    LabelWeights, Powers, Ranker, Registry, Stacking, StackingFitter,
};
use serde::Serialize;

use crate::evaluation::for_each_batch;
use crate::model_folder::{about_model, size_of_model};
use crate::training::Corpus;
use crate::{Session, in_file, no_labels, tell_warnings};

/// What to combine, and how.
#[derive(Debug)]
pub struct EnsembleJob {
    /// The systems that the models may be of.
    pub registry: &'static Registry,
    /// Folders of the models.
    pub models: Vec<PathBuf>,
    /// Folder for the ensemble.
    pub output: PathBuf,
    /// How scores are combined; if absent the mean, or a stacked ensemble with documents to fit to.
    pub combination: Option<Combination>,
    /// How much each model counts; all the same where empty.
    pub weights: Vec<f64>,
    /// Labels that each model ranks per document.
    pub depth: usize,
    /// Documents with true labels to fit the weights of a stacked ensemble to.
    pub fit: Option<Corpus>,
    /// Leave the models where they are, and store their paths.
    pub links: bool,
    /// Where and with which numbers to compute while fitting.
    pub compute: Compute,
    /// Replace a model at the output.
    pub replaces: bool,
}

/// What came out.
#[derive(Debug, Serialize)]
pub struct EnsembleSummary {
    /// Folder of the ensemble.
    pub model: PathBuf,
    /// How scores are combined.
    pub combination: &'static str,
    /// Fitted weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stacking: Option<Stacking>,
    /// nDCG@5 of the mean and of what was fitted, on documents that it had not seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fusion: Option<FusionGain>,
    /// Fitted weights and exponents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub powers: Option<Powers>,
    /// Labels with weights of their own.
    #[serde(rename = "n_own_weights", skip_serializing_if = "Option::is_none")]
    pub num_own_weights: Option<usize>,
    /// True if the models stay where they are.
    pub is_linked: bool,
    /// The models.
    pub members: Vec<MemberSummary>,
    /// Labels of all models together.
    #[serde(rename = "n_labels")]
    pub num_labels: u64,
    /// Bytes of the ensemble's files.
    pub model_bytes: u64,
}

/// What fitting has brought.
#[derive(Debug, Serialize)]
pub struct FusionGain {
    /// Validation documents with labels.
    #[serde(rename = "n_documents")]
    pub num_documents: u64,
    /// nDCG@5 of the plain mean.
    pub ndcg_before: f64,
    /// nDCG@5 of what was fitted to other parts of the documents.
    pub ndcg_after: f64,
}

/// One model of an ensemble.
#[derive(Debug, Serialize)]
pub struct MemberSummary {
    /// Its folder.
    pub model: PathBuf,
    /// Its system.
    pub system: String,
    /// How much it counts.
    pub weight: f64,
    /// Labels that it knows.
    #[serde(rename = "n_labels")]
    pub num_labels: u64,
}

impl EnsembleJob {
    /// Checks that the models fit together, fits weights where documents are given, and writes.
    pub fn run(&self, session: &Session) -> Result<EnsembleSummary> {
        let config = self.config()?;
        self.check_output()?;
        ModelWriter::check_target(&self.output, self.replaces)?;
        if self.fit.is_some() {
            self.registry.open_device(self.compute.device)?;
        }
        let progress = session.progress();
        let mut parts = EnsembleParts::open(self.registry, &self.models, config, progress)?;
        if let Some(corpus) = &self.fit {
            self.fit(&mut parts, corpus, session)?;
        }
        if self.links {
            parts.link(&self.output)?;
        }
        let writer = ModelWriter::create(&self.output, self.replaces)?;
        parts
            .save(writer, progress)
            .map_err(|error| about_model(error, &self.output))?;
        warn_of_text_fields(&parts);
        self.summary(&parts)
    }

    fn config(&self) -> Result<EnsembleConfig> {
        let combination = match (self.combination, &self.fit) {
            (Some(chosen), None) if chosen.is_fitted() => {
                return Err(Error::usage(format!(
                    "--combination {}: its weights are fitted to validation documents; name \
                     them with --fit DATA",
                    chosen.as_str()
                )));
            }
            (None, Some(_)) => Combination::Stacked,
            (Some(chosen), Some(_)) if chosen.is_fitted() => chosen,
            (Some(_), Some(_)) => {
                return Err(Error::usage(
                    "--fit: nothing is fitted for this combination; leave it out, or pass --combination \
                     stacked, powers, label-weights or fused",
                ));
            }
            (chosen, None) => chosen.unwrap_or_default(),
        };
        if combination.is_fitted() && !self.weights.is_empty() {
            return Err(Error::usage(format!(
                "--weights: those of a {} ensemble are fitted, leave them out",
                combination.as_str()
            )));
        }
        let mut config = EnsembleConfig {
            combination,
            depth: self.depth,
            ..EnsembleConfig::equal(self.models.len())
        };
        if !self.weights.is_empty() {
            config.weights.clone_from(&self.weights);
        }
        Ok(config)
    }

    /// Ranks the validation documents with all models and fits what the combination needs.
    fn fit(&self, parts: &mut EnsembleParts, corpus: &Corpus, session: &Session) -> Result<()> {
        if parts.config().combination == Combination::Stacked {
            let mut fitter = StackingFitter::new(self.models.len(), parts.labels());
            self.rank(parts, corpus, session, |ensemble, documents| {
                fitter.add(ensemble, parts.labels(), documents)
            })?;
            let (weights, stacking) = fitted(corpus, session, || fitter.fit())?;
            parts.set_stacking(weights, stacking);
            return Ok(());
        }
        let mut candidates = Candidates::new(self.models.len());
        self.rank(parts, corpus, session, |ensemble, documents| {
            candidates.add_documents(ensemble, parts.labels(), documents)
        })?;
        match parts.config().combination {
            Combination::Powers => {
                parts.set_powers(fitted(corpus, session, || Powers::fit(&candidates))?);
            }
            Combination::LabelWeights => {
                let fit = || LabelWeights::fit(&candidates, parts.labels());
                let weights = fitted(corpus, session, fit)?;
                parts.set_label_weights(weights);
            }
            _ => {
                let fused = fitted(corpus, session, || Fusion::fit(&candidates))?;
                parts.set_fusion(fused.fusion);
            }
        }
        Ok(())
    }

    /// Hands documents with labels to `take`, with the models opened together.
    fn rank(
        &self,
        parts: &EnsembleParts,
        corpus: &Corpus,
        session: &Session,
        mut take: impl FnMut(&EnsembleModel, &[Document]) -> Result<()>,
    ) -> Result<()> {
        let mut reader = corpus.open_for(parts.details())?;
        let ensemble = parts.open_members(self.compute)?;
        let mut num_documents = 0;
        session.progress().start("ranking", None);
        let batch_size = ensemble.documents_per_batch();
        for_each_batch(&mut reader, batch_size, session, |documents| {
            let labelled = documents
                .iter()
                .filter(|document| !document.labels.is_empty());
            num_documents += labelled.count();
            take(&ensemble, documents)?;
            session.progress().advance(documents.len() as u64);
            Ok(())
        })
        .map_err(|error| in_file(error, &corpus.path))?;
        let summary = format!("{num_documents} documents");
        session.progress().finish(&summary);
        if num_documents == 0 {
            let format = reader.format();
            return Err(no_labels(&corpus.path, format, "to fit weights to"));
        }
        tell_warnings(&reader, session.progress());
        Ok(())
    }

    fn check_output(&self) -> Result<()> {
        let Ok(existing) = fs::canonicalize(&self.output) else {
            return Ok(());
        };
        let is_output =
            |model: &PathBuf| fs::canonicalize(model).is_ok_and(|model| model == existing);
        if self.models.iter().any(is_output) {
            return Err(Error::usage(format!(
                "{}: this is one of the models; choose another name for the output",
                self.output.display()
            )));
        }
        Ok(())
    }

    fn summary(&self, parts: &EnsembleParts) -> Result<EnsembleSummary> {
        let config = parts.config();
        let members = parts.members().zip(&config.weights);
        Ok(EnsembleSummary {
            model: self.output.clone(),
            combination: config.combination.as_str(),
            stacking: config.stacking.clone(),
            fusion: gain(config),
            powers: config.powers.clone(),
            num_own_weights: config.label_weights.as_ref().map(LabelWeights::num_labels),
            is_linked: !config.links.is_empty(),
            members: members
                .map(|((model, details), &weight)| MemberSummary {
                    model: model.to_owned(),
                    system: details.system.clone(),
                    weight,
                    num_labels: details.num_labels,
                })
                .collect(),
            num_labels: parts.details().num_labels,
            model_bytes: size_of_model(&self.output)?,
        })
    }
}

/// What fitting has brought, where it was judged by documents that were not fitted to.
fn gain(config: &EnsembleConfig) -> Option<FusionGain> {
    let fusion = config.fusion.as_ref();
    let powers = config.powers.as_ref();
    let weights = config.label_weights.as_ref();
    let found = (fusion.map(|found| (found.num_documents, found.ndcg_before, found.ndcg_after)))
        .or(powers.map(|found| (found.num_documents, found.ndcg_before, found.ndcg_after)))
        .or(weights.map(|found| (found.num_documents, found.ndcg_before, found.ndcg_after)));
    let (num_documents, ndcg_before, ndcg_after) = found?;
    Some(FusionGain {
        num_documents,
        ndcg_before,
        ndcg_after,
    })
}

/// A model that gets other fields than it was trained on ranks badly, and nothing else would tell.
fn warn_of_text_fields(parts: &EnsembleParts) {
    let chosen = &parts.details().text_fields;
    for (model, details) in parts.members() {
        if !details.text_fields.is_empty() && details.text_fields != *chosen {
            tracing::warn!(
                "{} was trained on the text fields {}, but the ensemble will read {}; \
                 --text-field chooses others",
                model.display(),
                details.text_fields.join(", "),
                chosen.join(", ")
            );
        }
    }
}

/// What `fit` finds, with the corpus in what it refuses.
fn fitted<T>(corpus: &Corpus, session: &Session, fit: impl FnOnce() -> Result<T>) -> Result<T> {
    session.progress().start("fitting weights", None);
    let fitted = fit().map_err(|error| in_file(error, &corpus.path))?;
    session.progress().finish("done");
    Ok(fitted)
}
