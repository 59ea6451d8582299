//! The labels of several models as one label space.

use std::collections::BTreeMap;

use plethora_core::corpus::{Label, LabelSpace};

/// Collects labels by their keys, one model after the other.
#[derive(Debug, Default)]
pub(super) struct LabelUnion {
    labels: BTreeMap<String, (Label, u32)>,
}

impl LabelUnion {
    /// Adds the labels of a model. What earlier models say of a label stays; what they leave open is
    /// filled in, and of the training frequencies the largest counts. Returns how many were known.
    pub(super) fn add(&mut self, space: &LabelSpace) -> usize {
        let mut num_known = 0;
        for (label, &train_count) in space.labels().iter().zip(space.train_counts()) {
            if let Some((known, count)) = self.labels.get_mut(&label.key) {
                num_known += 1;
                fill_in(known, label);
                *count = train_count.max(*count);
            } else {
                let entry = (label.clone(), train_count);
                self.labels.insert(label.key.clone(), entry);
            }
        }
        num_known
    }

    /// All labels in the order of their keys.
    pub(super) fn finish(self) -> LabelSpace {
        let (labels, train_counts) = self.labels.into_values().unzip();
        LabelSpace::new(labels, train_counts)
    }
}

fn fill_in(known: &mut Label, other: &Label) {
    if known.name == known.key {
        known.name.clone_from(&other.name);
    }
    if known.alternatives.is_empty() {
        known.alternatives.clone_from(&other.alternatives);
    }
    if known.parents.is_empty() {
        known.parents.clone_from(&other.parents);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(key: &str, name: &str) -> Label {
        Label {
            name: name.into(),
            ..Label::from_key(key)
        }
    }

    #[test]
    fn keys_are_joined_and_names_come_from_the_first_that_has_one() {
        let mut union = LabelUnion::default();
        let bees = Label::from_key("bees");
        union.add(&LabelSpace::new(
            vec![bees.clone(), named("sea", "The sea")],
            vec![3, 1],
        ));
        let detailed = Label {
            parents: vec!["animals".into()],
            ..named("bees", "Bees")
        };
        union.add(&LabelSpace::new(
            vec![
                Label::from_key("air"),
                detailed.clone(),
                named("sea", "Oceans"),
            ],
            vec![9, 2, 4],
        ));
        union.add(&LabelSpace::new(vec![named("bees", "Hives")], vec![1]));
        let space = union.finish();
        assert_eq!(
            space.labels(),
            [Label::from_key("air"), detailed, named("sea", "The sea")]
        );
        assert_eq!(space.train_counts(), [9, 3, 4]);
    }
}
