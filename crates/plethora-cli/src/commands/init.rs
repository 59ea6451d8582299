//! `init`: a commented file with all settings of a system.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use plethora_core::corpus::Output;

use plethora_core::Error;
use plethora_system::Preset;

use crate::registry;
use crate::settings::systems;

const EXAMPLES: &str = "\
Examples:
  plethora init -o settings.toml
  plethora init --system NAME > settings.toml
  plethora init --system NAME --presets
  plethora train books.jsonl -o model --config settings.toml";

/// Write a commented file with all settings of a system
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct InitArgs {
    #[arg(long, value_name = "NAME", default_value = registry().default_system().name, hide_default_value = true)]
    #[arg(help = format!("System: {}", systems()))]
    system: String,

    /// Write what this preset changes, in place of all settings
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,

    /// List the presets of the system
    #[arg(long, conflicts_with_all = ["preset", "force"])]
    presets: bool,

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
        let text = match &self.preset {
            _ if self.presets => list(spec.presets).into(),
            None => spec.recipe.into(),
            Some(name) => Cow::from(preset(spec.name, spec.presets, name)?),
        };
        write_text(&self.output, &text, self.force)?;
        Ok(())
    }
}

/// A line for each preset: its name, and what it says of itself.
fn list(presets: &[Preset]) -> String {
    let width = presets.iter().map(|preset| preset.name.len()).max();
    let width = width.unwrap_or_default();
    let mut lines = String::new();
    for preset in presets {
        let _ = writeln!(lines, "{:width$}  {}", preset.name, summary(preset.text));
    }
    lines
}

/// Longest summary of a preset, in letters; most fit into a line of a terminal.
const LONGEST_SUMMARY: usize = 100;

/// The first sentence of the comment at the head of a preset; of a long one what stands before the colon.
fn summary(text: &str) -> String {
    let comment = text.lines().map_while(|line| line.strip_prefix('#'));
    let comment: Vec<&str> = comment.map(str::trim).collect();
    let comment = comment.join(" ");
    let sentence = comment.split(". ").next().unwrap_or_default();
    let shown = match sentence.split_once(": ") {
        Some((clause, _)) if sentence.chars().count() > LONGEST_SUMMARY => clause,
        _ => sentence,
    };
    shown.trim_end_matches('.').to_owned()
}

fn preset(
    system: &str,
    presets: &'static [Preset],
    name: &str,
) -> plethora_core::Result<&'static str> {
    let found = presets.iter().find(|preset| preset.name == name);
    found.map(|preset| preset.text).ok_or_else(|| {
        let names: Vec<&str> = presets.iter().map(|preset| preset.name).collect();
        let known = if names.is_empty() {
            "it has none".to_owned()
        } else {
            format!("it has {}", names.join(", "))
        };
        Error::usage(format!(
            "--preset: {system} has no preset `{name}`; {known}"
        ))
    })
}

/// Writes a text file, or to standard output for `-`.
pub(crate) fn write_text(path: &Path, text: &str, replace: bool) -> plethora_core::Result<()> {
    let mut output = Output::create(path, replace)?;
    output.write(text.as_bytes())?;
    output.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRESETS: [Preset; 2] = [
        Preset {
            name: "paper",
            text: "# As its paper has it. Where that is silent,\n# as its program does.\n[train]\nepochs = 3\n",
        },
        Preset {
            name: "quick-one",
            text: "# In minutes: short\n# documents.\n[train]\n",
        },
    ];

    #[test]
    fn presets_are_listed_with_what_they_say_of_themselves() {
        assert_eq!(
            list(&PRESETS),
            "paper      As its paper has it\nquick-one  In minutes: short documents\n"
        );
        assert_eq!(list(&[]), "");
        let long = format!("# As on books: {}.\n[train]\n", "word ".repeat(30));
        assert_eq!(summary(&long), "As on books");
    }

    #[test]
    fn a_preset_is_shown_as_it_is_and_an_unknown_one_refused() {
        let shown = preset("x", &PRESETS, "paper").unwrap();
        assert!(shown.ends_with("epochs = 3\n"));
        let refused = preset("x", &PRESETS, "fast").unwrap_err().to_string();
        assert!(refused.contains("it has paper, quick-one"), "{refused}");
        let refused = preset("x", &[], "fast").unwrap_err().to_string();
        assert!(refused.contains("it has none"), "{refused}");
    }
}
