//! From texts to vectors, by way of a cache.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use plethora_core::IndexRows;

use super::encoder::FrozenEncoder;
use super::vector_cache::{TextKey, VectorCache};
use super::vectors::Vectors;
use crate::Result;
use crate::pretrained::{Cut, PieceReader};
use crate::systems::fingerprint::Fingerprint;
use crate::transformer::Pooling;

/// Texts that are encoded, and then kept in the cache, together: a few minutes of an interrupted run.
const TEXTS_A_BLOCK: usize = 4096;

/// Part of every fingerprint: raised when vectors or files change without a change of the encoder.
const FORMAT: &str = "plethora vectors 1";

/// Characters of a fingerprint that name a folder.
const NAME_LENGTH: usize = 32;

/// A frozen encoder with its tokenizer.
#[derive(Debug)]
pub(crate) struct TextVectors {
    encoder: FrozenEncoder,
    reader: PieceReader,
    cache: Option<Mutex<VectorCache>>,
}

/// Texts on their way to vectors.
#[derive(Debug, Default)]
pub(crate) struct WaitingTexts {
    keys: Vec<TextKey>,
    /// False where the cache has the vector.
    is_new: Vec<bool>,
    /// The pieces of each new text.
    sequences: IndexRows,
}

impl WaitingTexts {
    /// Number of texts.
    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Number of texts whose vectors the cache has.
    pub(crate) fn num_known(&self) -> usize {
        self.is_new.iter().filter(|is_new| !**is_new).count()
    }
}

impl TextVectors {
    pub(crate) fn new(encoder: FrozenEncoder, reader: PieceReader) -> Self {
        Self {
            encoder,
            reader,
            cache: None,
        }
    }

    /// Finds vectors in the folder `cache`, and keeps new ones there. `encoder_files` are the weights, which
    /// under the same name may be others.
    pub(crate) fn with_cache(
        mut self,
        cache: &Path,
        pooling: Pooling,
        encoder_files: &[PathBuf],
    ) -> Result<Self> {
        let PieceReader { pieces, max_length } = &self.reader;
        let (architecture, numbers) = (self.encoder.architecture(), self.encoder.numbers());
        let how = (FORMAT, architecture, pieces.fingerprint(), max_length);
        let mut fingerprint = Fingerprint::new(&(how, pooling, numbers.to_string()), &[])?;
        fingerprint.add_files(encoder_files)?;
        let name = &fingerprint.finish()[..NAME_LENGTH];
        let cache = VectorCache::open(cache, name, self.encoder.width());
        self.cache = Some(Mutex::new(cache));
        Ok(self)
    }

    pub(crate) fn encoder(&self) -> &FrozenEncoder {
        &self.encoder
    }

    /// The encoder, to train it.
    pub(crate) fn encoder_mut(&mut self) -> &mut FrozenEncoder {
        &mut self.encoder
    }

    pub(crate) fn reader(&self) -> &PieceReader {
        &self.reader
    }

    /// Cuts texts into pieces, but for those whose vectors are known.
    pub(crate) fn wait(&self, texts: &[impl AsRef<str> + Sync], waiting: &mut WaitingTexts) {
        let mut new_texts = Vec::new();
        for text in texts.iter().map(AsRef::as_ref) {
            let key = TextKey::of(text);
            let is_known = self.in_cache(|cache| cache.get(&key).is_some());
            let is_new = is_known != Some(true);
            if is_new {
                new_texts.push(text);
            }
            waiting.is_new.push(is_new);
            waiting.keys.push(key);
        }
        for row in self.reader.sequences(&new_texts).rows() {
            waiting.sequences.push(row.iter().copied());
        }
    }

    /// The vectors of texts, from the cache or from the encoder; `after_texts` hears how many more are done
    /// and may stop the work. What is done by then is in the cache.
    pub(crate) fn encode(
        &self,
        waiting: &WaitingTexts,
        mut after_texts: impl FnMut(usize) -> Result<()>,
    ) -> Result<Vectors> {
        let keys = waiting.keys.iter().zip(&waiting.is_new);
        let new_keys: Vec<TextKey> = (keys.filter(|&(_, &is_new)| is_new))
            .map(|(&key, _)| key)
            .collect();
        after_texts(waiting.len() - new_keys.len())?;
        let cut = self.cut();
        let mut encoded = Vectors::new(self.encoder.width());
        for (block, keys) in new_keys.chunks(TEXTS_A_BLOCK).enumerate() {
            let first = block * TEXTS_A_BLOCK;
            let rows = (first..first + keys.len()).map(|text| waiting.sequences.row(text));
            let sequences: IndexRows = rows.map(|row| row.iter().copied()).collect();
            let vectors = self.encoder.vectors(&sequences, cut, &mut after_texts)?;
            self.in_cache(|cache| cache.put(keys, &vectors));
            encoded.append(&vectors);
        }
        if new_keys.len() == waiting.len() {
            return Ok(encoded);
        }
        let mut vectors = Vectors::new(self.encoder.width());
        let mut new_rows = (0..).map(|text| encoded.row(text));
        for (key, &is_new) in waiting.keys.iter().zip(&waiting.is_new) {
            if is_new {
                vectors.push(new_rows.next().expect("rows do not end"));
            } else {
                let row = self.in_cache(|cache| cache.get(key).map(<[u16]>::to_vec));
                let row = row.flatten();
                vectors.push(&row.expect("texts that are not new are in the cache"));
            }
        }
        Ok(vectors)
    }

    /// The vectors of documents in pieces; `after_texts` hears how many more are done and may stop the work.
    pub(crate) fn encode_pieces<'a>(
        &self,
        rows: impl ExactSizeIterator<Item = &'a [u32]>,
        mut after_texts: impl FnMut(usize) -> Result<()>,
    ) -> Result<Vectors> {
        let mut vectors = Vectors::new(self.encoder.width());
        let mut rows = rows.peekable();
        while rows.peek().is_some() {
            let block = rows.by_ref().take(TEXTS_A_BLOCK);
            let sequences: IndexRows = block.map(|row| row.iter().copied()).collect();
            let cut = self.cut();
            vectors.append(&self.encoder.vectors(&sequences, cut, &mut after_texts)?);
        }
        Ok(vectors)
    }

    /// The vectors of a few texts.
    pub(crate) fn of_texts(&self, texts: &[impl AsRef<str> + Sync]) -> Result<Vectors> {
        let mut waiting = WaitingTexts::default();
        self.wait(texts, &mut waiting);
        self.encode(&waiting, |_| Ok(()))
    }

    fn cut(&self) -> Cut {
        let num_after = self.reader.pieces.num_after();
        Cut::new(self.reader.max_length, num_after, self.encoder.device())
    }

    fn in_cache<T>(&self, act: impl FnOnce(&mut VectorCache) -> T) -> Option<T> {
        let cache = self.cache.as_ref()?;
        // A cache that somebody left in the middle of an addition only lacks it.
        let mut cache = cache.lock().unwrap_or_else(PoisonError::into_inner);
        Some(act(&mut cache))
    }
}
