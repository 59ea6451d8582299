//! Broader and narrower labels.

use plethora_core::IndexRows;
use plethora_core::corpus::LabelSpace;

/// The broader labels of each label, as far as a model knows them.
#[derive(Debug)]
pub(super) struct Relations {
    parents: IndexRows,
}

impl Relations {
    pub(super) fn new(space: &LabelSpace) -> Self {
        let mut parents = IndexRows::default();
        for (label, id) in space.labels().iter().zip(0..) {
            let known = label.parents.iter().filter_map(|key| space.id(key));
            parents.push(known.map(|parent| parent.0).filter(|&parent| parent != id));
        }
        Self { parents }
    }

    pub(super) fn parents(&self, label: u32) -> &[u32] {
        self.parents.row(label as usize)
    }

    /// Labels that are broader than themselves by way of others. Nothing walks up more than one step,
    /// so they do no harm; but a vocabulary with such labels has a mistake.
    pub(super) fn num_in_cycles(&self) -> usize {
        let num_labels = self.parents.num_rows();
        let children = self.parents.transpose(num_labels);
        let mut is_left = vec![true; num_labels];
        // What has nothing above it that is left, or nothing below, is in no cycle.
        for (above, below) in [(&self.parents, &children), (&children, &self.parents)] {
            let mut num_above: Vec<usize> = (0..num_labels)
                .map(|label| {
                    let above = above.row(label).iter();
                    above.filter(|&&other| is_left[other as usize]).count()
                })
                .collect();
            let mut free: Vec<usize> = (0..num_labels)
                .filter(|&label| is_left[label] && num_above[label] == 0)
                .collect();
            while let Some(label) = free.pop() {
                is_left[label] = false;
                for &other in below.row(label) {
                    let other = other as usize;
                    num_above[other] -= 1;
                    if num_above[other] == 0 && is_left[other] {
                        free.push(other);
                    }
                }
            }
        }
        is_left.iter().filter(|&&is_left| is_left).count()
    }
}

#[cfg(test)]
mod tests {
    use plethora_core::corpus::Label;

    use super::*;

    #[test]
    fn labels_in_cycles_are_counted() {
        let relations = |pairs: &[(&str, &[&str])]| {
            let labels = pairs.iter().map(|(key, parents)| Label {
                parents: parents.iter().map(ToString::to_string).collect(),
                ..Label::from_key(*key)
            });
            let labels: Vec<Label> = labels.collect();
            let counts = vec![0; labels.len()];
            Relations::new(&LabelSpace::new(labels, counts))
        };
        let tree = relations(&[("a", &[]), ("b", &["a", "nowhere"]), ("c", &["a", "b"])]);
        assert_eq!(tree.num_in_cycles(), 0);
        assert_eq!(tree.parents(2), [0, 1]);
        let cycle = relations(&[("a", &["b"]), ("b", &["a"]), ("c", &["a"]), ("d", &[])]);
        assert_eq!(cycle.num_in_cycles(), 2);
        assert_eq!(relations(&[("a", &["a"])]).num_in_cycles(), 0);
    }
}
