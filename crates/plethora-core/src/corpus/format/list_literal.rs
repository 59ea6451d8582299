//! Lists of labels in one cell, as other programs write them: JSON (`["a", "b"]`), Python and pandas
//! (`['a', 'b']`, `('a', 'b')`, `{'a', 'b'}`), and `NumPy` (`['a' 'b']`, `[np.str_('a')]`).

use std::iter::Peekable;
use std::str::Chars;

use crate::shortened;

/// The labels of a list; `None` where the cell is none, an error text where it is a list that cannot be
/// taken as labels.
pub(in crate::corpus) fn parse_list(cell: &str) -> Option<Result<Vec<String>, String>> {
    let cell = cell.trim();
    let is_array = cell.starts_with("array(") && cell.ends_with(')');
    let cell = if is_array {
        &cell["array(".len()..]
    } else {
        cell
    };
    let (open, close) = match cell.chars().next()? {
        '[' => ('[', ']'),
        '(' => ('(', ')'),
        '{' => ('{', '}'),
        _ => return None,
    };
    let list = if is_array {
        cell.rfind(']').map(|end| &cell[..=end])?
    } else {
        cell
    };
    if !list.ends_with(close) {
        return None;
    }
    let inner = list.strip_prefix(open)?.strip_suffix(close)?;
    let mut parser = Parser {
        chars: inner.chars().peekable(),
    };
    // Brackets may be a part of a label, as in library catalogues: `[Maps]`, `(see also)`.
    let starts_list = match inner.trim_start().chars().next() {
        None => open == '[',
        Some('\'' | '"') => true,
        Some(first) => {
            open == '[' && (first.is_ascii_digit() || first == '-' || inner.starts_with("np."))
        }
    };
    starts_list.then(|| {
        parser
            .labels()
            .map_err(|what| format!("the list `{}` {what}", shortened(cell, 60)))
    })
}

struct Parser<'a> {
    chars: Peekable<Chars<'a>>,
}

impl Parser<'_> {
    fn labels(&mut self) -> Result<Vec<String>, String> {
        let mut labels = Vec::new();
        loop {
            self.skip_blanks();
            let Some(&next) = self.chars.peek() else {
                return Ok(labels);
            };
            labels.push(match next {
                '\'' | '"' => self.quoted()?,
                _ => self.bare()?,
            });
            self.skip_blanks();
            self.chars.next_if_eq(&',');
        }
    }

    fn skip_blanks(&mut self) {
        while self.chars.next_if(|char| char.is_whitespace()).is_some() {}
    }

    /// A number, or one of `NumPy`'s values with its type around it.
    fn bare(&mut self) -> Result<String, String> {
        let mut word = String::new();
        while let Some(char) =
            (self.chars).next_if(|char| char.is_alphanumeric() || "+-._".contains(*char))
        {
            word.push(char);
        }
        if word.starts_with("np.") && self.chars.next_if_eq(&'(').is_some() {
            let value = match self.chars.peek() {
                Some('\'' | '"') => self.quoted()?,
                _ => self.bare()?,
            };
            return match self.chars.next_if_eq(&')') {
                Some(_) => Ok(value),
                None => Err(format!("has no end after `{word}(`")),
            };
        }
        if word == "..." {
            return Err("was cut off by the program that wrote it".into());
        }
        let digits = word.strip_prefix('-').unwrap_or(&word);
        if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Ok(word);
        }
        let found = match (word.as_str(), self.chars.peek()) {
            ("", Some(char)) => char.to_string(),
            (word, _) => word.to_owned(),
        };
        Err(format!(
            "has `{found}`; expected labels in quotes or whole numbers"
        ))
    }

    fn quoted(&mut self) -> Result<String, String> {
        let no_end = || "has a quote without end".to_owned();
        let quote = self.chars.next().ok_or_else(no_end)?;
        let mut label = String::new();
        loop {
            match self.chars.next().ok_or_else(no_end)? {
                char if char == quote => return Ok(label),
                '\\' => label.push(self.escaped()?),
                char => label.push(char),
            }
        }
    }

    fn escaped(&mut self) -> Result<char, String> {
        let char = self.chars.next().ok_or("ends in `\\`")?;
        Ok(match char {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'x' => self.by_number(2)?,
            'u' => self.by_number(4)?,
            'U' => self.by_number(8)?,
            other => other,
        })
    }

    fn by_number(&mut self, num_digits: usize) -> Result<char, String> {
        let number = self.number(num_digits)?;
        // JSON writes characters beyond 16 bits as two.
        if (0xd800..0xdc00).contains(&number) {
            let is_pair = self.chars.next() == Some('\\') && self.chars.next() == Some('u');
            let low = if is_pair { self.number(4)? } else { 0 };
            let pair = char::decode_utf16([number as u16, low as u16]).next();
            return match pair {
                Some(Ok(char)) if is_pair => Ok(char),
                _ => Err("has half of a character".into()),
            };
        }
        char::from_u32(number).ok_or_else(|| "has half of a character".into())
    }

    fn number(&mut self, num_digits: usize) -> Result<u32, String> {
        let digits: String = self.chars.by_ref().take(num_digits).collect();
        u32::from_str_radix(&digits, 16).map_err(|_| format!("has `\\` before `{digits}`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_all_programs_are_read() {
        for (cell, expected) in [
            (r#"["sea", "air, open"]"#, &["sea", "air, open"][..]),
            ("['sea', \"captain's\"]", &["sea", "captain's"]),
            (
                r"['it\'s', 'K\xfcste', '\u00fc', '\\']",
                &["it's", "Küste", "ü", "\\"],
            ),
            (r#"["\ud83c\udf0a"]"#, &["🌊"]),
            ("['sea' 'air'\n 'fog']", &["sea", "air", "fog"]),
            ("array(['sea', 'air'], dtype=object)", &["sea", "air"]),
            ("[np.str_('sea'), np.int64(3)]", &["sea", "3"]),
            ("('sea',)", &["sea"]),
            ("{'sea', 'air'}", &["sea", "air"]),
            ("[3, 14]", &["3", "14"]),
            ("[3 14]", &["3", "14"]),
            ("[]", &[]),
        ] {
            assert_eq!(parse_list(cell).unwrap().unwrap(), expected, "{cell}");
        }
    }

    #[test]
    fn labels_with_brackets_are_no_lists() {
        for cell in [
            "",
            "sea",
            "[Maps]",
            "(see also)",
            "[sic] sea",
            "{sea}",
            "()",
            "(1901)",
        ] {
            assert_eq!(parse_list(cell), None, "{cell}");
        }
    }

    #[test]
    fn lists_that_are_no_labels_are_named() {
        for (cell, expected) in [
            (
                "['a' 'b' ... 'z']",
                "the list `['a' 'b' ... 'z']` was cut off",
            ),
            (
                "['a', None]",
                "has `None`; expected labels in quotes or whole numbers",
            ),
            ("['a', 1.5]", "has `1.5`"),
            ("['a', ['b']]", "has `[`"),
            ("['a]", "has a quote without end"),
        ] {
            let message = parse_list(cell).unwrap().unwrap_err();
            assert!(message.contains(expected), "{message}");
        }
    }
}
