//! Texts as words without their endings, each known by 64 bits.
//!
//! With so many bits two different phrases of some millions meet once in a million models, so that
//! neither stems nor phrases need be kept as strings.

use std::ops::Range;

use plethora_core::text::Tokenizer;
use rustc_hash::FxHashMap;

use super::language::{Endings, Languages};

/// The phrase of no words.
pub(super) const NO_WORDS: u64 = 0x9e37_79b9_7f4a_7c15;

/// A word: what its stem is known by, and its spelling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) stem: u64,
    pub(super) spelling: u64,
}

impl Word {
    pub(super) fn new(word: &str, endings: &Endings) -> Self {
        Self {
            stem: hash(endings.stem(word).as_bytes()),
            spelling: hash(word.as_bytes()),
        }
    }
}

/// The phrase that a phrase and one word more make.
pub(super) const fn extend(phrase: u64, word: u64) -> u64 {
    mixed(phrase.rotate_left(23).wrapping_mul(0xff51_afd7_ed55_8ccd) ^ word)
}

/// FNV-1a, whose bits are then mixed: unlike hashes of libraries it stays the same for ever, which
/// models rely on.
fn hash(bytes: &[u8]) -> u64 {
    let fold = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    mixed(bytes.iter().fold(0xcbf2_9ce4_8422_2325, fold))
}

/// The last steps of `SplitMix64`, which let every bit depend on all others.
const fn mixed(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// The words of one text.
#[derive(Debug, Default)]
pub(super) struct TextWords {
    pub(super) words: Vec<Word>,
    /// Where each stands in the text.
    pub(super) places: Vec<Range<usize>>,
    /// How many stand in the first line.
    pub(super) num_title: usize,
}

/// Reads texts; remembers the words it has met, as stemming takes longer than looking up.
#[derive(Debug)]
pub(super) struct WordReader {
    tokenizer: Tokenizer,
    endings: Endings,
    met: FxHashMap<String, Word>,
}

impl WordReader {
    pub(super) fn new(languages: &Languages) -> Self {
        Self {
            tokenizer: Tokenizer::default(),
            endings: languages.stemmer(),
            met: FxHashMap::default(),
        }
    }

    /// The first `max_words` words of a text.
    pub(super) fn read(&mut self, text: &str, max_words: usize) -> TextWords {
        let mut read = TextWords::default();
        let title_end = title_end(text);
        for (word, place) in self.tokenizer.words(text).take(max_words) {
            let known = self.met.get(word.as_ref()).copied();
            read.words.push(known.unwrap_or_else(|| {
                let new = Word::new(&word, &self.endings);
                self.met.insert(word.into_owned(), new);
                new
            }));
            read.num_title += usize::from(place.start < title_end);
            read.places.push(place);
        }
        read
    }
}

/// Where the first line ends, which is the title where other lines follow.
pub(super) fn title_end(text: &str) -> usize {
    text.find('\n').unwrap_or(text.len())
}

/// The phrase of some words: by their stems, and as spelt.
pub(super) fn phrase_of(words: &[Word]) -> Word {
    let join = |phrase: Word, word: &Word| Word {
        stem: extend(phrase.stem, word.stem),
        spelling: extend(phrase.spelling, word.spelling),
    };
    let none = Word {
        stem: NO_WORDS,
        spelling: NO_WORDS,
    };
    words.iter().fold(none, join)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phrase(text: &str) -> Word {
        let languages = "german english".parse().unwrap();
        let read = WordReader::new(&languages).read(text, 100);
        phrase_of(&read.words)
    }

    #[test]
    fn phrases_are_equal_by_stems_and_differ_by_spelling_and_order() {
        assert_eq!(
            phrase("Neural Networks").stem,
            phrase("neural network").stem
        );
        assert_ne!(
            phrase("Neural Networks").spelling,
            phrase("neural network").spelling
        );
        assert_eq!(phrase("Ｗale"), phrase("wale"));
        assert_ne!(phrase("a b").stem, phrase("b a").stem);
        assert_ne!(phrase("a").stem, phrase("a a").stem);
    }

    #[test]
    fn words_know_their_places_and_the_first_line() {
        let text = "Über Wale\nWale leben im Meer";
        let read = WordReader::new(&Languages::default()).read(text, 3);
        assert_eq!((read.words.len(), read.num_title), (3, 2));
        assert_eq!(&text[read.places[0].clone()], "Über");
        assert_eq!(read.words[1], read.words[2]);
    }

    #[test]
    fn numbers_of_words_never_change() {
        // Models know phrases by these.
        let endings = Languages::default().stemmer();
        assert_eq!(Word::new("sea", &endings).stem, hash(b"sea"));
        assert_eq!(hash(b"sea"), 5_314_545_794_438_937_722);
        assert_eq!(extend(NO_WORDS, 1), 16_888_816_902_125_227_081);
    }
}
