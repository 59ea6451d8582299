//! Ranks the labels of the clusters that a document chose.
//!
//! Documents choose different clusters, but the labels of all of them together are few beside all
//! labels. So their vectors are gathered once and held against every document in one product; where a
//! label is no candidate of a document, the number does not count. That is more arithmetic than a
//! product for each document's own candidates, and far less memory: documents x labels numbers
//! instead of documents x candidates x width.

use std::ops::Range;

use tch::{Kind, Tensor};

use super::bottleneck::Bottleneck;
use super::candidates::{Candidates, ClusterChoice, whole_numbers};
use super::clustered::{Activation, ClusteredSetup};
use super::label_chunks::{chunk_limit, label_chunks};
use super::vector_input::{LabelPlaces, Ranked, VectorInput};
use crate::parameters::{DenseParametersBuilder, TableRows};
use crate::start::Start;

/// Numbers of documents x labels that are computed at a time on a GPU: 512 MiB in 32 bits, of which a
/// few copies live at a time.
const MAP_SIZE_GPU: i64 = 1 << 27;

/// As [`MAP_SIZE_GPU`], on a processor.
const MAP_SIZE_CPU: i64 = 1 << 24;

/// A narrow document vector against the vectors of labels.
#[derive(Debug)]
pub(crate) struct Discriminator {
    bottleneck: Bottleneck,
    activation: Activation,
    choice: ClusterChoice,
    table: usize,
    /// Labels computed together; 0 chooses.
    pub(super) chunk: i64,
}

/// What a batch taught the discriminator.
pub(crate) struct RankLearnt {
    pub(crate) loss: Tensor,
    /// documents x bottleneck: of the narrow vector.
    pub(crate) gradient: Tensor,
    /// With their gradients.
    pub(crate) rows: TableRows,
}

/// A run of candidates.
struct CandidateChunk {
    labels: Range<i64>,
    /// The run's positives among those of the batch.
    positives: Range<i64>,
}

impl Discriminator {
    pub(super) fn new(
        setup: &ClusteredSetup<'_>,
        builder: &mut DenseParametersBuilder,
        start: Start,
    ) -> (Self, Tensor) {
        let config = setup.config;
        let num_labels = setup.clusters.num_labels() as i64;
        let shape = [num_labels, config.bottleneck as i64];
        let discriminator = Self {
            bottleneck: Bottleneck::new(setup.width, config.bottleneck, builder, start),
            activation: config.activation,
            choice: ClusterChoice::new(setup.clusters, config.beam, setup.device),
            table: setup.table,
            chunk: 0,
        };
        (discriminator, start.named("labels").glorot(shape))
    }

    /// The narrow vector.
    ///
    /// # Shapes
    /// Gives documents x bottleneck.
    pub(super) fn hidden(&self, input: &VectorInput<'_>) -> Tensor {
        let hidden = (self.bottleneck).forward(&input.parameters.dense, input.vector);
        self.activation.apply(hidden)
    }

    /// Which clusters and labels a document is compared with.
    pub(super) fn choice(&self) -> &ClusterChoice {
        &self.choice
    }

    /// The loss of the candidates, and its gradients times `scale`. They are computed here and not
    /// by autograd: with sigmoid and cross-entropy they are a few operations, a run of labels
    /// is forgotten when it is done, and no gradient of a mask is ever made.
    ///
    /// # Shapes
    /// `hidden`: documents x bottleneck.
    pub(super) fn learn(
        &self,
        input: &VectorInput<'_>,
        hidden: &Tensor,
        candidates: &Candidates,
        targets: &LabelPlaces,
        scale: f64,
    ) -> RankLearnt {
        let rows = input.parameters.tables[self.table].gather(self.table, &candidates.labels);
        let mut loss = Tensor::zeros([], (Kind::Float, hidden.device()));
        let mut gradient = hidden.zeros_like().to_kind(Kind::Float);
        let mut row_gradients = Vec::new();
        let scaled_hidden = hidden * scale;
        for chunk in self.chunks(hidden.size()[0], candidates, targets) {
            let length = chunk.labels.end - chunk.labels.start;
            let vectors = rows.leaf.narrow(0, chunk.labels.start, length);
            let vectors = vectors.detach().to_kind(hidden.kind());
            let mut logits = hidden.matmul(&vectors.tr()).to_kind(Kind::Float);
            let positives = ChunkPositives::new(candidates, targets, &chunk);
            let weights = self.weights(candidates, &chunk, &positives);
            let ChunkPositives {
                places,
                weights: positive_weights,
            } = positives;
            let of_positives = logits.view([-1]).index_select(0, &places) * &positive_weights;
            loss += (logits.softplus() * &weights).sum(Kind::Float);
            loss -= of_positives.sum(Kind::Float);
            let mut errors = logits.sigmoid_().g_mul_(&weights);
            let _ = (errors.view([-1])).index_add_(0, &places, &positive_weights.neg());
            errors = errors.to_kind(hidden.kind());
            gradient += errors.matmul(&vectors).to_kind(Kind::Float);
            row_gradients.push(errors.tr().matmul(&scaled_hidden).to_kind(Kind::Float));
        }
        set_gradient(&rows.leaf, row_gradients);
        RankLearnt {
            loss,
            gradient: gradient * scale,
            rows,
        }
    }

    /// documents x labels of the run: what the loss of each counts; zero where it is no candidate.
    fn weights(
        &self,
        candidates: &Candidates,
        chunk: &CandidateChunk,
        positives: &ChunkPositives,
    ) -> Tensor {
        let length = chunk.labels.end - chunk.labels.start;
        let labels = candidates.labels.narrow(0, chunk.labels.start, length);
        let clusters = self.choice.clusters_of(&labels);
        let weights = candidates.weights.index_select(1, &clusters);
        let places = [Some(&positives.places)];
        let _ = (weights.view([-1])).index_put_(&places, &positives.weights, false);
        weights
    }

    /// Runs of candidates that are computed together.
    fn chunks(
        &self,
        num_documents: i64,
        candidates: &Candidates,
        targets: &LabelPlaces,
    ) -> Vec<CandidateChunk> {
        let labels = &candidates.labels;
        let chunks = self.label_chunks(num_documents, labels);
        let positives = targets.labels_on_host();
        if let [labels] = chunks.as_slice() {
            return vec![CandidateChunk {
                labels: labels.clone(),
                positives: 0..positives.len() as i64,
            }];
        }
        // Candidates and positives both rise, so that those of a run lie side by side.
        let lasts: Vec<i64> = chunks.iter().map(|chunk| chunk.end - 1).collect();
        let lasts = labels.index_select(0, &Tensor::from_slice(&lasts).to_device(labels.device()));
        let mut start = 0;
        let chunks = chunks.into_iter().zip(whole_numbers(&lasts));
        chunks
            .map(|(labels, last)| {
                let end = positives.partition_point(|&label| i64::from(label) <= last) as i64;
                let positives = start..end;
                start = end;
                CandidateChunk { labels, positives }
            })
            .collect()
    }

    fn label_chunks(&self, numbers_per_label: i64, labels: &Tensor) -> Vec<Range<i64>> {
        let limit = match self.chunk {
            0 => chunk_limit(
                numbers_per_label,
                MAP_SIZE_GPU,
                MAP_SIZE_CPU,
                labels.device(),
            ),
            chunk => chunk,
        };
        label_chunks(labels.size()[0], limit).collect()
    }

    /// The best labels of the best clusters.
    ///
    /// # Shapes
    /// `log_scores`: documents x clusters.
    pub(super) fn rank(
        &self,
        input: &VectorInput<'_>,
        log_scores: &Tensor,
        beam: usize,
        keep: i64,
    ) -> Ranked {
        let (scores, chosen) = self.choice.best(log_scores, beam);
        let log_scores = log_scores
            .full_like(f64::NEG_INFINITY)
            .scatter_(1, &chosen, &scores);
        let table = input.parameters.tables[self.table].values();
        let hidden = self.hidden(input).to_kind(table.kind());
        let labels = self.choice.labels_of(&chosen);
        let widest = hidden.size()[0].max(hidden.size()[1]);
        let best = self
            .label_chunks(widest, &labels)
            .into_iter()
            .map(|chunk| {
                let labels = labels.narrow(0, chunk.start, chunk.end - chunk.start);
                let logits = hidden.matmul(&table.index_select(0, &labels).tr());
                let of_clusters = log_scores.index_select(1, &self.choice.clusters_of(&labels));
                let scores = logits.to_kind(Kind::Float).log_sigmoid() + of_clusters;
                Ranked::best_of(&scores, &labels, keep)
            })
            .reduce(|best, other| best.merge(&other, keep));
        best.expect("a cluster has labels").filled_to(keep)
    }

    /// The score of one label before the sigmoid, one per document.
    pub(super) fn logit_of(&self, input: &VectorInput<'_>, label: u32) -> Tensor {
        let table = input.parameters.tables[self.table].values();
        let hidden = self.hidden(input).to_kind(table.kind());
        let logits = hidden.matmul(&table.narrow(0, i64::from(label), 1).tr());
        logits.to_kind(Kind::Float).select(1, 0)
    }

    /// documents x labels of [`Candidates::labels`]: true where the label is a candidate.
    #[cfg(test)]
    pub(super) fn mask(&self, candidates: &Candidates, targets: &LabelPlaces) -> Tensor {
        let chunk = CandidateChunk {
            labels: 0..candidates.labels.size()[0],
            positives: 0..targets.labels_on_host().len() as i64,
        };
        let positives = ChunkPositives::new(candidates, targets, &chunk);
        self.weights(candidates, &chunk, &positives).gt(0.0)
    }
}

/// The positives of a run.
struct ChunkPositives {
    /// Places in the run's matrix of documents x labels, read row by row.
    places: Tensor,
    /// What they count.
    weights: Tensor,
}

impl ChunkPositives {
    fn new(candidates: &Candidates, targets: &LabelPlaces, chunk: &CandidateChunk) -> Self {
        let part = |tensor: &Tensor| {
            let length = chunk.positives.end - chunk.positives.start;
            tensor.narrow(0, chunk.positives.start, length)
        };
        let length = chunk.labels.end - chunk.labels.start;
        let places = part(&targets.documents()) * length + part(&candidates.places);
        Self {
            places: places - chunk.labels.start,
            weights: part(&candidates.positive_weights),
        }
    }
}

/// Gives a fresh leaf its gradient, in parts one below the other.
pub(crate) fn set_gradient(leaf: &Tensor, mut parts: Vec<Tensor>) {
    if !leaf.requires_grad() {
        return;
    }
    let gradient = match parts.len() {
        1 => parts.swap_remove(0),
        _ => Tensor::cat(&parts, 0),
    };
    // Autograd makes room for a gradient at the first backward pass, and only there.
    tch::with_grad(|| leaf.narrow(0, 0, 1).sum(Kind::Float).backward());
    leaf.grad().set_data(&gradient);
}
