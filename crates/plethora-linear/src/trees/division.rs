//! One tree whose classifiers are trained by several processes.
//!
//! Each of them trains all nodes with children, which are few and tell where documents go on the way down, and
//! of the classifiers of labels every so-manieth chunk. The file of a share is a whole tree, in which the
//! chunks of others have no weights; joined, the shares are the file that one process writes.

use std::path::{Path, PathBuf};

use plethora_core::tree::LabelTree;
use plethora_core::{Error, Result};
use plethora_system::Shard;

use crate::trees::chunk::CHUNK_CLASSES;
use crate::trees::tree_file::{TreeFile, TreeFileWriter};

/// Which process trains which chunks of a tree.
#[derive(Debug)]
pub(crate) struct Division<'a> {
    tree: &'a LabelTree,
    share: Shard,
    /// Chunks before each node.
    first_chunks: Vec<usize>,
}

impl<'a> Division<'a> {
    pub(crate) fn new(tree: &'a LabelTree, share: Shard) -> Self {
        let mut num_chunks = 0;
        let first_chunks = (0..tree.num_nodes())
            .map(|node| {
                let first = num_chunks;
                num_chunks += tree.fan_out(node).div_ceil(CHUNK_CLASSES);
                first
            })
            .collect();
        Self {
            tree,
            share,
            first_chunks,
        }
    }

    /// True if this share trains the chunk.
    pub(crate) fn trains(&self, node: usize, chunk: usize) -> bool {
        self.is_shared(node) || self.share.has(self.first_chunks[node] + chunk)
    }

    /// Whose the chunk is in the end, where every share trains it.
    fn owner(&self, node: usize, chunk: usize) -> usize {
        if self.is_shared(node) {
            0
        } else {
            (self.first_chunks[node] + chunk) % self.share.count()
        }
    }

    fn is_shared(&self, node: usize) -> bool {
        !self.tree.children(node).is_empty()
    }
}

/// Writes the tree of which `shares` have a part each, in their order.
pub(super) fn join(shares: &[PathBuf], target: &Path) -> Result<()> {
    let files: Vec<TreeFile> = (shares.iter())
        .map(|path| TreeFile::open(path))
        .collect::<Result<_>>()?;
    let whole = Shard::new(0, files.len()).ok_or_else(|| Error::data("a tree without shares"))?;
    let tree = files[0].tree();
    for (file, path) in files.iter().zip(shares) {
        if file.tree() != tree {
            return Err(Error::model(path, "has another tree than the other pieces"));
        }
    }
    let division = Division::new(tree, whole);
    let mut writer = TreeFileWriter::create(target, tree)?;
    for node in 0..tree.num_nodes() {
        let num_chunks = tree.fan_out(node).div_ceil(CHUNK_CLASSES);
        for chunk in 0..num_chunks {
            let owner = division.owner(node, chunk);
            let found = files[owner].weights().chunks(node).nth(chunk);
            let found = found.ok_or_else(|| Error::model(&shares[owner], "lacks classifiers"))?;
            writer.push_chunk(found)?;
        }
        writer.end_node()?;
    }
    writer.finish()
}
