//! Where the phrases of a model stand in a text.

use super::phrases::Phrases;
use super::words::{NO_WORDS, Word, extend};

/// A phrase in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Occurrence {
    pub(super) phrase: u32,
    /// Its first word.
    pub(super) first: u32,
    /// Its words.
    pub(super) num_words: u32,
    /// Half the bits of what it is spelt like.
    pub(super) spelling: u32,
    /// True where it stands within a longer name.
    pub(super) is_inside: bool,
}

impl Occurrence {
    fn end(&self) -> u32 {
        self.first + self.num_words
    }
}

/// All phrases in a text, ordered by phrase and place. Phrases of up to `max_ngram` words need not begin
/// with another phrase, longer ones do.
pub(super) fn occurrences(words: &[Word], phrases: &Phrases, max_ngram: usize) -> Vec<Occurrence> {
    let mut found = Vec::new();
    for first in 0..words.len() {
        let (mut key, mut spelling) = (NO_WORDS, NO_WORDS);
        for (word, num_words) in words[first..].iter().zip(1_u32..) {
            key = extend(key, word.stem);
            spelling = extend(spelling, word.spelling);
            match phrases.find(key) {
                Some(phrase) => found.push(Occurrence {
                    phrase,
                    first: first as u32,
                    num_words,
                    spelling: spelling as u32,
                    is_inside: false,
                }),
                None if num_words as usize >= max_ngram => break,
                None => {}
            }
        }
    }
    mark_inside(&mut found, phrases);
    found.sort_unstable();
    found
}

/// Marks what stands within a longer name; occurrences come by their first word and rising length.
fn mark_inside(found: &mut [Occurrence], phrases: &Phrases) {
    let mut furthest = 0;
    for start in found.chunk_by_mut(|left, right| left.first == right.first) {
        let is_name = |occurrence: &&Occurrence| phrases.num_names(occurrence.phrase) > 0;
        let longest = start.iter().rev().find(is_name).map_or(0, Occurrence::end);
        for occurrence in start.iter_mut() {
            let end = occurrence.end();
            occurrence.is_inside = end <= furthest || end < longest;
        }
        furthest = furthest.max(longest);
    }
}
