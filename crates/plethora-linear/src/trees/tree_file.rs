//! A trained tree on disk: its shape and weights in one safetensors file.

use std::path::Path;

use plethora_core::artifact::{ArrayFileWriter, ArrayId, Dtype, MappedArray, MappedArrays};
use plethora_core::tree::LabelTree;
use plethora_core::{Error, LabelId, Result};

use crate::trees::tree_weights::{ChunkView, TreeWeights};

/// Streams the nodes of a tree to disk as they are trained.
pub(crate) struct TreeFileWriter {
    file: ArrayFileWriter,
    ids: ArrayIds,
    num_chunks: u32,
}

struct ArrayIds {
    node_chunks: ArrayId,
    feature_starts: ArrayId,
    entry_starts: ArrayId,
    class_starts: ArrayId,
    biases: ArrayId,
    features: ArrayId,
    entry_ends: ArrayId,
    classes: ArrayId,
    weights: ArrayId,
}

impl TreeFileWriter {
    pub(crate) fn create(path: &Path, tree: &LabelTree) -> Result<Self> {
        let mut file = ArrayFileWriter::create(path)?;
        let (child_starts, label_starts, labels) = tree.parts();
        for (name, array) in [
            ("child_starts", child_starts),
            ("label_starts", label_starts),
        ] {
            let id = file.begin(name, Dtype::U32)?;
            file.append(id, array)?;
        }
        let id = file.begin("labels", Dtype::U32)?;
        file.append(id, labels)?;
        let ids = ArrayIds {
            node_chunks: file.begin("node_chunks", Dtype::U32)?,
            feature_starts: file.begin("feature_starts", Dtype::U64)?,
            entry_starts: file.begin("entry_starts", Dtype::U64)?,
            class_starts: file.begin("class_starts", Dtype::U64)?,
            biases: file.begin("biases", Dtype::F32)?,
            features: file.begin("features", Dtype::U32)?,
            entry_ends: file.begin("entry_ends", Dtype::U32)?,
            classes: file.begin("classes", Dtype::U8)?,
            weights: file.begin("weights", Dtype::BF16)?,
        };
        file.append(ids.node_chunks, &[0_u32])?;
        for id in [ids.feature_starts, ids.entry_starts, ids.class_starts] {
            file.append(id, &[0_u64])?;
        }
        Ok(Self {
            file,
            ids,
            num_chunks: 0,
        })
    }

    /// Appends the next chunk of the node at hand.
    pub(crate) fn push_chunk(&mut self, chunk: ChunkView<'_>) -> Result<()> {
        let Self { file, ids, .. } = self;
        file.append(ids.biases, chunk.biases)?;
        file.append(ids.features, chunk.features)?;
        file.append(ids.entry_ends, chunk.entry_ends)?;
        file.append(ids.classes, chunk.classes)?;
        file.append(ids.weights, chunk.weights)?;
        file.append(ids.feature_starts, &[file.len(ids.features)])?;
        file.append(ids.entry_starts, &[file.len(ids.classes)])?;
        file.append(ids.class_starts, &[file.len(ids.biases)])?;
        self.num_chunks += 1;
        Ok(())
    }

    /// The next chunk belongs to the next node.
    pub(crate) fn end_node(&mut self) -> Result<()> {
        self.file.append(self.ids.node_chunks, &[self.num_chunks])
    }

    pub(crate) fn finish(self) -> Result<()> {
        self.file.finish()
    }
}

/// A tree file, mapped into memory; its shape is copied out, its weights stay in the file.
#[derive(Debug)]
pub(crate) struct TreeFile {
    tree: LabelTree,
    node_chunks: MappedArray<u32>,
    feature_starts: MappedArray<u64>,
    entry_starts: MappedArray<u64>,
    class_starts: MappedArray<u64>,
    biases: MappedArray<f32>,
    features: MappedArray<u32>,
    entry_ends: MappedArray<u32>,
    classes: MappedArray<u8>,
    weights: MappedArray<u16>,
}

impl TreeFile {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let arrays = MappedArrays::open(path)?;
        let tree = LabelTree::from_parts(
            arrays.array::<u32>("child_starts")?.to_vec(),
            arrays.array::<u32>("label_starts")?.to_vec(),
            arrays.array::<LabelId>("labels")?.to_vec(),
        )
        .map_err(|error| Error::model(path, error.to_string()))?;
        let file = Self {
            tree,
            node_chunks: arrays.owned("node_chunks")?,
            feature_starts: arrays.owned("feature_starts")?,
            entry_starts: arrays.owned("entry_starts")?,
            class_starts: arrays.owned("class_starts")?,
            biases: arrays.owned("biases")?,
            features: arrays.owned("features")?,
            entry_ends: arrays.owned("entry_ends")?,
            classes: arrays.owned("classes")?,
            weights: arrays.owned("weights")?,
        };
        if file.is_consistent() {
            Ok(file)
        } else {
            Err(Error::model(
                path,
                "the arrays of the tree do not fit together",
            ))
        }
    }

    pub(crate) fn tree(&self) -> &LabelTree {
        &self.tree
    }

    /// One more than the highest label in the tree.
    pub(crate) fn label_bound(&self) -> usize {
        let (_, _, labels) = self.tree.parts();
        labels
            .iter()
            .map(|label| label.index() + 1)
            .max()
            .unwrap_or(0)
    }

    pub(crate) fn weights(&self) -> TreeWeights<'_> {
        TreeWeights {
            node_chunks: &self.node_chunks,
            feature_starts: &self.feature_starts,
            entry_starts: &self.entry_starts,
            class_starts: &self.class_starts,
            biases: &self.biases,
            features: &self.features,
            entry_ends: &self.entry_ends,
            classes: &self.classes,
            weights: &self.weights,
        }
    }

    /// Starts rise and end where their arrays end, and so do the parts of every chunk, so that no
    /// look-up leaves an array. It reads much of the file, which the checksum has read already.
    fn is_consistent(&self) -> bool {
        let num_chunks = self.feature_starts.len().saturating_sub(1);
        let covers = |starts: &[u64], len: usize| {
            starts.len() == num_chunks + 1
                && starts.first() == Some(&0)
                && starts.is_sorted()
                && starts.last() == Some(&(len as u64))
        };
        self.node_chunks.len() == self.tree.num_nodes() + 1
            && self.node_chunks.first() == Some(&0)
            && self.node_chunks.is_sorted()
            && self.node_chunks.last() == Some(&(num_chunks as u32))
            && covers(&self.feature_starts, self.features.len())
            && covers(&self.entry_starts, self.classes.len())
            && covers(&self.class_starts, self.biases.len())
            && self.entry_ends.len() == self.features.len()
            && self.weights.len() == self.classes.len()
            && (0..self.tree.num_nodes()).all(|node| {
                let chunks = || self.weights().chunks(node);
                let classes: usize = chunks().map(|chunk| chunk.biases.len()).sum();
                (classes == 0 || classes == self.tree.fan_out(node))
                    && chunks().all(|chunk| chunk.is_consistent())
            })
    }
}
