//! What the training loop asks of a network. It knows nothing else of any system.

use tch::Tensor;

use crate::Result;
use crate::parameters::{Parameters, TableRows};

/// A network that can be trained.
pub trait Network {
    /// The documents of a step, ready to compute with; made on another thread.
    type Batch: Send;

    /// Everything that training changes.
    fn parameters(&self) -> &Parameters;

    /// The table rows that a batch works with.
    fn gather(&self, batch: &Self::Batch) -> Vec<TableRows>;

    /// Computes the loss of a batch, a mean over its documents, and adds `scale` times its
    /// gradients to those of the dense parameters and of `rows`. The loss stays on the device.
    fn learn(&self, batch: &Self::Batch, rows: &[TableRows], scale: f64) -> Result<Tensor>;
}

/// Makes the batches of a network from document numbers, on the thread that runs ahead.
pub trait BatchMaker: Sync {
    /// What the network takes.
    type Batch: Send;

    /// Number of training documents.
    fn num_documents(&self) -> usize;

    /// Length of a document, for batches of similar ones.
    fn length(&self, document: usize) -> usize;

    /// The batch of these documents. It must follow from them alone: libtorch's random numbers are
    /// those of the step that is computed meanwhile.
    fn make(&self, documents: &[u32]) -> Self::Batch;
}
