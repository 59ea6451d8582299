//! Trains all classifiers of one label tree, level by level.

use std::cell::LazyCell;
use std::ops::Range;

use plethora_core::tree::LabelTree;
use plethora_core::{Error, IndexRows, Progress, Result, SeedStream, SparseMatrix};
use rayon::prelude::*;

use crate::trees::chunk::{CHUNK_CLASSES, Chunk, Pruning};
use crate::trees::config::{LinearConfig, SolverConfig};
use crate::trees::division::Division;
use crate::trees::node_documents::{NodeDocuments, positions, union};
use crate::trees::problem::NodeProblem;
use crate::trees::solver::{LANES, train_block};
use crate::trees::training_beam::{Arrival, TrainingBeam, arrivals_at};
use crate::trees::tree_file::TreeFileWriter;
use crate::trees::tree_weights::OwnedTreeWeights;

/// Nodes trained between two writes, at most.
const NODES_PER_BATCH: usize = 64;

/// What the classifiers of a tree learn from.
#[derive(Clone, Copy)]
pub(crate) struct TreeTraining<'a> {
    pub(crate) documents: &'a SparseMatrix,
    /// Features whose small weights are dropped.
    pub(crate) num_pruned: usize,
    pub(crate) documents_of_labels: &'a IndexRows,
    /// The same of labels that another model ranks highest, where one was asked.
    pub(crate) documents_of_candidates: Option<&'a IndexRows>,
    pub(crate) tree: &'a LabelTree,
    /// Which of the tree's classifiers are trained; the others get no weights.
    pub(crate) division: &'a Division<'a>,
    pub(crate) config: &'a LinearConfig,
    pub(crate) seed: SeedStream,
}

impl<'a> TreeTraining<'a> {
    /// Number of classifiers: the steps that [`run`](Self::run) reports.
    pub(crate) fn num_classifiers(&self) -> u64 {
        (self.tree.num_labels() + self.tree.num_nodes() - 1) as u64
    }

    /// Trains every node and writes its chunks to `file`, in the order of nodes, so that the result
    /// does not depend on the number of threads and only few nodes are in memory.
    pub(crate) fn run(&self, progress: &dyn Progress, file: &mut TreeFileWriter) -> Result<()> {
        let reached = |documents| NodeDocuments::new(self.tree, documents);
        let mut sent = Sent {
            members: reached(self.documents_of_labels),
            candidates: self.documents_of_candidates.map(reached),
            arrivals: Vec::new(),
        };
        let mut beam = (self.config.hard_negatives > 0).then(|| {
            TrainingBeam::new(
                self.documents,
                sent.members.of_node(0),
                self.tree,
                self.config.solver.loss,
                self.config.hard_negatives,
            )
        });
        for level in self.tree.levels() {
            let mut inner = OwnedTreeWeights::default();
            let mut node = level.start;
            while node < level.end {
                let batch = Self::next_batch(node..level.end, &sent);
                node = batch.end;
                self.train_batch(batch, &sent, progress, |node, chunk| {
                    let Some(chunk) = chunk else {
                        inner.end_node();
                        return file.end_node();
                    };
                    if !self.tree.children(node).is_empty() {
                        inner.push_chunk(chunk);
                    }
                    file.push_chunk(chunk.view())
                })?;
            }
            if let Some(beam) = &mut beam {
                sent.arrivals = beam.descend(level.start, &inner);
            }
        }
        Ok(())
    }

    /// The next nodes to train side by side: so many that together they gather at most twice the
    /// documents of the root, which bounds the memory and leaves two halves to two threads.
    fn next_batch(rest: Range<usize>, sent: &Sent) -> Range<usize> {
        let limit = 2 * sent.members.of_node(0).len();
        let mut num_documents = 0;
        let end = rest
            .clone()
            .take(NODES_PER_BATCH)
            .find(|&node| {
                num_documents += sent.members.of_node(node).len() + sent.visitors(node).count();
                num_documents > limit && node > rest.start
            })
            .unwrap_or_else(|| rest.end.min(rest.start + NODES_PER_BATCH));
        rest.start..end
    }

    /// Trains the nodes of a batch; `write` gets each chunk of a node, then nothing for its end. A
    /// node that is alone is written as it grows: one-vs-all is a single node with every label.
    fn train_batch(
        &self,
        batch: Range<usize>,
        sent: &Sent,
        progress: &dyn Progress,
        mut write: impl FnMut(usize, Option<&Chunk>) -> Result<()>,
    ) -> Result<()> {
        let chunks_of = |node| self.chunks_of(node, sent, progress);
        if batch.len() == 1 {
            for chunk in chunks_of(batch.start) {
                write(batch.start, Some(&chunk?))?;
            }
            return write(batch.start, None);
        }
        let trained = (batch.clone().into_par_iter())
            .with_max_len(1)
            .map(|node| chunks_of(node).collect())
            .collect::<Result<Vec<Vec<Chunk>>>>()?;
        for (node, chunks) in batch.zip(trained) {
            for chunk in &chunks {
                write(node, Some(chunk))?;
            }
            write(node, None)?;
        }
        Ok(())
    }

    /// The chunks of a node, one after the other; those of other processes without weights.
    fn chunks_of<'m>(
        &'m self,
        node: usize,
        sent: &'m Sent,
        progress: &'m dyn Progress,
    ) -> impl Iterator<Item = Result<Chunk>> + 'm {
        let training = LazyCell::new(move || self.gather(node, sent));
        let num_classes = self.tree.fan_out(node);
        (0..num_classes.div_ceil(CHUNK_CLASSES)).map(move |number| {
            if self.division.trains(node, number) {
                return training.train_chunk(number, progress);
            }
            let num_classes = CHUNK_CLASSES.min(num_classes - number * CHUNK_CLASSES);
            progress.advance(num_classes as u64);
            Ok(Chunk::untrained(num_classes))
        })
    }

    /// Everything that the classifiers of a node learn from.
    fn gather<'m>(&self, node: usize, sent: &'m Sent) -> NodeTraining<'m>
    where
        'a: 'm,
    {
        let members = &sent.members;
        let documents = union(members.of_node(node), sent.visitors(node));
        let children = self.tree.children(node).map(|child| members.of_node(child));
        let labels = self.tree.labels(node).iter();
        let documents_of_labels = self.documents_of_labels;
        let mut problem = NodeProblem::gather(self.documents, &documents);
        let own = positions(members.of_node(node), &documents);
        problem.lower_costs(self.config.hard_negative_cost, &own);
        NodeTraining {
            problem,
            documents,
            classes: children
                .chain(labels.map(|label| documents_of_labels.row(label.index())))
                .collect(),
            solver: &self.config.solver,
            pruning: Pruning {
                below: self.config.solver.prune_below,
                num_features: self.num_pruned,
            },
            seed: self.seed.child(node as u64),
        }
    }
}

/// Training documents by the nodes that they are sent to.
struct Sent {
    /// Those with a label at or below a node.
    members: NodeDocuments,
    /// Those for which another model takes such a label for likely.
    candidates: Option<NodeDocuments>,
    /// Those that the levels above send there.
    arrivals: Vec<Arrival>,
}

impl Sent {
    /// The documents that come to a node whether they belong there or not.
    fn visitors(&self, node: usize) -> impl Iterator<Item = u32> {
        let candidates = (self.candidates.iter()).flat_map(move |sent| sent.of_node(node));
        let arrivals = arrivals_at(node, &self.arrivals).iter();
        let arrivals = arrivals.map(|arrival| arrival.document);
        candidates.copied().chain(arrivals)
    }
}

/// The training data of one node.
struct NodeTraining<'a> {
    problem: NodeProblem,
    /// Documents of the problem, rising.
    documents: Vec<u32>,
    /// Documents of each class: child nodes first, then labels.
    classes: Vec<&'a [u32]>,
    solver: &'a SolverConfig,
    pruning: Pruning,
    seed: SeedStream,
}

impl NodeTraining<'_> {
    fn train_chunk(&self, number: usize, progress: &dyn Progress) -> Result<Chunk> {
        let start = number * CHUNK_CLASSES;
        let end = self.classes.len().min(start + CHUNK_CLASSES);
        let classes = &self.classes[start..end];
        let seed = self.seed.child(number as u64);
        let blocks = classes
            .par_chunks(LANES)
            .enumerate()
            .map(|(block_number, block)| {
                if progress.is_cancelled() {
                    return Err(Error::Interrupted);
                }
                let positives: Vec<Vec<u32>> = block
                    .iter()
                    .map(|class| positions(class, &self.documents))
                    .collect();
                let seed = seed.child(block_number as u64);
                let weights = train_block(&self.problem, &positives, self.solver, seed);
                progress.advance(block.len() as u64);
                Ok(weights)
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(Chunk::from_blocks(
            &self.problem,
            &blocks,
            classes.len(),
            self.pruning,
        ))
    }
}
