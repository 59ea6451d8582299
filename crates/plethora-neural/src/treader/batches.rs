//! The training batches of TReaderXML.

use plethora_core::IndexRows;

use super::batch::{DocumentWords, TReaderBatch};
use super::teacher::Teacher;
use super::teacher_rows::TeacherRow;
use crate::train::BatchMaker;

/// Makes batches of training documents.
pub(super) struct TReaderBatches<'a> {
    pub(super) sequences: &'a IndexRows,
    /// Numbers of the documents that are trained on.
    pub(super) documents: &'a [u32],
    /// True labels of all documents.
    pub(super) labels: &'a IndexRows,
    /// What the neighbours of each document that is trained on bring; absent without a teacher.
    pub(super) rows: Option<&'a [TeacherRow]>,
    pub(super) teacher: Option<&'a Teacher>,
}

impl BatchMaker for TReaderBatches<'_> {
    type Batch = TReaderBatch;

    fn num_documents(&self) -> usize {
        self.documents.len()
    }

    fn length(&self, document: usize) -> usize {
        self.sequences.row(self.documents[document] as usize).len()
    }

    fn make(&self, documents: &[u32]) -> TReaderBatch {
        let number = |&place: &u32| self.documents[place as usize] as usize;
        let parts: Vec<DocumentWords<'_>> = documents
            .iter()
            .map(|place| DocumentWords {
                words: self.sequences.row(number(place)),
                row: self.rows.map(|rows| &rows[*place as usize]),
            })
            .collect();
        let labels = documents.iter().map(|place| self.labels.row(number(place)));
        TReaderBatch::new(&parts, self.teacher).with_labels(labels)
    }
}
