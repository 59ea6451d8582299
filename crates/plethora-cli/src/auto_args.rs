//! The options of training without a named system.

use std::time::Duration;

use clap::Args;
use plethora_core::Error;
use plethora_jobs::auto::Objective;
use plethora_jobs::search::parse_budget;

/// How to choose systems; the words here are those of `--help`.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Without --system")]
pub(crate) struct AutoArgs {
    /// Time for everything, as 90s, 10m or 1h; a few minutes that suit the data if not given
    #[arg(long, value_name = "TIME", value_parser = parse_budget)]
    pub(crate) budget: Option<Duration>,

    /// What the model should be best at: nDCG@5, PSP@5 (rare labels count more) or micro-F1
    #[arg(long, value_name = "METRIC", default_value = "nDCG@5")]
    pub(crate) objective: Objective,

    /// Print which members are trained, which are not, and why
    #[arg(long)]
    pub(crate) explain_plan: bool,
}

impl AutoArgs {
    /// Refuses options that mean nothing where members are not chosen.
    pub(crate) fn refuse(&self, reason: &str) -> anyhow::Result<()> {
        let given = [
            ("--budget", self.budget.is_some()),
            ("--objective", self.objective != Objective::default()),
            ("--explain-plan", self.explain_plan),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => {
                let message =
                    format!("{option}: only where systems are chosen by themselves, but {reason}");
                Err(Error::usage(message).into())
            }
            None => Ok(()),
        }
    }
}
