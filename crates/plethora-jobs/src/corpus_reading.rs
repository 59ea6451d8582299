//! What jobs that read a corpus say about it.

use std::path::Path;

use plethora_core::artifact::Overlap;
use plethora_core::corpus::{CorpusReader, Format, Label, VocabularyFile};
use plethora_core::{Argument, Error, Message, Progress, Result, grouped};
use plethora_system::Predictor;

use crate::figures::percent;

/// Passes on what the reader decided for the user.
pub fn tell_warnings(reader: &CorpusReader, progress: &dyn Progress) {
    for warning in reader.warnings() {
        progress.warn(warning);
    }
    for (reason, count) in reader.skipped() {
        tracing::warn!("{count} lines skipped: {reason}");
    }
}

/// Says what has become of feedback, where there is any.
#[expect(clippy::format_push_string, reason = "a few lines")]
pub fn tell_feedback(reader: &CorpusReader, progress: &dyn Progress) {
    let Some(counts) = reader.feedback() else {
        return;
    };
    let mut told = format!(
        "{} documents of the corpus judged, {} others added",
        grouped(counts.num_corrected),
        grouped(counts.num_added)
    );
    if counts.num_left_out > 0 {
        let left_out = grouped(counts.num_left_out);
        told.push_str(&format!(", {left_out} without a right label left out"));
    }
    progress.start("feedback", None);
    progress.finish(&told);
}

/// Says how many documents the model has seen in training, where figures would be too good.
pub(crate) fn tell_overlap(overlap: Overlap, num_documents: u64, progress: &dyn Progress) {
    if overlap.num_seen == 0 {
        return;
    }
    let seen = if overlap.num_compared == num_documents {
        format!(
            "{} of {}",
            grouped(overlap.num_seen),
            grouped(num_documents)
        )
    } else {
        format!("about {} % of the", percent(overlap.share()))
    };
    let warning = format!(
        "{seen} documents are among those that the model was trained on; its figures on them say \
         little about new ones"
    );
    progress.warn(&Message::new(warning));
}

/// The names of labels, from a vocabulary file or else from the label file of the corpus.
pub(crate) fn vocabulary(
    file: Option<&VocabularyFile>,
    reader: &CorpusReader,
) -> Result<Vec<Label>> {
    match file {
        Some(file) => file.read(),
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
        Format::Jsonl | Format::Csv | Format::Tsv | Format::Parquet | Format::Arrow => {
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

/// A corpus none of whose labels the model knows: all figures would be zero and say nothing.
pub(crate) fn foreign_labels(path: &Path, model: &Predictor, example: &str) -> Error {
    let known = model.labels().labels().first();
    let known = known.map_or_else(String::new, |label| format!(" (as `{}`)", label.key));
    let message = Message::new(format!(
        "none of the labels (as `{example}`) is one of the model's{known}, so there is nothing to \
         compare with; check "
    ));
    Error::input(shown(path), None, message.hint(Argument::LABEL_FIELD))
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
