//! How an encoder's own files say that its vectors are made.

use std::path::Path;

use plethora_core::Error;
use plethora_core::artifact::CONFIG_FILE;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::Result;
use crate::transformer::{Pooling, trained_folder};

/// Where sentence-transformers keeps it.
const POOLING_FILE: &str = "1_Pooling/config.json";

/// What the keys that are true begin with.
const MODE: &str = "pooling_mode_";

/// The pooling that the folder of an encoder asks for, or that a model was trained with; the mean where it
/// says nothing.
///
/// # Errors
/// [`Config`](plethora_core::Error::Config) for one that is neither the mean nor the first piece.
pub(crate) fn of_folder(folder: &Path) -> Result<Pooling> {
    if trained_folder::is_model(folder) {
        return of_model(folder);
    }
    let path = folder.join(POOLING_FILE);
    let Ok(text) = std::fs::read(&path) else {
        return Ok(Pooling::Mean);
    };
    let values: Map<String, Value> = serde_json::from_slice(&text)
        .map_err(|error| Error::input(&path, None, error.to_string()))?;
    let modes: Vec<&str> = (values.iter())
        .filter(|(_, value)| **value == Value::Bool(true))
        .filter_map(|(key, _)| key.strip_prefix(MODE))
        .collect();
    match modes[..] {
        [] | ["mean_tokens"] => Ok(Pooling::Mean),
        ["cls_token"] => Ok(Pooling::Cls),
        _ => {
            let message = format!(
                "must be mean or cls: the encoder itself has {}, which is not known here",
                modes.join(" and ")
            );
            Err(Error::config("encoder.pooling", message).into())
        }
    }
}

/// What of the settings of a model says how its vectors are made, whichever system it is of.
#[derive(Deserialize)]
struct ModelSettings {
    encoder: EncoderSettings,
}

#[derive(Deserialize)]
struct EncoderSettings {
    pooling: Pooling,
}

/// The pooling that a model was trained with.
fn of_model(folder: &Path) -> Result<Pooling> {
    let path = folder.join(CONFIG_FILE);
    let text = std::fs::read(&path).map_err(Error::read(&path))?;
    let settings: ModelSettings = serde_json::from_slice(&text)
        .map_err(|error| Error::model(&path, format!("not what was expected: {error}")))?;
    Ok(settings.encoder.pooling)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_says_how_vectors_are_made() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(of_folder(folder.path()).unwrap(), Pooling::Mean);
        std::fs::create_dir(folder.path().join("1_Pooling")).unwrap();
        let says = |mode: &str| {
            let text = format!(
                r#"{{"word_embedding_dimension": 8, "pooling_mode_mean_tokens": false,
                    "include_prompt": true, "pooling_mode_{mode}": true}}"#
            );
            std::fs::write(folder.path().join(POOLING_FILE), text).unwrap();
            of_folder(folder.path())
        };
        assert_eq!(says("mean_tokens").unwrap(), Pooling::Mean);
        assert_eq!(says("cls_token").unwrap(), Pooling::Cls);
        let message = says("lasttoken").unwrap_err().to_string();
        assert!(message.starts_with("encoder.pooling") && message.contains("lasttoken"));
    }
}
