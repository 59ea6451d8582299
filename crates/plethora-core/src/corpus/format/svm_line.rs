//! Pairs `index:value`, of which sparse rows are made.

use crate::SparseVector;

/// Which indices a row may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IndexRange {
    /// What the columns are, for messages: `feature` or `label`.
    pub(super) noun: &'static str,
    /// The first index: 0 or 1.
    pub(super) base: u32,
    /// Number of columns, where a header gives it.
    pub(super) num_columns: Option<u32>,
}

/// The sparse row in a text of `index:value` pairs; columns are counted from 0 in it.
pub(super) fn parse_features(text: &str, range: IndexRange) -> Result<SparseVector, String> {
    let mut entries = Vec::new();
    let mut is_rising = true;
    let IndexRange { noun, base, .. } = range;
    for pair in text.split_ascii_whitespace() {
        let (index, value) = pair
            .split_once(':')
            .ok_or_else(|| format!("`{pair}` is not a {noun} such as 17:0.5"))?;
        let column = parse_column(index, range)?;
        let value = parse_value(value, pair, noun)?;
        is_rising &= entries.last().is_none_or(|&(last, _)| last < column);
        entries.push((column, value));
    }
    if !is_rising {
        entries.sort_by_key(|&(column, _)| column);
        if let Some(pair) = entries.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(format!("{noun} {} occurs twice", pair[0].0 + base));
        }
    }
    let (columns, values) = entries.into_iter().unzip();
    Ok(SparseVector { columns, values })
}

fn parse_column(index: &str, range: IndexRange) -> Result<u32, String> {
    let IndexRange {
        noun,
        base,
        num_columns,
    } = range;
    let number: u32 = index
        .parse()
        .map_err(|_| format!("the {noun} number `{index}` is not a whole number"))?;
    let column = number
        .checked_sub(base)
        .ok_or_else(|| format!("{noun} {number}, but {noun}s are counted from {base}"))?;
    match num_columns {
        Some(num_columns) if column >= num_columns => Err(format!(
            "{noun} {number} is out of bounds: the header promises {num_columns} {noun}s, \
             counted from 0"
        )),
        // One more must fit too: the number of columns.
        None if column == u32::MAX => Err(format!("the {noun} number {number} is too large")),
        _ => Ok(column),
    }
}

fn parse_value(value: &str, pair: &str, noun: &str) -> Result<f32, String> {
    let number: f32 = value
        .parse()
        .map_err(|_| format!("the value of the {noun} `{pair}` is not a number"))?;
    if number.is_finite() {
        Ok(number)
    } else {
        Err(format!(
            "the value of the {noun} `{pair}` is not a finite number"
        ))
    }
}

/// The header's whole numbers, if the line holds `N` of them and nothing else.
pub(super) fn parse_header<const N: usize>(line: &str) -> Option<[u64; N]> {
    let mut numbers = [0; N];
    let mut words = line.split_ascii_whitespace();
    for number in &mut numbers {
        *number = words.next()?.parse().ok()?;
    }
    words.next().is_none().then_some(numbers)
}

/// A line's labels and the text of its features. Labels come before the first blank; a line that
/// starts with a blank or with a feature has none.
pub(super) fn split_label_numbers(line: &str) -> (&str, &str) {
    let (first, rest) = line.split_once([' ', '\t']).unwrap_or((line, ""));
    if first.contains(':') {
        ("", line)
    } else {
        (first, rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANGE: IndexRange = IndexRange {
        noun: "feature",
        base: 0,
        num_columns: Some(10),
    };

    #[test]
    fn columns_come_out_sorted_and_counted_from_zero() {
        let row = parse_features("3:0.5 1:2", RANGE).unwrap();
        assert_eq!((row.columns, row.values), (vec![1, 3], vec![2.0, 0.5]));
        let from_one = IndexRange {
            noun: "feature",
            base: 1,
            num_columns: None,
        };
        assert_eq!(
            parse_features("1:1 400:1", from_one).unwrap().columns,
            [0, 399]
        );
    }

    #[test]
    fn broken_features_are_named() {
        let cases = [
            (
                "3:nan",
                "the value of the feature `3:nan` is not a finite number",
            ),
            (
                "3:inf",
                "the value of the feature `3:inf` is not a finite number",
            ),
            (
                "3:1e99",
                "the value of the feature `3:1e99` is not a finite number",
            ),
            ("3:x", "the value of the feature `3:x` is not a number"),
            ("x:3", "the feature number `x` is not a whole number"),
            ("-1:3", "the feature number `-1` is not a whole number"),
            ("3", "`3` is not a feature such as 17:0.5"),
            ("1:1 3:1 1:1", "feature 1 occurs twice"),
            (
                "10:1",
                "feature 10 is out of bounds: the header promises 10 features, counted from 0",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_features(text, RANGE).unwrap_err(), expected);
        }
        let from_one = IndexRange {
            noun: "feature",
            base: 1,
            num_columns: None,
        };
        let message = parse_features("0:1", from_one).unwrap_err();
        assert_eq!(message, "feature 0, but features are counted from 1");
    }

    #[test]
    fn labels_end_at_the_first_blank() {
        assert_eq!(split_label_numbers("1,2 3:1"), ("1,2", "3:1"));
        assert_eq!(split_label_numbers(" 3:1"), ("", "3:1"));
        assert_eq!(split_label_numbers("3:1 4:1"), ("", "3:1 4:1"));
        assert_eq!(split_label_numbers("7"), ("7", ""));
    }

    #[test]
    fn headers_are_whole_numbers_and_nothing_else() {
        assert_eq!(parse_header::<3>("4 5 6"), Some([4, 5, 6]));
        assert_eq!(parse_header::<3>("4 5"), None);
        assert_eq!(parse_header::<2>("4 5 6"), None);
        assert_eq!(parse_header::<2>("4 5:6"), None);
    }
}
