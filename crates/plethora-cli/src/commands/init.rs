//! `init`: a commented file with all settings of a system.

use std::path::{Path, PathBuf};

use clap::Args;
use plethora_core::corpus::Output;

use plethora_core::Error;

use crate::registry;
use crate::settings::systems;

const EXAMPLES: &str = "\
Examples:
  plethora init -o settings.toml
  plethora init --system NAME > settings.toml
  plethora train books.jsonl -o model --config settings.toml";

/// Write a commented file with all settings of a system
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct InitArgs {
    #[arg(long, value_name = "NAME", default_value = registry().default_system().name, hide_default_value = true)]
    #[arg(help = format!("System: {}", systems()))]
    system: String,

    /// File to write to instead of standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,

    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
}

impl InitArgs {
    /// Writes the recipe.
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let (_, spec) = registry()
            .find(&self.system)
            .map_err(|message| Error::usage(format!("--system: {message}")))?;
        write_text(&self.output, spec.recipe, self.force)?;
        Ok(())
    }
}

/// Writes a text file, or to standard output for `-`.
pub(crate) fn write_text(path: &Path, text: &str, replace: bool) -> plethora_core::Result<()> {
    let mut output = Output::create(path, replace)?;
    output.write(text.as_bytes())?;
    output.finish()
}
