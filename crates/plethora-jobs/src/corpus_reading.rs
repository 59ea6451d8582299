//! What jobs that read a corpus say about it.

use std::path::Path;

use plethora_core::corpus::{CorpusReader, Format, Label, read_vocabulary};
use plethora_core::{Argument, Error, Message, Progress, Result};

/// Passes on what the reader decided for the user.
pub fn tell_warnings(reader: &CorpusReader, progress: &dyn Progress) {
    for warning in reader.warnings() {
        progress.warn(warning);
    }
    for (reason, count) in reader.skipped() {
        tracing::warn!("{count} lines skipped: {reason}");
    }
}

/// The names of labels, from a vocabulary file or else from the label file of the corpus.
pub(crate) fn vocabulary(path: Option<&Path>, reader: &CorpusReader) -> Result<Vec<Label>> {
    match path {
        Some(path) => read_vocabulary(path),
        None => Ok(reader.vocabulary().to_vec()),
    }
}

/// Says in which corpus data cannot be used.
pub fn in_file(error: Error, path: &Path) -> Error {
    match error {
        Error::Data(message) => Error::input(shown(path), None, message),
        other => other,
    }
}

/// A corpus that has no labels where they are needed, and what might be done about it.
pub fn no_labels(path: &Path, format: Format, consequence: &str) -> Error {
    let hint = match format {
        Format::Jsonl | Format::Csv | Format::Tsv => {
            Some((Argument::LABEL_FIELD, "names their field"))
        }
        Format::TextPair => Some((Argument::LABELS_FILE, "names the file that has them")),
        Format::FastText => Some((Argument::LABEL_PREFIX, "says what marks them")),
        _ => None,
    };
    let mut message = Message::new(format!(
        "no document has labels, so there is nothing {consequence}"
    ));
    if let Some((argument, effect)) = hint {
        message = message.text("; ").hint(argument).text(format!(" {effect}"));
    }
    Error::input(shown(path), None, message)
}

/// Fails once the user asked to stop.
pub(crate) fn check_interrupt(progress: &dyn Progress) -> Result<()> {
    if progress.is_cancelled() {
        Err(Error::Interrupted)
    } else {
        Ok(())
    }
}

/// A corpus as messages name it.
pub fn shown(path: &Path) -> &Path {
    if path.as_os_str() == "-" {
        Path::new("<stdin>")
    } else {
        path
    }
}
