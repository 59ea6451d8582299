//! Vectors written as text, a line per word.

use super::collector::Collector;
use super::layout::{Layout, is_separator, parse_number, tokens};
use crate::Result;
use crate::corpus::{ByteReader, Origin, read_row, row_is_too_long};

/// Reads all lines of a file into `collector`.
pub(super) fn read(
    mut reader: ByteReader,
    origin: &Origin,
    layout: Layout,
    collector: &mut Collector<'_>,
) -> Result<()> {
    let mut buffer = Vec::new();
    for number in 1_u64.. {
        buffer.clear();
        let is_whole =
            read_row(&mut reader, &mut buffer).map_err(|error| origin.read_error(error, number))?;
        if !is_whole {
            return Err(origin.error(number, row_is_too_long()));
        }
        if buffer.is_empty() {
            break;
        }
        let is_header = number == 1 && layout.num_words.is_some();
        let line = without_end(&buffer);
        if !is_header && !line.is_empty() {
            read_line(line, layout.width, collector)
                .map_err(|message| origin.error(number, message))?;
        }
    }
    check_number_of_words(origin, layout, collector.num_in_file())
}

fn check_number_of_words(origin: &Origin, layout: Layout, num_read: u64) -> Result<()> {
    match layout.num_words {
        Some(num_words) if num_read < num_words => Err(origin.error(
            None,
            format!(
                "ends after {num_read} words where its first line says {num_words}, so a part is \
                 missing"
            ),
        )),
        _ => Ok(()),
    }
}

fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let blanks = line
        .iter()
        .rev()
        .take_while(|&&byte| is_separator(byte))
        .count();
    &line[..line.len() - blanks]
}

fn read_line(line: &[u8], width: usize, collector: &mut Collector<'_>) -> Result<(), String> {
    let (word, numbers) = split_word(line, width)?;
    let Some(values) = collector.place(word) else {
        return Ok(());
    };
    let mut num_read = 0;
    for (value, token) in values.iter_mut().zip(tokens(numbers)) {
        match parse_number(token) {
            Some(number) if number.is_finite() => *value = number,
            _ => {
                let token = String::from_utf8_lossy(token);
                return Err(format!("`{token}` is no finite number"));
            }
        }
        num_read += 1;
    }
    if num_read == width {
        Ok(())
    } else {
        Err(wrong_number(num_read, width))
    }
}

fn wrong_number(found: usize, width: usize) -> String {
    format!("expected {width} numbers behind the word, found {found}")
}

/// The word of a line and, behind it, the text of its numbers.
fn split_word(line: &[u8], width: usize) -> Result<(&[u8], &[u8]), String> {
    // One space a number is the rule, and counting them is many times faster than taking the
    // line apart.
    let num_spaces: usize = line.iter().map(|&byte| usize::from(byte == b' ')).sum();
    if num_spaces == width
        && let Some(end) = line.iter().position(|&byte| byte == b' ')
    {
        return Ok(line.split_at(end));
    }
    split_from_right(line, width)
}

/// Splits a line whose word contains spaces, or whose numbers are separated by more than one.
fn split_from_right(line: &[u8], width: usize) -> Result<(&[u8], &[u8]), String> {
    let mut start = line.len();
    for found in 0..width {
        let front = without_end(&line[..start]);
        if front.is_empty() {
            return Err(wrong_number(found.saturating_sub(1), width));
        }
        let length = front
            .iter()
            .rev()
            .take_while(|&&byte| !is_separator(byte))
            .count();
        start = front.len() - length;
    }
    let (word, numbers) = line.split_at(start);
    let word = without_end(word);
    if start == 0 {
        return Err(wrong_number(width - 1, width));
    }
    // A phrase may end in a number, but a fraction there is one number too many.
    let num_surplus = tokens(word)
        .rev()
        .take(tokens(word).count().saturating_sub(1))
        .take_while(|token| token.contains(&b'.') && parse_number(token).is_some())
        .count();
    if num_surplus > 0 {
        return Err(wrong_number(width + num_surplus, width));
    }
    Ok((word, numbers))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(line: &str) -> Result<(&str, Vec<&str>), String> {
        let (word, numbers) = split_word(without_end(line.as_bytes()), 2)?;
        let text = |bytes| std::str::from_utf8(bytes).unwrap();
        Ok((text(word), tokens(numbers).map(text).collect()))
    }

    #[test]
    fn numbers_are_split_off_from_the_right() {
        let cases = [
            ("the .1 .2\n", "the"),
            ("the .1 .2 \r\n", "the"),
            ("the\t.1\t.2", "the"),
            ("the  .1   .2", "the"),
            ("new york .1 .2", "new york"),
            (". . . .1 .2", ". . ."),
            ("windows 10 .1 .2", "windows 10"),
            ("1 .1 .2", "1"),
            (" .1 .2", ""),
        ];
        for (line, word) in cases {
            assert_eq!(split(line).unwrap(), (word, vec![".1", ".2"]), "{line:?}");
        }
    }

    #[test]
    fn another_number_of_numbers_is_counted() {
        let cases = [
            ("the", 0),
            ("the .1", 1),
            ("the .1 .2 .3", 3),
            ("the 0.1 .2 .3 .4", 4),
        ];
        for (line, found) in cases {
            let expected = format!("expected 2 numbers behind the word, found {found}");
            assert_eq!(split(line).unwrap_err(), expected, "{line:?}");
        }
    }
}
