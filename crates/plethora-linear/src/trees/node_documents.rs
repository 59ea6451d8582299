//! Which training documents reach which node.

use plethora_core::IndexRows;
use plethora_core::tree::LabelTree;

/// The documents with a label at or below each node, rising.
pub(crate) struct NodeDocuments {
    by_node: Vec<Vec<u32>>,
}

impl NodeDocuments {
    pub(crate) fn new(tree: &LabelTree, documents_of_labels: &IndexRows) -> Self {
        let mut by_node: Vec<Vec<u32>> = vec![Vec::new(); tree.num_nodes()];
        // Children have higher numbers than their parents, so from the last node up every child
        // is complete when its parent asks for it.
        for node in (0..tree.num_nodes()).rev() {
            let mut documents: Vec<u32> = Vec::new();
            for label in tree.labels(node) {
                documents.extend(documents_of_labels.row(label.index()));
            }
            for child in tree.children(node) {
                documents.extend(&by_node[child]);
            }
            documents.sort_unstable();
            documents.dedup();
            by_node[node] = documents;
        }
        Self { by_node }
    }

    pub(crate) fn of_node(&self, node: usize) -> &[u32] {
        &self.by_node[node]
    }
}

/// Members of either side, rising; both sides rise.
pub(crate) fn union(left: &[u32], right: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut all: Vec<u32> = left.iter().copied().chain(right).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Positions in `all` of the members of `some`; both rise and `some` is a part of `all`.
pub(crate) fn positions(some: &[u32], all: &[u32]) -> Vec<u32> {
    let mut position = 0;
    some.iter()
        .map(|document| {
            position += all[position..].partition_point(|other| other < document);
            position as u32
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use plethora_core::LabelId;
    use plethora_core::tree::TreeNode;

    use super::*;

    #[test]
    fn a_node_has_the_documents_of_all_labels_below() {
        let leaf = |label| TreeNode::leaf(vec![LabelId(label)]);
        let root = TreeNode {
            children: vec![leaf(0), leaf(1)],
            labels: vec![LabelId(2)],
        };
        let documents_of_labels = [vec![0, 4], vec![0, 2], vec![3]].into_iter().collect();
        let documents = NodeDocuments::new(&LabelTree::from(root), &documents_of_labels);
        assert_eq!(documents.of_node(0), [0, 2, 3, 4]);
        assert_eq!(documents.of_node(2), [0, 2]);
    }

    #[test]
    fn positions_and_union_follow_order() {
        assert_eq!(positions(&[3, 9], &[1, 3, 5, 9]), [1, 3]);
        assert_eq!(union(&[1, 5], [3, 5].into_iter()), [1, 3, 5]);
    }
}
