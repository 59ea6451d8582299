//! From documents to their best labels, by the network alone.

use plethora_core::{IndexRows, ScoredLabel};

use super::batch::{DocumentWords, TReaderBatch};
use super::network::TReaderNetwork;
use super::teacher::Teacher;
use super::teacher_rows::TeacherRow;
use crate::Result;
use crate::systems::ranked_batches::{BatchLimits, RankedBatches, ReadsBatches};
use crate::systems::rankings::to_rankings;

/// Documents that are read together on a GPU.
const ON_GPU: BatchLimits = BatchLimits {
    places: 1 << 16,
    documents: 256,
    is_recurrent: false,
};

/// As [`ON_GPU`], on a processor, whose caches hold fewer.
const ON_CPU: BatchLimits = BatchLimits {
    places: 1 << 13,
    documents: 256,
    is_recurrent: false,
};

/// A network, ready to rank by itself.
pub(super) struct TReaderRanker<'a> {
    pub(super) network: &'a TReaderNetwork,
    pub(super) teacher: Option<&'a Teacher>,
    /// Labels kept per document.
    pub(super) keep: usize,
}

impl TReaderRanker<'_> {
    /// The best labels of each document, best first; `rows` is what their neighbours bring.
    pub(super) fn rank(
        &self,
        sequences: &IndexRows,
        rows: Option<&[TeacherRow]>,
    ) -> Result<Vec<Vec<ScoredLabel>>> {
        let is_read = self.network.reads_neighbours();
        let (rows, teacher) = (rows.filter(|_| is_read), self.teacher.filter(|_| is_read));
        RankedBatches {
            sequences,
            device: self.network.device(),
            on_gpu: ON_GPU,
            on_cpu: ON_CPU,
        }
        .rank(
            &TReaderReading {
                ranker: self,
                sequences,
                rows,
                teacher,
            },
            |_| Ok(()),
        )
    }
}

/// A network with documents that it is to rank, and what it reads of their neighbours.
struct TReaderReading<'a> {
    ranker: &'a TReaderRanker<'a>,
    sequences: &'a IndexRows,
    rows: Option<&'a [TeacherRow]>,
    teacher: Option<&'a Teacher>,
}

#[expect(unsafe_code, reason = "tch marks no tensor as one that threads share")]
// SAFETY: ranking reads the weights of the network, and writes to tensors of its batch alone; words,
// neighbours and the teacher are no tensors.
unsafe impl ReadsBatches for TReaderReading<'_> {
    type Said = Vec<ScoredLabel>;

    fn read(&self, documents: &[u32]) -> Result<Vec<Vec<ScoredLabel>>> {
        let parts: Vec<DocumentWords<'_>> = documents
            .iter()
            .map(|&document| DocumentWords {
                words: self.sequences.row(document as usize),
                row: self.rows.map(|rows| &rows[document as usize]),
            })
            .collect();
        let batch = TReaderBatch::new(&parts, self.teacher);
        let ranked = self.ranker.network.rank(&batch, self.ranker.keep);
        Ok(to_rankings(&ranked))
    }
}
