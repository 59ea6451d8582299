//! Trains all classifiers of one label tree, level by level.

use std::ops::Range;

use plethora_core::tree::LabelTree;
use plethora_core::{Error, IndexRows, Progress, Result, SeedStream, SparseMatrix};
use rayon::prelude::*;

use crate::chunk::{CHUNK_CLASSES, Chunk};
use crate::config::LinearConfig;
use crate::node_documents::{NodeDocuments, positions, union};
use crate::problem::NodeProblem;
use crate::solver::{LANES, train_block};
use crate::training_beam::{Arrival, TrainingBeam, arrivals_at};
use crate::tree_weights::OwnedTreeWeights;

/// Nodes trained between two writes, at most.
const NODES_PER_BATCH: usize = 64;

/// What the classifiers of a tree learn from.
#[derive(Clone, Copy)]
pub(crate) struct TreeTraining<'a> {
    pub(crate) documents: &'a SparseMatrix,
    pub(crate) documents_of_labels: &'a IndexRows,
    pub(crate) tree: &'a LabelTree,
    pub(crate) config: &'a LinearConfig,
    pub(crate) seed: SeedStream,
}

impl TreeTraining<'_> {
    /// Trains every node and hands its chunks to `write`, in the order of nodes, so that the result
    /// does not depend on the number of threads and only few nodes are in memory.
    pub(crate) fn run(
        &self,
        progress: &dyn Progress,
        mut write: impl FnMut(&[Chunk]) -> Result<()>,
    ) -> Result<()> {
        let members = NodeDocuments::new(self.tree, self.documents_of_labels);
        let mut beam = (self.config.hard_negatives > 0).then(|| {
            TrainingBeam::new(
                self.documents,
                members.of_node(0),
                self.tree,
                self.config.solver.loss,
                self.config.hard_negatives,
            )
        });
        let mut arrivals = Vec::new();
        for level in self.tree.levels() {
            let mut inner = OwnedTreeWeights::default();
            let mut node = level.start;
            while node < level.end {
                let batch = Self::next_batch(node..level.end, &members, &arrivals);
                node = batch.end;
                for (node, chunks) in self.train_batch(batch, &members, &arrivals, progress)? {
                    write(&chunks)?;
                    let is_inner = !self.tree.children(node).is_empty();
                    inner.push_node(if is_inner { &chunks } else { &[] });
                }
            }
            if let Some(beam) = &mut beam {
                arrivals = beam.descend(level.start, &inner);
            }
        }
        Ok(())
    }

    /// The next nodes to train side by side: so many that together they gather at most twice the
    /// documents of the root, which bounds the memory and leaves two halves to two threads.
    fn next_batch(
        rest: Range<usize>,
        members: &NodeDocuments,
        arrivals: &[Arrival],
    ) -> Range<usize> {
        let limit = 2 * members.of_node(0).len();
        let mut num_documents = 0;
        let end = rest
            .clone()
            .take(NODES_PER_BATCH)
            .find(|&node| {
                num_documents += members.of_node(node).len() + arrivals_at(node, arrivals).len();
                num_documents > limit && node > rest.start
            })
            .unwrap_or_else(|| rest.end.min(rest.start + NODES_PER_BATCH));
        rest.start..end
    }

    fn train_batch(
        &self,
        batch: Range<usize>,
        members: &NodeDocuments,
        arrivals: &[Arrival],
        progress: &dyn Progress,
    ) -> Result<Vec<(usize, Vec<Chunk>)>> {
        batch
            .into_par_iter()
            .with_max_len(1)
            .map(|node| {
                let visitors = arrivals_at(node, arrivals)
                    .iter()
                    .map(|arrival| arrival.document);
                let documents = union(members.of_node(node), visitors);
                let chunks = self.train_node(node, &documents, members, progress)?;
                progress.advance(1);
                Ok((node, chunks))
            })
            .collect()
    }

    fn train_node(
        &self,
        node: usize,
        documents: &[u32],
        members: &NodeDocuments,
        progress: &dyn Progress,
    ) -> Result<Vec<Chunk>> {
        let problem = NodeProblem::gather(self.documents, documents);
        let children = self.tree.children(node).map(|child| members.of_node(child));
        let labels = self.tree.labels(node).iter();
        let classes: Vec<&[u32]> = children
            .chain(labels.map(|label| self.documents_of_labels.row(label.index())))
            .collect();
        let solver = &self.config.solver;
        let train_chunk = |chunk_number: usize, classes: &[&[u32]]| {
            let seed = self.seed.child(node as u64).child(chunk_number as u64);
            let blocks = classes
                .par_chunks(LANES)
                .enumerate()
                .map(|(block_number, block)| {
                    if progress.is_cancelled() {
                        return Err(Error::Interrupted);
                    }
                    let positives: Vec<Vec<u32>> = block
                        .iter()
                        .map(|class| positions(class, documents))
                        .collect();
                    Ok(train_block(
                        &problem,
                        &positives,
                        solver,
                        seed.child(block_number as u64),
                    ))
                })
                .collect::<Result<Vec<_>>>()?;
            Ok(Chunk::from_blocks(
                &problem,
                &blocks,
                classes.len(),
                solver.prune_below,
            ))
        };
        (0..)
            .zip(classes.chunks(CHUNK_CLASSES))
            .map(|(number, chunk)| train_chunk(number, chunk))
            .collect()
    }
}
