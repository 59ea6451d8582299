//! Damage that is made on purpose, with a seed.

use rand::{Rng, RngExt};

/// Numbers at which counts, sizes and offsets go wrong.
const EXTREMES: [&str; 18] = [
    "0",
    "1",
    "2",
    "-1",
    "255",
    "65536",
    "1000003",
    "100000000",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "18446744073709551615",
    "1e308",
    "-1e-320",
    "0.5",
];

/// Words that readers know, or that nest.
const WORDS: [&str; 14] = [
    "null",
    "true",
    "[",
    "]",
    "{",
    "}",
    "\"",
    "\\u0000",
    "\n",
    "\t",
    ",",
    "\u{feff}",
    "<!DOCTYPE a [",
    "&a;",
];

/// Damages a file in one to four ways.
pub(crate) fn mutate(content: &mut Vec<u8>, rng: &mut impl Rng) {
    for _ in 0..=rng.random_range(0..4_u32) / 2 {
        match rng.random_range(0..10_u32) {
            0 => flip_bytes(content, rng),
            1..=4 => replace_number(content, rng),
            5 => replace_word(content, rng),
            6 => truncate(content, rng),
            7 => repeat_part(content, rng),
            8 => remove_part(content, rng),
            _ => insert(content, rng),
        }
    }
}

fn place(length: usize, rng: &mut impl Rng) -> usize {
    rng.random_range(0..=length)
}

fn flip_bytes(content: &mut [u8], rng: &mut impl Rng) {
    if content.is_empty() {
        return;
    }
    for _ in 0..rng.random_range(1..9_u32) {
        let at = rng.random_range(0..content.len());
        content[at] = rng.random();
    }
}

/// Puts an extreme in the place of a number: digits of a text, or four or eight bytes.
fn replace_number(content: &mut Vec<u8>, rng: &mut impl Rng) {
    let start = place(content.len(), rng);
    // A long run of bytes without digits is binary.
    let window = &content[start..content.len().min(start + 4096)];
    let Some(first) = window.iter().position(u8::is_ascii_digit) else {
        return replace_binary(content, start, rng);
    };
    if rng.random_range(0..8_u32) == 0 {
        return replace_binary(content, start, rng);
    }
    let first = start + first;
    let is_number = |byte: &u8| byte.is_ascii_digit() || b".eE+-".contains(byte);
    let length = content[first..]
        .iter()
        .take_while(|byte| is_number(byte))
        .count();
    let text = EXTREMES[rng.random_range(0..EXTREMES.len())];
    content.splice(first..first + length, text.bytes());
}

fn replace_binary(content: &mut [u8], start: usize, rng: &mut impl Rng) {
    let value: u64 = match rng.random_range(0..6_u32) {
        0 => 0,
        1 => u64::MAX,
        2 => 1 << 31,
        3 => 1 << 63,
        4 => u64::from(u32::MAX),
        _ => rng.random_range(0..1 << 20),
    };
    let width = if rng.random() { 4 } else { 8 };
    let start = start / width * width;
    if let Some(number) = content.get_mut(start..start + width) {
        number.copy_from_slice(&value.to_le_bytes()[..width]);
    }
}

fn replace_word(content: &mut Vec<u8>, rng: &mut impl Rng) {
    let start = place(content.len(), rng);
    let end = content.len().min(start + rng.random_range(0..6_usize));
    let word = WORDS[rng.random_range(0..WORDS.len())];
    content.splice(start..end, word.bytes());
}

fn truncate(content: &mut Vec<u8>, rng: &mut impl Rng) {
    let length = match rng.random_range(0..4_u32) {
        0 => 0,
        1 => content.len().saturating_sub(rng.random_range(1..16)),
        _ => place(content.len(), rng),
    };
    content.truncate(length);
}

/// A part of the content, of up to a kilobyte.
fn part(content: &[u8], rng: &mut impl Rng) -> std::ops::Range<usize> {
    let start = place(content.len(), rng);
    let longest = 1 << rng.random_range(0..11_u32);
    start..content.len().min(start + rng.random_range(0..=longest))
}

fn repeat_part(content: &mut Vec<u8>, rng: &mut impl Rng) {
    let repeated = content[part(content, rng)].to_vec();
    let times = 1 << rng.random_range(0..8_u32);
    let at = place(content.len(), rng);
    content.splice(at..at, repeated.repeat(times));
}

fn remove_part(content: &mut Vec<u8>, rng: &mut impl Rng) {
    content.drain(part(content, rng));
}

fn insert(content: &mut Vec<u8>, rng: &mut impl Rng) {
    let at = place(content.len(), rng);
    let inserted: Vec<u8> = match rng.random_range(0..3_u32) {
        0 => vec![0; rng.random_range(1..64)],
        1 => "[".repeat(rng.random_range(1..20_000)).into_bytes(),
        _ => (0..rng.random_range(1..16_u32))
            .map(|_| rng.random())
            .collect(),
    };
    content.splice(at..at, inserted);
}
