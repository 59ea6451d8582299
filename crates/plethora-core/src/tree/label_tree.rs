//! A rooted tree whose nodes hold labels, stored breadth first.

use std::ops::Range;

use crate::{Error, LabelId, Result};

/// A tree over all labels. Each label hangs under exactly one node; a node may have child nodes,
/// labels of its own, or both (in a user's hierarchy a broad heading is a label too).
///
/// Nodes are numbered breadth first from the root, 0, so that the children of a node are
/// consecutive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelTree {
    /// Children of node i are the nodes `child_starts[i]..child_starts[i + 1]`.
    child_starts: Vec<u32>,
    /// Labels of node i are `labels[label_starts[i]..label_starts[i + 1]]`.
    label_starts: Vec<u32>,
    labels: Vec<LabelId>,
}

/// A tree in nested form, as builders make it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TreeNode {
    /// Sub-trees.
    pub children: Vec<TreeNode>,
    /// Labels that hang directly under this node.
    pub labels: Vec<LabelId>,
}

impl TreeNode {
    /// A node with labels and no children.
    pub fn leaf(labels: Vec<LabelId>) -> Self {
        Self {
            children: Vec::new(),
            labels,
        }
    }
}

impl From<TreeNode> for LabelTree {
    fn from(root: TreeNode) -> Self {
        let mut tree = Self {
            child_starts: vec![1],
            label_starts: vec![0],
            labels: Vec::new(),
        };
        let mut queue = std::collections::VecDeque::from([root]);
        let mut num_queued = 1;
        while let Some(node) = queue.pop_front() {
            num_queued += node.children.len() as u32;
            tree.child_starts.push(num_queued);
            tree.labels.extend(node.labels);
            tree.label_starts.push(tree.labels.len() as u32);
            queue.extend(node.children);
        }
        tree
    }
}

impl LabelTree {
    /// Restores a tree from its stored arrays.
    pub fn from_parts(
        child_starts: Vec<u32>,
        label_starts: Vec<u32>,
        labels: Vec<LabelId>,
    ) -> Result<Self> {
        let num_nodes = child_starts.len().saturating_sub(1);
        let children_fit = num_nodes > 0
            && child_starts[0] == 1
            && child_starts.is_sorted()
            && child_starts[num_nodes] as usize == num_nodes
            && child_starts
                .iter()
                .zip(0_u32..)
                .all(|(&start, node)| start > node || start as usize == num_nodes);
        let labels_fit = label_starts.len() == num_nodes + 1
            && label_starts.first() == Some(&0)
            && label_starts.is_sorted()
            && label_starts
                .last()
                .is_some_and(|&end| end as usize == labels.len());
        if !children_fit || !labels_fit {
            return Err(Error::Data(
                "the arrays of a label tree do not fit together".into(),
            ));
        }
        Ok(Self {
            child_starts,
            label_starts,
            labels,
        })
    }

    /// The arrays that [`LabelTree::from_parts`] takes.
    pub fn parts(&self) -> (&[u32], &[u32], &[LabelId]) {
        (&self.child_starts, &self.label_starts, &self.labels)
    }

    /// Number of nodes, the root included, labels not.
    pub fn num_nodes(&self) -> usize {
        self.child_starts.len() - 1
    }

    /// Number of labels in the tree.
    pub fn num_labels(&self) -> usize {
        self.labels.len()
    }

    /// The child nodes of a node.
    pub fn children(&self, node: usize) -> Range<usize> {
        self.child_starts[node] as usize..self.child_starts[node + 1] as usize
    }

    /// The labels that hang directly under a node.
    pub fn labels(&self, node: usize) -> &[LabelId] {
        &self.labels[self.label_starts[node] as usize..self.label_starts[node + 1] as usize]
    }

    /// Number of child nodes and labels of a node: the classes told apart there.
    pub fn fan_out(&self, node: usize) -> usize {
        self.children(node).len() + self.labels(node).len()
    }

    /// The parent of every node; the root is its own.
    pub fn parents(&self) -> Vec<u32> {
        let mut parents = vec![0; self.num_nodes()];
        for node in 0..self.num_nodes() {
            for child in self.children(node) {
                parents[child] = node as u32;
            }
        }
        parents
    }

    /// The node under which each label hangs, by label id below `num_labels`.
    pub fn cluster_of_labels(&self, num_labels: usize) -> Vec<u32> {
        let mut clusters = vec![0; num_labels];
        for node in 0..self.num_nodes() {
            for label in self.labels(node) {
                clusters[label.index()] = node as u32;
            }
        }
        clusters
    }

    /// The nodes of each depth, from the root down; breadth first makes each a range.
    pub fn levels(&self) -> Vec<Range<usize>> {
        let root = 0..1;
        let mut levels = vec![root];
        loop {
            let last = levels[levels.len() - 1].clone();
            let next = self.child_starts[last.start] as usize..self.child_starts[last.end] as usize;
            if next.is_empty() {
                return levels;
            }
            levels.push(next);
        }
    }

    /// The nested form.
    pub fn to_nested(&self) -> TreeNode {
        self.nested(0)
    }

    fn nested(&self, node: usize) -> TreeNode {
        TreeNode {
            children: self
                .children(node)
                .map(|child| self.nested(child))
                .collect(),
            labels: self.labels(node).to_vec(),
        }
    }

    /// The shallow and wide tree with the same clusters: keeps the root, the nodes at the given
    /// `depths` and every node that holds labels, and hangs each on its nearest kept ancestor.
    ///
    /// This is algorithm 1 of You et al. 2019 (compression by c-th ancestors) said from the top:
    /// depths 4 and 8 of a binary tree give widths of 16 and 256.
    pub fn keep_depths(&self, depths: &[usize]) -> Self {
        fn lift(node: TreeNode, depth: usize, depths: &[usize]) -> Vec<TreeNode> {
            let is_kept = depth == 0 || depths.contains(&depth) || !node.labels.is_empty();
            let children: Vec<TreeNode> = node
                .children
                .into_iter()
                .flat_map(|child| lift(child, depth + 1, depths))
                .collect();
            if is_kept {
                vec![TreeNode {
                    children,
                    labels: node.labels,
                }]
            } else {
                children
            }
        }
        let mut roots = lift(self.to_nested(), 0, depths);
        Self::from(roots.pop().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaf(labels: std::ops::Range<u32>) -> TreeNode {
        TreeNode::leaf(labels.map(LabelId).collect())
    }

    fn inner(children: Vec<TreeNode>) -> TreeNode {
        TreeNode {
            children,
            labels: Vec::new(),
        }
    }

    /// Depth 3 on the left, depth 2 on the right.
    fn uneven() -> LabelTree {
        LabelTree::from(inner(vec![
            inner(vec![
                inner(vec![leaf(0..2), leaf(2..4)]),
                inner(vec![leaf(4..6), leaf(6..8)]),
            ]),
            inner(vec![leaf(8..10), leaf(10..11)]),
        ]))
    }

    #[test]
    fn children_are_consecutive_and_nesting_survives() {
        let tree = uneven();
        assert_eq!(tree.levels(), [0..1, 1..3, 3..7, 7..11]);
        assert_eq!(tree.children(2), 5..7);
        assert_eq!(tree.labels(6), [LabelId(10)]);
        assert_eq!(LabelTree::from(tree.to_nested()), tree);
        let (children, starts, labels) = tree.parts();
        let back = LabelTree::from_parts(children.to_vec(), starts.to_vec(), labels.to_vec());
        assert_eq!(back.unwrap(), tree);
        assert_eq!(tree.parents()[9], 4);
    }

    #[test]
    fn damaged_arrays_are_refused() {
        assert!(LabelTree::from_parts(vec![1, 1], vec![0, 0], vec![]).is_ok());
        assert!(LabelTree::from_parts(vec![0, 1], vec![0, 0], vec![]).is_err());
        assert!(LabelTree::from_parts(vec![1, 3], vec![0, 0], vec![]).is_err());
        assert!(LabelTree::from_parts(vec![1, 1], vec![0, 2], vec![LabelId(0)]).is_err());
        assert!(LabelTree::from_parts(vec![], vec![], vec![]).is_err());
    }

    #[test]
    fn compression_keeps_chosen_depths_and_all_clusters() {
        let wide = uneven().keep_depths(&[2]);
        assert_eq!(wide.levels(), [0..1, 1..5, 5..9]);
        assert_eq!(wide.children(0).len(), 4);
        assert_eq!(wide.children(1).len(), 2);
        assert_eq!(wide.labels(3), [LabelId(8), LabelId(9)]);
        assert_eq!(wide.num_labels(), 11);
    }

    #[test]
    fn without_depths_all_clusters_hang_under_the_root() {
        let clusters = uneven().keep_depths(&[]);
        assert_eq!(clusters.children(0), 1..7);
        assert_eq!(clusters.levels().len(), 2);
        assert_eq!(clusters.num_labels(), 11);
    }
}
