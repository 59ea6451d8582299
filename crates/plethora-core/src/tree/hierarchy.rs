//! A tree from the broader/narrower relations of a vocabulary.

use super::label_tree::TreeNode;
use crate::corpus::{Label, LabelSpace};
use crate::{Error, LabelId, Result};

/// Hierarchies of subjects have some ten levels; one of thousands is a list by mistake.
const MAX_LEVELS: usize = 1000;

/// Hangs every label under the first of its parents that the vocabulary knows. A label with
/// narrower ones becomes a node that holds itself and them; a broader term that no training
/// document has becomes a node without a label of its own; the rest hang under the root.
pub(crate) fn nested(space: &LabelSpace) -> Result<TreeNode> {
    let terms: Vec<&Label> = space.labels().iter().chain(space.broader()).collect();
    let broader = (space.len()..).zip(space.broader());
    let broader_numbers: std::collections::HashMap<&str, usize> = broader
        .map(|(number, label)| (label.key.as_str(), number))
        .collect();
    let number_of = |key: &String| {
        let trained = space.id(key).map(LabelId::index);
        trained.or_else(|| broader_numbers.get(key.as_str()).copied())
    };
    let mut parents: Vec<Option<usize>> = terms
        .iter()
        .map(|label| label.parents.iter().find_map(number_of))
        .collect();
    if !terms.is_empty() && parents.iter().all(Option::is_none) {
        return Err(Error::config(
            "tree.shape",
            "hierarchy needs a label vocabulary with parents; none of the labels has one",
        ));
    }
    cut_cycles(&mut parents);
    check_depth(&parents)?;
    let mut narrower: Vec<Vec<usize>> = vec![Vec::new(); terms.len()];
    let mut roots = Vec::new();
    for (term, parent) in parents.iter().enumerate() {
        match parent {
            Some(parent) => narrower[*parent].push(term),
            None => roots.push(term),
        }
    }
    let forest = Forest {
        narrower,
        num_labels: space.len(),
    };
    Ok(forest.group(&roots, None))
}

struct Forest {
    narrower: Vec<Vec<usize>>,
    /// Terms from here on have no training document.
    num_labels: usize,
}

impl Forest {
    fn group(&self, terms: &[usize], own: Option<usize>) -> TreeNode {
        let as_label = |term: usize| (term < self.num_labels).then_some(LabelId(term as u32));
        let mut node = TreeNode::default();
        node.labels.extend(own.and_then(as_label));
        for &term in terms {
            if self.narrower[term].is_empty() {
                node.labels.extend(as_label(term));
            } else {
                let mut group = self.group(&self.narrower[term], Some(term));
                // A level that tells nothing apart is left out.
                if group.labels.is_empty() && group.children.len() == 1 {
                    group = group.children.remove(0);
                }
                node.children.push(group);
            }
        }
        node
    }
}

/// Lets the lowest term of every cycle of parents be a root.
fn cut_cycles(parents: &mut [Option<usize>]) {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        Never,
        OnThisPath,
        Before,
    }
    let mut seen = vec![Seen::Never; parents.len()];
    for start in 0..parents.len() {
        let mut path = Vec::new();
        let mut next = Some(start);
        while let Some(term) = next
            && seen[term] == Seen::Never
        {
            seen[term] = Seen::OnThisPath;
            path.push(term);
            next = parents[term];
        }
        if let Some(term) = next
            && seen[term] == Seen::OnThisPath
        {
            let cycle = path.iter().skip_while(|&&other| other != term);
            if let Some(&lowest) = cycle.min() {
                parents[lowest] = None;
            }
        }
        for term in path {
            seen[term] = Seen::Before;
        }
    }
}

fn check_depth(parents: &[Option<usize>]) -> Result<()> {
    let mut levels: Vec<usize> = vec![0; parents.len()];
    for start in 0..parents.len() {
        let mut path = Vec::new();
        let mut next = Some(start);
        while let Some(term) = next
            && levels[term] == 0
        {
            path.push(term);
            next = parents[term];
        }
        let mut level = next.map_or(0, |term| levels[term]);
        for term in path.into_iter().rev() {
            level += 1;
            levels[term] = level;
        }
        if level > MAX_LEVELS {
            return Err(Error::config(
                "tree.shape",
                format!("the label vocabulary has more than {MAX_LEVELS} levels of parents"),
            ));
        }
    }
    Ok(())
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
    fn broader_terms_without_documents_group_their_narrower_ones() {
        let mut builder = crate::corpus::LabelSpaceBuilder::default();
        for key in ["glass", "opera", "tulips", "loose"] {
            builder.add(&crate::corpus::Document {
                id: String::new(),
                content: crate::corpus::Content::Text(String::new()),
                labels: vec![key.to_owned()],
            });
        }
        let term = |key: &str, parents: &[&str]| Label {
            key: key.to_owned(),
            parents: parents.iter().map(ToString::to_string).collect(),
            ..Label::default()
        };
        let vocabulary = [
            term("glass", &["crafts"]),
            term("crafts", &["culture"]),
            term("opera", &["culture"]),
            term("culture", &[]),
            term("unused", &["culture"]),
            term("tulips", &["plants"]),
            term("plants", &["nature"]),
            term("nature", &[]),
        ];
        let (space, _) = builder.finish(&vocabulary);
        let tree = LabelTree::from(nested(&space).unwrap());
        let labels: Vec<Vec<&str>> = (0..tree.num_nodes())
            .map(|node| {
                let labels = tree.labels(node).iter();
                labels
                    .map(|&label| space.label(label).key.as_str())
                    .collect()
            })
            .collect();
        // The root, culture with crafts below it, and nature and plants as one.
        assert_eq!(
            labels,
            [vec!["loose"], vec!["opera"], vec!["tulips"], vec!["glass"]]
        );
    }

    #[test]
    fn endless_hierarchies_are_refused() {
        let keys: Vec<String> = (0..2000).map(|number| format!("{number:04}")).collect();
        let labels: Vec<Label> = (0..2000)
            .map(|number| Label {
                key: keys[number].clone(),
                parents: keys.get(number + 1).cloned().into_iter().collect(),
                ..Label::default()
            })
            .collect();
        let error = nested(&LabelSpace::new(labels, vec![1; 2000])).unwrap_err();
        assert!(error.to_string().contains("more than 1000 levels"));
    }

    #[test]
    fn a_vocabulary_without_parents_is_refused() {
        assert!(nested(&space(&[("a", &[]), ("b", &[])])).is_err());
    }
}
