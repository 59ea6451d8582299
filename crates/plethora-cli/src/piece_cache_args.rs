//! Where texts cut into pieces are kept.

use std::path::PathBuf;

use clap::Args;

use crate::folders;

/// The cache; the words here are those of `--help`.
#[derive(Debug, Clone, Args)]
pub(crate) struct PieceCacheArgs {
    /// Folder in which texts cut into pieces are kept for runs to come; by default one of yours, as
    /// ~/.cache/plethora/pieces
    #[arg(long, value_name = "FOLDER")]
    cache: Option<PathBuf>,

    /// Keep no texts cut into pieces
    #[arg(long, conflicts_with = "cache")]
    no_cache: bool,
}

impl PieceCacheArgs {
    /// The folder, unless there shall be none.
    pub(crate) fn folder(&self) -> Option<PathBuf> {
        if self.no_cache {
            return None;
        }
        let own = || Some(folders::cache()?.join("plethora").join("pieces"));
        self.cache.clone().or_else(own)
    }
}
