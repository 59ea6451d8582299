//! From the documents of a run to a training set and validation documents.

use std::path::Path;
use std::time::Instant;

use plethora_core::corpus::{Content, Document, LabelSpace};
use plethora_core::{Argument, Error, IndexRows, Result};
use plethora_system::{DocumentSource, DocumentStream, RunContext, Stages};

use super::text_set::{ReadDocuments, ReadsTexts, TextSet, TextSetBuilder, Texts};
use super::validation_documents::ValidationDocuments;

/// Validation documents are read during training and once more after it, which standard input is not.
pub(crate) fn check_validation(run: &RunContext<'_>) -> Result<()> {
    match run.valid {
        Some(source) if source.path() == Path::new("-") => Err(Error::config(
            Argument::VALID,
            "must be a file: neural systems read it during training and again after it",
        )),
        _ => Ok(()),
    }
}

/// Reads the training documents of `system` with `reader`. The progress of reading is over when it is told what
/// became of them, see [`tell_read`].
pub(crate) fn read_documents<R: ReadsTexts>(
    documents: &mut dyn DocumentStream,
    run: &RunContext<'_>,
    system: &str,
    reader: R,
) -> Result<(ReadDocuments<R>, Stages)> {
    let started = Instant::now();
    run.progress.start("reading", documents.limit());
    let mut builder = TextSetBuilder::new(reader);
    while let Some(document) = documents.next_document()? {
        check_text(&document, system)?;
        builder.add(document)?;
    }
    let read = builder.end(documents.labels())?;
    let mut stages = Stages::default();
    stages.add(
        "reading",
        started.elapsed().as_secs_f64() - read.tokenising_s,
    );
    stages.add("tokenising", read.tokenising_s);
    Ok((read, stages))
}

/// Ends the progress of reading so many documents with labels or without.
pub(crate) fn tell_read<T: Texts>(run: &RunContext<'_>, num_documents: u64, set: &TextSet<T>) {
    run.progress.finish(&format!(
        "{num_documents} documents, {} labels, {}",
        set.space.len(),
        set.texts.summary()
    ));
}

/// Reads documents to stop early on and to choose the best weights by; `read` makes sequences of texts.
pub(crate) fn read_validation(
    source: &dyn DocumentSource,
    run: &RunContext<'_>,
    space: &LabelSpace,
    mut read: impl FnMut(&[String]) -> IndexRows,
) -> Result<ValidationDocuments> {
    let mut valid = ValidationDocuments::new();
    let mut documents = source.open()?;
    let mut num_documents = 0_u64;
    run.progress.start("reading validation", None);
    while let Some(document) = documents.next_document()? {
        check_text(&document, "the system")
            .and_then(|()| valid.add(space, &document, &mut read))
            .map_err(|error| in_file(error, source.path()))?;
        num_documents += 1;
        run.progress.advance(1);
        run.check_interrupt()?;
    }
    run.progress.finish(&format!("{num_documents} documents"));
    Ok(valid.finish(read))
}

/// The text of a document that a model is to rank.
pub(crate) fn text_of(document: &Document) -> Result<&str> {
    document.text().ok_or_else(|| {
        Error::data(format!(
            "document `{}` has features, but the model was trained on texts",
            document.id
        ))
    })
}

/// Networks cannot read feature rows.
pub(crate) fn check_text(document: &Document, system: &str) -> Result<()> {
    match &document.content {
        Content::Text(_) => Ok(()),
        Content::Features(_) => Err(Error::data(format!(
            "document `{}` has features, but {system} reads texts; linear systems take features",
            document.id
        ))),
    }
}

/// Says in which corpus data cannot be used.
fn in_file(error: Error, path: &Path) -> Error {
    match error {
        Error::Data(message) => Error::input(path, None, message),
        other => other,
    }
}
