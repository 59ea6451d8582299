//! Which labels a document is compared with: those of its best clusters, true ones before all others,
//! and every true label. They are chosen anew in each step, by clusters that are still learnt. Every
//! head with clusters chooses here.

use tch::{Device, Kind, Reduction, Tensor};

use super::clusters::{ClusterTensors, Clusters};
use super::document_lists::DocumentLists;
use super::vector_input::LabelPlaces;
use crate::train::LossScale;

/// Chooses clusters and knows their labels.
#[derive(Debug)]
pub(crate) struct ClusterChoice {
    clusters: Clusters,
    tensors: ClusterTensors,
    /// Clusters of a document in training.
    beam: i64,
}

/// What the scores of clusters say of a batch, beside the truth.
pub(crate) struct Recalled {
    /// documents x clusters, before the sigmoid.
    logits: Tensor,
    /// documents x clusters.
    pub(super) probabilities: Tensor,
    /// documents x clusters: one where a document has a label in the cluster.
    pub(super) truth: Tensor,
    /// The cluster of each positive.
    outputs: Tensor,
}

/// The labels that the documents of a batch are ranked among in training: those of the clusters that
/// the document chose, and its positives.
pub(crate) struct Candidates {
    /// All that a document may have as a candidate, rising.
    pub(super) labels: Tensor,
    /// documents x beam.
    chosen: Tensor,
    /// documents x clusters: what the loss of a label of the cluster counts; zero where the document
    /// did not choose it.
    pub(super) weights: Tensor,
    /// What the loss of each positive counts.
    pub(super) positive_weights: Tensor,
    /// The places of the positives among the labels.
    pub(super) places: Tensor,
}

/// The candidates of each document by themselves.
pub(crate) struct ListedCandidates {
    /// The labels, rising.
    pub(crate) lists: DocumentLists,
    /// documents x candidates: places among the labels of the batch; zero for filling.
    pub(crate) places: Tensor,
    /// documents x candidates: what the loss of each counts; zero for filling.
    pub(crate) weights: Tensor,
    /// documents x candidates: one where the label is true.
    pub(crate) truth: Tensor,
}

impl Recalled {
    /// # Shapes
    /// `logits`: documents x clusters; `outputs`: the cluster of each positive.
    pub(crate) fn new(logits: &Tensor, targets: &LabelPlaces, outputs: Tensor) -> Self {
        let logits = logits.detach().to_kind(Kind::Float);
        let truth = truth(&logits, targets, &outputs);
        Self {
            probabilities: logits.sigmoid(),
            logits,
            truth,
            outputs,
        }
    }

    /// Summed over clusters and documents.
    pub(crate) fn loss(&self) -> Tensor {
        let sum = Reduction::Sum;
        (self.logits).binary_cross_entropy_with_logits::<Tensor>(&self.truth, None, None, sum)
    }
}

impl ClusterChoice {
    /// Chooses `beam` clusters of each document in training, or all where these are fewer.
    pub(crate) fn new(clusters: &Clusters, beam: usize, device: Device) -> Self {
        Self {
            clusters: clusters.clone(),
            tensors: ClusterTensors::new(clusters, device),
            beam: beam.min(clusters.num_clusters()) as i64,
        }
    }

    pub(crate) fn num_clusters(&self) -> i64 {
        self.clusters.num_clusters() as i64
    }

    pub(crate) fn num_labels(&self) -> i64 {
        self.clusters.num_labels() as i64
    }

    /// Labels that a training document is compared with at most, but for positives beside them.
    pub(crate) fn num_candidates(&self) -> i64 {
        self.clusters.most_labels_of(self.beam as usize) as i64
    }

    /// The cluster of a label.
    pub(crate) fn cluster_of(&self, label: u32) -> u32 {
        self.clusters.cluster_of(label)
    }

    /// The cluster of each label.
    pub(crate) fn clusters_of(&self, labels: &Tensor) -> Tensor {
        self.tensors
            .cluster_of_label
            .index_select(0, &labels.flatten(0, -1))
            .view_as(labels)
    }

    /// documents x clusters: one where a document has a label in the cluster.
    pub(crate) fn truth(&self, targets: &LabelPlaces) -> Tensor {
        let shape = [targets.num_documents() as i64, self.num_clusters()];
        let device = self.tensors.sizes.device();
        let outputs = self.clusters_of(&targets.labels());
        let blank = Tensor::zeros(shape, (Kind::Float, device));
        truth(&blank, targets, &outputs)
    }

    /// What the scores of clusters say.
    pub(crate) fn recalled(&self, logits: &Tensor, targets: &LabelPlaces) -> Recalled {
        Recalled::new(logits, targets, self.clusters_of(&targets.labels()))
    }

    /// Chooses the best clusters of each document, true ones before all others.
    pub(crate) fn choose(
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
            chosen,
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

    /// The best clusters of each document in prediction, with their scores.
    ///
    /// # Shapes
    /// From documents x clusters to twice documents x `beam`.
    pub(crate) fn best(&self, log_scores: &Tensor, beam: usize) -> (Tensor, Tensor) {
        let beam = (beam.max(1) as i64).min(self.num_clusters());
        log_scores.topk(beam, 1, true, false)
    }

    /// The labels of clusters, rising. On a processor they are looked up, since a look at every label
    /// would take longer than ranking those of one document.
    pub(crate) fn labels_of(&self, clusters: &Tensor) -> Tensor {
        if clusters.device() != Device::Cpu {
            return self.tensors.labels_of(&[clusters]);
        }
        let mut clusters = whole_numbers(&clusters.flatten(0, -1));
        clusters.sort_unstable();
        clusters.dedup();
        let labels = clusters
            .iter()
            .flat_map(|&cluster| self.clusters.labels(cluster as u32));
        let mut labels: Vec<i64> = labels.copied().map(i64::from).collect();
        labels.sort_unstable();
        Tensor::from_slice(&labels)
    }

    /// The labels of the clusters of each document, and others beside them.
    ///
    /// # Shapes
    /// `chosen`: documents x beam; `beside`: a document and a label for each.
    pub(crate) fn list(&self, chosen: &Tensor, beside: Option<&(Tensor, Tensor)>) -> DocumentLists {
        let pairs = self.tensors.labels_of_each(chosen);
        list_all(&pairs, beside, chosen.size()[0], self.num_labels())
    }

    /// The clusters of each document themselves, and others beside them.
    ///
    /// # Shapes
    /// `chosen`: documents x beam; `beside`: a document and a cluster for each.
    pub(crate) fn list_clusters(
        &self,
        chosen: &Tensor,
        beside: Option<&(Tensor, Tensor)>,
    ) -> DocumentLists {
        let documents = Tensor::arange(chosen.size()[0], (Kind::Int64, chosen.device()));
        let documents = documents.repeat_interleave_self_int(chosen.size()[1], 0, None);
        let pairs = (documents, chosen.flatten(0, -1));
        list_all(&pairs, beside, chosen.size()[0], self.num_clusters())
    }

    /// The candidates of each document by themselves.
    pub(crate) fn listed(
        &self,
        candidates: &Candidates,
        targets: &LabelPlaces,
    ) -> ListedCandidates {
        let positives = (targets.documents(), targets.labels());
        let lists = self.list(&candidates.chosen, Some(&positives));
        let clusters = self.clusters_of(&lists.numbers);
        let weights = candidates.weights.gather(1, &clusters, false);
        let weights = weights * lists.is_listed.to_kind(Kind::Float);
        let slots = lists.slots_of(&positives.0, &positives.1);
        let _ =
            (weights.view([-1])).index_put_(&[Some(&slots)], &candidates.positive_weights, false);
        let truth = weights.zeros_like();
        let one = Tensor::ones([1], (Kind::Float, truth.device()));
        let _ = truth.view([-1]).index_put_(&[Some(&slots)], &one, false);
        let places = lists.numbers.bucketize(&candidates.labels, false, false);
        ListedCandidates {
            places: places * lists.is_listed.to_kind(Kind::Int64),
            weights,
            truth,
            lists,
        }
    }
}

impl Candidates {
    /// All that a document of the batch may have as a candidate, rising.
    pub(crate) fn labels(&self) -> &Tensor {
        &self.labels
    }

    /// The clusters that each document chose.
    pub(crate) fn chosen(&self) -> &Tensor {
        &self.chosen
    }
}

/// Lists of pairs of a document and a number below `limit`.
fn list_all(
    pairs: &(Tensor, Tensor),
    beside: Option<&(Tensor, Tensor)>,
    num_documents: i64,
    limit: i64,
) -> DocumentLists {
    match beside {
        Some(beside) => DocumentLists::new(
            &Tensor::cat(&[&pairs.0, &beside.0], 0),
            &Tensor::cat(&[&pairs.1, &beside.1], 0),
            num_documents,
            limit,
        ),
        None => DocumentLists::new(&pairs.0, &pairs.1, num_documents, limit),
    }
}

/// One where a document has a positive of an output, in the shape of `logits`.
fn truth(logits: &Tensor, targets: &LabelPlaces, outputs: &Tensor) -> Tensor {
    let one = Tensor::ones([1], (logits.kind(), logits.device()));
    let places = [Some(targets.documents()), Some(outputs.shallow_clone())];
    logits.zeros_like().index_put_(&places, &one, false)
}

pub(super) fn whole_numbers(tensor: &Tensor) -> Vec<i64> {
    Vec::try_from(tensor).expect("one row of whole numbers")
}
