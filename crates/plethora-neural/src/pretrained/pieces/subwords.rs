//! The tokenizer of an encoder.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use fs_err as fs;
use plethora_core::{Error, IndexRows};
use rayon::prelude::*;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokenizers::{Encoding, Tokenizer};

use super::assemble::parse;
use super::{folder, prefix, probe};
use crate::Result;

/// Name of the tokenizer in a model folder, and in most encoder folders.
pub const TOKENIZER_FILE: &str = "tokenizer.json";

/// Texts whose pieces are held twice for a moment, once as a list each.
const TEXTS_AT_ONCE: usize = 4096;

/// Cuts texts into the subword pieces of a pretrained encoder.
///
/// ```no_run
/// # fn main() -> plethora_neural::Result<()> {
/// use plethora_neural::pretrained::Pieces;
///
/// let pieces = Pieces::open("all-MiniLM-L6-v2".as_ref())?;
/// let ids = pieces.encode("Trees in winter", 512); // [CLS] trees in winter [SEP]
/// assert_eq!(ids, [101, 3628, 1999, 3467, 102]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Pieces {
    tokenizer: Tokenizer,
    /// Ids of the special tokens before and after a text.
    before: Vec<u32>,
    after: Vec<u32>,
    /// Whether [`prefix`] may be used.
    ends_at_spaces: bool,
    vocab_size: usize,
    /// The file that the vocabulary came from.
    path: PathBuf,
    fingerprint: [u8; 32],
}

impl Pieces {
    /// Reads the tokenizer of a Hugging Face folder: `tokenizer.json`, or else the files of its
    /// architecture.
    ///
    /// # Errors
    ///
    /// [`Model`](plethora_core::Error::Model), [`Input`](plethora_core::Error::Input) or
    /// [`Read`](plethora_core::Error::Read), naming the file that is missing or cannot be used.
    pub fn open(folder: &Path) -> Result<Self> {
        let (tokenizer, file) = folder::open(folder)?;
        Self::new(tokenizer, folder.join(file))
    }

    /// Reads what [`save_to`](Self::save_to) wrote.
    ///
    /// # Errors
    ///
    /// [`Model`](plethora_core::Error::Model) where the file is missing or damaged.
    pub fn load_from(folder: &Path) -> Result<Self> {
        let path = folder.join(TOKENIZER_FILE);
        let bytes = fs::read(&path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Error::model(&path, "is missing from the model"),
            _ => Error::read(&path)(error),
        })?;
        Self::new(parse(&path, &bytes)?, path)
    }

    /// The same for texts that are lower-cased first.
    ///
    /// # Errors
    ///
    /// [`Model`](plethora_core::Error::Model) where the tokenizer cannot be used so.
    pub fn lower_cased(self) -> Result<Self> {
        let mut layout: Value = serde_json::from_str(&self.json()).unwrap_or_default();
        let mut steps = vec![json!({ "type": "Lowercase" })];
        steps.extend(Some(layout["normalizer"].take()).filter(|step| !step.is_null()));
        layout["normalizer"] = json!({ "type": "Sequence", "normalizers": steps });
        let tokenizer = parse(&self.path, layout.to_string().as_bytes())?;
        Self::new(tokenizer, self.path)
    }

    fn json(&self) -> String {
        (self.tokenizer.to_string(false))
            .expect("a tokenizer that was written once can be written again")
    }

    fn new(mut tokenizer: Tokenizer, path: PathBuf) -> Result<Self> {
        let unusable = |reason: String| {
            let message = format!("not a tokenizer that can be used: {reason}");
            Error::model(&path, message)
        };
        // Both are up to who makes batches, not to whoever saved the tokenizer.
        tokenizer.with_padding(None);
        tokenizer
            .with_truncation(None)
            .map_err(|error| unusable(error.to_string()))?;
        probe::strange_texts(&tokenizer).map_err(unusable)?;
        let (before, after) = probe::special_tokens(&tokenizer).map_err(unusable)?;
        let json = tokenizer
            .to_string(false)
            .map_err(|error| unusable(error.to_string()))?;
        let highest = tokenizer.get_vocab(true).into_values().max();
        Ok(Self {
            before,
            after,
            ends_at_spaces: prefix::ends_at_spaces(&tokenizer),
            vocab_size: highest.map_or(0, |id| id as usize + 1),
            fingerprint: Sha256::digest(json).into(),
            tokenizer,
            path,
        })
    }

    /// Writes `tokenizer.json` into the existing folder `folder`.
    ///
    /// # Errors
    ///
    /// [`Write`](plethora_core::Error::Write) where that cannot be done.
    pub fn save_to(&self, folder: &Path) -> Result<()> {
        let path = folder.join(TOKENIZER_FILE);
        let partial = folder.join(format!("{TOKENIZER_FILE}.partial"));
        fs::write(&partial, self.json())
            .and_then(|()| fs::rename(&partial, &path))
            .map_err(Error::write(&path))?;
        Ok(())
    }

    /// Special pieces around a text.
    pub fn num_special(&self) -> usize {
        self.before.len() + self.after.len()
    }

    /// Special pieces before a text.
    pub fn num_before(&self) -> usize {
        self.before.len()
    }

    /// Special pieces behind a text.
    pub fn num_after(&self) -> usize {
        self.after.len()
    }

    /// The highest id that a text can get, and one more.
    pub fn vocab_size(&self) -> usize {
        self.vocab_size
    }

    /// SHA-256 of the tokenizer: two of the same fingerprint give the same ids.
    pub fn fingerprint(&self) -> [u8; 32] {
        self.fingerprint
    }

    /// Makes sure that a model with `num_rows` rows of piece vectors, from `model_file`, has one for
    /// every id.
    ///
    /// # Errors
    ///
    /// [`Model`](plethora_core::Error::Model) that names both files and both numbers.
    pub fn check_vocabulary(&self, num_rows: usize, model_file: &Path) -> Result<()> {
        if self.vocab_size <= num_rows {
            return Ok(());
        }
        let message = format!(
            "its ids reach {}, but {} has vectors for {num_rows} pieces only: the tokenizer and \
             the model are not of one encoder",
            self.vocab_size - 1,
            model_file.display()
        );
        Err(Error::model(&self.path, message).into())
    }

    /// The ids of a text's pieces with the special tokens around them, at most `max_length` in all:
    /// of a longer text the end is missing, the special tokens are there.
    pub fn encode(&self, text: &str, max_length: usize) -> Vec<u32> {
        let encoding = self.run(text, max_length, |text| {
            self.tokenizer.encode_fast(text, false)
        });
        let ids = encoding.as_ref().map_or(&[][..], Encoding::get_ids);
        self.framed(ids.iter().copied(), |id| id, max_length)
    }

    /// [`encode`](Self::encode) for many texts at once: a row a text.
    pub fn encode_all(&self, texts: &[impl AsRef<str> + Sync], max_length: usize) -> IndexRows {
        let mut rows = IndexRows::default();
        for texts in texts.chunks(TEXTS_AT_ONCE) {
            let encoded: Vec<Vec<u32>> = texts
                .par_iter()
                .map(|text| self.encode(text.as_ref(), max_length))
                .collect();
            for row in encoded {
                rows.push(row);
            }
        }
        rows
    }

    /// [`encode`](Self::encode) with the bytes of `text` that each piece comes from; those of
    /// special tokens are empty.
    pub fn spans(&self, text: &str, max_length: usize) -> Vec<(u32, Range<usize>)> {
        let encoding = self.run(text, max_length, |text| self.tokenizer.encode(text, false));
        let encoding = encoding.unwrap_or_default();
        let offsets = encoding.get_offsets().iter();
        let places = offsets.map(|&(start, end)| {
            // Where the library leaves out a wide space, it counts it as one byte.
            let end = next_character(text, end);
            next_character(text, start).min(end)..end
        });
        let spans = encoding.get_ids().iter().copied().zip(places);
        self.framed(spans, |id| (id, 0..0), max_length)
    }

    #[cfg(test)]
    pub(super) fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// Special tokens around as many pieces as fit between them.
    fn framed<T>(
        &self,
        pieces: impl Iterator<Item = T>,
        special: impl Fn(u32) -> T,
        max_length: usize,
    ) -> Vec<T> {
        let num_before = self.before.len().min(max_length);
        let num_after = self.after.len().min(max_length - num_before);
        let before = self.before[..num_before].iter();
        // Of `XLNet`'s two the class token is the last.
        let after = self.after[self.after.len() - num_after..].iter();
        before
            .map(|&id| special(id))
            .chain(pieces.take(max_length - num_before - num_after))
            .chain(after.map(|&id| special(id)))
            .collect()
    }

    /// What `encode` makes of a text, or of enough of its beginning. The library has no failure left
    /// that we know of once the tokenizer is open; should there be one, the text has no pieces and
    /// the log says so.
    fn run(
        &self,
        text: &str,
        max_length: usize,
        encode: impl Fn(&str) -> tokenizers::Result<Encoding>,
    ) -> Option<Encoding> {
        let run = || -> tokenizers::Result<Encoding> {
            if self.ends_at_spaces {
                for beginning in prefix::beginnings(text, max_length) {
                    let encoding = encode(beginning)?;
                    if encoding.len() >= max_length {
                        return Ok(encoding);
                    }
                }
            }
            encode(text)
        };
        let reason = match catch_unwind(AssertUnwindSafe(run)) {
            Ok(Ok(encoding)) => return Some(encoding),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "a panic in the tokenizer".to_owned(),
        };
        tracing::warn!(path = %self.path.display(), reason, "a text cannot be cut into pieces");
        None
    }
}

/// The first border of characters at or after a place.
fn next_character(text: &str, place: usize) -> usize {
    let mut places = place..text.len();
    places
        .find(|&place| text.is_char_boundary(place))
        .unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::super::golden;
    use super::*;

    #[test]
    fn empty_text_is_its_special_tokens() {
        for (case, expected) in [("bert", [2, 3]), ("mpnet", [0, 2]), ("xlnet", [4, 3])] {
            let pieces = golden::pieces(case);
            for text in ["", " \n\t "] {
                assert_eq!(pieces.encode(text, 9), expected, "{case}");
                let spans = expected.map(|id| (id, 0..0));
                assert_eq!(pieces.spans(text, 9), spans, "{case}");
            }
        }
    }

    #[test]
    fn texts_are_lower_cased_where_the_encoder_tells_cases_apart() {
        for case in ["roberta", "xlnet"] {
            let pieces = golden::pieces(case);
            let (upper, lower) = ("The LIBRARY, of ÉCOLES", "the library, of écoles");
            assert_ne!(pieces.encode(upper, 99), pieces.encode(lower, 99), "{case}");
            let lowered = pieces.clone().lower_cased().unwrap();
            let expected = pieces.encode(lower, 99);
            assert_eq!(lowered.encode(upper, 99), expected, "{case}");
            assert_eq!(lowered.num_special(), pieces.num_special());
            assert_ne!(
                lowered.fingerprint(),
                pieces.fingerprint(),
                "the cache tells them apart"
            );
            // Places are those of the text as it is.
            let spans = lowered.spans(upper, 99).into_iter().map(|(_, place)| place);
            let ends = spans.map(|place| place.end).max();
            assert_eq!(ends, Some(upper.len()), "{case}");
            let folder = tempfile::tempdir().unwrap();
            lowered.save_to(folder.path()).unwrap();
            let opened = Pieces::load_from(folder.path()).unwrap();
            assert_eq!(opened.encode(upper, 99), expected, "{case}");
        }
    }

    #[test]
    fn too_little_room_leaves_the_first_and_the_last_special_token() {
        let bert = golden::pieces("bert");
        assert_eq!(bert.encode("the library", 2), [2, 3]);
        assert_eq!(bert.encode("the library", 1), [2]);
        assert_eq!(bert.encode("the library", 0), [] as [u32; 0]);
        assert_eq!(golden::pieces("xlnet").encode("the library", 1), [3]);
    }

    #[test]
    fn spans_leave_out_the_spaces_between_words() {
        for case in ["bert", "mpnet", "roberta", "xlnet"] {
            let text = "The  library, of caf\u{e9}s";
            let spans = golden::pieces(case).spans(text, usize::MAX);
            let mut places: Vec<usize> = spans.into_iter().flat_map(|(_, range)| range).collect();
            // The two bytes of a character may be pieces of their own, in the same place.
            places.sort_unstable();
            places.dedup();
            let expected = (0..text.len()).filter(|&place| text.as_bytes()[place] != b' ');
            assert!(places.into_iter().eq(expected), "{case}");
        }
    }

    #[test]
    fn hard_texts_do_no_harm() {
        let long = |part: &str| part.repeat(300_000 / part.len());
        for case in ["bert", "roberta", "xlnet"] {
            let pieces = golden::pieces(case);
            for part in [
                " ",
                "\n",
                "a",
                "'",
                "\u{301}",
                "字",
                "👨‍👩",
                "\0",
                "a ",
                "<s>",
                " <mask>",
            ] {
                let ids = pieces.encode(&long(part), 16);
                assert!(ids.len() <= 16 && ids.len() >= 2, "{case}: {part:?}");
            }
        }
    }

    #[test]
    fn vocabulary_counts_the_highest_id() {
        assert_eq!(golden::pieces("bert").vocab_size(), 420);
        // Two tokens of added_tokens.json.
        assert_eq!(golden::pieces("distilbert, accents kept").vocab_size(), 422);
    }

    #[test]
    fn model_with_too_few_rows_is_refused() {
        let folder = golden::folder("bert");
        let pieces = Pieces::open(folder.path()).unwrap();
        let model = folder.path().join("model.safetensors");
        pieces.check_vocabulary(420, &model).unwrap();
        pieces.check_vocabulary(512, &model).unwrap();
        let error = pieces
            .check_vocabulary(419, &model)
            .unwrap_err()
            .to_string();
        let folder = folder.path().display();
        assert_eq!(
            error,
            format!(
                "{folder}/vocab.txt: its ids reach 419, but {folder}/model.safetensors has vectors \
                 for 419 pieces only: the tokenizer and the model are not of one encoder"
            )
        );
    }

    #[test]
    fn missing_tokenizer_is_missing_from_the_model() {
        let folder = tempfile::tempdir().unwrap();
        let error = Pieces::load_from(folder.path()).unwrap_err().to_string();
        assert!(
            error.ends_with("tokenizer.json: is missing from the model"),
            "{error}"
        );
    }
}
