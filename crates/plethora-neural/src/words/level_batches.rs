//! The training batches of a level.

use plethora_core::IndexRows;

use super::batch::WordBatch;
use super::beam::Beam;
use super::levels::Levels;
use crate::batch::longest_first;
use crate::train::BatchMaker;

/// Makes batches of training documents with the items of a level as their labels.
pub(crate) struct LevelBatches<'a> {
    pub(crate) sequences: &'a IndexRows,
    /// Numbers of the documents that are trained on.
    pub(crate) documents: &'a [u32],
    /// True items of the level, of all documents.
    pub(crate) truth: &'a IndexRows,
    /// Below the first level: what each document chooses from.
    pub(crate) choice: Option<Choice<'a>>,
}

/// What a document chooses from: the children of its true parents, and of those that the level
/// above takes for true.
pub(crate) struct Choice<'a> {
    pub(crate) levels: &'a Levels,
    pub(crate) level: usize,
    /// Beams of the level above, of all documents.
    pub(crate) above: &'a [Beam],
    /// True items of the level above, of all documents.
    pub(crate) true_parents: &'a IndexRows,
    /// Parents a document.
    pub(crate) num_parents: usize,
}

impl BatchMaker for LevelBatches<'_> {
    type Batch = WordBatch;

    fn num_documents(&self) -> usize {
        self.documents.len()
    }

    fn length(&self, document: usize) -> usize {
        self.sequences.row(self.documents[document] as usize).len()
    }

    fn make(&self, documents: &[u32]) -> WordBatch {
        let numbers: Vec<u32> = documents
            .iter()
            .map(|&place| self.documents[place as usize])
            .collect();
        let sorted = longest_first(&numbers, self.sequences);
        let words: Vec<&[u32]> = sorted
            .iter()
            .map(|&document| self.sequences.row(document as usize))
            .collect();
        let truth = sorted
            .iter()
            .map(|&document| self.truth.row(document as usize));
        let batch = WordBatch::new(&words);
        match &self.choice {
            None => batch.with_labels(truth),
            Some(choice) => {
                let candidates: Vec<Vec<u32>> = sorted
                    .iter()
                    .map(|&document| choice.candidates(document as usize))
                    .collect();
                batch.with_truth(&candidates, truth)
            }
        }
    }
}

impl Choice<'_> {
    fn candidates(&self, document: usize) -> Vec<u32> {
        let above = self.level - 1;
        self.parents(document)
            .into_iter()
            .flat_map(|parent| self.levels.children(above, parent).iter().copied())
            .collect()
    }

    /// True parents first, then the best of the level above; where a document has more true
    /// parents than are wanted, those that the level above ranks.
    fn parents(&self, document: usize) -> Vec<u32> {
        let truth = self.true_parents.row(document);
        let ranked = &self.above[document].items;
        let mut parents: Vec<u32> = if truth.len() > self.num_parents {
            let found = ranked.iter().filter(|item| truth.contains(item));
            let missed = truth.iter().filter(|item| !ranked.contains(item));
            found.chain(missed).copied().collect()
        } else {
            truth.to_vec()
        };
        let others = ranked.iter().filter(|item| !truth.contains(item));
        parents.extend(others.copied());
        parents.truncate(self.num_parents);
        parents
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn true_parents_are_always_among_those_chosen_from() {
        let above = [Beam {
            items: vec![4, 2, 7],
            log_scores: vec![-0.1, -0.2, -0.3],
        }];
        let levels = Levels::flat(1);
        let parents = |truth: &[u32], num_parents| {
            let mut true_parents = IndexRows::default();
            true_parents.push(truth.to_vec());
            Choice {
                levels: &levels,
                level: 1,
                above: &above,
                true_parents: &true_parents,
                num_parents,
            }
            .parents(0)
        };
        assert_eq!(parents(&[2, 9], 3), [2, 9, 4]);
        assert_eq!(parents(&[1, 2, 9], 2), [2, 1]);
        assert_eq!(parents(&[5], 10), [5, 4, 2, 7]);
    }
}
