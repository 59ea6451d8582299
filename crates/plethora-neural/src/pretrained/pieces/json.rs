//! The JSON files of an encoder folder.

use std::path::Path;

use plethora_core::Error;
use serde_json::{Map, Value};

use crate::Result;

/// The object that a file holds; `None` where there is no such file.
pub(super) fn read_object(path: &Path) -> Result<Option<Map<String, Value>>> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::read(path)(error).into()),
    };
    match serde_json::from_slice(&bytes) {
        Ok(Value::Object(object)) => Ok(Some(object)),
        Ok(_) => Err(Error::input(path, 1, "a JSON object was expected").into()),
        Err(error) => Err(syntax_error(path, &error)),
    }
}

/// A file that is not the JSON that it should be.
pub(super) fn syntax_error(path: &Path, error: &serde_json::Error) -> crate::Error {
    let line = Some(error.line() as u64).filter(|&line| line > 0);
    Error::input(path, line, format!("damaged JSON: {error}")).into()
}

/// The true or false of `key`, which may be missing or null.
pub(super) fn flag(path: &Path, object: &Map<String, Value>, key: &str) -> Result<Option<bool>> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(*flag)),
        Some(other) => {
            let message = format!("{key} is {other}; true or false was expected");
            Err(Error::input(path, None, message).into())
        }
    }
}
