//! `ensemble`: several trained models as one.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use plethora_core::artifact::{Check, ModelReader, ModelWriter};
use plethora_core::corpus::CorpusReader;
use plethora_core::{Error, Result, grouped};
use plethora_predict::{Combination, EnsembleConfig, EnsembleParts, Stacking, StackingFitter};
use serde::Serialize;

use crate::data_args::{DataArgs, in_file, no_labels, tell_warnings};
use crate::device_args::DeviceArgs;
use crate::evaluation::for_each_batch;
use crate::failure::UsageError;
use crate::figures::{bytes, percent};
use crate::session::Session;
use crate::{bounds, interrupt, results};

const EXAMPLES: &str = "\
Examples:
  plethora ensemble parabel bonsai -o both
  plethora ensemble seed-1 seed-2 seed-3 -o three --weights 1,1,2
  plethora ensemble attentionxml parabel -o consensus --combination noisy-or
  plethora ensemble attentionxml parabel -o stacked --fit validation.jsonl
  plethora eval three test.jsonl

The models may be of any systems and know different labels as long as they share some, but all take
texts or all take features. A label that a model does not rank has the score 0 there. Models that were
calibrated (`plethora calibrate`) count with their probabilities: calibrate them first where their
scores mean different things. docs/ensembles.md says which combination is for what.";

/// Ways to combine; the words here are those of `--help`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CombinationArg {
    /// Weighted mean of scores
    Mean,
    /// One less the chance that all models are wrong: 1 - (1 - p)(1 - q)...
    NoisyOr,
    /// Weighted mean of 61 / (60 + rank); scores do not count
    ReciprocalRank,
    /// Weighted sum, with weights for frequent, middling and rare labels from --fit
    Stacked,
}

/// Combine trained models into one
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "switches of a command line")]
pub(crate) struct EnsembleArgs {
    /// Model folders, two or more; they are copied unless --link is given
    #[arg(required = true, value_name = "MODEL")]
    models: Vec<PathBuf>,

    /// Folder for the ensemble
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,

    /// How scores become one; mean if not given, or stacked with --fit
    #[arg(long, value_name = "WAY")]
    combination: Option<CombinationArg>,

    /// Validation documents with true labels to fit the weights of a stacked ensemble to; not of
    /// the training data
    #[arg(long, value_name = "DATA")]
    fit: Option<PathBuf>,

    /// Leave the models where they are and store their paths from the ensemble, and their checksums
    #[arg(long)]
    link: bool,

    /// Copy the models into the ensemble, which is what happens without --link
    #[arg(long, conflicts_with = "link")]
    embed: bool,

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

    #[command(flatten)]
    device: DeviceArgs,

    #[command(flatten)]
    input: DataArgs,
}

/// What came out.
#[derive(Serialize)]
struct Summary<'a> {
    model: &'a Path,
    combination: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    stacking: Option<&'a Stacking>,
    is_linked: bool,
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
        let config = self.config()?;
        self.check_output()?;
        ModelWriter::check_target(&self.output, self.force)?;
        if self.fit.is_some() {
            self.device.compute().prepare()?;
        }
        interrupt::install();
        let progress = session.progress();
        let mut parts = EnsembleParts::open(&self.models, config, progress)?;
        if let Some(data) = &self.fit {
            let (weights, stacking) = self.fit(&parts, data, session)?;
            parts.set_stacking(weights, stacking);
        }
        if self.link && !self.embed {
            parts.link(&self.output)?;
        }
        let writer = ModelWriter::create(&self.output, self.force)?;
        (parts.save(writer, progress)).map_err(|error| self.name_model(error))?;
        warn_of_text_fields(&parts);
        let summary = self.summary(&parts)?;
        if self.json {
            results::print_json(&summary)?;
        } else {
            results::print(&summary.render())?;
        }
        Ok(())
    }

    fn config(&self) -> Result<EnsembleConfig, UsageError> {
        let combination = match (self.combination, &self.fit) {
            (Some(CombinationArg::Stacked), None) => {
                return Err(UsageError::new(
                    "--combination stacked: its weights are fitted to validation documents; name \
                     them with --fit DATA",
                ));
            }
            (None | Some(CombinationArg::Stacked), Some(_)) => Combination::Stacked,
            (Some(_), Some(_)) => {
                return Err(UsageError::new(
                    "--fit: only the weights of a stacked ensemble are fitted; leave it out, or \
                     pass --combination stacked",
                ));
            }
            (None | Some(CombinationArg::Mean), None) => Combination::Mean,
            (Some(CombinationArg::NoisyOr), None) => Combination::NoisyOr,
            (Some(CombinationArg::ReciprocalRank), None) => Combination::ReciprocalRank,
        };
        if combination == Combination::Stacked && !self.weights.is_empty() {
            let message = "--weights: those of a stacked ensemble are fitted, leave them out";
            return Err(UsageError::new(message));
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

    /// Ranks the validation documents with all models and finds weights.
    fn fit(
        &self,
        parts: &EnsembleParts,
        data: &Path,
        session: &Session,
    ) -> Result<(Vec<f64>, Stacking)> {
        let options = self.input.to_options_for(parts.details());
        let mut reader = CorpusReader::open(data, &options)?;
        let ensemble = parts.open_members(self.device.compute())?;
        let mut fitter = StackingFitter::new(self.models.len(), parts.labels());
        session.progress().start("ranking", None);
        let batch_size = ensemble.documents_per_batch();
        for_each_batch(&mut reader, batch_size, session, |documents| {
            fitter.add(&ensemble, parts.labels(), documents)?;
            session.progress().advance(documents.len() as u64);
            Ok(())
        })
        .map_err(|error| in_file(error, data))?;
        session
            .progress()
            .finish(&format!("{} documents", fitter.num_documents()));
        if fitter.num_documents() == 0 {
            return Err(no_labels(data, reader.format(), "to fit weights to"));
        }
        session.progress().start("fitting weights", None);
        let fitted = fitter.fit().map_err(|error| in_file(error, data))?;
        session.progress().finish("done");
        tell_warnings(&reader);
        Ok(fitted)
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

    fn summary<'a>(&'a self, parts: &'a EnsembleParts) -> Result<Summary<'a>> {
        let config = parts.config();
        let saved = ModelReader::open_with(&self.output, Check::Sizes)?;
        let members = parts.members().zip(&config.weights);
        Ok(Summary {
            model: &self.output,
            combination: config.combination.as_str(),
            stacking: config.stacking.as_ref(),
            is_linked: !config.links.is_empty(),
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
            "model       {} (ensemble, {}, {})\n\
             labels      {}\n",
            self.model.display(),
            self.combination,
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
        if self.is_linked {
            text.push_str("linked      the members stay where they are and must not change\n");
        }
        if let Some(stacking) = self.stacking {
            render_stacking(stacking, &mut text);
        }
        text
    }
}

fn render_stacking(stacking: &Stacking, text: &mut String) {
    for (band, weights) in stacking.weights.iter() {
        let weights: Vec<String> = weights.iter().map(ToString::to_string).collect();
        let _ = writeln!(text, "{:11} weights {}", band.as_str(), weights.join(", "));
    }
    let _ = writeln!(
        text,
        "nDCG@5      {} with equal weights, {} with these, on the {} documents fitted to",
        percent(stacking.ndcg_before),
        percent(stacking.ndcg_after),
        grouped(stacking.num_documents)
    );
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
