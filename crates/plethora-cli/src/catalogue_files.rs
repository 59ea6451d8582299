//! The generated catalogue as files: documents, and the labels they use.

use std::io::Write;
use std::path::Path;

use plethora_catalogue::Catalogue;
use plethora_core::corpus::{CompleteFile, Output};
use plethora_core::{Error, Result};
use rayon::prelude::*;
use serde::Serialize;

use crate::session::Session;

/// Documents that are made together.
const DOCUMENTS_PER_BATCH: u64 = 8192;

/// Writes the documents as JSON lines with id, title, text, labels and split; they get their names when
/// they are published.
pub(crate) fn write_documents(
    catalogue: &Catalogue,
    path: &Path,
    replace: bool,
    session: &Session,
) -> Result<CompleteFile> {
    let mut output = Output::create(path, replace)?;
    let num_documents = catalogue.num_documents();
    session
        .progress()
        .start("generating documents", Some(num_documents));
    let mut start = 0;
    while start < num_documents {
        session.check_interrupt()?;
        let end = num_documents.min(start + DOCUMENTS_PER_BATCH);
        let lines: Vec<Vec<u8>> = (start..end)
            .into_par_iter()
            .map(|index| json_line(&catalogue.document(index), path))
            .collect::<Result<_>>()?;
        for line in lines {
            output.write(&line)?;
        }
        session.progress().advance(end - start);
        start = end;
    }
    let complete = output.complete()?;
    session
        .progress()
        .finish(&format!("{num_documents} documents"));
    Ok(complete)
}

/// Writes the labels with names, alternative names and parents as a vocabulary.
pub(crate) fn write_labels(
    catalogue: &Catalogue,
    path: &Path,
    replace: bool,
    session: &Session,
) -> Result<CompleteFile> {
    let mut output = Output::create(path, replace)?;
    session
        .progress()
        .start("generating labels", Some(u64::from(catalogue.num_labels())));
    for label in catalogue.labels() {
        session.check_interrupt()?;
        output.write(&json_line(&label, path)?)?;
        session.progress().advance(1);
    }
    let complete = output.complete()?;
    session
        .progress()
        .finish(&format!("{} labels", catalogue.num_labels()));
    Ok(complete)
}

fn json_line(value: &impl Serialize, path: &Path) -> Result<Vec<u8>> {
    let mut line = Vec::new();
    serde_json::to_writer(&mut line, value)
        .map_err(Into::into)
        .and_then(|()| line.write_all(b"\n"))
        .map_err(Error::write(path))?;
    Ok(line)
}
