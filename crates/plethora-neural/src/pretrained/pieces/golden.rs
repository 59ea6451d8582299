//! Tokenizers of every kind against the ids of `transformers`: `testdata/pieces/make_golden.py` made
//! the tokenizers and the ids.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use flate2::read::GzDecoder;
use serde::Deserialize;
use tempfile::TempDir;

use super::{Pieces, prefix};

#[derive(Deserialize)]
struct Golden {
    strings: Vec<String>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    /// Names in the folder, and the files beside the golden values that they are copies of.
    files: BTreeMap<String, String>,
    settings: BTreeMap<String, serde_json::Value>,
    ids: Vec<Vec<u32>>,
}

static GOLDEN: LazyLock<Golden> = LazyLock::new(|| {
    let file = std::fs::File::open(testdata().join("golden.json.gz")).unwrap();
    serde_json::from_reader(GzDecoder::new(file)).unwrap()
});

fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/pieces")
}

impl Case {
    fn folder(&self) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, source) in &self.files {
            std::fs::copy(testdata().join(source), folder.path().join(name)).unwrap();
        }
        for (name, content) in &self.settings {
            std::fs::write(folder.path().join(name), content.to_string()).unwrap();
        }
        folder
    }
}

/// The folder of a case, for tests that change something in it.
pub(super) fn folder(name: &str) -> TempDir {
    let case = GOLDEN.cases.iter().find(|case| case.name == name);
    case.unwrap().folder()
}

/// The tokenizer of a case.
pub(super) fn pieces(name: &str) -> Pieces {
    Pieces::open(folder(name).path()).unwrap()
}

/// Strings of many scripts.
pub(super) fn strings() -> &'static [String] {
    &GOLDEN.strings
}

/// Calls `check` for every case and what its folder opens as.
fn for_each_case(check: impl Fn(&Case, &Pieces)) {
    assert_eq!(GOLDEN.cases.len(), 9);
    for case in &GOLDEN.cases {
        let folder = case.folder();
        check(case, &Pieces::open(folder.path()).unwrap());
    }
}

#[test]
fn ids_are_those_of_transformers() {
    assert_eq!(GOLDEN.strings.len(), 1000);
    for_each_case(|case, pieces| {
        for (text, expected) in GOLDEN.strings.iter().zip(&case.ids) {
            let ids = pieces.encode(text, usize::MAX);
            assert_eq!(&ids, expected, "{}: {text:?}", case.name);
        }
    });
}

#[test]
fn many_texts_at_once_get_the_ids_of_one() {
    for_each_case(|case, pieces| {
        let rows = pieces.encode_all(&GOLDEN.strings, usize::MAX);
        assert_eq!(rows.num_rows(), case.ids.len());
        assert!(rows.rows().eq(case.ids.iter()), "{}", case.name);
    });
}

#[test]
fn saved_tokenizers_give_the_same_ids() {
    for_each_case(|case, pieces| {
        let folder = tempfile::tempdir().unwrap();
        pieces.save_to(folder.path()).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        let loaded = Pieces::load_from(folder.path()).unwrap();
        assert_eq!(loaded.fingerprint(), pieces.fingerprint(), "{}", case.name);
        assert_eq!(loaded.vocab_size(), pieces.vocab_size());
        let rows = loaded.encode_all(&GOLDEN.strings, usize::MAX);
        assert!(rows.rows().eq(case.ids.iter()), "{}", case.name);
    });
}

#[test]
fn spans_are_places_in_the_text() {
    for_each_case(|case, pieces| {
        for (text, expected) in GOLDEN.strings.iter().zip(&case.ids) {
            let spans = pieces.spans(text, usize::MAX);
            assert!(spans.iter().map(|(id, _)| id).eq(expected), "{text:?}");
            for (_, range) in spans {
                // Checks the borders of characters too.
                assert!(text.get(range.clone()).is_some(), "{range:?} of {text:?}");
            }
        }
    });
}

#[test]
fn long_texts_lose_their_end_and_keep_the_special_tokens() {
    for_each_case(|case, pieces| {
        let specials = pieces.encode("", usize::MAX);
        let num_before = usize::from(!case.name.starts_with("xlnet"));
        let (before, after) = specials.split_at(num_before);
        for (text, all) in GOLDEN.strings.iter().zip(&case.ids) {
            let inner = &all[num_before..all.len() - after.len()];
            for max_length in [2, 3, 7, 20] {
                let end = inner.len().min(max_length - specials.len());
                let expected = [before, &inner[..end], after].concat();
                assert_eq!(pieces.encode(text, max_length), expected, "{text:?}");
                let spans = pieces.spans(text, max_length);
                assert!(spans.iter().map(|(id, _)| id).eq(&expected), "{text:?}");
            }
        }
    });
}

#[test]
fn beginning_of_a_long_text_is_enough() {
    for_each_case(|case, pieces| {
        let text = GOLDEN.strings.join(" ");
        // Where an added token has a space in it, the whole text is read.
        let can_stop = prefix::ends_at_spaces(pieces.tokenizer());
        assert_eq!(
            can_stop,
            !case.name.starts_with("distilbert"),
            "{}",
            case.name
        );
        let num_after = if case.name.starts_with("xlnet") { 2 } else { 1 };
        for start in [0, 40_000, 80_000] {
            let start = (start..text.len()).find(|&start| text.is_char_boundary(start));
            let text = &text[start.unwrap()..];
            let mut all = pieces.spans(text, usize::MAX);
            let after = all.split_off(all.len() - num_after);
            for max_length in [3, 16, 128, 1000, 5000] {
                let end = all.len().min(max_length - num_after);
                let expected = [&all[..end], &after].concat();
                assert_eq!(pieces.spans(text, max_length), expected, "{}", case.name);
                let ids: Vec<u32> = expected.into_iter().map(|(id, _)| id).collect();
                assert_eq!(pieces.encode(text, max_length), ids, "{}", case.name);
            }
        }
    });
}
