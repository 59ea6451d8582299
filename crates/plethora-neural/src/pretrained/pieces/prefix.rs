//! Reading no more of a long text than its first pieces need.
//!
//! An encoder takes some hundred pieces, a document may have a hundred thousand. Where a tokenizer
//! looks at nothing beyond a space between two words, the pieces of a text's beginning are the
//! beginning of its pieces.

use serde_json::Value;
use tokenizers::Tokenizer;

/// Bytes of text for a piece at the first try; running text of most scripts has three to five.
const BYTES_A_PIECE: usize = 8;

/// Steps before the words are told apart that change characters in their place only.
const LOCAL_NORMALIZERS: [&str; 9] = [
    "BertNormalizer",
    "Lowercase",
    "NFC",
    "NFD",
    "NFKC",
    "NFKD",
    "Precompiled",
    "Sequence",
    "StripAccents",
];

/// Ways to tell words apart that end one at every space.
const WORD_SPLITTERS: [&str; 4] = [
    "BertPreTokenizer",
    "WhitespaceSplit",
    "Whitespace",
    "ByteLevel",
];

/// Whether the pieces before a space between two words depend on nothing behind it.
pub(super) fn ends_at_spaces(tokenizer: &Tokenizer) -> bool {
    let value = |part: serde_json::Result<Value>| part.unwrap_or_default();
    let normalizer = value(serde_json::to_value(tokenizer.get_normalizer()));
    let splitter = value(serde_json::to_value(tokenizer.get_pre_tokenizer()));
    let added = tokenizer.get_added_vocabulary().get_vocab();
    is_local(&normalizer)
        && splits_at_spaces(&splitter)
        && !added
            .keys()
            .any(|token| token.contains(char::is_whitespace))
}

fn is_local(normalizer: &Value) -> bool {
    if normalizer.is_null() {
        return true;
    }
    let kind = normalizer["type"].as_str().unwrap_or_default();
    let steps = normalizer["normalizers"].as_array();
    match kind {
        // Quotation marks, as for XLNet.
        "Replace" => normalizer["pattern"]["String"]
            .as_str()
            .is_some_and(|text| !text.contains(|at: char| at.is_alphanumeric() || at == ' ')),
        _ => LOCAL_NORMALIZERS.contains(&kind) && steps.into_iter().flatten().all(is_local),
    }
}

fn splits_at_spaces(splitter: &Value) -> bool {
    let kind = splitter["type"].as_str().unwrap_or_default();
    match kind {
        "Sequence" => splitter["pretokenizers"]
            .as_array()
            .and_then(|steps| steps.first())
            .is_some_and(splits_at_spaces),
        "ByteLevel" => splitter["use_regex"].as_bool().unwrap_or(true),
        _ => WORD_SPLITTERS.contains(&kind),
    }
}

/// Beginnings of `text` that end before a space between two words, each twice as long as the one
/// before; the first is long enough for `num_pieces` of most texts.
pub(super) fn beginnings(text: &str, num_pieces: usize) -> impl Iterator<Item = &str> {
    let first = num_pieces.saturating_mul(BYTES_A_PIECE).max(1);
    let lengths = std::iter::successors(Some(first), |length| length.checked_mul(2));
    lengths
        .take_while(|&length| length < text.len())
        .filter_map(|length| beginning(text, length))
}

/// The shortest beginning of at least `length` bytes and less than twice as many.
fn beginning(text: &str, length: usize) -> Option<&str> {
    let bytes = text.as_bytes();
    let is_between_words = |&end: &usize| {
        bytes[end] == b' '
            && bytes[end - 1].is_ascii_alphanumeric()
            && bytes[end + 1].is_ascii_alphanumeric()
    };
    let last = bytes.len().saturating_sub(1).min(2 * length);
    (length..last)
        .find(is_between_words)
        .map(|end| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_end_between_words() {
        let text = "one two  three é four, five six seven eight nine ten eleven twelve";
        let found: Vec<_> = beginnings(text, 1).collect();
        assert_eq!(
            found.iter().map(|found| found.len()).collect::<Vec<_>>(),
            [28, 32]
        );
        for beginning in found {
            let rest = text.strip_prefix(beginning).unwrap();
            assert!(rest.starts_with(' '), "{beginning:?}");
            assert!(beginning.ends_with(|at: char| at.is_ascii_alphanumeric()));
        }
        assert_eq!(beginnings("a short text", 10).count(), 0);
        assert_eq!(beginnings(&"字".repeat(100), 1).count(), 0);
        assert_eq!(beginnings("", 0).count(), 0);
    }
}
