//! Failures as Python exceptions, which `plethora._errors` defines.

use plethora_core::{Argument, Error, Hint, Message, Wording};
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
        _ => named(class_of(error), error.worded(&Keywords)),
    }
}

/// An exception for settings that make no sense.
pub(crate) fn config_error(message: &str) -> PyErr {
    named("ConfigError", message.to_owned())
}

/// An exception for documents, labels or predictions that cannot be used.
pub(crate) fn data_error(message: String) -> PyErr {
    named("DataError", message)
}

fn class_of(error: &Error) -> &'static str {
    match error {
        Error::Input { .. } | Error::Data(_) => "DataError",
        Error::Config { .. } | Error::Usage(_) => "ConfigError",
        Error::Model { .. } => "ModelError",
        Error::Read { .. }
        | Error::Write { .. }
        | Error::Exists { .. }
        | Error::Occupied { .. } => "FileError",
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

/// Arguments and settings as Python takes them.
struct Keywords;

impl Wording for Keywords {
    fn argument(&self, argument: Argument) -> String {
        match argument {
            Argument::FORCE => "overwrite".into(),
            other => other.name().into(),
        }
    }

    fn hint(&self, hint: &Hint) -> String {
        match hint {
            Hint::Argument(argument) => format!("{}=", self.argument(*argument)),
            Hint::Switch(argument) => format!("{}=True", self.argument(*argument)),
            Hint::Value(argument, value) if value.parse::<f64>().is_ok() => {
                format!("{}={value}", self.argument(*argument))
            }
            Hint::Value(argument, value) => format!("{}={value:?}", self.argument(*argument)),
            Hint::Setting { key, value } => format!("{}={value}", key.replace('.', "__")),
        }
    }
}

/// Hands a warning of the libraries to Python's logger.
pub(crate) fn warn(warning: &Message) {
    tracing::warn!(target: "plethora", "{}", warning.worded(&Keywords));
}
