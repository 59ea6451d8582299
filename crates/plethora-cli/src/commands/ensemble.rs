//! `ensemble`: several trained models as one.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use plethora_core::grouped;
use plethora_jobs::ensembles::{EnsembleJob, EnsembleSummary};
use plethora_system::{Combination, EnsembleConfig, Stacking};

use crate::choice::{Choice, one_of};
use crate::data_args::DataArgs;
use crate::device_args::DeviceArgs;
use crate::figures::{bytes, percent};
use crate::session::Session;
use crate::training::Corpus;
use crate::{bounds, interrupt, results};

const EXAMPLES: &str = "\
Examples:
  plethora ensemble parabel bonsai -o both
  plethora ensemble seed-1 seed-2 seed-3 -o three --weights 1,1,2
  plethora ensemble network parabel -o consensus --combination noisy-or
  plethora ensemble network parabel -o stacked --fit validation.jsonl
  plethora eval three test.jsonl

The models may be of any systems and know different labels as long as they share some, but all take
texts or all take features. A label that a model does not rank has the score 0 there. Models that were
calibrated (`plethora calibrate`) count with their probabilities: calibrate them first where their
scores mean different things. docs/ensembles.md says which combination is for what.";

const COMBINATIONS: [Choice<Combination>; 7] = [
    ("mean", Combination::Mean, "Weighted mean of scores"),
    (
        "noisy-or",
        Combination::NoisyOr,
        "One less the chance that all models are wrong: 1 - (1 - p)(1 - q)...",
    ),
    (
        "reciprocal-rank",
        Combination::ReciprocalRank,
        "Weighted mean of 61 / (60 + rank); scores do not count",
    ),
    (
        "stacked",
        Combination::Stacked,
        "Weighted sum, with weights for frequent, middling and rare labels from --fit",
    ),
    (
        "powers",
        Combination::Powers,
        "Sum of weight * score^exponent, both from --fit; its scores are probabilities",
    ),
    (
        "label-weights",
        Combination::LabelWeights,
        "Logistic regression with weights for each label from --fit; its scores are probabilities",
    ),
    (
        "fused",
        Combination::Fused,
        "A forest over scores, ranks and frequencies from --fit; its scores are probabilities",
    ),
];

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

    /// How scores are combined; mean if not given, or stacked with --fit
    #[arg(long, value_name = "WAY", value_parser = one_of(&COMBINATIONS))]
    combination: Option<Combination>,

    /// Validation documents with true labels to fit weights to (stacked, powers, label-weights, fused);
    /// not of the training data
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

    /// Labels that each model ranks per document, or as many as are asked for if these are more
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

impl EnsembleArgs {
    /// Checks that the models fit together, copies them and reports.
    pub(crate) fn run(&self, session: &Session) -> anyhow::Result<()> {
        interrupt::install();
        let job = EnsembleJob {
            registry: crate::registry(),
            models: self.models.clone(),
            output: self.output.clone(),
            combination: self.combination,
            weights: self.weights.clone(),
            depth: self.depth,
            fit: (self.fit.clone()).map(|path| Corpus::of_file(path, self.input.to_options())),
            links: self.link && !self.embed,
            compute: self.device.compute(),
            replaces: self.force,
        };
        let summary = job.run(session)?;
        results::show(self.json, &summary, render)
    }
}

fn render(summary: &EnsembleSummary) -> String {
    let mut text = format!(
        "model       {} (ensemble, {}, {})\n\
         labels      {}\n",
        summary.model.display(),
        summary.combination,
        bytes(summary.model_bytes),
        grouped(summary.num_labels)
    );
    for member in &summary.members {
        let _ = writeln!(
            text,
            "member      {} ({}, weight {}, {} labels)",
            member.model.display(),
            member.system,
            member.weight,
            grouped(member.num_labels)
        );
    }
    if summary.is_linked {
        text.push_str("linked      the members stay where they are and must not change\n");
    }
    if let Some(stacking) = &summary.stacking {
        render_stacking(stacking, &mut text);
    }
    if let Some(powers) = &summary.powers {
        for (member, (weight, exponent)) in
            (summary.members.iter()).zip(powers.weights.iter().zip(&powers.exponents))
        {
            let model = member.model.display();
            let _ = writeln!(text, "power       {weight} * score^{exponent} of {model}");
        }
    }
    if let Some(labels) = summary.num_own_weights {
        let labels = grouped(labels as u64);
        let _ = writeln!(text, "weights     of their own for {labels} labels");
    }
    if let Some(fusion) = &summary.fusion {
        let _ = writeln!(
            text,
            "nDCG@5      {} by the mean, {} fitted, each of the {} documents unseen",
            percent(fusion.ndcg_before),
            percent(fusion.ndcg_after),
            grouped(fusion.num_documents)
        );
    }
    text
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
