//! The weights of all nodes of a tree, in flat arrays.

use crate::trees::chunk::{CHUNK_CLASSES, Chunk};

/// Borrowed arrays, from a mapped file or from [`OwnedTreeWeights`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct TreeWeights<'a> {
    /// Chunks of node i are `node_chunks[i]..node_chunks[i + 1]`.
    pub(crate) node_chunks: &'a [u32],
    /// Where each chunk's features start, and where the last one's end; likewise below.
    pub(crate) feature_starts: &'a [u64],
    pub(crate) entry_starts: &'a [u64],
    pub(crate) class_starts: &'a [u64],
    pub(crate) biases: &'a [f32],
    pub(crate) features: &'a [u32],
    pub(crate) entry_ends: &'a [u32],
    pub(crate) classes: &'a [u8],
    pub(crate) weights: &'a [u16],
}

/// One chunk of [`TreeWeights`]; its parts are explained at [`Chunk`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChunkView<'a> {
    pub(crate) biases: &'a [f32],
    pub(crate) features: &'a [u32],
    pub(crate) entry_ends: &'a [u32],
    pub(crate) classes: &'a [u8],
    pub(crate) weights: &'a [u16],
}

impl<'a> TreeWeights<'a> {
    /// The chunks of a node; their classes in a row are the node's children, then its labels.
    pub(crate) fn chunks(self, node: usize) -> impl Iterator<Item = ChunkView<'a>> {
        (self.node_chunks[node] as usize..self.node_chunks[node + 1] as usize)
            .map(move |chunk| self.chunk(chunk))
    }

    fn chunk(self, chunk: usize) -> ChunkView<'a> {
        let range = |starts: &[u64]| starts[chunk] as usize..starts[chunk + 1] as usize;
        ChunkView {
            biases: &self.biases[range(self.class_starts)],
            features: &self.features[range(self.feature_starts)],
            entry_ends: &self.entry_ends[range(self.feature_starts)],
            classes: &self.classes[range(self.entry_starts)],
            weights: &self.weights[range(self.entry_starts)],
        }
    }
}

impl ChunkView<'_> {
    /// True if [`entries`](Self::entries) of every row lie in the chunk and name classes of it.
    pub(crate) fn is_consistent(&self) -> bool {
        let end = self.entry_ends.last().map_or(0, |&end| end as usize);
        let num_classes = self.biases.len();
        num_classes <= CHUNK_CLASSES
            && self.entry_ends.is_sorted()
            && end == self.classes.len()
            && (self.classes.iter().max()).is_none_or(|&class| usize::from(class) < num_classes)
    }

    /// Classes and weights of the feature at `row` of the chunk.
    #[inline]
    pub(crate) fn entries(&self, row: usize) -> (&[u8], &[u16]) {
        let start = if row == 0 {
            0
        } else {
            self.entry_ends[row - 1] as usize
        };
        let range = start..self.entry_ends[row] as usize;
        (&self.classes[range.clone()], &self.weights[range])
    }
}

/// Weights of the nodes pushed so far, in memory.
#[derive(Debug, Clone)]
pub(crate) struct OwnedTreeWeights {
    node_chunks: Vec<u32>,
    feature_starts: Vec<u64>,
    entry_starts: Vec<u64>,
    class_starts: Vec<u64>,
    chunks: Chunk,
}

impl Default for OwnedTreeWeights {
    fn default() -> Self {
        Self {
            node_chunks: vec![0],
            feature_starts: vec![0],
            entry_starts: vec![0],
            class_starts: vec![0],
            chunks: Chunk::default(),
        }
    }
}

impl OwnedTreeWeights {
    /// Appends the next chunk of the node at hand.
    pub(crate) fn push_chunk(&mut self, chunk: &Chunk) {
        let all = &mut self.chunks;
        all.biases.extend_from_slice(&chunk.biases);
        all.features.extend_from_slice(&chunk.features);
        all.entry_ends.extend_from_slice(&chunk.entry_ends);
        all.classes.extend_from_slice(&chunk.classes);
        all.weights.extend_from_slice(&chunk.weights);
        self.feature_starts.push(all.features.len() as u64);
        self.entry_starts.push(all.classes.len() as u64);
        self.class_starts.push(all.biases.len() as u64);
    }

    /// The next chunk belongs to the next node.
    pub(crate) fn end_node(&mut self) {
        self.node_chunks.push(self.feature_starts.len() as u32 - 1);
    }

    pub(crate) fn view(&self) -> TreeWeights<'_> {
        TreeWeights {
            node_chunks: &self.node_chunks,
            feature_starts: &self.feature_starts,
            entry_starts: &self.entry_starts,
            class_starts: &self.class_starts,
            biases: &self.chunks.biases,
            features: &self.chunks.features,
            entry_ends: &self.chunks.entry_ends,
            classes: &self.chunks.classes,
            weights: &self.chunks.weights,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_whose_parts_point_beyond_them_are_found_out() {
        let consistent = |entry_ends: &[u32], classes: &[u8]| {
            ChunkView {
                biases: &[0.0; 2],
                features: &[3, 5],
                entry_ends,
                classes,
                weights: &[0; 3],
            }
            .is_consistent()
        };
        assert!(consistent(&[1, 3], &[0, 0, 1]));
        assert!(consistent(&[0, 0], &[]));
        assert!(!consistent(&[1, 2], &[0, 0, 1]), "an entry of no feature");
        assert!(!consistent(&[1, 4], &[0, 0, 1]), "beyond the entries");
        assert!(!consistent(&[4, 3], &[0, 0, 1]), "falling");
        assert!(!consistent(&[1, 3], &[0, 2, 1]), "a class too many");
    }
}
