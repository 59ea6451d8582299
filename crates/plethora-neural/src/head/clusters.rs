//! Which cluster each label is in.

use plethora_core::tree::LabelTree;
use plethora_core::{Error, IndexRows, Result};
use serde::{Deserialize, Serialize};
use tch::{Device, Kind, Tensor};

/// A partition of the labels. In a file it is the list of the clusters of the labels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Clusters {
    cluster_of_label: Vec<u32>,
    /// The labels of each cluster, rising.
    #[serde(skip)]
    labels: IndexRows,
}

impl Clusters {
    /// The groups of labels in a tree: each node that holds labels is a cluster, in their order.
    pub(crate) fn of_tree(tree: &LabelTree) -> Self {
        let mut cluster_of_label = vec![0; tree.num_labels()];
        let holders = (0..tree.num_nodes()).filter(|&node| !tree.labels(node).is_empty());
        for (cluster, node) in (0..).zip(holders) {
            for label in tree.labels(node) {
                cluster_of_label[label.index()] = cluster;
            }
        }
        Self::grouped(cluster_of_label)
    }

    /// A partition by the cluster of each label.
    pub(crate) fn from_cluster_of_label(cluster_of_label: Vec<u32>) -> Result<Self> {
        let num_labels = cluster_of_label.len();
        let num_clusters = num_clusters(&cluster_of_label);
        // Checked first: a damaged number must not decide how much memory is taken.
        if num_clusters > num_labels {
            return Err(Error::data(format!(
                "{num_labels} labels cannot fill {num_clusters} clusters"
            )));
        }
        let clusters = Self::grouped(cluster_of_label);
        let empty = clusters.labels.rows().position(<[u32]>::is_empty);
        match empty {
            Some(empty) => Err(Error::data(format!("cluster {empty} has no label"))),
            None => Ok(clusters),
        }
    }

    /// Checks what a file says and completes it.
    pub(crate) fn complete(self, num_labels: usize) -> Result<Self> {
        if self.cluster_of_label.len() != num_labels {
            return Err(Error::Data("the clusters are of other labels".into()));
        }
        Self::from_cluster_of_label(self.cluster_of_label)
    }

    fn grouped(cluster_of_label: Vec<u32>) -> Self {
        let mut of_labels = IndexRows::default();
        for &cluster in &cluster_of_label {
            of_labels.push([cluster]);
        }
        Self {
            labels: of_labels.transpose(num_clusters(&cluster_of_label)),
            cluster_of_label,
        }
    }

    pub(crate) fn num_labels(&self) -> usize {
        self.cluster_of_label.len()
    }

    pub(crate) fn num_clusters(&self) -> usize {
        self.labels.num_rows()
    }

    /// The labels of a cluster, rising.
    pub(crate) fn labels(&self, cluster: u32) -> &[u32] {
        self.labels.row(cluster as usize)
    }

    /// Labels that so many clusters have at most.
    pub(crate) fn most_labels_of(&self, num_clusters: usize) -> usize {
        let mut sizes: Vec<usize> = self.labels.rows().map(<[u32]>::len).collect();
        sizes.sort_unstable_by(|one, other| other.cmp(one));
        sizes.iter().take(num_clusters).sum()
    }

    /// The cluster of a label.
    pub(crate) fn cluster_of(&self, label: u32) -> u32 {
        self.cluster_of_label[label as usize]
    }

    /// Documents with a label in each cluster, from the labels of each document.
    pub(crate) fn count_documents<'a>(
        &self,
        documents: impl Iterator<Item = &'a [u32]>,
    ) -> Vec<u32> {
        let mut counts = vec![0; self.num_clusters()];
        let mut seen = Vec::new();
        for labels in documents {
            seen.clear();
            seen.extend(labels.iter().map(|&label| self.cluster_of(label)));
            seen.sort_unstable();
            seen.dedup();
            for &cluster in &seen {
                counts[cluster as usize] += 1;
            }
        }
        counts
    }
}

/// One more than the highest cluster.
fn num_clusters(cluster_of_label: &[u32]) -> usize {
    let highest = cluster_of_label.iter().max();
    highest.map_or(0, |&cluster| cluster as usize + 1)
}

/// The clusters on a device.
#[derive(Debug)]
pub(crate) struct ClusterTensors {
    /// The cluster of each label.
    pub(crate) cluster_of_label: Tensor,
    /// Number of labels of each cluster, as a number to compute with.
    pub(crate) sizes: Tensor,
    /// The labels of one cluster after the other.
    grouped: Tensor,
    /// Where the labels of each cluster begin among those.
    firsts: Tensor,
}

impl ClusterTensors {
    pub(crate) fn new(clusters: &Clusters, device: Device) -> Self {
        let numbers = clusters.cluster_of_label.iter().copied().map(i64::from);
        let sizes: Vec<f32> = clusters
            .labels
            .rows()
            .map(|labels| labels.len() as f32)
            .collect();
        let grouped: Vec<i64> = (clusters.labels.rows().flatten())
            .map(|&label| i64::from(label))
            .collect();
        let mut next = 0;
        let firsts: Vec<i64> = clusters
            .labels
            .rows()
            .map(|labels| {
                next += labels.len() as i64;
                next - labels.len() as i64
            })
            .collect();
        Self {
            cluster_of_label: Tensor::from_slice(&numbers.collect::<Vec<_>>()).to_device(device),
            sizes: Tensor::from_slice(&sizes).to_device(device),
            grouped: Tensor::from_slice(&grouped).to_device(device),
            firsts: Tensor::from_slice(&firsts).to_device(device),
        }
    }

    /// The labels of the clusters of each document: a document and a label for each. Waits for the
    /// device.
    ///
    /// # Shapes
    /// `chosen`: documents x clusters of each, different ones.
    pub(crate) fn labels_of_each(&self, chosen: &Tensor) -> (Tensor, Tensor) {
        let per_document = chosen.size()[1];
        let chosen = chosen.flatten(0, -1);
        let sizes = self.sizes.index_select(0, &chosen).to_kind(Kind::Int64);
        let group = Tensor::repeat_interleave(&sizes, None);
        let before = sizes.cumsum(0, Kind::Int64) - &sizes;
        let shift = self.firsts.index_select(0, &chosen) - before;
        let order = Tensor::arange(group.size()[0], (Kind::Int64, group.device()));
        let labels = (self.grouped).index_select(0, &(order + shift.index_select(0, &group)));
        (group.divide_scalar_mode(per_document, "floor"), labels)
    }

    /// The labels of some clusters, rising. Waits for the device.
    ///
    /// # Shapes
    /// `clusters`: any, numbers of clusters.
    pub(crate) fn labels_of(&self, clusters: &[&Tensor]) -> Tensor {
        let size = self.sizes.size();
        let mut is_wanted = Tensor::zeros(size.as_slice(), (Kind::Bool, self.sizes.device()));
        for clusters in clusters {
            let _ = is_wanted.index_fill_(0, &clusters.flatten(0, -1), 1);
        }
        is_wanted
            .index_select(0, &self.cluster_of_label)
            .nonzero()
            .squeeze_dim(1)
    }
}

#[cfg(test)]
mod tests {
    use plethora_core::LabelId;
    use plethora_core::tree::TreeNode;

    use super::*;

    fn leaf(labels: &[u32]) -> TreeNode {
        TreeNode::leaf(labels.iter().map(|&label| LabelId(label)).collect())
    }

    #[test]
    fn nodes_with_labels_are_the_clusters_of_a_tree() {
        let tree = LabelTree::from(TreeNode {
            labels: vec![LabelId(5)],
            children: vec![
                leaf(&[3, 0]),
                TreeNode {
                    labels: Vec::new(),
                    children: vec![leaf(&[2]), leaf(&[4, 1])],
                },
            ],
        });
        let clusters = Clusters::of_tree(&tree);
        assert_eq!((clusters.num_clusters(), clusters.num_labels()), (4, 6));
        let groups: Vec<&[u32]> = (0..4).map(|cluster| clusters.labels(cluster)).collect();
        assert_eq!(groups, [&[5][..], &[0, 3], &[2], &[1, 4]]);
        assert_eq!(clusters.cluster_of(4), 3);
        assert_eq!(clusters.most_labels_of(3), 5);
        let documents: [&[u32]; 3] = [&[0, 3, 5], &[], &[3]];
        assert_eq!(
            clusters.count_documents(documents.into_iter()),
            [1, 2, 0, 0]
        );
    }

    #[test]
    fn clusters_come_back_from_a_file_and_damaged_ones_are_refused() {
        let clusters = Clusters::from_cluster_of_label(vec![1, 0, 1]).unwrap();
        let text = serde_json::to_string(&clusters).unwrap();
        let read: Clusters = serde_json::from_str(&text).unwrap();
        assert_eq!(read.clone().complete(3).unwrap(), clusters);
        assert!(read.complete(4).is_err());
        for damaged in [vec![0, 2, 2], vec![u32::MAX, 0]] {
            assert!(Clusters::from_cluster_of_label(damaged).is_err());
        }
    }

    #[test]
    fn labels_of_clusters_rise() {
        let clusters = Clusters::from_cluster_of_label(vec![1, 0, 1, 2, 0]).unwrap();
        let tensors = ClusterTensors::new(&clusters, Device::Cpu);
        let chosen = Tensor::from_slice2(&[[1_i64, 0], [0, 1]]);
        let labels = tensors.labels_of(&[&chosen, &Tensor::from_slice(&[0_i64])]);
        assert_eq!(Vec::<i64>::try_from(labels).unwrap(), [0, 1, 2, 4]);
        let (documents, labels) =
            tensors.labels_of_each(&Tensor::from_slice2(&[[1_i64, 2], [0, 1]]));
        let numbers = |tensor: Tensor| Vec::<i64>::try_from(tensor).unwrap();
        assert_eq!(numbers(documents), [0, 0, 0, 1, 1, 1, 1]);
        assert_eq!(numbers(labels), [0, 2, 3, 1, 4, 0, 2]);
    }
}
