//! From the parts of a tokenizer to one that `tokenizers` runs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use plethora_core::Error;
use serde_json::{Value, json};
use tokenizers::{AddedToken, PostProcessorWrapper, Tokenizer};

use super::frame::Frame;
use super::layout;
use crate::Result;

/// A tokenizer in the layout of `tokenizer.json`, without the tokens whose ids come from its
/// vocabulary.
pub(super) struct Draft<'a> {
    pub(super) model: Value,
    pub(super) normalizer: Value,
    pub(super) pre_tokenizer: Value,
    pub(super) decoder: Value,
    /// Tokens found in texts as they are; of two with the same text the later one counts.
    pub(super) added: &'a [AddedToken],
    pub(super) frame: Frame<'a>,
}

impl Draft<'_> {
    /// The tokenizer; `path` is the file that the vocabulary came from.
    pub(super) fn assemble(self, path: &Path) -> Result<Tokenizer> {
        let layout = json!({
            "version": "1.0",
            "truncation": null,
            "padding": null,
            "added_tokens": [],
            "normalizer": self.normalizer,
            "pre_tokenizer": self.pre_tokenizer,
            "post_processor": null,
            "decoder": self.decoder,
            "model": self.model,
        });
        let mut tokenizer = parse(path, layout.to_string().as_bytes())?;
        tokenizer
            .add_tokens(self.added.iter().cloned())
            .map_err(|error| unusable(path, error))?;
        let frame: PostProcessorWrapper =
            serde_json::from_value(self.frame.post_processor(&tokenizer))
                .map_err(|error| unusable(path, error))?;
        tokenizer.with_post_processor(Some(frame));
        Ok(tokenizer)
    }
}

/// Reads the text of a `tokenizer.json`.
pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<Tokenizer> {
    let layout = serde_json::from_slice(bytes).map_err(|error| unusable(path, error))?;
    layout::check(&layout).map_err(|reason| unusable(path, reason))?;
    // Some contradictions in a file make the library panic.
    match catch_unwind(AssertUnwindSafe(|| Tokenizer::from_bytes(bytes))) {
        Ok(Ok(tokenizer)) => Ok(tokenizer),
        Ok(Err(error)) => Err(unusable(path, error)),
        Err(_) => Err(unusable(path, "its parts contradict each other")),
    }
}

fn unusable(path: &Path, reason: impl std::fmt::Display) -> crate::Error {
    Error::model(path, format!("not a tokenizer that can be used: {reason}")).into()
}
