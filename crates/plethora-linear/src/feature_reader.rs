//! How documents become rows of features.

use plethora_core::artifact::{CONFIG_FILE, ModelDetails, ModelReader, ModelWriter};
use plethora_core::corpus::{Content, Document};
use plethora_core::text::TfIdf;
use plethora_core::{Error, Result, SparseMatrix, SparseVector};

/// Makes the rows of a model: from texts, or from the features that documents bring.
#[derive(Debug)]
pub(crate) enum FeatureReader {
    /// Documents are texts.
    Texts(Box<TfIdf>),
    /// Documents bring so many features.
    Given(usize),
}

impl FeatureReader {
    /// The reader of a model folder.
    pub(crate) fn open(folder: &ModelReader, details: &ModelDetails) -> Result<Self> {
        let num_features = details.num_features as usize;
        if !details.takes_text {
            return Ok(Self::Given(num_features));
        }
        let tfidf = TfIdf::load_from(folder.folder())?;
        if tfidf.num_features() != num_features {
            return Err(Error::model(
                folder.folder(),
                "the terms of the text features do not fit the manifest",
            ));
        }
        Ok(Self::Texts(Box::new(tfidf)))
    }

    pub(crate) fn save(&self, writer: &ModelWriter) -> Result<()> {
        if let Self::Texts(tfidf) = self {
            let config = writer.path(CONFIG_FILE);
            let folder = config.parent().expect("files of a model are in its folder");
            tfidf.save_to(folder)?;
        }
        Ok(())
    }

    /// What makes features of texts; an error where documents are none.
    pub(crate) fn tfidf(&self) -> Result<&TfIdf> {
        match self {
            Self::Texts(tfidf) => Ok(tfidf),
            Self::Given(_) => Err(Error::Data(
                "the model was trained on features, so it has no words to explain with".into(),
            )),
        }
    }

    /// A row of unit length per document.
    pub(crate) fn rows(&self, documents: &[Document]) -> Result<SparseMatrix> {
        match self {
            Self::Texts(tfidf) => {
                let texts: Vec<&str> = documents.iter().map(text_of).collect::<Result<_>>()?;
                Ok(tfidf.transform(&texts))
            }
            Self::Given(num_features) => given_rows(documents, *num_features),
        }
    }
}

pub(crate) fn text_of(document: &Document) -> Result<&str> {
    document.text().ok_or_else(|| {
        Error::data(format!(
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
                return Err(Error::data(format!(
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
