//! What a batch teaches a tail. Gradients are computed here and not by autograd: a run of labels is
//! forgotten when it is done, and their logarithms need no more than was computed for the loss.

use std::ops::Range;

use tch::{Kind, Tensor};

use super::log_space::label_terms;
use super::run_limit;
use super::strata::Strata;
use super::tail::Tail;
use crate::head::label_chunks;
use crate::head::set_gradient;
use crate::parameters::{DenseParameters, Parameters, TableRows};
use crate::pretrained::TailLoss;

/// The documents that a tail is computed for, those with a label in it first.
pub(super) struct TailStep {
    /// documents x narrow, apart from the graph.
    pub(super) hidden: Tensor,
    /// documents: the root's logits of the tail.
    pub(super) roots: Tensor,
    /// documents: what the loss of a label counts.
    pub(super) weights: Tensor,
    /// Documents with a label in the tail.
    pub(super) num_visiting: i64,
    pub(super) positives: TailPositives,
    /// What the step's gradients are multiplied by.
    pub(super) scale: f64,
    /// Labels computed together; 0 chooses.
    pub(super) chunk: i64,
}

/// The true labels of all documents, seen from one tail.
pub(super) struct TailPositives {
    /// The line of each one's document among the tail's documents; anything for others.
    pub(super) lines: Tensor,
    /// The number of each in its cluster.
    pub(super) labels: Tensor,
    /// True where that cluster is the tail.
    pub(super) are_here: Tensor,
}

/// What a batch taught a tail.
pub(super) struct TailLearnt {
    pub(super) loss: Tensor,
    /// documents x narrow: before the step's scale.
    pub(super) of_hidden: Tensor,
    /// documents: by the root's logit, before the step's scale.
    pub(super) of_roots: Tensor,
    /// With their gradients.
    pub(super) rows: TableRows,
}

/// Some documents against some labels.
struct Part<'a> {
    hidden: Tensor,
    /// Absent where labels stand for themselves.
    roots: Option<Tensor>,
    weights: Tensor,
    positives: Option<&'a TailPositives>,
    vectors: &'a Tensor,
    biases: Option<&'a Tensor>,
    scale: f64,
    chunk: i64,
}

struct PartLearnt {
    loss: Tensor,
    of_hidden: Tensor,
    of_roots: Tensor,
    /// In the shapes of vectors and biases, times the step's scale.
    of_vectors: Tensor,
    of_biases: Tensor,
}

impl Tail {
    /// Compares documents with all labels where they have some of them, and others with those drawn.
    /// Gradients of biases are added to the others', those of the labels' vectors are returned.
    pub(super) fn learn(&self, parameters: &Parameters, step: &TailStep) -> TailLearnt {
        let num_others = step.hidden.size()[0] - step.num_visiting;
        let strata = self.strata.as_ref().filter(|_| num_others > 0);
        let drawn = strata.map(Strata::draw);
        let gather = |labels: &Tensor| parameters.tables[self.table].gather(self.table, labels);
        let all = || Tensor::arange(self.num_labels(), (Kind::Int64, step.hidden.device()));
        let (rows, learnt) = match drawn {
            None => {
                let rows = gather(&all());
                let learnt = self.learn_visiting(&parameters.dense, step, &rows.leaf.detach());
                (rows, learnt)
            }
            Some(drawn) if step.num_visiting == 0 => {
                let rows = gather(&drawn);
                let vectors = rows.leaf.detach();
                let learnt = self.learn_others(&parameters.dense, step, &vectors, &drawn);
                (rows, learnt)
            }
            Some(drawn) => {
                let rows = gather(&all());
                let vectors = rows.leaf.detach();
                let visiting = self.learn_visiting(&parameters.dense, step, &vectors);
                let vectors = vectors.index_select(0, &drawn);
                let others = self.learn_others(&parameters.dense, step, &vectors, &drawn);
                (rows, visiting.join(&others, &drawn))
            }
        };
        set_gradient(&rows.leaf, vec![learnt.of_vectors]);
        TailLearnt {
            loss: learnt.loss,
            of_hidden: learnt.of_hidden,
            of_roots: learnt.of_roots,
            rows,
        }
    }

    /// The documents with a label in the tail, against the vectors of all of its labels.
    fn learn_visiting(
        &self,
        dense: &DenseParameters,
        step: &TailStep,
        vectors: &Tensor,
    ) -> PartLearnt {
        let biases = self.biases(dense);
        let roots = match self.loss {
            TailLoss::Product => Some(&step.roots),
            TailLoss::Conditional => None,
        };
        let part = step.part(0..step.num_visiting, roots, vectors, biases.as_ref());
        let learnt = Part {
            positives: Some(&step.positives),
            ..part
        }
        .learn();
        if let Some(bias) = self.bias {
            let _ = dense.gradient(bias).g_add_(&learnt.of_biases);
        }
        learnt
    }

    /// The other documents, against the vectors of the labels drawn.
    fn learn_others(
        &self,
        dense: &DenseParameters,
        step: &TailStep,
        vectors: &Tensor,
        drawn: &Tensor,
    ) -> PartLearnt {
        let biases = self.biases(dense);
        let biases = biases.map(|biases| biases.index_select(0, drawn));
        let documents = step.num_visiting..step.hidden.size()[0];
        let part = step.part(documents, Some(&step.roots), vectors, biases.as_ref());
        let learnt = part.learn();
        if let Some(bias) = self.bias {
            let _ = (dense.gradient(bias)).index_add_(0, drawn, &learnt.of_biases);
        }
        learnt
    }
}

impl PartLearnt {
    /// Both parts of a tail's documents, of which the others met the labels drawn.
    fn join(mut self, others: &Self, drawn: &Tensor) -> Self {
        let _ = (self.of_vectors).index_add_(0, drawn, &others.of_vectors);
        Self {
            loss: &self.loss + &others.loss,
            of_hidden: Tensor::cat(&[&self.of_hidden, &others.of_hidden], 0),
            of_roots: Tensor::cat(&[&self.of_roots, &others.of_roots], 0),
            ..self
        }
    }
}

impl TailStep {
    /// Some of the documents against these labels, of which none is true.
    fn part<'a>(
        &self,
        documents: Range<i64>,
        roots: Option<&Tensor>,
        vectors: &'a Tensor,
        biases: Option<&'a Tensor>,
    ) -> Part<'a> {
        let of_documents =
            |tensor: &Tensor| tensor.narrow(0, documents.start, documents.end - documents.start);
        Part {
            hidden: of_documents(&self.hidden),
            roots: roots.map(of_documents),
            weights: of_documents(&self.weights),
            positives: None,
            vectors,
            biases,
            scale: self.scale,
            chunk: self.chunk,
        }
    }
}

impl Part<'_> {
    fn learn(&self) -> PartLearnt {
        let hidden = &self.hidden;
        let scaled_hidden = hidden * self.scale;
        let mut loss = Tensor::zeros([], (Kind::Float, hidden.device()));
        let mut of_hidden = hidden.zeros_like().to_kind(Kind::Float);
        let mut of_roots = self.weights.zeros_like();
        let (mut of_vectors, mut of_biases) = (Vec::new(), Vec::new());
        let limit = run_limit(self.chunk, hidden);
        for chunk in label_chunks(self.vectors.size()[0], limit) {
            let part = |tensor: &Tensor| tensor.narrow(0, chunk.start, chunk.end - chunk.start);
            let vectors = part(self.vectors).to_kind(hidden.kind());
            let biases = self.biases.map(part);
            let logits = Tail::logits(hidden, &vectors, biases.as_ref());
            let truth = (self.positives).map(|positives| positives.truth(&logits, &chunk));
            let roots = self.roots.as_ref();
            let terms = label_terms(&logits, roots, truth.as_ref(), &self.weights);
            loss += terms.loss;
            of_roots += terms.of_roots;
            let errors = terms.of_logits.to_kind(hidden.kind());
            of_hidden += errors.matmul(&vectors).to_kind(Kind::Float);
            of_vectors.push(errors.tr().matmul(&scaled_hidden).to_kind(Kind::Float));
            of_biases.push(terms.of_logits.sum_dim_intlist(0, false, Kind::Float) * self.scale);
        }
        PartLearnt {
            loss,
            of_hidden,
            of_roots,
            of_vectors: joined(of_vectors),
            of_biases: joined(of_biases),
        }
    }
}

impl TailPositives {
    /// One where a label of the run is true and zero elsewhere, in the shape and numbers of
    /// `logits`. Positives of other runs and tails add nothing to the first place instead of being
    /// left out, so that the device need not be waited for to know how many are left.
    fn truth(&self, logits: &Tensor, chunk: &Range<i64>) -> Tensor {
        let length = chunk.end - chunk.start;
        let columns = &self.labels - chunk.start;
        let are_inside = columns
            .ge(0)
            .logical_and(&columns.lt(length))
            .logical_and(&self.are_here);
        let places = (&self.lines * length + columns) * &are_inside;
        let truth = logits.zeros_like();
        let ones = are_inside.to_kind(logits.kind());
        let _ = truth.view([-1]).index_add_(0, &places, &ones);
        truth
    }
}

/// Parts one below the other.
fn joined(mut parts: Vec<Tensor>) -> Tensor {
    match parts.len() {
        1 => parts.swap_remove(0),
        _ => Tensor::cat(&parts, 0),
    }
}
