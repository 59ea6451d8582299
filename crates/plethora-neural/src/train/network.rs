//! What the training loop asks of a network. It knows nothing else of any system.

use tch::Tensor;

use super::momentum::MomentumStep;
use crate::Result;
use crate::parameters::{Parameters, TableRows};

/// A network that can be trained.
pub trait Network {
    /// The documents of a step, ready to compute with; made on another thread.
    type Batch: Send;

    /// Everything that training changes.
    fn parameters(&self) -> &Parameters;

    /// Computes the loss of a batch, a mean over its documents, and adds the gradients of
    /// `step.scale` times it to those of the dense parameters and of the table rows that it works
    /// with.
    fn learn(&self, batch: &Self::Batch, step: &StepPart<'_>) -> Result<Learnt>;

    /// Takes part in batches of other processes while this one has none, where labels lie in shards. Gives
    /// what that adds to the loss of the step.
    fn assist(&self, _step: &StepPart<'_>) -> Result<f64> {
        Ok(0.0)
    }
}

/// Where in the course of training a batch comes.
#[derive(Debug, Clone, Copy)]
pub struct StepPart<'a> {
    /// The batch's share of the step's documents.
    pub scale: f64,
    /// For random numbers, other ones for each batch.
    pub seed: i64,
    /// How much of the current pass over the documents lies behind, from 0 to below 1.
    pub epoch_progress: f64,
    /// How tables are changed that the network changes itself.
    pub momentum: MomentumStep<'a>,
}

/// What a network found in a batch.
#[derive(Debug)]
pub struct Learnt {
    /// The loss; it stays on the device.
    pub loss: Tensor,
    /// The table rows that the batch worked with, which have gradients now.
    pub rows: Vec<TableRows>,
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
