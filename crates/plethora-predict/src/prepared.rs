//! Documents in the form that a model ranks.

use plethora_core::corpus::{Content, Document};
use plethora_core::text::TfIdf;
use plethora_core::{Error, Result, SparseMatrix, SparseVector};

/// Documents made ready for one family of systems.
#[derive(Debug)]
#[non_exhaustive]
pub enum Prepared {
    /// A row of features each, for linear systems.
    Rows(SparseMatrix),
    /// The texts as they are: neural systems read them word by word.
    #[cfg(feature = "torch")]
    Texts(Vec<String>),
    /// The form of each member of an ensemble.
    Members(Vec<Prepared>),
}

impl Prepared {
    /// The rows of `documents` for a model of `num_features` features, which come from texts by
    /// `tfidf`, or are given where it is absent.
    pub(crate) fn rows(
        documents: &[Document],
        tfidf: Option<&TfIdf>,
        num_features: usize,
    ) -> Result<Self> {
        match tfidf {
            Some(tfidf) => {
                let texts: Vec<&str> = documents.iter().map(text_of).collect::<Result<_>>()?;
                Ok(Self::Rows(tfidf.transform(&texts)))
            }
            None => given_rows(documents, num_features).map(Self::Rows),
        }
    }

    /// The texts of `documents`.
    #[cfg(feature = "torch")]
    pub(crate) fn texts(documents: &[Document]) -> Result<Self> {
        let texts = documents
            .iter()
            .map(|document| text_of(document).map(str::to_owned));
        texts.collect::<Result<_>>().map(Self::Texts)
    }
}

/// What to say of documents that another model has prepared.
pub(crate) fn of_another_model() -> Error {
    Error::Data("the documents were prepared for a model of another family".into())
}

fn text_of(document: &Document) -> Result<&str> {
    document.text().ok_or_else(|| {
        Error::Data(format!(
            "document `{}` has features, but the model was trained on texts",
            document.id
        ))
    })
}

fn given_rows(documents: &[Document], num_features: usize) -> Result<SparseMatrix> {
    let mut builder = SparseMatrix::builder(num_features);
    for document in documents {
        match &document.content {
            Content::Features(features) => builder.push(known(features, num_features).as_row()),
            Content::Text(_) => {
                return Err(Error::Data(format!(
                    "document `{}` is a text, but the model was trained on features",
                    document.id
                )));
            }
        }
    }
    let mut rows = builder.finish();
    rows.normalize_rows();
    Ok(rows)
}

/// Features that training never saw are dropped before rows get unit length, as unknown words are.
fn known(features: &SparseVector, num_features: usize) -> SparseVector {
    let end = features
        .columns
        .partition_point(|&column| (column as usize) < num_features);
    SparseVector {
        columns: features.columns[..end].to_vec(),
        values: features.values[..end].to_vec(),
    }
}
