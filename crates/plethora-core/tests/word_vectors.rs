//! Pretrained word vectors: agreement with gensim in every format, and what is said of bad files.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};

use plethora_core::IndexRows;
use plethora_core::text::{TokenizerConfig, WordVectors, Words, WordsBuilder, WordsConfig};

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../testdata/word_vectors")
        .join(name)
}

fn words(texts: &[&str]) -> (Words, IndexRows) {
    let mut builder = WordsBuilder::new(WordsConfig {
        tokenizer: TokenizerConfig::default(),
        max_vocabulary: 1000,
        min_df: 1,
        max_length: 100,
        counts_whole_documents: None,
        separator: None,
    })
    .unwrap();
    builder.push_batch(texts);
    builder.finish().unwrap()
}

/// Writes a file, reads it for the words "air", "sea" and "the", and gives back the message.
fn message(content: impl AsRef<[u8]>, expected_width: Option<usize>) -> String {
    read(content, expected_width).unwrap_err()
}

fn read(content: impl AsRef<[u8]>, expected_width: Option<usize>) -> Result<WordVectors, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("vectors");
    std::fs::write(&path, content).unwrap();
    WordVectors::read(&path, &words(&["the sea air"]).0, expected_width).map_err(|error| {
        let folder = format!("{}/", folder.path().display());
        error.to_string().replace(&folder, "")
    })
}

fn entry(word: &str, values: &[f32]) -> Vec<u8> {
    let values = values.iter().flat_map(|value| value.to_le_bytes());
    word.bytes().chain([b' ']).chain(values).collect()
}

#[test]
fn every_format_gives_the_vectors_of_gensim() {
    let golden = std::fs::read_to_string(testdata("golden.json")).unwrap();
    let golden: BTreeMap<String, Vec<f32>> = serde_json::from_str(&golden).unwrap();
    let (words, _) = words(&["The sea, das Meer: über θάλασσα naïve größe 日 v2_beta, unknown"]);
    // "meer" and "größe" are in the file with a capital only.
    let spellings = [
        "the",
        "sea",
        "Meer",
        "über",
        "θάλασσα",
        "naïve",
        "Größe",
        "日",
        "v2_beta",
    ];
    for name in [
        "vectors.bin",
        "vectors.bin.gz",
        "vectors.vec",
        "vectors.glove.txt",
    ] {
        let vectors = WordVectors::read(&testdata(name), &words, Some(5)).unwrap();
        assert_eq!((vectors.width(), vectors.num_in_file()), (5, 15), "{name}");
        assert!(vectors.rows().is_sorted());
        let found: BTreeMap<&str, &[f32]> = vectors
            .rows()
            .iter()
            .zip(vectors.values().chunks(5))
            .map(|(&row, values)| (words.word(row).unwrap(), values))
            .collect();
        let expected: BTreeMap<String, &[f32]> = spellings
            .iter()
            .map(|&word| (word.to_lowercase(), golden[word].as_slice()))
            .collect();
        assert!(
            found
                .iter()
                .map(|(word, values)| (*word, *values))
                .eq(expected
                    .iter()
                    .map(|(word, values)| (word.as_str(), *values))),
            "{name}: {found:?} {expected:?}"
        );
    }
}

#[test]
fn compressed_files_are_the_plain_one() {
    let plain = b"the 0.5 1\nsea 2 3\n".as_slice();
    let expected = read(plain, None).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(plain).unwrap();
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 1);
    xz.write_all(plain).unwrap();
    let zstd = zstd::encode_all(plain, 1).unwrap();
    for content in [gzip.finish().unwrap(), xz.finish().unwrap(), zstd] {
        assert_eq!(read(content, None).unwrap(), expected);
    }
}

#[test]
fn a_words_own_spelling_wins_and_then_the_first() {
    let vectors = read("The 1\nthe 2\nTHE 3\nthe 4\nSEA 5\nSea 6\n(air) 7\n", None).unwrap();
    assert_eq!(vectors.values(), [5.0, 2.0]);
    assert_eq!(vectors.num_in_file(), 7);
}

#[test]
fn a_separator_starts_as_the_end_of_a_sentence() {
    let mut config = words(&["sea"]).0.config().clone();
    config.separator = Some("/SEP/".to_owned());
    let mut builder = WordsBuilder::new(config).unwrap();
    builder.push_batch(&["the\nsea"]);
    let (words, _) = builder.finish().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("vectors");
    for (content, expected) in [(". 1\nsea 2\n", 1.0), ("/SEP/ 3\n. 1\n", 3.0)] {
        std::fs::write(&path, content).unwrap();
        let vectors = WordVectors::read(&path, &words, None).unwrap();
        let separator = words.row("/SEP/").unwrap();
        let place = vectors.rows().iter().position(|&row| row == separator);
        assert_eq!(vectors.values()[place.unwrap()], expected);
    }
}

#[test]
fn odd_words_are_passed_over() {
    let content = b"1 1 2 3\n. . . 1 2 3\nat sea .1 .2 .3\n\xff\xfe 1 2 3\nsea 4 5 6\n  1 2 3\n\n";
    let vectors = read(content, None).unwrap();
    assert_eq!(
        (vectors.values(), vectors.num_in_file()),
        ([4.0, 5.0, 6.0].as_slice(), 6)
    );
}

#[test]
fn line_feeds_between_binary_vectors_are_left_out() {
    let plain = [
        b"2 1\n".to_vec(),
        entry("sea", &[0.5]),
        entry("the", &[1.5]),
    ]
    .concat();
    let feeds = [
        b"2 1\n".to_vec(),
        entry("sea", &[0.5]),
        b"\n".to_vec(),
        entry("the", &[1.5]),
        b"\n".to_vec(),
    ];
    let vectors = read(plain, None).unwrap();
    assert_eq!(vectors.values(), [0.5, 1.5]);
    assert_eq!(read(feeds.concat(), None).unwrap(), vectors);
}

#[test]
fn bad_text_files_are_named_with_their_line() {
    let cases = [
        ("", "vectors: the file is empty"),
        (
            "a b c\n",
            "vectors:1: expected a word and its numbers, separated by spaces",
        ),
        (
            "sea 1 2 3\nthe 1 2\n",
            "vectors:2: expected 3 numbers behind the word, found 2",
        ),
        (
            "sea 1 2\nof 1 2\nthe 0.1 .2 .3\n",
            "vectors:3: expected 2 numbers behind the word, found 3",
        ),
        (
            "2 2\nsea 1 2\nthe  3\n",
            "vectors:3: expected 2 numbers behind the word, found 1",
        ),
        ("sea 1 2\nthe 1 x\n", "vectors:2: `x` is no finite number"),
        ("sea 1 nan\n", "vectors:1: `nan` is no finite number"),
        (
            "sea 1 2\nthe 1 1e99\n",
            "vectors:2: `1e99` is no finite number",
        ),
        (
            "3 2\nsea 1 2\nthe 1 2\n",
            "vectors: ends after 2 words where its first line says 3, so a part is missing",
        ),
        (
            "fire 1 2\nwind 1 2\n",
            "vectors: none of its 2 words is in the vocabulary",
        ),
        ("0 5\n", "vectors: none of its 0 words is in the vocabulary"),
    ];
    for (content, expected) in cases {
        assert_eq!(message(content, None), expected);
    }
}

#[test]
fn another_width_than_expected_is_named() {
    let expected = "vectors: has 2 numbers per word where 300 were expected";
    assert_eq!(message("sea 1 2\nthe 1 2\n", Some(300)), expected);
    assert_eq!(message("1 2\nsea 1 2\n", Some(300)), expected);
    let binary = [b"1 2\n".to_vec(), entry("sea", &[0.1, 0.2])].concat();
    assert_eq!(message(&binary, Some(300)), expected);
    assert!(read(binary, Some(2)).is_ok());
}

#[test]
fn bad_binary_files_are_named_with_their_byte() {
    let whole = [
        b"2 2\n".to_vec(),
        entry("sea", &[0.1, -0.2]),
        entry("the", &[0.3, 0.4]),
    ]
    .concat();
    assert!(read(&whole, None).is_ok());
    for (kept, word) in [(27, 2), (19, 2), (17, 2), (16, 2), (9, 1)] {
        assert_eq!(
            message(&whole[..kept], None),
            format!(
                "vectors: byte {kept}: the file ends in word {word} of 2, so a part is missing"
            )
        );
    }
    let more = [whole.clone(), entry("air", &[0.5, 0.6])].concat();
    assert_eq!(
        message(more, None),
        "vectors: byte 28: continues after the 2 words that its first line promises"
    );
    let infinite = [b"1 2\n".to_vec(), entry("sea", &[0.1, f32::INFINITY])].concat();
    assert_eq!(
        message(infinite, None),
        "vectors: byte 12: inf is no finite number"
    );
    let endless = [b"9 2\n".to_vec(), vec![0xee; 70_000]].concat();
    assert_eq!(
        message(endless, None),
        "vectors: byte 4: expected a word and a space"
    );
    assert_eq!(
        message(b"sea\0\x01\x02\n", None),
        "vectors: a binary file without the first line `number-of-words width`; expected word \
         vectors of GloVe, word2vec or fastText (.vec)"
    );
}

#[test]
fn truncated_compressed_vectors_are_named() {
    let mut text = String::new();
    for number in 0..20_000_u64 {
        let noise = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        writeln!(text, "w{number} {} {}", noise >> 40, noise & 0xffff).unwrap();
    }
    let whole = zstd::encode_all(text.as_bytes(), 1).unwrap();
    let found = message(&whole[..whole.len() / 2], None);
    assert!(
        found.ends_with(": the file ends in the middle of compressed data"),
        "{found}"
    );
}

#[test]
fn coverage_counts_words_and_their_occurrences() {
    let (words, sequences) = words(&["sea sea sea air", "fire sea"]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("vectors");
    std::fs::write(&path, "sea 1\nwind 2\n").unwrap();
    let vectors = WordVectors::read(&path, &words, None).unwrap();
    let coverage = vectors.coverage(&words, &sequences);
    assert_eq!((coverage.num_words, coverage.num_covered), (3, 1));
    assert!((coverage.share_of_running_words - 4.0 / 6.0).abs() < 1e-12);
}
