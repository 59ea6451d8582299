//! Which of the formats a file of word vectors has, from its first lines.

use crate::corpus::Source;
use crate::{Error, Result};

/// Wider vectors than anybody trains; a larger number is no width.
const MAX_WIDTH: usize = 65_536;

/// Lines that vote on the width of a file which does not say it.
const VOTING_LINES: usize = 16;

/// How the words of a file are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    /// A line per word: the word and its numbers, separated by spaces.
    Text,
    /// A word, a space, and its numbers as little-endian `f32`.
    Binary,
}

/// What the beginning of a file says about the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) encoding: Encoding,
    /// Numbers per word.
    pub(super) width: usize,
    /// Number of words, where a first line says it.
    pub(super) num_words: Option<u64>,
}

impl Layout {
    /// Looks at the first lines of an opened file.
    pub(super) fn detect(source: &Source) -> Result<Self> {
        let sample = source.sample();
        let (first, rest) = split_line(sample);
        let Some((num_words, width)) = parse_header(first) else {
            return Self::without_header(source);
        };
        if !(1..=MAX_WIDTH as u64).contains(&width) {
            return Err(source.origin().error(
                1,
                format!("says that a word has {width} numbers; expected 1 to {MAX_WIDTH}"),
            ));
        }
        let encoding = if looks_like_text(split_line(rest).0) {
            Encoding::Text
        } else {
            Encoding::Binary
        };
        Ok(Self {
            encoding,
            width: width as usize,
            num_words: Some(num_words),
        })
    }

    fn without_header(source: &Source) -> Result<Self> {
        let refuse =
            |line: Option<u64>, message: &str| -> Error { source.origin().error(line, message) };
        if source.sample().contains(&0) {
            return Err(refuse(
                None,
                "a binary file without the first line `number-of-words width`; expected word \
                 vectors of GloVe, word2vec or fastText (.vec)",
            ));
        }
        match vote_on_width(source.sample()) {
            None => Err(refuse(
                Some(1),
                "expected a word and its numbers, separated by spaces",
            )),
            Some(width) if width > MAX_WIDTH => Err(refuse(
                Some(1),
                &format!("has {width} numbers; expected 1 to {MAX_WIDTH} a word"),
            )),
            Some(width) => Ok(Self {
                encoding: Encoding::Text,
                width,
                num_words: None,
            }),
        }
    }
}

/// The first line without its end, and what comes after it.
fn split_line(bytes: &[u8]) -> (&[u8], &[u8]) {
    match bytes.iter().position(|&byte| byte == b'\n') {
        Some(end) => (&bytes[..end], &bytes[end + 1..]),
        None => (bytes, &[]),
    }
}

/// The tokens of a line.
pub(super) fn tokens(line: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    line.split(|&byte| is_separator(byte))
        .filter(|token| !token.is_empty())
}

/// True between the numbers of a line.
pub(super) const fn is_separator(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}

/// The number that a token spells.
pub(super) fn parse_number(token: &[u8]) -> Option<f32> {
    std::str::from_utf8(token).ok()?.parse().ok()
}

/// Number of words and width, where a line is just these two.
fn parse_header(line: &[u8]) -> Option<(u64, u64)> {
    let mut fields = tokens(line).map(|token| {
        let is_number = token.iter().all(u8::is_ascii_digit);
        std::str::from_utf8(token)
            .ok()
            .filter(|_| is_number)?
            .parse()
            .ok()
    });
    let header = (fields.next()??, fields.next()??);
    fields.next().is_none().then_some(header)
}

/// True for a line that ends in a written number and has no bytes that text never has. The last
/// byte of a word's last `f32` is its exponent, which is no digit for numbers of a usual size.
fn looks_like_text(line: &[u8]) -> bool {
    let is_text = line.iter().all(|&byte| byte >= b' ' || is_separator(byte));
    let last = tokens(line).next_back();
    is_text && last.is_some_and(|token| parse_number(token).is_some())
}

/// How many numbers most of the first lines end in, and of equally many votes the first: a word
/// may itself contain spaces and numbers, and a line may be broken.
fn vote_on_width(sample: &[u8]) -> Option<usize> {
    let mut votes: Vec<(usize, usize)> = Vec::new();
    let mut rest = sample;
    for _ in 0..VOTING_LINES {
        let (line, behind) = split_line(rest);
        // The sample may end within its last line.
        if behind.is_empty() && !votes.is_empty() && !sample.ends_with(b"\n") {
            break;
        }
        rest = behind;
        let num_fields = tokens(line).count();
        let num_numbers = tokens(line)
            .rev()
            .take_while(|token| parse_number(token).is_some())
            .count();
        let width = num_numbers.min(num_fields.saturating_sub(1));
        match votes.iter_mut().find(|(voted, _)| *voted == width) {
            Some((_, num_votes)) => *num_votes += 1,
            None if width > 0 => votes.push((width, 1)),
            None => {}
        }
    }
    let most = votes.iter().map(|&(_, num_votes)| num_votes).max()?;
    let winner = votes.iter().find(|&&(_, num_votes)| num_votes == most);
    winner.map(|&(width, _)| width)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detect(content: &[u8]) -> Result<Layout> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vectors");
        std::fs::write(&path, content).unwrap();
        Layout::detect(&Source::open_binary(&path)?)
    }

    fn binary(word: &str, values: &[f32]) -> Vec<u8> {
        let values = values.iter().flat_map(|value| value.to_le_bytes());
        word.bytes().chain([b' ']).chain(values).collect()
    }

    #[test]
    fn formats_are_told_apart_by_content() {
        let layout = |encoding, width, num_words| Layout {
            encoding,
            width,
            num_words,
        };
        let glove = detect(b", 0.5 -1e-3 2\nthe 1 2 3\n").unwrap();
        assert_eq!(glove, layout(Encoding::Text, 3, None));
        let with_header = detect(b"2 3 \n</s> 0.5 -1e-3 2 \nthe 1 2 3 \n").unwrap();
        assert_eq!(with_header, layout(Encoding::Text, 3, Some(2)));
        for values in [[0.1, -0.7], [0.0, 0.0], [1.0, 1e-9]] {
            let content = [b"1 2\n".to_vec(), binary("the", &values)].concat();
            let found = detect(&content).unwrap();
            assert_eq!(found, layout(Encoding::Binary, 2, Some(1)));
            let found = detect(&[content, b"\n".to_vec()].concat()).unwrap();
            assert_eq!(found, layout(Encoding::Binary, 2, Some(1)));
        }
    }

    #[test]
    fn words_with_numbers_and_broken_lines_do_not_mislead() {
        let content = b"in 2010 .1 .2\nthe .1 .2\na .1 x\nof .1 .2\n";
        assert_eq!(detect(content).unwrap().width, 2);
        assert_eq!(detect(b"the .1 .2 .3\na .1 .2\n").unwrap().width, 3);
        assert_eq!(detect(b"7 .1 .2 .3").unwrap().width, 3);
        // A line beyond the sample's end must not count as a short one.
        let long = format!("the{}\n", " 0.25".repeat(20_000));
        assert_eq!(detect(long.repeat(9).as_bytes()).unwrap().width, 20_000);
    }

    #[test]
    fn what_is_no_file_of_vectors_is_refused() {
        let cases: [(&[u8], &str); 6] = [
            (b"", "the file is empty"),
            (b"once upon a time\n", ":1: expected a word and its numbers"),
            (b"7\n", ":1: expected a word and its numbers"),
            (b"9 0\na\n", ":1: says that a word has 0 numbers; expected"),
            (b"9 99999999999\na 1\n", "has 99999999999 numbers; expected"),
            (b"the\0\x01", "a binary file without the first line"),
        ];
        for (content, expected) in cases {
            let message = detect(content).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        }
    }
}
