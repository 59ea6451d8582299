//! APLC-XLNet's head (Ye et al. 2020): labels by falling frequency, the most frequent at the root and
//! the others in tails behind it.
//!
//! With x the document vector, h = tanh(H x + c) is scored against the labels of the head and, in the
//! same matrix, against one row per tail; tail i scores its labels by `P_i` h, whose width is that of h
//! over q^i. A head label's probability is its own, that of a tail's label is the root's for the
//! tail times its own. In training a document visits the tails that it has labels in, and of the
//! others a few labels at most.

use tch::{Device, Kind, Tensor};

use crate::Result;
use crate::head::{
    Clusters, HeadStep, LabelFacts, LabelHead, LabelPlaces, Ranked, VectorInput, chunk_limit,
    send_back,
};
use crate::parameters::{DenseParameters, DenseParametersBuilder, ParameterId, RateGroup};
use crate::start::Start;
use crate::train::Learnt;

mod choices;
mod config;
mod frequency;
mod log_space;
mod rank;
mod root_step;
mod strata;
mod tail;
mod tail_step;
mod visits;

pub(super) use choices::{adaptive_summary, choose_adaptive};
pub use config::{AdaptiveConfig, Projection, Roots, TailLoss};
pub(crate) use frequency::frequency_clusters;
use root_step::RootStep;
use tail::Tail;
use tail_step::{TailPositives, TailStep};
use visits::Visits;

/// Numbers of documents x labels that are computed at a time on a GPU: 128 MiB in 32 bits, of which
/// some ten copies live at a time.
const RUN_SIZE_GPU: i64 = 1 << 25;

/// As [`RUN_SIZE_GPU`], on a processor, where a run that stays in its caches is the faster one.
const RUN_SIZE_CPU: i64 = 1 << 20;

/// A head and tails.
#[derive(Debug)]
pub(crate) struct Adaptive {
    /// hidden x width of a document vector.
    hidden: ParameterId,
    hidden_bias: ParameterId,
    dropout: f64,
    /// (labels of the head, then tails) x hidden.
    root: ParameterId,
    root_bias: Option<ParameterId>,
    roots: Roots,
    /// The labels of the head, rising.
    labels: Tensor,
    tails: Vec<Tail>,
    places: LabelColumns,
    chunk: i64,
}

/// Where labels are found.
#[derive(Debug)]
struct LabelColumns {
    /// The column of the root that each label is scored in, or its tail.
    root: Tensor,
    /// The number of each label in its cluster.
    inside: Tensor,
}

/// What a new head starts from.
pub(crate) struct AdaptiveSetup<'a> {
    pub(crate) config: &'a AdaptiveConfig,
    /// Numbers of a document vector.
    pub(crate) width: usize,
    pub(crate) labels: LabelFacts<'a>,
    /// The head, which is number 0, and the tails.
    pub(crate) clusters: &'a Clusters,
    /// Training documents of each cluster, see [`Clusters::count_documents`].
    pub(crate) counts: LabelFacts<'a>,
    /// Labels that are computed together; 0 chooses by the memory.
    pub(crate) chunk: usize,
    pub(crate) device: Device,
}

impl Adaptive {
    /// A fresh head, and the first vectors of the labels of each tail, which are tables in this order.
    pub(crate) fn new(
        setup: &AdaptiveSetup<'_>,
        builder: &mut DenseParametersBuilder,
        start: Start,
    ) -> (Self, Vec<Tensor>) {
        let AdaptiveSetup { config, device, .. } = *setup;
        let hidden = start
            .named("hidden")
            .glorot([config.hidden as i64, setup.width as i64]);
        let num_tails = setup.clusters.num_clusters() - 1;
        let head = setup.clusters.labels(0);
        let shape = [(head.len() + num_tails) as i64, config.hidden as i64];
        let zeros = |shape: &[i64]| Tensor::zeros(shape, (Kind::Float, Device::Cpu));
        let mut adaptive = Self {
            hidden: builder.add_in(RateGroup::Hidden, "head.hidden.weight", hidden),
            hidden_bias: builder.add_in(RateGroup::Hidden, "head.hidden.bias", zeros(&shape[1..])),
            dropout: config.dropout,
            // At zero every label starts with its log-odds.
            root: builder.add_label_matrix("head.root", zeros(&shape)),
            root_bias: config
                .bias
                .then(|| builder.add_label_matrix("head.root_bias", root_odds(setup, head))),
            roots: config.roots,
            labels: to_tensor(head, device),
            tails: Vec::new(),
            places: LabelColumns::new(setup.clusters, device),
            chunk: setup.chunk as i64,
        };
        let mut tables = Vec::new();
        for tail in 0..num_tails {
            let (tail, vectors) = Tail::new(setup, tail, builder, start);
            adaptive.tails.push(tail);
            tables.push(vectors);
        }
        (adaptive, tables)
    }

    /// # Shapes
    /// Gives documents x hidden.
    fn hidden(&self, input: &VectorInput<'_>, drops: bool) -> Tensor {
        let dense = &input.parameters.dense;
        let bias = dense.computed(self.hidden_bias);
        let hidden = input.vector.linear(dense.computed(self.hidden), Some(bias));
        hidden.tanh().dropout(self.dropout, drops)
    }

    /// # Shapes
    /// Gives documents x (head labels, then tails), before the sigmoid.
    fn root_logits(&self, dense: &DenseParameters, hidden: &Tensor) -> Tensor {
        let bias = self.root_bias.map(|bias| dense.computed(bias));
        hidden.linear(dense.computed(self.root), bias)
    }

    /// Which of a tail's documents have which of its labels.
    fn positives_of(
        &self,
        targets: &LabelPlaces,
        columns: &Tensor,
        column: i64,
        documents: &Tensor,
    ) -> TailPositives {
        let size = targets.num_documents() as i64;
        let lines = documents.new_zeros([size], (Kind::Int64, documents.device()));
        let numbers = Tensor::arange(documents.size()[0], (Kind::Int64, documents.device()));
        let lines = lines.index_copy(0, documents, &numbers);
        TailPositives {
            lines: lines.index_select(0, &targets.documents()),
            labels: self.places.inside.index_select(0, &targets.labels()),
            are_here: columns.eq(column),
        }
    }

    fn num_head(&self) -> i64 {
        self.labels.size()[0]
    }

    fn num_tails(&self) -> i64 {
        self.tails.len() as i64
    }
}

impl LabelHead<VectorInput<'_>> for Adaptive {
    /// The loss of a document is that of the labels it is compared with, and of the tails at the root,
    /// summed or averaged by the step's loss scale; it is averaged over documents.
    fn learn(&self, input: &VectorInput<'_>, step: &HeadStep<'_>) -> Result<Learnt> {
        let (targets, scale) = (step.targets, step.part.scale);
        let dense = &input.parameters.dense;
        let hidden = self.hidden(input, step.drops);
        let logits = self.root_logits(dense, &hidden);
        let _no_grad = tch::no_grad_guard();
        let columns = self.places.root.index_select(0, &targets.labels());
        let root = RootStep::new(&logits, targets, &columns);
        let visited = root.truth.narrow(1, self.num_head(), self.num_tails());
        let visits = Visits::new(&visited);
        let weights = self.weights(&visited, step.loss);
        let (mut loss, of_root) = self.learn_root(&root, &weights);
        let mut back = Vec::new();
        let mut rows = Vec::new();
        for (number, tail) in self.tails.iter().enumerate() {
            let column = self.num_head() + number as i64;
            let Some(documents) = visits.documents(number, tail.draws()) else {
                continue;
            };
            let narrow = tch::with_grad(|| {
                let hidden = hidden.index_select(0, &documents);
                tail.project(dense, &hidden)
            });
            let tail_step = TailStep {
                hidden: narrow.detach(),
                roots: root.logits.select(1, column).index_select(0, &documents),
                weights: weights.labels.index_select(0, &documents),
                num_visiting: visits.num_visiting(number),
                positives: self.positives_of(targets, &columns, column, &documents),
                scale,
                chunk: self.chunk,
            };
            let learnt = tail.learn(input.parameters, &tail_step);
            loss += learnt.loss;
            let mut of_column = of_root.select(1, column);
            let _ = of_column.index_add_(0, &documents, &learnt.of_roots);
            back.push((narrow, learnt.of_hidden * scale));
            rows.push(learnt.rows);
        }
        back.push((logits, of_root * scale));
        tch::with_grad(|| send_back(&back));
        Ok(Learnt { loss, rows })
    }

    fn rank(&self, input: &VectorInput<'_>, _beam: usize, keep: usize) -> Ranked {
        self.best_labels(input, keep)
    }

    fn log_odds_of(&self, input: &VectorInput<'_>, label: u32) -> Tensor {
        self.log_odds_of_label(input, label)
    }
}

impl LabelColumns {
    fn new(clusters: &Clusters, device: Device) -> Self {
        let num_head = clusters.labels(0).len() as i64;
        let mut root = vec![0; clusters.num_labels()];
        let mut inside = vec![0; clusters.num_labels()];
        for cluster in 0..clusters.num_clusters() {
            for (number, &label) in (0..).zip(clusters.labels(cluster as u32)) {
                inside[label as usize] = number;
                root[label as usize] = match cluster as i64 {
                    0 => number,
                    tail => num_head + tail - 1,
                };
            }
        }
        Self {
            root: Tensor::from_slice(&root).to_device(device),
            inside: Tensor::from_slice(&inside).to_device(device),
        }
    }
}

/// Log-odds of the labels of the head, then of the tails.
fn root_odds(setup: &AdaptiveSetup<'_>, head: &[u32]) -> Tensor {
    let counts = head
        .iter()
        .map(|&label| setup.labels.train_counts[label as usize])
        .chain(setup.counts.train_counts[1..].iter().copied());
    LabelFacts {
        train_counts: &counts.collect::<Vec<_>>(),
        ..setup.labels
    }
    .log_odds()
}

/// Labels that are computed together against these vectors, where `chunk` does not say.
fn run_limit(chunk: i64, hidden: &Tensor) -> i64 {
    match chunk {
        0 => {
            let widest = hidden.size()[0].max(hidden.size()[1]);
            chunk_limit(widest, RUN_SIZE_GPU, RUN_SIZE_CPU, hidden.device())
        }
        chunk => chunk,
    }
}

fn to_tensor(labels: &[u32], device: Device) -> Tensor {
    let labels: Vec<i64> = labels.iter().copied().map(i64::from).collect();
    Tensor::from_slice(&labels).to_device(device)
}

#[cfg(test)]
mod tests;
