//! A cluster of rarer labels behind the root.

use tch::{Device, Kind, Tensor};

use super::strata::Strata;
use super::{AdaptiveSetup, to_tensor};
use crate::head::label_chunks;
use crate::head::{LabelFacts, Ranked};
use crate::parameters::{DenseParameters, DenseParametersBuilder, ParameterId, Parameters};
use crate::pretrained::{Projection, TailLoss};
use crate::start::Start;

/// Keeps the norm of a projection finite, as `PyTorch` has it.
const NORM_EPSILON: f64 = 1e-5;

/// Labels that are scored by a narrower vector, once the root wants them.
#[derive(Debug)]
pub(super) struct Tail {
    /// narrow x hidden.
    projection: ParameterId,
    /// Scale and shift behind the projection, where there is a norm.
    norm: Option<(ParameterId, ParameterId)>,
    /// One a label.
    pub(super) bias: Option<ParameterId>,
    /// Which table holds the vectors of the labels.
    pub(super) table: usize,
    /// The labels, rising.
    labels: Tensor,
    /// What documents without a label here are compared with.
    pub(super) strata: Option<Strata>,
    pub(super) loss: TailLoss,
}

impl Tail {
    /// Tail `number`, counted from 0, which is also the number of its table, and the first values of
    /// that.
    pub(super) fn new(
        setup: &AdaptiveSetup<'_>,
        number: usize,
        builder: &mut DenseParametersBuilder,
        start: Start,
    ) -> (Self, Tensor) {
        let config = setup.config;
        let name = |part: &str| format!("head.tail-{}.{part}", number + 1);
        let labels = setup.clusters.labels(number as u32 + 1);
        let width = config.width(number + 1) as i64;
        let of_width = |value: f64| Tensor::full([width], value, (Kind::Float, Device::Cpu));
        let projection = start
            .named("projection")
            .child(number)
            .glorot([width, config.hidden as i64]);
        let tail = Self {
            projection: builder.add_label_matrix(name("projection"), projection),
            norm: (config.projection == Projection::Normed).then(|| {
                let scale = builder.add_label_matrix(name("norm.scale"), of_width(1.0));
                let shift = builder.add_label_matrix(name("norm.shift"), of_width(0.0));
                (scale, shift)
            }),
            bias: config
                .bias
                .then(|| builder.add_label_matrix(name("bias"), odds(setup, number, labels))),
            table: number,
            labels: to_tensor(labels, setup.device),
            strata: (config.negatives > 0)
                .then(|| Strata::new(labels.len(), config.negatives, setup.device)),
            loss: config.tail_loss,
        };
        // A view of a single zero, so that it takes no memory.
        let zero = Tensor::zeros([1, 1], (Kind::Float, setup.device));
        (tail, zero.expand([labels.len() as i64, width], false))
    }

    /// The labels, rising.
    #[cfg(test)]
    pub(super) fn labels(&self) -> &Tensor {
        &self.labels
    }

    pub(super) fn num_labels(&self) -> i64 {
        self.labels.size()[0]
    }

    /// True where documents without a label here are compared with some.
    pub(super) fn draws(&self) -> bool {
        self.strata.is_some()
    }

    /// Labels that they are compared with.
    pub(super) fn num_drawn(&self) -> i64 {
        self.strata.as_ref().map_or(0, Strata::num_drawn)
    }

    /// The vector that the tail's labels are compared by.
    ///
    /// # Shapes
    /// From documents x hidden to documents x narrow.
    pub(super) fn project(&self, dense: &DenseParameters, hidden: &Tensor) -> Tensor {
        let narrow = hidden.linear(dense.computed(self.projection), None::<&Tensor>);
        match self.norm {
            Some((scale, shift)) => {
                let [scale, shift] = [scale, shift].map(|id| Some(dense.computed(id)));
                let shape = &narrow.size()[1..];
                narrow
                    .layer_norm(shape, scale, shift, NORM_EPSILON, false)
                    .relu()
            }
            None => narrow,
        }
    }

    /// Scores of some labels, before the sigmoid.
    ///
    /// # Shapes
    /// `narrow`: documents x narrow; `vectors`: labels x narrow; `biases`: labels.
    pub(super) fn logits(narrow: &Tensor, vectors: &Tensor, biases: Option<&Tensor>) -> Tensor {
        #[cfg(test)]
        super::tests::counted::add(narrow, vectors);
        let logits = narrow.matmul(&vectors.tr()).to_kind(Kind::Float);
        match biases {
            Some(biases) => logits + biases,
            None => logits,
        }
    }

    /// The biases of all labels, in 32 bits.
    pub(super) fn biases(&self, dense: &DenseParameters) -> Option<Tensor> {
        self.bias.map(|bias| dense.get(bias).to_kind(Kind::Float))
    }

    /// The best labels of the tail.
    ///
    /// # Shapes
    /// `narrow`: documents x narrow; `of_tail`: documents, the logarithm of the root's probability.
    pub(super) fn rank(
        &self,
        parameters: &Parameters,
        narrow: &Tensor,
        of_tail: &Tensor,
        limit: i64,
        keep: i64,
    ) -> Ranked {
        let vectors = parameters.tables[self.table].values();
        let biases = self.biases(&parameters.dense);
        // Labels in other numbers would cost more to make than they save.
        let narrow = narrow.to_kind(vectors.kind());
        label_chunks(self.num_labels(), limit)
            .map(|chunk| {
                let part = |tensor: &Tensor| tensor.narrow(0, chunk.start, chunk.end - chunk.start);
                let biases = biases.as_ref().map(part);
                let logits = Self::logits(&narrow, &part(vectors), biases.as_ref());
                let scores = logits.log_sigmoid() + of_tail.unsqueeze(1);
                Ranked::best_of(&scores, &part(&self.labels), keep)
            })
            .reduce(|best, other| best.merge(&other, keep))
            .expect("a tail has labels")
    }
}

/// Log-odds of the labels of a tail among the documents that have one of them.
fn odds(setup: &AdaptiveSetup<'_>, number: usize, labels: &[u32]) -> Tensor {
    let counts = labels
        .iter()
        .map(|&label| setup.labels.train_counts[label as usize]);
    LabelFacts {
        train_counts: &counts.collect::<Vec<_>>(),
        num_documents: u64::from(setup.counts.train_counts[number + 1]),
    }
    .log_odds()
}
