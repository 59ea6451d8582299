//! The head against a slow reference: one document after another, one label after another, in 64 bits,
//! with gradients by autograd.

use std::collections::{BTreeMap, BTreeSet};

use plethora_core::SeedStream;
use rand::RngExt;

use super::super::*;
use crate::parameters::{Parameters, RowTable};
use crate::train::{MomentumStep, StepPart};

pub(super) const WIDTH: usize = 5;
pub(super) const BOTTLENECK: usize = 3;

/// A head with random weights and a batch for it.
pub(super) struct Case {
    pub(super) head: Clustered,
    pub(super) parameters: Parameters,
    pub(super) clusters: Clusters,
    pub(super) config: ClusteredConfig,
    /// A leaf, where an encoder's graph would end.
    pub(super) vector: Tensor,
    /// What clusters are chosen by instead.
    pub(super) recall: Option<Tensor>,
    pub(super) documents: Vec<Vec<u32>>,
    pub(super) targets: LabelPlaces,
}

#[derive(Debug)]
pub(super) struct Sizes {
    pub(super) labels: usize,
    pub(super) clusters: usize,
    pub(super) beam: usize,
    pub(super) documents: usize,
}

impl Case {
    pub(super) fn new(sizes: &Sizes, activation: Activation, kind: Kind, seed: u64) -> Self {
        let mut rng = SeedStream::new(seed).named("case").rng();
        // Every cluster has a label, and they lie in no order.
        let mut cluster_of_label: Vec<u32> = (0..sizes.labels)
            .map(|label| match label {
                first if first < sizes.clusters => first as u32,
                _ => rng.random_range(0..sizes.clusters as u32),
            })
            .collect();
        for label in (1..sizes.labels).rev() {
            cluster_of_label.swap(label, rng.random_range(0..=label));
        }
        let clusters = Clusters::from_cluster_of_label(cluster_of_label).unwrap();
        let documents: Vec<Vec<u32>> = (0..sizes.documents)
            .map(|_| {
                let count = rng.random_range(0..6);
                let labels = (0..count).map(|_| rng.random_range(0..sizes.labels as u32));
                labels.collect::<BTreeSet<u32>>().into_iter().collect()
            })
            .collect();
        let config = ClusteredConfig {
            bottleneck: BOTTLENECK,
            activation,
            beam: sizes.beam,
        };
        let start = Start::seeded(SeedStream::new(seed));
        let (head, parameters) = network(&config, &clusters, &documents, kind, start);
        let shape = [sizes.documents as i64, WIDTH as i64];
        let vector = start.named("vector").normal(&shape, 1.0).to_kind(kind);
        Self {
            head,
            parameters,
            clusters,
            config,
            vector: vector.set_requires_grad(true),
            recall: None,
            targets: LabelPlaces::new(documents.iter().map(Vec::as_slice)),
            documents,
        }
    }

    pub(super) fn input(&self) -> VectorInput<'_> {
        VectorInput {
            parameters: &self.parameters,
            vector: &self.vector,
            prior: None,
            recall: self.recall.as_ref(),
        }
    }

    pub(super) fn learn(&self, scale: LossScale, phase: Phase, step_scale: f64) -> Learnt {
        let part = &StepPart {
            scale: step_scale,
            seed: 0,
            epoch_progress: 0.0,
            momentum: MomentumStep::none(),
        };
        let step = HeadStep {
            targets: &self.targets,
            part,
            loss: scale,
            phase,
            drops: true,
        };
        let learnt = self.head.learn(&self.input(), &step).unwrap();
        self.parameters.dense.collect();
        learnt
    }

    /// Everything that has a gradient, as leaves in 64 bits.
    pub(super) fn leaves(&self) -> BTreeMap<String, Tensor> {
        let dense = self.parameters.dense.iter();
        let tables = self.parameters.tables.iter();
        let tables = tables.map(|table| (table.name(), table.values()));
        dense
            .chain(tables)
            .chain([("vector", &self.vector)])
            .map(|(name, values)| {
                let leaf = values.detach().to_kind(Kind::Double).copy();
                (name.to_owned(), leaf.set_requires_grad(true))
            })
            .collect()
    }

    /// The gradients after learning, by the names of the leaves.
    pub(super) fn gradients(&self, learnt: &Learnt) -> BTreeMap<String, Tensor> {
        let dense = self.parameters.dense.iter();
        let mut gradients: BTreeMap<String, Tensor> = dense
            .map(|(name, leaf)| (name.to_owned(), leaf.grad()))
            .collect();
        for rows in &learnt.rows {
            let table = &self.parameters.tables[rows.table];
            let whole = table
                .values()
                .zeros_like()
                .index_copy_(0, &rows.rows, &rows.leaf.grad());
            gradients.insert(table.name().to_owned(), whole);
        }
        if self.vector.grad().defined() {
            gradients.insert("vector".to_owned(), self.vector.grad());
        }
        gradients
    }

    /// Clusters that a document chooses in training: true ones first, then by their numbers.
    pub(super) fn chosen(&self, document: usize, probabilities: &[f64]) -> Vec<u32> {
        let truth = &self.documents[document];
        let is_true = |cluster: u32| {
            truth
                .iter()
                .any(|&l| self.clusters.cluster_of(l) == cluster)
        };
        let mut order: Vec<u32> = (0..probabilities.len() as u32).collect();
        order.sort_by(|&one, &other| {
            let key = |cluster: u32| (is_true(cluster), probabilities[cluster as usize]);
            key(other).partial_cmp(&key(one)).unwrap()
        });
        order.truncate(self.config.beam);
        order
    }

    pub(super) fn labels_in(&self, clusters: &[u32]) -> BTreeSet<u32> {
        let labels = clusters.iter().flat_map(|&c| self.clusters.labels(c));
        labels.copied().collect()
    }

    pub(super) fn candidates(&self, document: usize, probabilities: &[f64]) -> BTreeSet<u32> {
        let mut labels = self.labels_in(&self.chosen(document, probabilities));
        labels.extend(&self.documents[document]);
        labels
    }

    /// The loss by the definition, with its gradients times `step_scale` in the leaves.
    pub(super) fn reference(
        &self,
        leaves: &BTreeMap<String, Tensor>,
        scale: LossScale,
        phase: Phase,
        step_scale: f64,
    ) -> f64 {
        let mut total = Tensor::zeros([], (Kind::Double, Device::Cpu));
        for (number, truth) in self.documents.iter().enumerate() {
            let vector = leaves["vector"].select(0, number as i64);
            let logits = self.cluster_logits(leaves, number);
            let probabilities = doubles(&logits.sigmoid());
            if phase != Phase::Rank {
                let clusters: Vec<u32> = (0..self.clusters.num_clusters() as u32).collect();
                let losses = clusters.iter().map(|&cluster| {
                    let is_true = truth
                        .iter()
                        .any(|&l| self.clusters.cluster_of(l) == cluster);
                    cross_entropy(&logits.get(i64::from(cluster)), is_true)
                });
                total += combined(losses, scale);
            }
            if phase != Phase::Recall {
                let hidden = hidden(leaves, &vector, self.config.activation);
                let candidates = self.candidates(number, &probabilities);
                let losses = candidates.iter().map(|&label| {
                    let logit = leaves["labels"].get(i64::from(label)).dot(&hidden);
                    cross_entropy(&logit, truth.contains(&label))
                });
                total += combined(losses, scale);
            }
        }
        let loss = total / self.documents.len() as f64;
        (&loss * step_scale).backward();
        loss.double_value(&[])
    }

    /// Scores of the clusters for a document, before the sigmoid.
    fn cluster_logits(&self, leaves: &BTreeMap<String, Tensor>, number: usize) -> Tensor {
        let vector = match &self.recall {
            Some(recall) => recall.to_kind(Kind::Double),
            None => leaves["vector"].shallow_clone(),
        };
        let vector = vector.select(0, number as i64);
        leaves["head.clusters"].mv(&vector) + &leaves["head.cluster_bias"]
    }

    pub(super) fn assert_equals_reference(&self, scale: LossScale, phase: Phase, tolerance: f64) {
        let learnt = self.learn(scale, phase, 0.5);
        let leaves = self.leaves();
        let loss = self.reference(&leaves, scale, phase, 0.5);
        assert_close(&learnt.loss, &Tensor::from(loss), tolerance, "loss");
        let gradients = self.gradients(&learnt);
        for (name, leaf) in &leaves {
            let expected = leaf.grad();
            match gradients.get(name) {
                Some(found) if expected.defined() => {
                    assert_close(found, &expected, tolerance, name);
                }
                Some(found) => assert_eq!(found.abs().max().double_value(&[]), 0.0, "{name}"),
                None => assert!(!expected.defined(), "{name} has no gradient"),
            }
        }
    }
}

pub(super) fn network(
    config: &ClusteredConfig,
    clusters: &Clusters,
    documents: &[Vec<u32>],
    kind: Kind,
    start: Start,
) -> (Clustered, Parameters) {
    let mut builder = DenseParametersBuilder::default();
    let counts = clusters.count_documents(documents.iter().map(Vec::as_slice));
    let setup = ClusteredSetup {
        config,
        width: WIDTH,
        clusters,
        counts: LabelFacts {
            train_counts: &counts,
            num_documents: documents.len() as u64,
        },
        table: 0,
        device: Device::Cpu,
    };
    let (head, rows) = Clustered::new(&setup, &mut builder, start);
    let rows = rows.map(|rows| rows * 3.0);
    let parameters = Parameters {
        dense: builder.finish_in(Device::Cpu, kind),
        tables: rows
            .map(|rows| RowTable::new("labels", &rows, true, Device::Cpu).of_labels())
            .into_iter()
            .collect(),
    };
    let mut values = parameters.dense.values().shallow_clone();
    let drawn = start.named("weights").normal(&values.size(), 0.7);
    tch::no_grad(|| values.copy_(&drawn));
    parameters.dense.refresh();
    (head, parameters)
}

pub(super) fn hidden(
    leaves: &BTreeMap<String, Tensor>,
    vector: &Tensor,
    activation: Activation,
) -> Tensor {
    let hidden = leaves["head.bottleneck.weight"].mv(vector) + &leaves["head.bottleneck.bias"];
    match activation {
        Activation::None => hidden,
        Activation::Sigmoid => hidden.sigmoid(),
        Activation::Relu => hidden.relu(),
    }
}

pub(super) fn cross_entropy(logit: &Tensor, is_true: bool) -> Tensor {
    let probability = logit.sigmoid();
    let of_truth = if is_true {
        probability
    } else {
        1.0 - probability
    };
    -of_truth.log()
}

pub(super) fn combined(losses: impl Iterator<Item = Tensor>, scale: LossScale) -> Tensor {
    let losses = Tensor::stack(&losses.collect::<Vec<_>>(), 0);
    match scale {
        LossScale::Sum => losses.sum(Kind::Double),
        LossScale::Mean => losses.mean(Kind::Double),
    }
}

pub(super) fn doubles(tensor: &Tensor) -> Vec<f64> {
    let row = tensor.detach().to_kind(Kind::Double).flatten(0, -1);
    row.try_into().unwrap()
}

pub(super) fn assert_close(found: &Tensor, expected: &Tensor, tolerance: f64, what: &str) {
    let (found, expected) = (doubles(found), doubles(expected));
    assert_eq!(found.len(), expected.len(), "{what}");
    let largest = expected.iter().fold(1e-2, |max: f64, &x| max.max(x.abs()));
    for (place, (found, expected)) in found.iter().zip(&expected).enumerate() {
        let error = (found - expected).abs() / largest;
        assert!(
            error < tolerance,
            "{what}[{place}]: {found}, not {expected}"
        );
    }
}

/// Log scores and labels of all candidates in prediction, the best first.
pub(super) fn best_by_hand(
    case: &Case,
    leaves: &BTreeMap<String, Tensor>,
    number: usize,
) -> Vec<(f64, u32)> {
    let vector = leaves["vector"].select(0, number as i64);
    let logits = case.cluster_logits(leaves, number);
    let of_clusters = doubles(&logits.sigmoid());
    let mut order: Vec<u32> = (0..of_clusters.len() as u32).collect();
    order.sort_by(|&one, &other| of_clusters[other as usize].total_cmp(&of_clusters[one as usize]));
    order.truncate(case.config.beam);
    let hidden = hidden(leaves, &vector, case.config.activation);
    let mut scored: Vec<(f64, u32)> = case
        .labels_in(&order)
        .into_iter()
        .map(|label| {
            let logit = leaves["labels"].get(i64::from(label)).dot(&hidden);
            let of_cluster = of_clusters[case.clusters.cluster_of(label) as usize];
            (logit.sigmoid().double_value(&[]) * of_cluster, label)
        })
        .map(|(score, label)| (score.ln(), label))
        .collect();
    scored.sort_by(|one, other| other.0.total_cmp(&one.0));
    scored
}
