//! `ensemble`: several trained models as one.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use plethora_core::artifact::{Check, ModelReader, ModelWriter};
use plethora_core::{Error, Result, grouped};
use plethora_predict::{EnsembleConfig, EnsembleParts};
use serde::Serialize;

use crate::failure::UsageError;
use crate::figures::bytes;
use crate::session::Session;
use crate::{bounds, interrupt, results};

const EXAMPLES: &str = "\
Examples:
  plethora ensemble parabel bonsai -o both
  plethora ensemble seed-1 seed-2 seed-3 -o three --weights 1,1,2
  plethora eval three test.jsonl

The models may be of any systems and know different labels, but all take texts or all take features.
A label's score is the weighted mean of those that the models give to it, 0 where one does not rank
it.";

/// Combine trained models into one that ranks by their mean
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct EnsembleArgs {
    /// Model folders, two or more; they are copied
    #[arg(required = true, value_name = "MODEL")]
    models: Vec<PathBuf>,

    /// Folder for the ensemble
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,

    /// How much each model counts, in their order; all the same if not given
    #[arg(
        long,
        value_name = "W,...",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    weights: Vec<f64>,

    /// Labels that each model ranks a document, or as many as are asked for if these are more
    #[arg(long, value_name = "N", value_parser = bounds::at_least_one())]
    #[arg(default_value_t = EnsembleConfig::equal(0).depth)]
    depth: usize,

    /// Replace the model if there is one
    #[arg(long)]
    force: bool,

    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

/// What came out.
#[derive(Serialize)]
struct Summary<'a> {
    model: &'a Path,
    members: Vec<MemberSummary<'a>>,
    #[serde(rename = "n_labels")]
    num_labels: u64,
    model_bytes: u64,
}

#[derive(Serialize)]
struct MemberSummary<'a> {
    model: &'a Path,
    system: &'a str,
    weight: f64,
    #[serde(rename = "n_labels")]
    num_labels: u64,
}

impl EnsembleArgs {
    /// Checks that the models fit together, copies them and reports.
    pub(crate) fn run(&self, session: &Session) -> anyhow::Result<()> {
        let config = self.config();
        self.check_output()?;
        ModelWriter::check_target(&self.output, self.force)?;
        interrupt::install();
        let progress = session.progress();
        let parts = EnsembleParts::open(&self.models, config.clone(), progress)?;
        let writer = ModelWriter::create(&self.output, self.force)?;
        (parts.save(writer, progress)).map_err(|error| self.name_model(error))?;
        warn_of_text_fields(&parts);
        let summary = self.summary(&parts, &config)?;
        if self.json {
            results::print_json(&summary)?;
        } else {
            results::print(&summary.render())?;
        }
        Ok(())
    }

    fn config(&self) -> EnsembleConfig {
        let mut config = EnsembleConfig {
            depth: self.depth,
            ..EnsembleConfig::equal(self.models.len())
        };
        if !self.weights.is_empty() {
            config.weights.clone_from(&self.weights);
        }
        config
    }

    fn check_output(&self) -> Result<(), UsageError> {
        let Ok(existing) = fs::canonicalize(&self.output) else {
            return Ok(());
        };
        let is_output =
            |model: &PathBuf| fs::canonicalize(model).is_ok_and(|model| model == existing);
        if self.models.iter().any(is_output) {
            return Err(UsageError::new(format!(
                "{}: this is one of the models; choose another name for the output",
                self.output.display()
            )));
        }
        Ok(())
    }

    /// A model is written under another name until it is complete, which users did not choose.
    fn name_model(&self, error: Error) -> Error {
        match error {
            Error::Write { source, .. } => Error::write(&self.output)(source),
            other => other,
        }
    }

    fn summary<'a>(
        &'a self,
        parts: &'a EnsembleParts,
        config: &EnsembleConfig,
    ) -> Result<Summary<'a>> {
        let saved = ModelReader::open_with(&self.output, Check::Sizes)?;
        let members = parts.members().zip(&config.weights);
        Ok(Summary {
            model: &self.output,
            members: members
                .map(|((model, details), &weight)| MemberSummary {
                    model,
                    system: &details.system,
                    weight,
                    num_labels: details.num_labels,
                })
                .collect(),
            num_labels: parts.details().num_labels,
            model_bytes: saved.manifest().files.values().map(|file| file.size).sum(),
        })
    }
}

impl Summary<'_> {
    fn render(&self) -> String {
        let mut text = format!(
            "model       {} (ensemble, {})\n\
             labels      {}\n",
            self.model.display(),
            bytes(self.model_bytes),
            grouped(self.num_labels)
        );
        for member in &self.members {
            let _ = writeln!(
                text,
                "member      {} ({}, weight {}, {} labels)",
                member.model.display(),
                member.system,
                member.weight,
                grouped(member.num_labels)
            );
        }
        text
    }
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
