//! Trained models put together as the model folder of an ensemble.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use plethora_core::artifact::{
    MANIFEST_FILE, MODEL_CARD_FILE, ModelCard, ModelDetails, ModelReader, ModelWriter,
    save_label_space,
};
use plethora_core::corpus::LabelSpace;
use plethora_core::{Error, Progress, Result, grouped};
use plethora_linear::CONFIG_FILE;

use super::ENSEMBLE;
use super::config::EnsembleConfig;
use super::label_union::LabelUnion;
use super::member_folder::member_name;
use crate::{Compute, Predictor};

/// What the model folder of an ensemble is made of: models that were opened and fit together.
#[derive(Debug)]
pub struct EnsembleParts {
    config: EnsembleConfig,
    members: Vec<Source>,
    space: LabelSpace,
    details: ModelDetails,
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
    /// cannot be opened, or takes features where another takes texts; [`Error::Interrupted`].
    pub fn open(
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
            let predictor = Predictor::from_folder(&folder, Compute::default())?;
            union.add(predictor.labels());
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

    /// Copies the models into the folder of `writer` and completes it.
    pub fn save(&self, writer: ModelWriter, progress: &dyn Progress) -> Result<()> {
        // The manifest of a model is not one of the files it lists.
        let num_files = |member: &Source| member.folder.manifest().files.len() as u64 + 1;
        let total = self.members.iter().map(num_files).sum();
        progress.start("copying models", Some(total));
        for (number, member) in self.members.iter().enumerate() {
            member.copy(&member_name(number), &writer, progress)?;
        }
        writer.write_json(CONFIG_FILE, &self.config)?;
        save_label_space(&self.space, &writer)?;
        writer.write_text(MODEL_CARD_FILE, &self.card())?;
        writer.finish(ENSEMBLE, self.details.to_json())?;
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
            let _ = writeln!(
                text,
                "| {} | {} | {weight} | {} | {} |",
                member_name(number),
                details.system,
                grouped(details.num_labels),
                grouped(details.num_documents)
            );
        }
        text
    }
}

impl Source {
    /// Copies the files of the model into the folder `name` of `writer`. What else lies in its
    /// folder is not part of it.
    fn copy(&self, name: &str, writer: &ModelWriter, progress: &dyn Progress) -> Result<()> {
        let files = self.folder.manifest().files.keys().map(String::as_str);
        for file in files.chain([MANIFEST_FILE]) {
            check_cancelled(progress)?;
            let from = self.folder.folder().join(file);
            let to = format!("{name}/{file}");
            let mut source = File::open(&from).map_err(Error::read(&from))?;
            let mut target = writer.file(&to)?;
            io::copy(&mut source, &mut target)
                .and_then(|_| target.flush())
                .map_err(Error::write(&writer.path(&to)))?;
            progress.advance(1);
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
