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
}

#[cfg(test)]
mod tests {
    use plethora_core::corpus::Label;

    use super::*;

    #[test]
    fn parents_are_those_that_the_model_knows() {
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
        assert_eq!(tree.parents(2), [0, 1]);
        assert!(relations(&[("a", &["a"])]).parents(0).is_empty());
    }
}
