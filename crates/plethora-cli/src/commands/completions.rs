//! `completions`: what shells need to complete our command line.

use clap::Args;
use clap_complete::Shell;

use crate::args::complete_command;
use crate::results;

const EXAMPLES: &str = "\
Examples:
  plethora completions bash > ~/.local/share/bash-completion/completions/plethora
  plethora completions zsh > ~/.zfunc/_plethora
  plethora completions fish > ~/.config/fish/completions/plethora.fish";

/// Write completions for a shell to standard output
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

impl CompletionsArgs {
    /// Writes the script.
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let mut script = Vec::new();
        let mut command = complete_command();
        clap_complete::generate(self.shell, &mut command, "plethora", &mut script);
        results::print(&String::from_utf8_lossy(&script))?;
        Ok(())
    }
}
