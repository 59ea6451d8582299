//! One spelling for each word: compatibility forms unified, letters lower-cased.

use std::borrow::Cow;

use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

/// True for what a word may begin with: letters, numbers and the underscore.
pub(super) fn starts_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// True for characters that may continue a word: those that may begin one, and combining marks.
pub(super) fn continues_word(character: char) -> bool {
    starts_word(character) || is_combining_mark(character)
}

/// True for Han ideographs, which are words of their own because their script writes no spaces.
pub(super) fn is_han(character: char) -> bool {
    matches!(u32::from(character),
        0x3005..=0x3007             // iteration mark, closing mark, zero
        | 0x3400..=0x4dbf           // extension A
        | 0x4e00..=0x9fff           // the unified ideographs
        | 0xf900..=0xfaff           // compatibility ideographs
        | 0x2_0000..=0x3_ffff       // planes 2 and 3: all further extensions
    )
}

/// NFKC of `word`, unless that would bring in something that is no part of a word: a vulgar
/// fraction keeps its own sign rather than becoming two numbers and a slash in one term.
pub(super) fn unify(word: &str) -> Cow<'_, str> {
    if is_nfkc_quick(word.chars()) == IsNormalized::Yes {
        return Cow::Borrowed(word);
    }
    let unified: String = word.nfkc().collect();
    if unified != word && unified.chars().all(continues_word) {
        Cow::Owned(unified)
    } else {
        Cow::Borrowed(word)
    }
}

/// Lower-cases `word`; borrows where nothing changes.
pub(super) fn lowercase(word: Cow<'_, str>) -> Cow<'_, str> {
    if word.chars().any(|character| !is_own_lowercase(character)) {
        Cow::Owned(word.to_lowercase())
    } else {
        word
    }
}

fn is_own_lowercase(character: char) -> bool {
    let mut lower = character.to_lowercase();
    lower.next() == Some(character) && lower.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_words_in_different_forms_become_one() {
        for form in ["Größe", "Gro\u{308}ße", "ＧＲÖßＥ"] {
            assert_eq!(lowercase(unify(form)), "größe");
        }
        assert_eq!(lowercase(unify("ΟΔΟΣ")), "οδος");
    }

    #[test]
    fn normalising_never_brings_in_a_space_or_slash() {
        for word in ["½", "\u{fdfa}", "㎧"] {
            assert_eq!(unify(word), word);
        }
    }
}
