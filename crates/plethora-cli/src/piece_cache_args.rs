//! Where texts cut into pieces are cached.

use std::path::PathBuf;

use clap::Args;

use crate::folders;

/// The cache; the words here are those of `--help`.
#[derive(Debug, Clone, Args)]
pub(crate) struct PieceCacheArgs {
    /// Folder that caches texts cut into pieces for later runs; by default one in your home, as
    /// ~/.cache/plethora/pieces
    #[arg(long, value_name = "FOLDER")]
    cache: Option<PathBuf>,

    /// Cache no texts cut into pieces
    #[arg(long, conflicts_with = "cache")]
    no_cache: bool,
}

impl PieceCacheArgs {
    /// The folder, unless there shall be none.
    pub(crate) fn folder(&self) -> Option<PathBuf> {
        if self.no_cache {
            return None;
        }
        self.cache.clone().or_else(folders::pieces)
    }
}
