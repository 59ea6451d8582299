//! Hard negatives: which nodes the levels trained so far would send each training document to.

use plethora_core::tree::LabelTree;
use plethora_core::{SparseMatrix, SparseRow};
use rayon::prelude::*;

use crate::trees::beam::{BeamSearch, ChunkLayout, DOCUMENTS_PER_SEARCH, Visit, roots};
use crate::trees::config::Loss;
use crate::trees::tree_weights::OwnedTreeWeights;

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

/// A training document that the levels above send to a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Arrival {
    pub(crate) node: u32,
    pub(crate) document: u32,
}

/// The arrivals at one node.
pub(crate) fn arrivals_at(node: usize, sorted: &[Arrival]) -> &[Arrival] {
    let from = sorted.partition_point(|arrival| (arrival.node as usize) < node);
    let to = sorted.partition_point(|arrival| arrival.node as usize <= node);
    &sorted[from..to]
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
    /// returns where they are on the next level, sorted.
    pub(crate) fn descend(
        &mut self,
        first_node: usize,
        weights: &OwnedTreeWeights,
    ) -> Vec<Arrival> {
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
            .for_each_init(ChunkLayout::default, |layout, group| {
                let rows: Vec<SparseRow<'_>> = group
                    .documents
                    .iter()
                    .map(|&document| self.documents.row(document as usize))
                    .collect();
                let mut labels = vec![Vec::new(); rows.len()];
                group.visits = search.step(&rows, &group.visits, layout, &mut labels);
            });
        let mut arrivals: Vec<Arrival> = (self.searches.iter())
            .flat_map(|group| {
                group.visits.iter().map(|visit| Arrival {
                    node: visit.node,
                    document: group.documents[visit.document as usize],
                })
            })
            .collect();
        arrivals.par_sort_unstable();
        arrivals
    }
}
