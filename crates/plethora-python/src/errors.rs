//! Failures as Python exceptions, which `plethora._errors` defines.

use plethora_core::Error;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyModule;

/// The module of the exceptions.
static EXCEPTIONS: PyOnceLock<Py<PyModule>> = PyOnceLock::new();

/// The exception for a failure of a library.
pub(crate) fn exception(error: &Error) -> PyErr {
    match error {
        Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        Error::Exists { path } => named(
            "FileError",
            format!(
                "{} exists already; choose another name or pass overwrite=True",
                path.display()
            ),
        ),
        _ => named(class_of(error), with_arguments(&error.to_string())),
    }
}

/// An exception for settings that make no sense.
pub(crate) fn config_error(message: &str) -> PyErr {
    named("ConfigError", with_arguments(message))
}

/// An exception for documents, labels or predictions that cannot be used.
pub(crate) fn data_error(message: String) -> PyErr {
    named("DataError", message)
}

fn class_of(error: &Error) -> &'static str {
    match error {
        Error::Input { .. } | Error::Data(_) => "DataError",
        Error::Config { .. } => "ConfigError",
        Error::Model { .. } => "ModelError",
        Error::Read { .. } | Error::Write { .. } | Error::Occupied { .. } => "FileError",
        Error::Compute(_) => "ComputeError",
        _ => "Error",
    }
}

fn named(class: &str, message: String) -> PyErr {
    Python::attach(|py| {
        let found = EXCEPTIONS
            .get_or_try_init(py, || py.import("plethora._errors").map(Bound::unbind))
            .and_then(|module| module.bind(py).getattr(class)?.call1((message.as_str(),)));
        match found {
            Ok(value) => PyErr::from_value(value),
            // Only while the package itself is broken.
            Err(_) => PyRuntimeError::new_err(message),
        }
    })
}

/// Messages name options of the command line; here they are arguments: `--label-field` is
/// `label_field`.
fn with_arguments(message: &str) -> String {
    let mut parts = message.split("--");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_name = |letter: char| letter.is_ascii_lowercase() || letter == '-';
        let end = part.find(|letter| !is_name(letter)).unwrap_or(part.len());
        if end == 0 {
            text.push_str("--");
        }
        text.push_str(&part[..end].replace('-', "_"));
        text.push_str(&part[end..]);
    }
    text
}
