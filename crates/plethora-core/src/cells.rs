//! Values as the cells of tables show them.

use std::borrow::Cow;

/// Digits in groups of three: `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Text without what would end a cell or a row of a tab-separated table.
pub fn one_field(text: &str) -> String {
    text.replace(['\t', '\n', '\r'], " ")
}

/// The beginning of a text in one line.
pub fn shortened(text: &str, max_characters: usize) -> String {
    // Not all of a long text is needed to fill a line of it.
    let bound = text.len().min(8 * max_characters);
    let bound = (bound..=text.len()).find(|&place| text.is_char_boundary(place));
    let start = &text[..bound.unwrap_or(text.len())];
    let mut line = String::new();
    let mut num_characters = 0;
    for word in start.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
            num_characters += 1;
        }
        for character in word.chars() {
            if num_characters >= max_characters {
                line.push('\u{2026}');
                return line;
            }
            line.push(character);
            num_characters += 1;
        }
    }
    if start.len() < text.len() {
        line.push('\u{2026}');
    }
    line
}

/// Text for a terminal: control characters are spelt out, so that a corpus cannot move the cursor, hide
/// lines or change the title of a window. Line ends and tabs stay.
pub fn printable(text: &str) -> Cow<'_, str> {
    let is_spelt_out = |character: char| character.is_control() && !"\n\t".contains(character);
    if !text.contains(is_spelt_out) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_spelt_out(character) {
            shown.extend(character.escape_unicode());
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_from_the_right() {
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(999), "999");
    }

    #[test]
    fn texts_are_cut_between_characters_and_stand_in_one_line() {
        assert_eq!(shortened("a\n b\tc", 10), "a b c");
        assert_eq!(shortened("h\u{e9}llo world", 7), "h\u{e9}llo w\u{2026}");
        assert_eq!(
            shortened(&"\u{65e5}".repeat(500), 3),
            "\u{65e5}\u{65e5}\u{65e5}\u{2026}"
        );
        assert_eq!(
            shortened(&format!("a{}b", " ".repeat(500)), 20),
            "a\u{2026}"
        );
        assert_eq!(shortened("", 5), "");
    }

    #[test]
    fn a_terminal_gets_no_commands() {
        assert_eq!(
            printable("a\u{1b}[2J\u{9b}b\r\n\té"),
            "a\\u{1b}[2J\\u{9b}b\\u{d}\n\té"
        );
        assert!(matches!(printable("plain\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_field_does_not_break_its_table() {
        assert_eq!(one_field("The\tsea\r\nair"), "The sea  air");
    }
}
