//! Texts or features with their labels, as Python has them.

use numpy::PyReadonlyArray1;
use plethora_core::SparseVector;
use plethora_core::corpus::{Content, Document, DocumentList};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyList, PyString};

use crate::errors::data_error;

/// What messages call documents that came from Python.
pub(crate) const NAME: &str = "documents";

/// Documents to train on, to rank or to measure with.
#[pyclass(name = "Documents", module = "plethora._plethora", frozen)]
pub(crate) struct PyDocuments {
    list: DocumentList,
}

impl PyDocuments {
    /// The documents.
    pub(crate) fn list(&self) -> DocumentList {
        self.list.clone()
    }
}

#[pymethods]
impl PyDocuments {
    /// Documents of texts; `labels` has a list of label keys for each, or is absent.
    #[staticmethod]
    #[pyo3(signature = (texts, labels=None))]
    fn of_texts(texts: &Bound<'_, PyList>, labels: Option<&Bound<'_, PyList>>) -> PyResult<Self> {
        let contents = texts.iter().enumerate().map(|(index, text)| {
            let text = string(&text).map_err(|found| {
                data_error(format!("texts[{index}]: expected a str, found {found}"))
            })?;
            Ok(Content::Text(text))
        });
        let documents = with_labels(contents, texts.len(), labels)?;
        Ok(Self {
            list: DocumentList::new(documents, None),
        })
    }

    /// Documents of features: the rows of a sparse matrix with sorted columns.
    #[staticmethod]
    #[pyo3(signature = (row_starts, columns, values, num_columns, labels=None))]
    fn of_features(
        row_starts: PyReadonlyArray1<'_, i64>,
        columns: PyReadonlyArray1<'_, u32>,
        values: PyReadonlyArray1<'_, f32>,
        num_columns: usize,
        labels: Option<&Bound<'_, PyList>>,
    ) -> PyResult<Self> {
        let (columns, values) = (columns.as_slice()?, values.as_slice()?);
        let row_starts = row_starts.as_slice()?;
        let rows = row_starts.windows(2).enumerate().map(|(index, ends)| {
            let place = ends[0] as usize..ends[1] as usize;
            let (Some(columns), Some(values)) = (columns.get(place.clone()), values.get(place))
            else {
                return Err(data_error(format!(
                    "features: row {index} is not in the matrix"
                )));
            };
            if values.iter().any(|value| !value.is_finite()) {
                return Err(data_error(format!(
                    "features: row {index} has a value that is not finite"
                )));
            }
            let entries = columns.iter().copied().zip(values.iter().copied());
            Ok(Content::Features(SparseVector::from_entries(
                entries.filter(|&(_, value)| value != 0.0).collect(),
            )))
        });
        let documents = with_labels(rows, row_starts.len().saturating_sub(1), labels)?;
        Ok(Self {
            list: DocumentList::new(documents, Some(num_columns)),
        })
    }

    fn __len__(&self) -> usize {
        self.list.documents().len()
    }

    /// True if a document has a label.
    fn has_labels(&self) -> bool {
        let mut documents = self.list.documents().iter();
        documents.any(|document| !document.labels.is_empty())
    }
}

fn with_labels(
    contents: impl Iterator<Item = PyResult<Content>>,
    num_documents: usize,
    labels: Option<&Bound<'_, PyList>>,
) -> PyResult<Vec<Document>> {
    if let Some(labels) = labels
        && labels.len() != num_documents
    {
        return Err(data_error(format!(
            "there are {num_documents} documents, but labels of {}",
            labels.len()
        )));
    }
    let documents = contents.enumerate().map(|(index, content)| {
        Ok(Document {
            id: (index + 1).to_string(),
            content: content?,
            labels: match labels {
                Some(labels) => keys(&labels.get_item(index)?, index)?,
                None => Vec::new(),
            },
        })
    });
    documents.collect()
}

/// The labels of one document.
fn keys(labels: &Bound<'_, PyAny>, index: usize) -> PyResult<Vec<String>> {
    let refuse = |found: String| {
        data_error(format!(
            "labels[{index}]: expected a list of str, found {found}"
        ))
    };
    if labels.is_instance_of::<PyString>() {
        return Err(refuse(
            "a single str; name what separates labels with label_separator=".into(),
        ));
    }
    let Ok(labels) = labels.try_iter() else {
        return Err(refuse(type_of(labels)));
    };
    let mut keys = Vec::new();
    for label in labels {
        let key = key(&label?).map_err(|found| refuse(format!("{found} in it")))?;
        if key.is_empty() {
            return Err(refuse("an empty label".into()));
        }
        keys.push(key);
    }
    Ok(keys)
}

/// A label, or what was found in its place. Whole numbers are taken by their digits.
fn key(label: &Bound<'_, PyAny>) -> Result<String, String> {
    match string(label) {
        Err(found) if !label.is_instance_of::<PyBool>() => {
            let number = label.call_method0("__index__");
            number
                .and_then(|number| Ok(number.str()?.to_string()))
                .map_err(|_| found)
        }
        key => key,
    }
}

/// A text, or what was found in its place.
fn string(value: &Bound<'_, PyAny>) -> Result<String, String> {
    match value.cast::<PyString>() {
        Ok(text) => text
            .extract()
            .map_err(|_| "one that is not valid Unicode".to_owned()),
        Err(_) => Err(type_of(value)),
    }
}

fn type_of(value: &Bound<'_, PyAny>) -> String {
    let name = value.get_type().name();
    name.map_or_else(|_| "something else".into(), |name| name.to_string())
}
