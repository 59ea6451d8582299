//! Fetching an encoder into the Hugging Face cache.

use std::path::Path;

use hf_hub::api::sync::ApiBuilder;
use hf_hub::{Cache, Repo, RepoType};

use super::blob_sum::check_sum;

/// What is fetched where the hub has it, beside the weights.
const FILES: [&str; 9] = [
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    "spiece.model",
];

/// Downloads a version of a repository; the error is the reason why not.
pub(super) fn download(repository: &str, version: &str, cache: &Path) -> Result<(), String> {
    let reason = |error: hf_hub::api::sync::ApiError| error.to_string();
    let api = ApiBuilder::from_cache(Cache::new(cache.to_owned()))
        .with_progress(false)
        .build()
        .map_err(reason)?;
    let repo = Repo::with_revision(repository.to_owned(), RepoType::Model, version.to_owned());
    let repo = api.repo(repo);
    let listing = repo.info().map_err(reason)?;
    let names = listing.siblings.iter().map(|file| file.rfilename.as_str());
    // Weights last: a folder that has them is complete.
    let (weights, rest): (Vec<&str>, Vec<&str>) = names
        .filter(|name| FILES.contains(name) || is_weights(name))
        .partition(|name| is_weights(name));
    if weights.is_empty() {
        return Err("it has no weights in safetensors files".to_owned());
    }
    for name in rest.into_iter().chain(weights) {
        tracing::info!(repository, version, file = name, "downloading");
        let path = repo.get(name).map_err(|error| format!("{name}: {error}"))?;
        check_sum(&path).map_err(|message| format!("{name}: {message}"))?;
    }
    Ok(())
}

/// `model.safetensors`, or the parts of one with their index.
fn is_weights(name: &str) -> bool {
    let is_part = name.starts_with("model-") && name.ends_with(".safetensors");
    is_part || name == "model.safetensors" || name == "model.safetensors.index.json"
}
