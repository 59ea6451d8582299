//! The levels that labels are found through.

use plethora_core::tree::LabelTree;
use plethora_core::{Error, IndexRows, Result};
use serde::{Deserialize, Serialize};

/// Items of each level, from the top; those of the last are the labels. A flat system has one level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Levels {
    num_labels: usize,
    /// For each level but the first: the parent of each of its items.
    parents: Vec<Vec<u32>>,
    #[serde(skip)]
    children: Vec<IndexRows>,
}

impl Levels {
    /// All labels side by side.
    pub(crate) fn flat(num_labels: usize) -> Self {
        Self {
            num_labels,
            parents: Vec::new(),
            children: Vec::new(),
        }
    }

    /// The nodes of a tree, depth by depth, and below them the labels. Leaves may lie at different
    /// depths: one that ends early is its own only child until the last.
    pub(crate) fn of_tree(tree: &LabelTree) -> Self {
        let mut parents = Vec::new();
        let mut items = vec![Item::of(tree, 0)];
        while items.iter().any(|item| !item.has_ended) {
            let mut next = Vec::new();
            let mut parents_of_next = Vec::new();
            for (place, item) in items.iter().enumerate() {
                let below = item.below(tree);
                parents_of_next.extend(below.iter().map(|_| place as u32));
                next.extend(below);
            }
            // The root is no choice; its children are the first level.
            if items.len() > 1 {
                parents.push(parents_of_next);
            }
            items = next;
        }
        if items.len() > 1 {
            let mut parents_of_labels = vec![0; tree.num_labels()];
            for (place, item) in items.iter().enumerate() {
                for label in tree.labels(item.node) {
                    parents_of_labels[label.index()] = place as u32;
                }
            }
            parents.push(parents_of_labels);
        }
        Self {
            num_labels: tree.num_labels(),
            parents,
            children: Vec::new(),
        }
        .with_children()
    }

    /// Checks what a file says and completes it.
    pub(crate) fn complete(self, num_labels: usize) -> Result<Self> {
        // No more at the top than below it: a damaged number must not decide how much memory is taken.
        let mut above = self.parents.first().map_or(0, Vec::len);
        for (level, parents) in self.parents.iter().enumerate() {
            if highest(parents) > above {
                return Err(Error::data(format!("level {level} has no such parents")));
            }
            above = parents.len();
        }
        if self.num_labels != num_labels || !self.parents.is_empty() && above != num_labels {
            return Err(Error::Data("the levels are of other labels".into()));
        }
        Ok(self.with_children())
    }

    fn with_children(mut self) -> Self {
        let children = (0..self.parents.len()).map(|level| {
            let mut of_items = IndexRows::default();
            for &parent in &self.parents[level] {
                of_items.push([parent]);
            }
            // The last items of a level may have none below them.
            of_items.transpose(self.num_items(level))
        });
        self.children = children.collect();
        self
    }

    /// Number of levels, that of the labels included.
    pub(crate) fn len(&self) -> usize {
        self.parents.len() + 1
    }

    /// Number of items of a level.
    pub(crate) fn num_items(&self, level: usize) -> usize {
        match level.checked_sub(1) {
            _ if level + 1 == self.len() => self.num_labels,
            None => highest(&self.parents[0]),
            Some(below_first) => self.parents[below_first].len(),
        }
    }

    /// Items of the next level below an item of `level`.
    pub(crate) fn children(&self, level: usize, item: u32) -> &[u32] {
        self.children[level].row(item as usize)
    }

    /// Most items of a level that a document chooses from, below the first, by so many parents.
    pub(crate) fn most_candidates(&self, level: usize, num_parents: usize) -> usize {
        let children = &self.children[level - 1];
        let mut counts: Vec<usize> = children.rows().map(<[u32]>::len).collect();
        counts.sort_unstable_by(|one, other| other.cmp(one));
        counts.iter().take(num_parents).sum()
    }

    /// The items of `level` above labels, each once and rising. Labels that training never saw get
    /// numbers beyond the items.
    pub(crate) fn items_of(&self, level: usize, labels: &[u32]) -> Vec<u32> {
        let num_labels = self.num_labels as u32;
        let beyond = self.num_items(level) as u32;
        let mut items: Vec<u32> = labels
            .iter()
            .map(|&label| {
                if label >= num_labels {
                    return beyond + (label - num_labels);
                }
                let above = self.parents[level..].iter().rev();
                above.fold(label, |item, parents| parents[item as usize])
            })
            .collect();
        items.sort_unstable();
        items.dedup();
        items
    }
}

/// A node on the way down.
#[derive(Debug, Clone, Copy)]
struct Item {
    node: usize,
    /// True where only the labels of the node itself are left below.
    has_ended: bool,
}

impl Item {
    fn of(tree: &LabelTree, node: usize) -> Self {
        Self {
            node,
            has_ended: tree.children(node).is_empty(),
        }
    }

    fn below(self, tree: &LabelTree) -> Vec<Self> {
        if self.has_ended {
            return vec![self];
        }
        let own_labels = (!tree.labels(self.node).is_empty()).then_some(Self {
            has_ended: true,
            ..self
        });
        tree.children(self.node)
            .map(|child| Self::of(tree, child))
            .chain(own_labels)
            .collect()
    }
}

/// One more than the highest number.
fn highest(numbers: &[u32]) -> usize {
    numbers
        .iter()
        .max()
        .map_or(0, |&number| number as usize + 1)
}

#[cfg(test)]
mod tests {
    use plethora_core::LabelId;
    use plethora_core::tree::TreeNode;

    use super::*;

    fn leaf(labels: &[u32]) -> TreeNode {
        TreeNode::leaf(labels.iter().map(|&label| LabelId(label)).collect())
    }

    /// Two depths of leaves: {0, 1} hangs at the first, {2}, {3, 4} below its sibling.
    fn uneven() -> LabelTree {
        LabelTree::from(TreeNode {
            labels: Vec::new(),
            children: vec![
                leaf(&[0, 1]),
                TreeNode {
                    labels: Vec::new(),
                    children: vec![leaf(&[2]), leaf(&[3, 4])],
                },
            ],
        })
    }

    #[test]
    fn leaves_at_different_depths_all_reach_the_labels() {
        let levels = Levels::of_tree(&uneven());
        assert_eq!(levels.len(), 3);
        let sizes: Vec<usize> = (0..3).map(|level| levels.num_items(level)).collect();
        assert_eq!(sizes, [2, 3, 5]);
        assert_eq!(levels.items_of(0, &[0, 3]), [0, 1]);
        let most = |parents| {
            (1..3)
                .map(|level| levels.most_candidates(level, parents))
                .collect()
        };
        let (of_one, of_two, of_many): (Vec<_>, Vec<_>, Vec<_>) = (most(1), most(2), most(9));
        assert_eq!(
            (of_one, of_two, of_many),
            (vec![2, 2], vec![3, 4], vec![3, 5])
        );
        assert_eq!(levels.items_of(1, &[1, 2, 4]).len(), 3);
        assert_eq!(levels.items_of(2, &[4, 1]), [1, 4]);
        let mut reached: Vec<u32> = (0..2)
            .flat_map(|item| levels.children(0, item).to_vec())
            .flat_map(|item| levels.children(1, item).to_vec())
            .collect();
        reached.sort_unstable();
        assert_eq!(reached, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn labels_that_training_never_saw_stay_in_the_truth() {
        let levels = Levels::of_tree(&uneven());
        assert_eq!(levels.items_of(2, &[0, 5]), [0, 5]);
        assert_eq!(levels.items_of(0, &[0, 6]), [0, 3]);
        assert_eq!(Levels::flat(3).items_of(0, &[2, 4]), [2, 4]);
    }

    #[test]
    fn levels_come_back_from_a_file() {
        let levels = Levels::of_tree(&uneven());
        let text = serde_json::to_string(&levels).unwrap();
        let read: Levels = serde_json::from_str(&text).unwrap();
        assert_eq!(read.clone().complete(5).unwrap(), levels);
        assert!(read.complete(6).is_err());
    }

    #[test]
    fn what_a_damaged_file_says_takes_no_memory_and_leads_nowhere_else() {
        let read = |parents: &str| -> Result<Levels> {
            let text = format!("{{\"num_labels\": 3, \"parents\": {parents}}}");
            serde_json::from_str::<Levels>(&text).unwrap().complete(3)
        };
        for damaged in [
            "[[4294967295, 0, 0]]",
            "[[0, 3, 1]]",
            "[[0, 1], [0, 2, 1]]",
            "[[]]",
            "[[], [0, 0, 0]]",
        ] {
            assert!(read(damaged).is_err(), "{damaged}");
        }
        let childless = read("[[0, 1, 1], [0, 1, 0]]").unwrap();
        assert_eq!(childless.children(1, 1), [1]);
        assert!(childless.children(1, 2).is_empty());
    }

    #[test]
    fn labels_beside_children_get_an_item_of_their_own() {
        let levels = Levels::of_tree(&LabelTree::from(TreeNode {
            labels: vec![LabelId(3)],
            children: vec![leaf(&[0, 1]), leaf(&[2])],
        }));
        assert_eq!((levels.len(), levels.num_items(0)), (2, 3));
        assert_eq!(levels.children(0, levels.items_of(0, &[3])[0]), [3]);
    }

    #[test]
    fn one_cluster_is_a_flat_system() {
        let levels = Levels::of_tree(&LabelTree::from(leaf(&[0, 1, 2])));
        assert_eq!((levels.len(), levels.num_items(0)), (1, 3));
    }
}
