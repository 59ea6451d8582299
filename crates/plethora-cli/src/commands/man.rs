//! `man`: manual pages.

use std::path::{Path, PathBuf};

use clap::Args;
use clap_mangen::Man;
use plethora_core::Error;

use super::init::write_text;
use crate::args::complete_command;
use crate::results;

const EXAMPLES: &str = "\
Examples:
  plethora man | man -l -
  plethora man -o ~/.local/share/man/man1";

/// Write the manual: one page to standard output, or one page per verb to a folder
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ManArgs {
    /// Folder for all pages
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
}

impl ManArgs {
    /// Writes the pages.
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let mut command = complete_command();
        command.build();
        match &self.output {
            None => results::print(&page(command)?)?,
            Some(folder) => write_pages(&command, folder)?,
        }
        Ok(())
    }
}

fn write_pages(command: &clap::Command, folder: &Path) -> anyhow::Result<()> {
    fs_err::create_dir_all(folder).map_err(Error::write(folder))?;
    let verbs = command
        .get_subcommands()
        .map(|verb| verb.clone().name(format!("plethora-{}", verb.get_name())));
    for page_of in std::iter::once(command.clone()).chain(verbs) {
        let path = folder.join(format!("{}.1", page_of.get_name()));
        write_text(&path, &page(page_of)?, true)?;
    }
    Ok(())
}

fn page(command: clap::Command) -> anyhow::Result<String> {
    let mut text = Vec::new();
    Man::new(command).render(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
