//! Typing errors.

use crate::draw::Draw;

/// Shorter words would become other words.
const MIN_WORD_LETTERS: usize = 6;
const ATTEMPTS: usize = 8;

/// Damages one long word: two letters swapped, one lost or one doubled.
pub(crate) fn add_typo(text: &mut String, draw: &mut Draw) {
    let Some((start, end)) = long_word(text, draw) else {
        return;
    };
    // The first and last letters stay, as they do when people type.
    let at = start + 1 + draw.position(end - start - 3);
    match draw.below(3) {
        0 => {
            let swapped: String = text[at..at + 2].chars().rev().collect();
            text.replace_range(at..at + 2, &swapped);
        }
        1 => {
            text.remove(at);
        }
        _ => {
            let doubled = text[at..=at].to_owned();
            text.insert_str(at, &doubled);
        }
    }
}

/// The bounds of a random long word in lower-case ASCII letters, if one is found quickly.
fn long_word(text: &str, draw: &mut Draw) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    for _ in 0..ATTEMPTS {
        let at = draw.position(bytes.len().max(1));
        let before = bytes[..at]
            .iter()
            .rev()
            .take_while(|byte| byte.is_ascii_lowercase())
            .count();
        let after = bytes[at..]
            .iter()
            .take_while(|byte| byte.is_ascii_lowercase())
            .count();
        if before + after >= MIN_WORD_LETTERS {
            return Some((at - before, at + after));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use plethora_core::SeedStream;

    #[test]
    fn a_typo_changes_a_word_but_no_space() {
        let mut draw = Draw::new(SeedStream::new(2));
        for _ in 0..200 {
            let mut text = "Glassblowers remember ten furnaces.".to_owned();
            add_typo(&mut text, &mut draw);
            assert_eq!(text.matches(' ').count(), 3);
            assert!(text.ends_with("s."));
        }
        let mut short = "A cat.".to_owned();
        add_typo(&mut short, &mut draw);
        assert_eq!(short, "A cat.");
        add_typo(&mut String::new(), &mut draw);
    }
}
