//! Standard output, which carries results and nothing else.

use std::io::{self, Write};
use std::path::Path;

use plethora_core::{Error, Result};
use serde::Serialize;

/// How standard output is called in messages.
const STDOUT: &str = "<stdout>";

/// Prints text that ends with a line end.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
        .map_err(Error::write(Path::new(STDOUT)))
}

/// Prints a value as one JSON object over several lines.
pub(crate) fn print_json(value: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Error::write(Path::new(STDOUT))(error.into()))?;
    print(&format!("{text}\n"))
}

/// Prints what a command gives: as JSON where that is asked for, else as text.
pub(crate) fn show<T: Serialize>(
    is_json: bool,
    result: &T,
    to_text: impl FnOnce(&T) -> String,
) -> anyhow::Result<()> {
    Ok(if is_json {
        print_json(result)
    } else {
        print(&to_text(result))
    }?)
}
