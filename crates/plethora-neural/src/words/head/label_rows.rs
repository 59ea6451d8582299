//! The rows of labels that a run of them is computed with, and where their gradients go.

use tch::Tensor;

use super::Scored;
use super::attention_form::LabelStore;
use super::candidate_rows::{CandidateLearner, look_up};
use crate::parameters::Parameters;

/// The rows of some labels, in 32 bits. A row is the attention vector, then the label's own output weights
/// and bias where it has them.
pub(super) enum LabelRows {
    /// labels x row width, the same for all documents.
    Shared(Tensor),
    /// documents x candidates x row width.
    OfDocuments(Tensor),
}

impl LabelRows {
    /// The rows of a run of labels or candidates.
    pub(super) fn of(
        store: LabelStore,
        scored: &Scored<'_>,
        parameters: &Parameters,
        (start, length): (i64, i64),
    ) -> Self {
        match scored {
            Scored::Candidates { rows, places, .. } => {
                Self::OfDocuments(look_up(&rows.leaf, places, start, length))
            }
            Scored::All => Self::Shared(store.rows(parameters).narrow(0, start, length)),
        }
    }

    fn tensor(&self) -> &Tensor {
        match self {
            Self::Shared(rows) | Self::OfDocuments(rows) => rows,
        }
    }

    /// Some columns of all rows.
    pub(super) fn columns(&self, start: i64, length: i64) -> Tensor {
        self.tensor().narrow(-1, start, length)
    }
}

/// Rows of labels that learn run by run.
pub(super) enum RowLearner<'a> {
    /// All labels, which are a parameter: through a view of the whole matrix each run would pay for the
    /// gradient of all of it.
    All { whole: Tensor, gradient: Tensor },
    /// Candidates, by what the batch gathered.
    Candidates(CandidateLearner<'a>),
}

impl<'a> RowLearner<'a> {
    /// Nothing is learnt yet.
    pub(super) fn new(store: LabelStore, scored: &Scored<'a>, parameters: &Parameters) -> Self {
        match (scored, store) {
            (Scored::Candidates { rows, places, .. }, _) => {
                Self::Candidates(CandidateLearner::new(rows, places))
            }
            (Scored::All, LabelStore::Parameter(id)) => Self::All {
                whole: parameters.dense.get(id).detach(),
                gradient: parameters.dense.gradient(id),
            },
            (Scored::All, LabelStore::Table(_)) => {
                panic!("labels of a table are learnt as candidates")
            }
        }
    }

    /// The rows of a run, as a leaf.
    pub(super) fn leaf(&self, start: i64, length: i64) -> LabelRows {
        match self {
            Self::All { whole, .. } => {
                let rows = whole.narrow(0, start, length);
                LabelRows::Shared(rows.set_requires_grad(true))
            }
            Self::Candidates(candidates) => LabelRows::OfDocuments(candidates.leaf(start, length)),
        }
    }

    /// Takes the gradient of a run that begins at `start`.
    pub(super) fn add(&mut self, run: &LabelRows, start: i64) {
        let leaf = run.tensor();
        match self {
            Self::All { gradient, .. } => {
                let mut part = gradient.narrow(0, start, leaf.size()[0]);
                let _ = part.g_add_(&leaf.grad());
            }
            Self::Candidates(candidates) => candidates.add(leaf, start),
        }
    }

    /// All runs have learnt.
    pub(super) fn finish(self) {
        if let Self::Candidates(candidates) = self {
            candidates.finish();
        }
    }
}
