//! Ranks the labels of the clusters that a document chose.
//!
//! Documents choose different clusters, but the labels of all of them together are few beside all
//! labels. So their vectors are gathered once and held against every document in one product; where a
//! label is no candidate of a document, the number does not count. That is more arithmetic than a
//! product for each document's own candidates, and far less memory: documents x labels numbers
//! instead of documents x candidates x width.

use std::ops::Range;

use tch::{Device, Kind, Tensor};

use super::bottleneck::Bottleneck;
use super::clustered::{Activation, ClusteredSetup, Phase, Recalled};
use super::clusters::{ClusterTensors, Clusters};
use super::label_chunks::{chunk_limit, label_chunks};
use super::vector_input::{LabelPlaces, Ranked, VectorInput};
use crate::parameters::{DenseParametersBuilder, TableRows};
use crate::start::Start;
use crate::train::LossScale;

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
    clusters: Clusters,
    tensors: ClusterTensors,
    table: usize,
    beam: i64,
    /// Labels computed together; 0 chooses.
    pub(super) chunk: i64,
}

/// The labels that the documents of a batch are ranked among in training: those of the clusters that
/// the document chose, and its positives.
pub(crate) struct Candidates {
    /// All that a document may have as a candidate, rising.
    pub(super) labels: Tensor,
    /// documents x clusters: what the loss of a label of the cluster counts; zero where the document
    /// did not choose it.
    weights: Tensor,
    /// What the loss of each positive counts.
    positive_weights: Tensor,
    /// The places of the positives among the labels.
    places: Tensor,
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
            clusters: setup.clusters.clone(),
            tensors: ClusterTensors::new(setup.clusters, setup.device),
            table: setup.table,
            beam: config.beam.min(setup.clusters.num_clusters()) as i64,
            chunk: 0,
        };
        (discriminator, start.named("labels").glorot(shape))
    }

    /// The narrow vector; apart from the encoder where labels alone learn to rank.
    ///
    /// # Shapes
    /// Gives documents x bottleneck.
    pub(super) fn hidden(&self, input: &VectorInput<'_>, phase: Phase) -> Tensor {
        let vector = match phase {
            Phase::Rank => input.vector.detach(),
            Phase::Joint | Phase::Recall => input.vector.shallow_clone(),
        };
        let hidden = self.bottleneck.forward(&input.parameters.dense, &vector);
        match self.activation {
            Activation::None => hidden,
            Activation::Sigmoid => hidden.sigmoid(),
            Activation::Relu => hidden.relu(),
        }
    }

    /// The cluster of each label.
    pub(super) fn clusters_of(&self, labels: &Tensor) -> Tensor {
        self.tensors.cluster_of_label.index_select(0, labels)
    }

    /// Chooses the best clusters of each document, true ones before all others.
    pub(super) fn choose(
        &self,
        recalled: &Recalled,
        targets: &LabelPlaces,
        scale: LossScale,
    ) -> Candidates {
        // By two, not by one: a false cluster's probability may round to one, a true one's to zero.
        let scores = &recalled.probabilities + &recalled.truth * 2.0;
        let (_, chosen) = scores.topk(self.beam, 1, true, false);
        let (weights, positive_weights) = match scale {
            LossScale::Sum => {
                let share = 1.0 / targets.num_documents() as f64;
                let weights = scores.zeros_like().scatter_value_(1, &chosen, share);
                let positive_weights = weights.new_full(
                    recalled.outputs.size(),
                    share,
                    (Kind::Float, weights.device()),
                );
                (weights, positive_weights)
            }
            LossScale::Mean => self.mean_weights(recalled, targets, &chosen),
        };
        let labels = self.tensors.labels_of(&[&chosen, &recalled.outputs]);
        Candidates {
            places: targets.labels().bucketize(&labels, false, false),
            labels,
            weights,
            positive_weights,
        }
    }

    /// Weights by which the loss of a document is the mean over its candidates.
    fn mean_weights(
        &self,
        recalled: &Recalled,
        targets: &LabelPlaces,
        chosen: &Tensor,
    ) -> (Tensor, Tensor) {
        let documents = targets.documents();
        let is_chosen = recalled.truth.zeros_like().scatter_value_(1, chosen, 1.0);
        let sizes = self.tensors.sizes.index_select(0, &chosen.flatten(0, -1));
        let mut counts = sizes.view_as(chosen).sum_dim_intlist(1, false, Kind::Float);
        // Positives of clusters that found no room are candidates, too.
        let places = &documents * is_chosen.size()[1] + &recalled.outputs;
        let is_beside = 1.0 - is_chosen.view([-1]).index_select(0, &places);
        let _ = counts.index_add_(0, &documents, &is_beside);
        let shares = (counts * targets.num_documents() as f64).reciprocal();
        let positive_weights = shares.index_select(0, &documents);
        (is_chosen * shares.unsqueeze(1), positive_weights)
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
        let clusters = self.clusters_of(&labels);
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
        beam: i64,
        keep: i64,
    ) -> Ranked {
        let (scores, chosen) = log_scores.topk(beam, 1, true, false);
        let log_scores = log_scores
            .full_like(f64::NEG_INFINITY)
            .scatter_(1, &chosen, &scores);
        let table = input.parameters.tables[self.table].values();
        let hidden = self.hidden(input, Phase::Joint).to_kind(table.kind());
        let labels = self.labels_of(&chosen);
        let widest = hidden.size()[0].max(hidden.size()[1]);
        let best = self
            .label_chunks(widest, &labels)
            .into_iter()
            .map(|chunk| {
                let labels = labels.narrow(0, chunk.start, chunk.end - chunk.start);
                let logits = hidden.matmul(&table.index_select(0, &labels).tr());
                let of_clusters = log_scores.index_select(1, &self.clusters_of(&labels));
                let scores = logits.to_kind(Kind::Float).log_sigmoid() + of_clusters;
                Ranked::best_of(&scores, &labels, keep)
            })
            .reduce(|best, other| best.merge(&other, keep));
        best.expect("a cluster has labels").filled_to(keep)
    }

    /// The labels of clusters. On a processor they are looked up, since a look at every label would take
    /// longer than ranking those of one document.
    fn labels_of(&self, clusters: &Tensor) -> Tensor {
        if clusters.device() != Device::Cpu {
            return self.tensors.labels_of(&[clusters]);
        }
        let mut clusters = whole_numbers(&clusters.flatten(0, -1));
        clusters.sort_unstable();
        clusters.dedup();
        let labels = clusters
            .iter()
            .flat_map(|&cluster| self.clusters.labels(cluster as u32));
        Tensor::from_slice(&labels.copied().map(i64::from).collect::<Vec<_>>())
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
pub(super) fn set_gradient(leaf: &Tensor, mut parts: Vec<Tensor>) {
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

fn whole_numbers(tensor: &Tensor) -> Vec<i64> {
    Vec::try_from(tensor).expect("one row of whole numbers")
}
