//! Tokenised blocks of texts on disk, found by what they were made from.

use std::path::{Path, PathBuf};

use fs_err as fs;
use plethora_core::artifact::{ArrayFileWriter, Dtype, MappedArray, MappedArrays};
use plethora_core::{Error, IndexRows};
use sha2::{Digest, Sha256};

use super::subwords::Pieces;

/// Part of every key: raised when ids or files change without a change of the tokenizer.
const FORMAT: &[u8] = b"plethora pieces 1";

/// The rows of a block, used where they lie on disk.
#[derive(Debug, Clone)]
pub(super) struct MappedBlock {
    starts: MappedArray<u64>,
    ids: MappedArray<u32>,
}

impl MappedBlock {
    pub(super) fn num_rows(&self) -> usize {
        self.starts.len() - 1
    }

    pub(super) fn num_items(&self) -> usize {
        self.ids.len()
    }

    pub(super) fn row(&self, index: usize) -> &[u32] {
        &self.ids[self.starts[index] as usize..self.starts[index + 1] as usize]
    }
}

/// What a block is made from; equal keys mean equal rows.
#[derive(Debug)]
pub(super) struct BlockKey {
    name: String,
    num_texts: usize,
    max_length: usize,
    vocab_size: usize,
}

impl BlockKey {
    pub(super) fn of(pieces: &Pieces, max_length: usize, texts: &[impl AsRef<str>]) -> Self {
        let mut hasher = Sha256::new();
        hasher.update(FORMAT);
        hasher.update(pieces.fingerprint());
        hasher.update((max_length as u64).to_le_bytes());
        for text in texts {
            let text = text.as_ref();
            // Lengths keep "ab", "c" from being "a", "bc".
            hasher.update((text.len() as u64).to_le_bytes());
            hasher.update(text);
        }
        Self {
            name: hex(&hasher.finalize()),
            num_texts: texts.len(),
            max_length,
            vocab_size: pieces.vocab_size(),
        }
    }
}

/// A folder with a file `HASH.safetensors` for each block.
#[derive(Debug)]
pub(super) struct BlockCache {
    folder: PathBuf,
    /// False after a failure, which would only be met again.
    is_writable: bool,
}

impl BlockCache {
    pub(super) fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            is_writable: true,
        }
    }

    fn path(&self, key: &BlockKey) -> PathBuf {
        self.folder.join(format!("{}.safetensors", key.name))
    }

    /// The block, unless it is not there or damaged.
    pub(super) fn get(&self, key: &BlockKey) -> Option<MappedBlock> {
        let path = self.path(key);
        if !path.exists() {
            return None;
        }
        match open(&path, key) {
            Ok(block) => Some(block),
            Err(error) => {
                tracing::warn!(%error, "a damaged file of tokenised texts is made anew");
                None
            }
        }
    }

    /// Writes a block and gives it back from disk; `None` if that cannot be done.
    pub(super) fn put(&mut self, key: &BlockKey, rows: &IndexRows) -> Option<MappedBlock> {
        if !self.is_writable {
            return None;
        }
        match self.write(key, rows) {
            Ok(block) => Some(block),
            Err(error) => {
                self.is_writable = false;
                tracing::warn!(%error, "tokenised texts are not kept for the next time");
                None
            }
        }
    }

    fn write(&self, key: &BlockKey, rows: &IndexRows) -> plethora_core::Result<MappedBlock> {
        fs::create_dir_all(&self.folder).map_err(Error::write(&self.folder))?;
        // In a folder of its own: another process may be writing the same block.
        let scratch = Scratch(
            self.folder
                .join(format!(".{}-{}", key.name, std::process::id())),
        );
        fs::create_dir_all(&scratch.0).map_err(Error::write(&scratch.0))?;
        let written = scratch.0.join("block.safetensors");
        let mut starts = vec![0_u64];
        let mut ids = Vec::with_capacity(rows.num_items());
        for row in rows.rows() {
            ids.extend_from_slice(row);
            starts.push(ids.len() as u64);
        }
        let mut writer = ArrayFileWriter::create(&written)?;
        let array = writer.begin("starts", Dtype::U64)?;
        writer.append(array, &starts)?;
        let array = writer.begin("ids", Dtype::U32)?;
        writer.append(array, &ids)?;
        let array = writer.begin("sha256", Dtype::U8)?;
        writer.append(array, &checksum(&starts, &ids))?;
        writer.finish()?;
        let path = self.path(key);
        fs::rename(&written, &path).map_err(Error::write(&path))?;
        open(&path, key)
    }
}

/// A folder that goes with everything in it.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Maps a block and checks it as a whole, which costs far less than making it.
fn open(path: &Path, key: &BlockKey) -> plethora_core::Result<MappedBlock> {
    let arrays = MappedArrays::open_own(path)?;
    let block = MappedBlock {
        starts: arrays.owned("starts")?,
        ids: arrays.owned("ids")?,
    };
    let rises = |pair: &[u64]| pair[0] <= pair[1] && pair[1] - pair[0] <= key.max_length as u64;
    let is_sound = block.starts.len() == key.num_texts + 1
        && block.starts[0] == 0
        && block.starts[key.num_texts] == block.ids.len() as u64
        && block.starts.windows(2).all(rises)
        && block.ids.iter().all(|&id| (id as usize) < key.vocab_size)
        && arrays.array::<u8>("sha256")? == checksum(&block.starts, &block.ids);
    if is_sound {
        Ok(block)
    } else {
        Err(Error::model(
            path,
            "damaged: its rows are not those of the texts",
        ))
    }
}

fn checksum(starts: &[u64], ids: &[u32]) -> [u8; 32] {
    let starts = starts.iter().flat_map(|start| start.to_le_bytes());
    let ids = ids.iter().flat_map(|id| id.to_le_bytes());
    let bytes: Vec<u8> = starts.chain(ids).collect();
    Sha256::digest(bytes).into()
}

fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(half.into(), 16).expect("half a byte is a digit");
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}
