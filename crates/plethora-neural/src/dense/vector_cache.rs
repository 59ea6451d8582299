//! Vectors of texts on disk, found by what they were made from.

use std::path::{Path, PathBuf};

use fs_err as fs;
use plethora_core::Error;
use plethora_core::artifact::{ArrayFileWriter, Dtype, MappedArray, MappedArrays};
use rustc_hash::FxHashMap;
use sha2::{Digest, Sha256};

use super::vectors::Vectors;

/// Bytes of a text's key: two texts of one key are not going to be met.
const KEY_BYTES: usize = 16;

/// Fewer texts are not worth a file: a server would leave one for every request.
const FEWEST_KEPT: usize = 256;

/// What a text is found by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct TextKey([u8; KEY_BYTES]);

impl TextKey {
    pub(super) fn of(text: &str) -> Self {
        let hash = Sha256::digest(text);
        let (key, _) = hash.split_first_chunk().expect("a hash is longer");
        Self(*key)
    }
}

/// The vectors that one encoder, read in one way, has made of texts: a folder named by the encoder's
/// fingerprint, with a file for each few thousand texts. The folder can be deleted at any time.
#[derive(Debug)]
pub(super) struct VectorCache {
    folder: PathBuf,
    width: usize,
    files: Vec<MappedArray<u16>>,
    /// File and row of each text.
    places: FxHashMap<TextKey, (u32, u32)>,
    /// False after a failure, which would only be met again.
    is_writable: bool,
}

impl VectorCache {
    /// What `parent` has of the vectors of `width` numbers that are called `fingerprint`.
    pub(super) fn open(parent: &Path, fingerprint: &str, width: usize) -> Self {
        let mut cache = Self {
            folder: parent.join(format!("vectors-{fingerprint}")),
            width,
            files: Vec::new(),
            places: FxHashMap::default(),
            is_writable: true,
        };
        let entries = fs::read_dir(&cache.folder).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = (entries.map(|entry| entry.path()))
            .filter(|path| path.extension().is_some_and(|end| end == "safetensors"))
            .collect();
        // Which file a text comes from must not depend on the file system.
        paths.sort();
        for path in paths {
            if let Err(error) = cache.add(&path) {
                tracing::warn!(%error, "a damaged file of vectors is left out");
            }
        }
        cache
    }

    /// The vector of a text, if it is there.
    pub(super) fn get(&self, key: &TextKey) -> Option<&[u16]> {
        let &(file, row) = self.places.get(key)?;
        let start = row as usize * self.width;
        Some(&self.files[file as usize][start..start + self.width])
    }

    /// Keeps vectors for later runs; one folder that cannot be written to is a warning, not a failure.
    pub(super) fn put(&mut self, keys: &[TextKey], vectors: &Vectors) {
        if !self.is_writable || keys.len() < FEWEST_KEPT {
            return;
        }
        if let Err(error) = self.write(keys, vectors) {
            self.is_writable = false;
            tracing::warn!(%error, "vectors of texts are not kept for the next time");
        }
    }

    fn write(&mut self, keys: &[TextKey], vectors: &Vectors) -> plethora_core::Result<()> {
        let keys: Vec<u8> = keys.iter().flat_map(|key| key.0).collect();
        let name = hex(&Sha256::digest(&keys)[..KEY_BYTES]);
        // In a folder of its own: another process may be writing the same file.
        let scratch = self.folder.join(format!(".{name}-{}", std::process::id()));
        fs::create_dir_all(&scratch).map_err(Error::write(&scratch))?;
        let written = scratch.join("vectors.safetensors");
        let path = self.folder.join(format!("{name}.safetensors"));
        let result = write_file(&written, &keys, vectors)
            .and_then(|()| fs::rename(&written, &path).map_err(Error::write(&path)));
        let _ = fs::remove_dir_all(&scratch);
        result?;
        self.add(&path)
    }

    /// Maps a file and checks it as a whole, which costs far less than making it.
    fn add(&mut self, path: &Path) -> plethora_core::Result<()> {
        let arrays = MappedArrays::open_own(path)?;
        let keys: &[u8] = arrays.array("keys")?;
        let vectors: MappedArray<u16> = arrays.owned("vectors")?;
        let (keys, rest) = keys.as_chunks::<KEY_BYTES>();
        let is_sound = rest.is_empty()
            && vectors.len() == keys.len() * self.width
            && arrays.array::<u8>("sha256")? == checksum(&vectors);
        if !is_sound {
            return Err(Error::model(path, "damaged: its vectors are not complete"));
        }
        let file = self.files.len() as u32;
        let rows = (0..).zip(keys);
        self.places
            .extend(rows.map(|(row, &key)| (TextKey(key), (file, row))));
        self.files.push(vectors);
        Ok(())
    }
}

fn write_file(path: &Path, keys: &[u8], vectors: &Vectors) -> plethora_core::Result<()> {
    let mut writer = ArrayFileWriter::create(path)?;
    let array = writer.begin("vectors", Dtype::F16)?;
    writer.append(array, vectors.bits())?;
    let array = writer.begin("keys", Dtype::U8)?;
    writer.append(array, keys)?;
    let array = writer.begin("sha256", Dtype::U8)?;
    writer.append(array, &checksum(vectors.bits()))?;
    writer.finish()
}

fn checksum(bits: &[u16]) -> [u8; 32] {
    let bytes: Vec<u8> = bits
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect();
    Sha256::digest(bytes).into()
}

fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(half.into(), 16).expect("half a byte is a digit");
    (bytes.iter())
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some_vectors() -> (Vec<TextKey>, Vectors) {
        let mut vectors = Vectors::new(3);
        let keys = (0..FEWEST_KEPT as u16).map(|number| {
            vectors.push(&[number, number + 1, 7]);
            TextKey::of(&format!("text {number}"))
        });
        (keys.collect(), vectors)
    }

    #[test]
    fn vectors_come_back_by_text_and_encoder() {
        let folder = tempfile::tempdir().unwrap();
        let (keys, vectors) = some_vectors();
        let mut cache = VectorCache::open(folder.path(), "a", 3);
        assert!(cache.get(&keys[5]).is_none());
        cache.put(&keys, &vectors);
        for cache in [cache, VectorCache::open(folder.path(), "a", 3)] {
            assert_eq!(cache.get(&keys[5]), Some(&[5, 6, 7][..]));
            assert!(cache.get(&TextKey::of("another")).is_none());
        }
        let other = VectorCache::open(folder.path(), "b", 3);
        assert!(other.get(&keys[5]).is_none());
    }

    #[test]
    fn damaged_files_and_a_few_texts_are_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (keys, vectors) = some_vectors();
        let mut cache = VectorCache::open(folder.path(), "a", 3);
        cache.put(&keys[..9], &vectors.some(&[0, 1, 2, 3, 4, 5, 6, 7, 8]));
        assert!(cache.get(&keys[5]).is_none());
        cache.put(&keys, &vectors);
        let files = fs::read_dir(folder.path().join("vectors-a")).unwrap();
        let path = files.map(|entry| entry.unwrap().path()).next().unwrap();
        let mut bytes = fs::read(&path).unwrap();
        let end = bytes.len() - 40;
        bytes[end - KEY_BYTES * FEWEST_KEPT] ^= 1;
        fs::write(&path, bytes).unwrap();
        let damaged = VectorCache::open(folder.path(), "a", 3);
        assert!(damaged.get(&keys[5]).is_none());
    }
}
