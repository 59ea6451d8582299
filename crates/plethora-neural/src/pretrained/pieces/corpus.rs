//! A corpus as rows of piece ids.

use std::path::Path;
use std::sync::Arc;

use plethora_core::IndexRows;

use super::block_cache::{BlockCache, BlockKey, MappedBlock};
use super::subwords::Pieces;

/// Texts that are tokenised and kept together.
const TEXTS_A_BLOCK: usize = 4096;

/// Tokenises texts as they come by and keeps the result on disk for the next time.
///
/// Every 4,096 texts are a block, whose file in the cache folder is named by the SHA-256 of the
/// tokenizer, the length and the texts: whatever changes, no block is taken for another. A block
/// that is there is not tokenised again. Files that are no longer needed are not removed: they may
/// belong to another corpus. The folder as a whole can be deleted at any time.
///
/// ```no_run
/// # fn main() -> plethora_neural::Result<()> {
/// use plethora_neural::pretrained::{PieceCorpusBuilder, Pieces};
///
/// let pieces = Pieces::open("all-MiniLM-L6-v2".as_ref())?;
/// let mut builder = PieceCorpusBuilder::new(pieces, 128, Some("cache".as_ref()));
/// builder.push_batch(&["Trees in winter", "Birds of the north"]);
/// let (_, rows) = builder.finish();
/// assert_eq!(rows.num_rows(), 2);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct PieceCorpusBuilder {
    pieces: Pieces,
    max_length: usize,
    cache: Option<BlockCache>,
    /// Fewer than a block.
    waiting: Vec<String>,
    rows: PieceRows,
}

impl PieceCorpusBuilder {
    /// Starts a corpus whose texts have at most `max_length` pieces each. Without a cache folder all
    /// rows are held in memory; one that cannot be used is a warning, not a failure.
    pub fn new(pieces: Pieces, max_length: usize, cache_folder: Option<&Path>) -> Self {
        Self {
            pieces,
            max_length,
            cache: cache_folder.map(BlockCache::new),
            waiting: Vec::new(),
            rows: PieceRows::default(),
        }
    }

    /// Adds texts, in batches of any size.
    pub fn push_batch(&mut self, texts: &[impl AsRef<str> + Sync]) {
        let missing = (TEXTS_A_BLOCK - self.waiting.len()) % TEXTS_A_BLOCK;
        let (first, rest) = texts.split_at(missing.min(texts.len()));
        self.wait(first);
        if self.waiting.len() == TEXTS_A_BLOCK {
            let block = std::mem::take(&mut self.waiting);
            self.add_block(&block);
        }
        let (blocks, last) = rest.as_chunks::<TEXTS_A_BLOCK>();
        for block in blocks {
            self.add_block(block);
        }
        self.wait(last);
    }

    /// Tokenises what is left and gives the rows of all texts, with what cut them.
    pub fn finish(mut self) -> (Pieces, PieceRows) {
        self.end();
        (self.pieces, self.rows)
    }

    /// Tokenises what is left: no texts follow.
    pub(crate) fn end(&mut self) {
        if !self.waiting.is_empty() {
            let block = std::mem::take(&mut self.waiting);
            self.add_block(&block);
        }
    }

    /// What cuts texts, and the rows of those that were added until the [`end`](Self::end).
    pub(crate) fn ended(&self) -> (&Pieces, &PieceRows) {
        (&self.pieces, &self.rows)
    }

    fn wait(&mut self, texts: &[impl AsRef<str>]) {
        let texts = texts.iter().map(|text| text.as_ref().to_owned());
        self.waiting.extend(texts);
    }

    fn add_block(&mut self, texts: &[impl AsRef<str> + Sync]) {
        let (pieces, max_length) = (&self.pieces, self.max_length);
        let encode = || pieces.encode_all(texts, max_length);
        let Some(cache) = &mut self.cache else {
            self.rows.num_misses += 1;
            return self.rows.push(Block::Held(encode()));
        };
        let key = BlockKey::of(pieces, max_length, texts);
        if let Some(block) = cache.get(&key) {
            self.rows.num_hits += 1;
            return self.rows.push(Block::Mapped(block));
        }
        self.rows.num_misses += 1;
        let rows = encode();
        let block = match cache.put(&key, &rows) {
            Some(block) => Block::Mapped(block),
            None => Block::Held(rows),
        };
        self.rows.push(block);
    }
}

/// The pieces of every text of a corpus, in memory-mapped files where there is a cache.
#[derive(Debug, Clone, Default)]
pub struct PieceRows {
    /// All but the last have [`TEXTS_A_BLOCK`] rows.
    blocks: Vec<Arc<Block>>,
    /// Which rows of the blocks these are, where not all.
    chosen: Option<Vec<u32>>,
    num_rows: usize,
    num_items: usize,
    num_hits: usize,
    num_misses: usize,
}

#[derive(Debug, Clone)]
enum Block {
    Held(IndexRows),
    Mapped(MappedBlock),
}

impl Block {
    fn sizes(&self) -> (usize, usize) {
        match self {
            Self::Held(rows) => (rows.num_rows(), rows.num_items()),
            Self::Mapped(rows) => (rows.num_rows(), rows.num_items()),
        }
    }
}

impl PieceRows {
    /// Number of texts.
    pub fn num_rows(&self) -> usize {
        self.num_rows
    }

    /// Number of pieces of all texts.
    pub fn num_items(&self) -> usize {
        self.num_items
    }

    /// The pieces of the text at `index`.
    pub fn row(&self, index: usize) -> &[u32] {
        let index = match &self.chosen {
            Some(chosen) => chosen[index] as usize,
            None => index,
        };
        let row = index % TEXTS_A_BLOCK;
        match &*self.blocks[index / TEXTS_A_BLOCK] {
            Block::Held(rows) => rows.row(row),
            Block::Mapped(rows) => rows.row(row),
        }
    }

    /// All rows in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        (0..self.num_rows).map(|index| self.row(index))
    }

    /// Some of these rows, which are not copied.
    #[must_use]
    pub fn some(&self, rows: impl Iterator<Item = u32>) -> Self {
        let mut some = self.clone();
        let chosen = rows.map(|row| match &self.chosen {
            Some(chosen) => chosen[row as usize],
            None => row,
        });
        let chosen: Vec<u32> = chosen.collect();
        some.num_rows = chosen.len();
        some.chosen = Some(chosen);
        some.num_items = some.rows().map(<[u32]>::len).sum();
        some
    }

    /// A copy in memory.
    pub fn to_index_rows(&self) -> IndexRows {
        self.rows().map(|row| row.iter().copied()).collect()
    }

    /// Blocks of texts that were found in the cache.
    pub fn num_hits(&self) -> usize {
        self.num_hits
    }

    /// Blocks of texts that had to be tokenised.
    pub fn num_misses(&self) -> usize {
        self.num_misses
    }

    fn push(&mut self, block: Block) {
        let (num_rows, num_items) = block.sizes();
        self.num_rows += num_rows;
        self.num_items += num_items;
        self.blocks.push(Arc::new(block));
    }

    /// For people.
    pub fn summary(&self) -> String {
        let mean = self.num_items as f64 / self.num_rows.max(1) as f64;
        format!(
            "{} texts, {mean:.1} pieces each, {} of {} blocks from the cache",
            self.num_rows,
            self.num_hits,
            self.num_hits + self.num_misses
        )
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::golden;
    use super::*;

    fn tokenise(pieces: &Pieces, texts: &[String], folder: Option<&Path>) -> PieceRows {
        let mut builder = PieceCorpusBuilder::new(pieces.clone(), 12, folder);
        builder.push_batch(texts);
        builder.finish().1
    }

    fn files(folder: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files
    }

    /// A corpus of two blocks and a bit.
    fn texts() -> Vec<String> {
        let numbered = (0..2 * TEXTS_A_BLOCK + 9).zip(golden::strings().iter().cycle());
        numbered
            .map(|(number, text)| format!("{number} {text}"))
            .collect()
    }

    #[test]
    fn batches_of_any_size_give_the_rows_of_one() {
        let pieces = golden::pieces("bert");
        let texts = texts();
        let expected = pieces.encode_all(&texts, 12);
        let folder = tempfile::tempdir().unwrap();
        for size in [1000, TEXTS_A_BLOCK, texts.len()] {
            let mut builder = PieceCorpusBuilder::new(pieces.clone(), 12, Some(folder.path()));
            for batch in texts.chunks(size) {
                builder.push_batch(batch);
            }
            let (_, rows) = builder.finish();
            assert_eq!(rows.num_rows(), texts.len());
            assert_eq!(rows.num_items(), expected.num_items());
            assert!(rows.rows().eq(expected.rows()), "batches of {size}");
            assert_eq!(rows.to_index_rows(), expected);
            assert_eq!(files(folder.path()).len(), 3, "nothing but a file a block");
        }
    }

    #[test]
    fn second_time_nothing_is_tokenised() {
        let pieces = golden::pieces("bert");
        let mut texts = texts();
        let folder = tempfile::tempdir().unwrap();
        let first = tokenise(&pieces, &texts, Some(folder.path()));
        assert_eq!((first.num_hits(), first.num_misses()), (0, 3));
        let second = tokenise(&pieces, &texts, Some(folder.path()));
        assert_eq!((second.num_hits(), second.num_misses()), (3, 0));
        assert!(second.rows().eq(first.rows()));
        texts[TEXTS_A_BLOCK].push('!');
        let third = tokenise(&pieces, &texts, Some(folder.path()));
        assert_eq!((third.num_hits(), third.num_misses()), (2, 1));
        let expected = pieces.encode_all(&texts, 12);
        assert!(third.rows().eq(expected.rows()));
    }

    #[test]
    fn other_tokenizers_and_lengths_are_other_entries() {
        let texts = &golden::strings()[..50];
        let folder = tempfile::tempdir().unwrap();
        for case in ["bert", "bert, cased", "xlnet"] {
            let rows = tokenise(&golden::pieces(case), texts, Some(folder.path()));
            assert_eq!(rows.num_hits(), 0, "{case}");
        }
        let pieces = golden::pieces("bert");
        let mut builder = PieceCorpusBuilder::new(pieces.clone(), 13, Some(folder.path()));
        builder.push_batch(texts);
        assert_eq!(builder.finish().1.num_hits(), 0);
        assert_eq!(files(folder.path()).len(), 4);
        // The same texts with another border between them.
        let mut builder = PieceCorpusBuilder::new(pieces.clone(), 12, Some(folder.path()));
        builder.push_batch(&["ab", "c"]);
        assert_eq!(builder.finish().1.num_hits(), 0);
        let mut builder = PieceCorpusBuilder::new(pieces.clone(), 12, Some(folder.path()));
        builder.push_batch(&["a", "bc"]);
        assert_eq!(builder.finish().1.num_hits(), 0);
    }

    #[test]
    fn damaged_files_are_made_anew() {
        let pieces = golden::pieces("bert");
        let texts = &golden::strings()[..50];
        let folder = tempfile::tempdir().unwrap();
        let expected = tokenise(&pieces, texts, Some(folder.path())).to_index_rows();
        let [file] = &*files(folder.path()) else {
            panic!("one block")
        };
        let whole = std::fs::read(file).unwrap();
        // An id that is one, but not the right one.
        let mut flipped = whole.clone();
        let place = whole.len() - 32 - 4 * 20;
        flipped[place] ^= 1;
        for damaged in [&whole[..whole.len() / 2], b"", &flipped] {
            // A new file: the mapping of the old one stays as it was.
            std::fs::remove_file(file).unwrap();
            std::fs::write(file, damaged).unwrap();
            let rows = tokenise(&pieces, texts, Some(folder.path()));
            assert_eq!((rows.num_hits(), rows.num_misses()), (0, 1));
            assert_eq!(rows.to_index_rows(), expected);
            assert_eq!(std::fs::read(file).unwrap(), whole);
        }
    }

    #[test]
    fn folder_that_cannot_be_used_costs_nothing_but_the_cache() {
        let pieces = golden::pieces("bert");
        let texts = texts();
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join("file");
        std::fs::write(&file, "no folder").unwrap();
        let rows = tokenise(&pieces, &texts, Some(&file.join("cache")));
        assert_eq!((rows.num_hits(), rows.num_misses()), (0, 3));
        assert!(rows.rows().eq(pieces.encode_all(&texts, 12).rows()));
        let rows = tokenise(&pieces, &texts, None);
        assert!(rows.rows().eq(pieces.encode_all(&texts, 12).rows()));
        assert_eq!(tokenise(&pieces, &[], None).num_rows(), 0);
    }
}
