//! What a batch teaches the root.

use tch::{Kind, Reduction, Tensor};

use super::Adaptive;
use super::tail::Tail;
use crate::head::LabelPlaces;
use crate::pretrained::Roots;
use crate::train::LossScale;

/// The root in a step.
pub(super) struct RootStep {
    /// documents x (head labels, then tails), before the sigmoid, apart from the graph.
    pub(super) logits: Tensor,
    /// The same, with a one where a label is true or a tail has a true label.
    pub(super) truth: Tensor,
}

/// What losses count in a step.
pub(super) struct Weights {
    /// documents: that of a label.
    pub(super) labels: Tensor,
    /// documents x tails: that of a tail at the root.
    tails: Tensor,
}

impl RootStep {
    pub(super) fn new(logits: &Tensor, targets: &LabelPlaces, columns: &Tensor) -> Self {
        let logits = logits.detach().to_kind(Kind::Float);
        let mut truth = logits.zeros_like();
        let one = Tensor::ones([1], (Kind::Float, logits.device()));
        let places = [Some(targets.documents()), Some(columns.shallow_clone())];
        let _ = truth.index_put_(&places, &one, false);
        Self { logits, truth }
    }
}

impl Adaptive {
    /// # Shapes
    /// `visited`: documents x tails, one where a document has a label in the tail.
    pub(super) fn weights(&self, visited: &Tensor, scale: LossScale) -> Weights {
        let tails = match self.roots {
            Roots::All => visited.ones_like(),
            Roots::Absent => 1.0 - visited,
            Roots::None => visited.zeros_like(),
        };
        let num_documents = visited.size()[0];
        let share = visited.new_full(
            num_documents,
            1.0 / num_documents as f64,
            (Kind::Float, visited.device()),
        );
        let labels = match scale {
            LossScale::Sum => share,
            LossScale::Mean => {
                let per_tail = |number: fn(&Tail) -> i64| {
                    let numbers: Vec<f32> = (self.tails.iter())
                        .map(|tail| number(tail) as f32)
                        .collect();
                    Tensor::from_slice(&numbers).to_device(visited.device())
                };
                let inside = visited * per_tail(Tail::num_labels);
                let drawn = (1.0 - visited) * per_tail(Tail::num_drawn);
                let of_tails: Tensor = inside + drawn + &tails;
                let compared = of_tails.sum_dim_intlist(1, false, Kind::Float) + self.num_head();
                share / compared
            }
        };
        Weights {
            tails: tails * labels.unsqueeze(1),
            labels,
        }
    }

    /// The loss of head labels and of tails at the root, and its gradient by their logits.
    pub(super) fn learn_root(&self, root: &RootStep, weights: &Weights) -> (Tensor, Tensor) {
        let gradient = root.logits.sigmoid() - &root.truth;
        let mut loss = Tensor::zeros([], (Kind::Float, root.logits.device()));
        let parts = [
            (0, self.num_head(), weights.labels.unsqueeze(1)),
            (
                self.num_head(),
                self.num_tails(),
                weights.tails.shallow_clone(),
            ),
        ];
        for (start, length, weights) in parts {
            let part = |tensor: &Tensor| tensor.narrow(1, start, length);
            loss += part(&root.logits).binary_cross_entropy_with_logits(
                &part(&root.truth),
                Some(&weights),
                None,
                Reduction::Sum,
            );
            let _ = part(&gradient).g_mul_(&weights);
        }
        (loss, gradient)
    }
}
