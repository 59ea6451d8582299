//! Trained models put together as the model folder of an ensemble.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use plethora_core::artifact::{
    CONFIG_FILE, Check, MODEL_CARD_FILE, ModelCard, ModelCopy, ModelDetails, ModelReader,
    ModelWriter, TrainedOn, save_label_space,
};
use plethora_core::corpus::LabelSpace;
use plethora_core::{Error, Progress, Result, grouped};

use super::ENSEMBLE;
use super::config::{EnsembleConfig, FUSION_FILE, LABEL_WEIGHTS_FILE};
use super::fusion::Fusion;
use super::label_union::LabelUnion;
use super::label_weights::LabelWeights;
use super::link::MemberLink;
use super::member_folder::{MemberFolder, member_name};
use super::model::EnsembleModel;
use super::powers::Powers;
use super::stacking::Stacking;
use crate::{Compute, OpenParts, Predictor, Registry};

/// What the model folder of an ensemble is made of: models that were opened and fit together.
#[derive(Debug)]
pub struct EnsembleParts {
    config: EnsembleConfig,
    members: Vec<Source>,
    space: LabelSpace,
    details: ModelDetails,
    registry: &'static Registry,
}

/// A model where its user keeps it.
#[derive(Debug)]
struct Source {
    folder: ModelReader,
    details: ModelDetails,
}

impl EnsembleParts {
    /// Opens the models in `paths` one after the other, so that nothing is saved that could not be
    /// opened, and keeps only their folders and labels.
    ///
    /// # Errors
    /// [`Error::Config`] if the settings do not fit that many models; [`Error::Model`] if a model
    /// cannot be opened, takes features where another takes texts, or shares no label with the
    /// others; [`Error::Interrupted`].
    pub fn open(
        registry: &'static Registry,
        paths: &[PathBuf],
        config: EnsembleConfig,
        progress: &dyn Progress,
    ) -> Result<Self> {
        config.validate(paths.len())?;
        let mut union = LabelUnion::default();
        let mut members: Vec<Source> = Vec::with_capacity(paths.len());
        progress.start("opening models", Some(paths.len() as u64));
        for path in paths {
            let folder = ModelReader::open(path)?;
            let details = ModelDetails::of(&folder)?;
            if let Some(first) = members.first() {
                check_documents(path, &details, first)?;
            }
            let predictor = Predictor::from_folder(&folder, registry, Compute::default())?;
            let num_shared = union.add(predictor.labels());
            if let Some(first) = members.first()
                && num_shared == 0
            {
                return Err(of_other_labels(path, first));
            }
            members.push(Source { folder, details });
            progress.advance(1);
            check_cancelled(progress)?;
        }
        let space = union.finish();
        progress.finish(&format!("{} labels", grouped(space.len() as u64)));
        let details = details_of(&members, &space);
        Ok(Self {
            config,
            members,
            space,
            details,
            registry,
        })
    }

    /// Sizes of the ensemble.
    pub fn details(&self) -> &ModelDetails {
        &self.details
    }

    /// Folder and sizes of each model.
    pub fn members(&self) -> impl Iterator<Item = (&Path, &ModelDetails)> {
        let members = self.members.iter();
        members.map(|member| (member.folder.folder(), &member.details))
    }

    /// The settings.
    pub fn config(&self) -> &EnsembleConfig {
        &self.config
    }

    /// The labels of all models.
    pub fn labels(&self) -> &LabelSpace {
        &self.space
    }

    /// All models opened together, to fit weights with.
    pub fn open_members(&self, compute: Compute) -> Result<EnsembleModel> {
        let found = self.members.iter().zip(&self.config.weights);
        let found = found.map(|(member, &weight)| {
            Ok(MemberFolder {
                name: member.folder.folder().display().to_string(),
                weight,
                folder: ModelReader::open_with(member.folder.folder(), Check::Sizes)?,
                details: member.details.clone(),
            })
        });
        let found = found.collect::<Result<_>>()?;
        let parts = OpenParts {
            details: &self.details,
            labels: &self.space,
            compute,
            registry: self.registry,
        };
        EnsembleModel::new(self.config.clone(), found, &parts)
    }

    /// Sets fitted weights: of all labels, and of bands of them.
    pub fn set_stacking(&mut self, weights: Vec<f64>, stacking: Stacking) {
        self.config.weights = weights;
        self.config.stacking = Some(stacking);
    }

    /// Sets a fitted forest.
    pub fn set_fusion(&mut self, fusion: Fusion) {
        self.config.fusion = Some(fusion);
    }

    /// Sets fitted weights and exponents.
    pub fn set_powers(&mut self, powers: Powers) {
        self.config.powers = Some(powers);
    }

    /// Sets fitted weights by label.
    pub fn set_label_weights(&mut self, label_weights: LabelWeights) {
        self.config.label_weights = Some(label_weights);
    }

    /// Leaves the models where they are: the ensemble, which is going to be at `target`, will open
    /// them by their paths from there.
    pub fn link(&mut self, target: &Path) -> Result<()> {
        let links = self.members.iter();
        let links = links.map(|member| MemberLink::new(target, &member.folder));
        self.config.links = links.collect::<Result<_>>()?;
        Ok(())
    }

    /// Copies the models into the folder of `writer`, unless they are linked, and completes it.
    ///
    /// # Errors
    /// [`Error::Model`] if a model to be copied is an ensemble that links to its members.
    pub fn save(&self, writer: ModelWriter, progress: &dyn Progress) -> Result<()> {
        self.save_with(writer, progress, |_| Ok(()))
    }

    /// As [`save`](Self::save), with files that `more` writes.
    pub fn save_with(
        &self,
        writer: ModelWriter,
        progress: &dyn Progress,
        more: impl FnOnce(&ModelWriter) -> Result<()>,
    ) -> Result<()> {
        self.config.check_complete()?;
        if self.config.links.is_empty() {
            self.copy_members(&writer, progress)?;
        }
        writer.write_json(CONFIG_FILE, &self.config)?;
        if let Some(fusion) = &self.config.fusion {
            writer.write_json(FUSION_FILE, fusion)?;
        }
        if let Some(weights) = &self.config.label_weights {
            writer.write_json(LABEL_WEIGHTS_FILE, weights)?;
        }
        save_label_space(&self.space, &writer)?;
        let mut trained_on = TrainedOn::default();
        for member in &self.members {
            trained_on.merge(&TrainedOn::of(&member.folder)?.unwrap_or_default());
        }
        trained_on.save(&writer)?;
        writer.write_text(MODEL_CARD_FILE, &self.card())?;
        more(&writer)?;
        writer.finish(ENSEMBLE, self.details.to_json())?;
        Ok(())
    }

    fn copy_members(&self, writer: &ModelWriter, progress: &dyn Progress) -> Result<()> {
        for member in &self.members {
            member.check_copy()?;
        }
        let names: Vec<String> = (0..self.members.len()).map(member_name).collect();
        let copies = || {
            self.members.iter().zip(&names).map(|(member, name)| {
                let copy = ModelCopy {
                    folder: Some(name),
                    ..ModelCopy::default()
                };
                (copy, &member.folder)
            })
        };
        let total = copies().map(|(copy, model)| copy.num_files(model)).sum();
        progress.start("copying models", Some(total));
        for (copy, model) in copies() {
            copy.run(model, writer, progress)?;
        }
        progress.finish(&format!("{} models", self.members.len()));
        Ok(())
    }

    fn card(&self) -> String {
        let card = ModelCard {
            // Each member has its own.
            num_features: None,
            ..ModelCard::new(&self.details, None)
        };
        let mut text = card.render();
        text.push_str(
            "\n## Members\n\n\
             | Folder | System | Weight | Labels | Training documents |\n\
             | --- | --- | ---: | ---: | ---: |\n",
        );
        let members = self.members.iter().zip(&self.config.weights);
        for (number, (Source { details, .. }, weight)) in members.enumerate() {
            let link = self.config.links.get(number);
            let name = link.map_or_else(|| member_name(number), |link| link.path.clone());
            let _ = writeln!(
                text,
                "| {name} | {} | {weight} | {} | {} |",
                details.system,
                grouped(details.num_labels),
                grouped(details.num_documents)
            );
        }
        text
    }
}

impl Source {
    /// Paths of members lead elsewhere from another folder.
    fn check_copy(&self) -> Result<()> {
        if self.details.system == ENSEMBLE && !EnsembleConfig::of(&self.folder)?.links.is_empty() {
            return Err(Error::model(
                self.folder.folder(),
                "links to its members, so it cannot be copied into an ensemble, only linked to",
            ));
        }
        Ok(())
    }
}

fn check_cancelled(progress: &dyn Progress) -> Result<()> {
    if progress.is_cancelled() {
        Err(Error::Interrupted)
    } else {
        Ok(())
    }
}

/// A document is either a text or a row of features, so that it is nothing for models of both.
fn check_documents(path: &Path, details: &ModelDetails, first: &Source) -> Result<()> {
    if details.takes_text == first.details.takes_text {
        return Ok(());
    }
    let kind = |takes_text: bool| if takes_text { "texts" } else { "features" };
    Err(Error::model(
        path,
        format!(
            "takes {}, but {} takes {}: an ensemble gives the same documents to all its models",
            kind(details.takes_text),
            first.folder.folder().display(),
            kind(first.details.takes_text)
        ),
    ))
}

fn of_other_labels(path: &Path, first: &Source) -> Error {
    Error::model(
        path,
        format!(
            "shares no label with {}: they were trained on other label spaces",
            first.folder.folder().display()
        ),
    )
}

/// Documents are counted as labels are: the most that a member has seen.
fn details_of(members: &[Source], space: &LabelSpace) -> ModelDetails {
    let details = || members.iter().map(|member| &member.details);
    let largest = |size: fn(&ModelDetails) -> u64| details().map(size).max().unwrap_or_default();
    ModelDetails {
        system: ENSEMBLE.to_owned(),
        num_labels: space.len() as u64,
        num_documents: largest(|details| details.num_documents),
        num_features: largest(|details| details.num_features),
        takes_text: details().all(|details| details.takes_text),
        text_fields: details()
            .map(|details| details.text_fields.clone())
            .find(|fields| !fields.is_empty())
            .unwrap_or_default(),
    }
}
