//! What libraries warn of, passed on to Python's logger `plethora`.

use std::fmt::{self, Write as _};

use pyo3::prelude::*;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// In the message of a panic that says that libtorch failed. The neural crate turns such panics
/// into errors, which are told once.
const TORCH_FAILURE: &str = "Torch(\"";

/// Passes warnings on from now on.
pub(crate) fn install() {
    // It fails where another module of this kind has done so, and then all is well too.
    let _ = tracing::subscriber::set_global_default(PythonLog);
    silence_torch_failures();
}

fn silence_torch_failures() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let payload = panic.payload();
        let message = (payload.downcast_ref::<&str>().copied())
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        if !message.is_some_and(|message| message.contains(TORCH_FAILURE)) {
            usual(panic);
        }
    }));
}

/// Hands warnings and errors to Python.
struct PythonLog;

impl Subscriber for PythonLog {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::WARN && metadata.target().starts_with("plethora")
    }

    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut message = Message::default();
        event.record(&mut message);
        Python::attach(|py| {
            let told = py.import("logging").and_then(|logging| {
                let logger = logging.call_method1("getLogger", ("plethora",))?;
                logger.call_method1("warning", ("%s", message.0.as_str()))
            });
            if let Err(error) = told {
                error.write_unraisable(py, None);
            }
        });
    }

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}

/// The text of an event.
#[derive(Default)]
struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            // Writing to a string does not fail.
            let _ = write!(self.0, "{value:?}");
        }
    }
}
