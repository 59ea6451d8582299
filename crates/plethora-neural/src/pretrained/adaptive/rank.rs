//! The best labels of documents.

use tch::{Kind, Tensor};

use super::tail::Tail;
use super::{Adaptive, run_limit};
use crate::head::label_chunks;
use crate::head::{Ranked, VectorInput, log_odds};
use crate::parameters::ParameterId;

impl Adaptive {
    /// The best `keep` labels of each document.
    ///
    /// # Shapes
    /// Gives documents x `keep`, or x labels where these are fewer.
    pub(super) fn best_labels(&self, input: &VectorInput<'_>, keep: usize) -> Ranked {
        let _no_grad = tch::no_grad_guard();
        let dense = &input.parameters.dense;
        let keep = (keep as i64).min(self.places.root.size()[0]);
        let hidden = self.hidden(input, false);
        let limit = run_limit(self.chunk, &hidden);
        let root = |start: i64, length: i64| {
            let part = |id: ParameterId| dense.computed(id).narrow(0, start, length);
            let bias = self.root_bias.map(part);
            let logits = hidden.linear(&part(self.root), bias.as_ref());
            logits.to_kind(Kind::Float).log_sigmoid()
        };
        let of_tails = root(self.num_head(), self.num_tails());
        let mut best = label_chunks(self.num_head(), limit)
            .map(|chunk| {
                let length = chunk.end - chunk.start;
                let labels = self.labels.narrow(0, chunk.start, length);
                Ranked::best_of(&root(chunk.start, length), &labels, keep)
            })
            .reduce(|best, other| best.merge(&other, keep))
            .expect("a head has labels");
        for (number, tail) in self.tails.iter().enumerate() {
            let of_tail = of_tails.select(1, number as i64);
            let documents = still_open(&best, &of_tail, keep);
            if documents.size()[0] > 0 {
                let narrow = tail.project(dense, &hidden.index_select(0, &documents));
                let of_tail = of_tail.index_select(0, &documents);
                let found = tail.rank(input.parameters, &narrow, &of_tail, limit, keep);
                best = best.merge(&spread(found, &documents, hidden.size()[0]), keep);
            }
        }
        best.filled_to(keep)
    }

    /// The log-odds of one label's score, part of the graph of the document vectors.
    pub(super) fn log_odds_of_label(&self, input: &VectorInput<'_>, label: u32) -> Tensor {
        let parameters = input.parameters;
        let hidden = self.hidden(input, false);
        let column = self.places.root.int64_value(&[i64::from(label)]);
        let logits = self.root_logits(&parameters.dense, &hidden);
        let of_root = logits.select(1, column).to_kind(Kind::Float);
        let Some(tail) = usize::try_from(column - self.num_head())
            .ok()
            .and_then(|number| self.tails.get(number))
        else {
            return of_root;
        };
        let inside = self.places.inside.int64_value(&[i64::from(label)]);
        let vector = parameters.tables[tail.table].values().narrow(0, inside, 1);
        let narrow = tail
            .project(&parameters.dense, &hidden)
            .to_kind(vector.kind());
        let bias = tail.biases(&parameters.dense);
        let bias = bias.map(|biases| biases.narrow(0, inside, 1));
        let of_label = Tail::logits(&narrow, &vector, bias.as_ref()).select(1, 0);
        log_odds(&(of_root.log_sigmoid() + of_label.log_sigmoid()))
    }
}

/// The documents for which a tail may have better labels than those found: no label of it can be
/// better than the tail itself.
fn still_open(best: &Ranked, of_tail: &Tensor, keep: i64) -> Tensor {
    if best.labels.size()[1] < keep {
        return Tensor::arange(of_tail.size()[0], (Kind::Int64, of_tail.device()));
    }
    let worst = best.log_scores.select(1, keep - 1);
    of_tail.gt_tensor(&worst).nonzero().squeeze_dim(1)
}

/// A ranking of some documents as one of all, in which the others have no labels.
fn spread(ranked: Ranked, documents: &Tensor, num_documents: i64) -> Ranked {
    if documents.size()[0] == num_documents {
        return ranked;
    }
    let all = |part: &Tensor, fill: f64| {
        let shape = [num_documents, part.size()[1]];
        let all = part.new_full(shape, fill, (part.kind(), part.device()));
        all.index_copy(0, documents, part)
    };
    Ranked {
        log_scores: all(&ranked.log_scores, f64::NEG_INFINITY),
        labels: all(&ranked.labels, 0.0),
    }
}
