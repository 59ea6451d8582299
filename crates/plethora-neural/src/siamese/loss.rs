//! The loss of documents against labels that compete.

use tch::{Kind, Tensor};

/// Below every score: what it stands for takes no part in a sum of exponentials.
const LEFT_OUT: f64 = -1e30;

/// The decoupled softmax loss (DEXML, Gupta et al. 2024), a mean over documents and over the true labels of
/// each: a true label competes with all labels that are not true, and never with another true one.
///
/// For scores s and the wrong labels N of a document, a true label p costs
/// `log(1 + exp(logsumexp_{n in N} s_n - s_p))`.
///
/// # Shapes
/// `scores`: documents x labels; `truth` likewise, true where a document has a label. A document without
/// true labels costs nothing.
pub(super) fn decoupled_softmax(scores: &Tensor, truth: &Tensor) -> Tensor {
    let wrong = scores.masked_fill(truth, LEFT_OUT).logsumexp([1], true); // [documents, 1]
    let costs = (wrong - scores).softplus(); // [documents, labels]
    let truth = truth.to_kind(Kind::Float);
    let num_true = truth.sum_dim_intlist([1].as_slice(), false, Kind::Float);
    let of_documents = (costs * truth).sum_dim_intlist([1].as_slice(), false, Kind::Float);
    (of_documents / num_true.clamp_min(1.0)).mean(Kind::Float)
}
