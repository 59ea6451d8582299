//! What tells equal documents: a number made of what they say.

use super::{Content, Document};

/// Start and factor of the 64-bit FNV-1a hash (Fowler, Noll, Vo). Model folders keep these numbers, so
/// that they must be the same in every version of the program and of Rust.
const START: u64 = 0xcbf2_9ce4_8422_2325;
const FACTOR: u64 = 0x0000_0100_0000_01b3;

impl Content {
    /// A number that equal contents share; none for a content without words or features. Texts that
    /// differ in case and white space only are the same.
    pub fn hash_of_words(&self) -> Option<u64> {
        let mut hash = Fnv(START);
        match self {
            Self::Text(text) => {
                let mut letter = [0; 4];
                for word in text.split_whitespace() {
                    for character in word.chars().flat_map(char::to_lowercase) {
                        hash.add(character.encode_utf8(&mut letter).as_bytes());
                    }
                    hash.add(b" ");
                }
            }
            Self::Features(features) => {
                for (column, value) in features.columns.iter().zip(&features.values) {
                    hash.add(&column.to_le_bytes());
                    hash.add(&value.to_le_bytes());
                }
            }
        }
        (hash.0 != START).then(|| mixed(hash.0))
    }
}

impl Document {
    /// [`Content::hash_of_words`] of its content.
    pub fn content_hash(&self) -> Option<u64> {
        self.content.hash_of_words()
    }
}

struct Fnv(u64);

impl Fnv {
    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(FACTOR);
        }
    }
}

/// Spreads a hash over all numbers, as FNV-1a does not: samples are taken by the size of hashes. The
/// last steps of `SplitMix64`.
fn mixed(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SparseVector;

    fn hash(text: &str) -> Option<u64> {
        Content::Text(text.into()).hash_of_words()
    }

    #[test]
    fn case_and_white_space_make_no_difference_but_words_do() {
        assert_eq!(hash("The Sea\n at night"), hash("the sea at  NIGHT "));
        assert_ne!(hash("the sea at night"), hash("the seaat night"));
        assert_eq!((hash(" \n"), hash("")), (None, None));
        let empty = Content::Features(SparseVector::default());
        assert_eq!(empty.hash_of_words(), None);
    }

    #[test]
    fn hashes_stay_the_same_as_models_keep_them() {
        // FNV-1a of `a `, then the last steps of SplitMix64, from an independent program.
        assert_eq!(hash("A"), Some(0x17a6_35e3_fa8f_420b));
    }
}
