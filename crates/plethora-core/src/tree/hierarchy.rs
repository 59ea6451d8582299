//! A tree from the broader/narrower relations of a vocabulary.

use super::label_tree::TreeNode;
use crate::corpus::LabelSpace;
use crate::{Error, LabelId, Result};

/// Hangs every label under the first of its parents that the label space knows. A label with
/// narrower ones becomes a node that holds itself and them; the rest hang under the root.
pub(crate) fn nested(space: &LabelSpace) -> Result<TreeNode> {
    let num_labels = space.len();
    let parents: Vec<Option<LabelId>> = space
        .labels()
        .iter()
        .map(|label| label.parents.iter().find_map(|key| space.id(key)))
        .collect();
    if num_labels > 0 && parents.iter().all(Option::is_none) {
        return Err(Error::config(
            "tree.shape",
            "hierarchy needs a label vocabulary with parents; none of the labels has one",
        ));
    }
    let mut narrower: Vec<Vec<usize>> = vec![Vec::new(); num_labels];
    let mut roots = Vec::new();
    for (label, parent) in parents.iter().enumerate() {
        match parent {
            Some(parent) if !closes_cycle(label, &parents) => narrower[parent.index()].push(label),
            _ => roots.push(label),
        }
    }
    Ok(group(&roots, None, &narrower))
}

fn group(labels: &[usize], own: Option<usize>, narrower: &[Vec<usize>]) -> TreeNode {
    let mut node = TreeNode::default();
    node.labels.extend(own.map(|label| LabelId(label as u32)));
    for &label in labels {
        if narrower[label].is_empty() {
            node.labels.push(LabelId(label as u32));
        } else {
            node.children
                .push(group(&narrower[label], Some(label), narrower));
        }
    }
    node
}

/// True for the lowest label of a cycle of parents: there the cycle is cut.
fn closes_cycle(label: usize, parents: &[Option<LabelId>]) -> bool {
    let mut lowest = label;
    let mut slow = label;
    // A chain of parents longer than the number of labels runs in a circle.
    for _ in 0..parents.len() {
        match parents[slow] {
            None => return false,
            Some(next) if next.index() == label => return lowest == label,
            Some(next) => slow = next.index(),
        }
        lowest = lowest.min(slow);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::Label;
    use crate::tree::LabelTree;

    fn space(parents: &[(&str, &[&str])]) -> LabelSpace {
        let labels: Vec<Label> = parents
            .iter()
            .map(|(key, parents)| Label {
                key: (*key).to_owned(),
                parents: parents.iter().map(ToString::to_string).collect(),
                ..Label::default()
            })
            .collect();
        let counts = vec![1; labels.len()];
        LabelSpace::new(labels, counts)
    }

    #[test]
    fn broad_labels_hold_themselves_and_their_narrower_ones() {
        let tree = LabelTree::from(
            nested(&space(&[
                ("art", &[]),
                ("glass", &["art"]),
                ("opera", &["nowhere", "art"]),
            ]))
            .unwrap(),
        );
        assert_eq!(tree.num_nodes(), 2);
        assert_eq!(tree.labels(1), [LabelId(0), LabelId(1), LabelId(2)]);
    }

    #[test]
    fn cycles_are_cut_and_no_label_is_lost() {
        let tree = LabelTree::from(
            nested(&space(&[
                ("a", &["b"]),
                ("b", &["c"]),
                ("c", &["a"]),
                ("d", &["a"]),
                ("e", &["e"]),
            ]))
            .unwrap(),
        );
        assert_eq!(tree.num_labels(), 5);
    }

    #[test]
    fn a_vocabulary_without_parents_is_refused() {
        assert!(nested(&space(&[("a", &[]), ("b", &[])])).is_err());
    }
}
