//! Hard negatives: which nodes the levels trained so far would send each training document to.

use plethora_core::tree::LabelTree;
use plethora_core::{SparseMatrix, SparseRow};
use rayon::prelude::*;

use crate::beam::{BeamSearch, DOCUMENTS_PER_SEARCH, FeatureTable, Visit, roots};
use crate::config::Loss;
use crate::tree_weights::OwnedTreeWeights;

/// Sends training documents down the tree as it grows. A classifier that has seen the documents
/// that will reach it by mistake tells them apart; one that has not must trust the path.
pub(crate) struct TrainingBeam<'a> {
    documents: &'a SparseMatrix,
    tree: &'a LabelTree,
    loss: Loss,
    beam: usize,
    searches: Vec<Search>,
}

struct Search {
    documents: Vec<u32>,
    visits: Vec<Visit>,
}

impl<'a> TrainingBeam<'a> {
    /// All of `trained_documents` stand at the root.
    pub(crate) fn new(
        documents: &'a SparseMatrix,
        trained_documents: &[u32],
        tree: &'a LabelTree,
        loss: Loss,
        beam: usize,
    ) -> Self {
        let searches = trained_documents
            .chunks(DOCUMENTS_PER_SEARCH)
            .map(|documents| Search {
                documents: documents.to_vec(),
                visits: roots(documents.len()),
            })
            .collect();
        Self {
            documents,
            tree,
            loss,
            beam,
            searches,
        }
    }

    /// Takes all documents through a level whose nodes, from `first_node` on, have `weights`, and
    /// returns the documents at each node of the next level, rising, with the node.
    pub(crate) fn descend(
        &mut self,
        first_node: usize,
        weights: &OwnedTreeWeights,
    ) -> Vec<(u32, u32)> {
        let search = BeamSearch {
            tree: self.tree,
            weights: weights.view(),
            first_node,
            num_features: self.documents.num_columns(),
            loss: self.loss,
            beam: self.beam,
        };
        self.searches
            .par_iter_mut()
            .for_each_init(FeatureTable::default, |table, group| {
                let rows: Vec<SparseRow<'_>> = group
                    .documents
                    .iter()
                    .map(|&document| self.documents.row(document as usize))
                    .collect();
                let mut labels = vec![Vec::new(); rows.len()];
                group.visits = search.step(&rows, &group.visits, table, &mut labels);
            });
        let mut arrivals: Vec<(u32, u32)> = (self.searches.iter())
            .flat_map(|group| {
                group
                    .visits
                    .iter()
                    .map(|visit| (visit.node, group.documents[visit.document as usize]))
            })
            .collect();
        arrivals.par_sort_unstable();
        arrivals
    }
}
