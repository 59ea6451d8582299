//! The values that a setting may take in a search.

use std::fmt;

use plethora_core::SeedStream;
use serde_json::Value;

use plethora_system::settings::Kind;

/// Stands before ranges that are drawn from by orders of magnitude.
const LOG: &str = "log:";

/// What stands between the ends of a range.
const TO: &str = "..";

/// What a range looks like, for messages.
const EXAMPLES: &str = "values as 1,3 or a range as 10..200 or log:10..200";

/// The values that a setting may take. Its text is what users write: `1,3` are choices, `10..200` is
/// a range and `log:10..200` one in which 10 to 20 is as likely as 100 to 200.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Range {
    /// Each as likely as the others.
    Choices(Vec<Value>),
    /// Whole numbers, both ends included.
    Integers { from: u64, to: u64, is_log: bool },
    /// Numbers from one to the other.
    Numbers { from: f64, to: f64, is_log: bool },
}

impl Range {
    /// Reads the range of a setting that takes values of this kind.
    pub(super) fn parse(text: &str, kind: &Kind) -> Result<Self, String> {
        let is_numeric = is_numeric(kind);
        let (is_log, ends) = match text.strip_prefix(LOG) {
            Some(ends) if is_numeric => (true, ends),
            _ => (false, text),
        };
        match ends.split_once(TO) {
            Some((from, to)) if is_numeric => {
                Self::between(from.trim(), to.trim(), kind, is_log).map_err(in_text(text))
            }
            _ if is_log || text.trim().is_empty() => Err(format!("`{text}`: expected {EXAMPLES}")),
            _ => Self::choices(text, kind),
        }
    }

    /// The range that a value of a file stands for: a list of choices, a text as
    /// [`parse`](Self::parse) reads it, or a value alone.
    pub(super) fn of_value(value: &Value, kind: &Kind) -> Result<Self, String> {
        let choices = match value {
            Value::String(text) => return Self::parse(text, kind),
            // A list of one setting that takes a list is a choice, not several.
            Value::Array(list)
                if !matches!(kind, Kind::Counts | Kind::Numbers)
                    || list.iter().all(Value::is_array) =>
            {
                list.clone()
            }
            value => vec![value.clone()],
        };
        if choices.is_empty() {
            return Err(format!("expected {EXAMPLES}, found none"));
        }
        match choices.iter().find(|value| !kind.accepts(value)) {
            None => Ok(Self::Choices(choices)),
            Some(value) => Err(unexpected(kind, &value.to_string())),
        }
    }

    fn between(from: &str, to: &str, kind: &Kind, is_log: bool) -> Result<Self, String> {
        let parse = |end: &str| kind.parse(end).ok_or_else(|| unexpected(kind, end));
        let (from, to) = (parse(from)?, parse(to)?);
        let (low, high) = (number(&from), number(&to));
        if low >= high {
            return Err("expected the smaller number first".into());
        }
        if is_log && low <= 0.0 {
            return Err("expected numbers above 0 after log:".into());
        }
        Ok(match (from.as_u64(), to.as_u64()) {
            (Some(from), Some(to)) => Self::Integers { from, to, is_log },
            _ => Self::Numbers {
                from: low,
                to: high,
                is_log,
            },
        })
    }

    fn choices(text: &str, kind: &Kind) -> Result<Self, String> {
        let parse = |choice: &str| {
            let choice = choice.trim();
            let value = kind.parse(choice).filter(|_| !choice.is_empty());
            value.ok_or_else(|| unexpected(kind, choice))
        };
        let choices = split_choices(text).into_iter().map(parse);
        Ok(Self::Choices(choices.collect::<Result<_, _>>()?))
    }

    /// The value that a stream of random numbers gives.
    pub(super) fn draw(&self, stream: SeedStream) -> Value {
        let fraction = stream.fraction();
        match *self {
            Self::Choices(ref choices) => {
                let place = (fraction * choices.len() as f64) as usize;
                choices[place.min(choices.len() - 1)].clone()
            }
            Self::Integers { from, to, is_log } => {
                // Half of the ends lies beyond them, else they would be drawn half as often.
                let (low, high) = (from as f64 - 0.5, to as f64 + 0.5);
                let drawn = between(low, high, is_log, fraction).round() as u64;
                Value::from(drawn.clamp(from, to))
            }
            Self::Numbers { from, to, is_log } => {
                let drawn = readable(between(from, to, is_log, fraction));
                Value::from(drawn.clamp(from, to))
            }
        }
    }

    /// Values that stand for all of them where it is asked whether a setting takes them: the
    /// choices, or the ends.
    pub(super) fn ends(&self) -> Vec<Value> {
        match self {
            Self::Choices(choices) => choices.clone(),
            Self::Integers { from, to, .. } => vec![Value::from(*from), Value::from(*to)],
            Self::Numbers { from, to, .. } => vec![Value::from(*from), Value::from(*to)],
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let log = |is_log: &bool| if *is_log { LOG } else { "" };
        match self {
            Self::Choices(choices) => {
                let shown: Vec<String> = choices.iter().map(shown).collect();
                formatter.write_str(&shown.join(","))
            }
            Self::Integers { from, to, is_log } => {
                write!(formatter, "{}{from}{TO}{to}", log(is_log))
            }
            Self::Numbers { from, to, is_log } => {
                let (from, to) = (Value::from(*from), Value::from(*to));
                write!(formatter, "{}{from}{TO}{to}", log(is_log))
            }
        }
    }
}

/// A value of a setting as `--set` takes it.
pub(super) fn shown(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// True for settings whose values have an order.
fn is_numeric(kind: &Kind) -> bool {
    match kind {
        Kind::Count | Kind::Number => true,
        Kind::Auto(kind) => is_numeric(kind),
        _ => false,
    }
}

fn in_text(text: &str) -> impl Fn(String) -> String {
    move |message| format!("`{text}`: {message}")
}

fn unexpected(kind: &Kind, found: &str) -> String {
    format!("expected {kind}, found `{found}`")
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("ranges have numbers for ends")
}

/// The number a fraction of the way from `low` to `high`; with `is_log` the way goes by factors.
fn between(low: f64, high: f64, is_log: bool, fraction: f64) -> f64 {
    if is_log {
        low * (high / low).powf(fraction)
    } else {
        low + (high - low) * fraction
    }
}

/// Four digits are more than a search can tell apart, and they can be read and typed.
fn readable(number: f64) -> f64 {
    format!("{number:.3e}")
        .parse()
        .expect("a number as it was printed")
}

/// The parts between commas, of which those in brackets separate nothing.
fn split_choices(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut depth) = (0, 0);
    for (place, character) in text.char_indices() {
        match character {
            '[' => depth += 1,
            ']' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..place]);
                start = place + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn draws(range: &Range, count: u64) -> Vec<Value> {
        let stream = SeedStream::new(7);
        (0..count)
            .map(|trial| range.draw(stream.child(trial)))
            .collect()
    }

    fn share(values: &[Value], is_counted: impl Fn(f64) -> bool) -> f64 {
        let counted = values.iter().filter(|value| is_counted(number(value)));
        counted.count() as f64 / values.len() as f64
    }

    #[test]
    fn every_kind_of_range_has_its_text() {
        for (text, kind, expected) in [
            ("1,3", Kind::Count, Range::Choices(vec![1.into(), 3.into()])),
            (
                "true,false",
                Kind::Switch,
                Range::Choices(vec![true.into(), false.into()]),
            ),
            (
                "mean,../a",
                Kind::Text,
                Range::Choices(vec!["mean".into(), "../a".into()]),
            ),
            (
                "[256],[512,256]",
                Kind::Counts,
                Range::Choices(vec![json!([256]), json!([512, 256])]),
            ),
            (
                "5..40",
                Kind::Count,
                Range::Integers {
                    from: 5,
                    to: 40,
                    is_log: false,
                },
            ),
            (
                "log:5..40",
                Kind::Count,
                Range::Integers {
                    from: 5,
                    to: 40,
                    is_log: true,
                },
            ),
            (
                "0..0.5",
                Kind::Number,
                Range::Numbers {
                    from: 0.0,
                    to: 0.5,
                    is_log: false,
                },
            ),
            (
                "log:1e-4..1e-2",
                Kind::Number,
                Range::Numbers {
                    from: 1e-4,
                    to: 1e-2,
                    is_log: true,
                },
            ),
        ] {
            let range = Range::parse(text, &kind).unwrap();
            assert_eq!(range, expected, "{text}");
            assert_eq!(Range::parse(&range.to_string(), &kind), Ok(range), "{text}");
        }
    }

    #[test]
    fn files_may_have_lists_and_single_values() {
        let of = |value: Value, kind| Range::of_value(&value, &kind).map(|range| range.ends());
        assert_eq!(of(json!([1, 3]), Kind::Count), Ok(vec![json!(1), json!(3)]));
        assert_eq!(of(json!(4), Kind::Count), Ok(vec![json!(4)]));
        assert_eq!(
            of(json!("log:1..8"), Kind::Count),
            Ok(vec![json!(1), json!(8)])
        );
        assert_eq!(
            of(json!([512, 256]), Kind::Counts),
            Ok(vec![json!([512, 256])])
        );
        let two = json!([[512], [256]]);
        assert_eq!(of(two, Kind::Counts), Ok(vec![json!([512]), json!([256])]));
        assert!(
            of(json!([]), Kind::Count)
                .unwrap_err()
                .contains("found none")
        );
        let message = of(json!([1, "two"]), Kind::Count).unwrap_err();
        assert_eq!(message, "expected a whole number from 0, found `\"two\"`");
    }

    #[test]
    fn what_is_no_range_is_told_with_what_was_expected() {
        for (text, kind, expected) in [
            ("", Kind::Count, "expected values as 1,3 or a range"),
            ("log:5", Kind::Count, "expected values as 1,3 or a range"),
            (
                "1,,2",
                Kind::Count,
                "expected a whole number from 0, found ``",
            ),
            (
                "5..",
                Kind::Count,
                "expected a whole number from 0, found ``",
            ),
            (
                "0.5..3",
                Kind::Count,
                "expected a whole number from 0, found `0.5`",
            ),
            (
                "9..3",
                Kind::Number,
                "`9..3`: expected the smaller number first",
            ),
            ("3..3", Kind::Count, "expected the smaller number first"),
            (
                "log:0..1",
                Kind::Number,
                "expected numbers above 0 after log:",
            ),
            ("0..1", Kind::Switch, "expected true or false, found `0..1`"),
            ("log:1..9", Kind::Counts, "expected whole numbers"),
            ("nan..1", Kind::Number, "expected a number, found `nan`"),
        ] {
            let message = Range::parse(text, &kind).unwrap_err();
            assert!(message.contains(expected), "{text}: {message}");
        }
    }

    #[test]
    fn draws_repeat_and_stay_within() {
        for (text, kind) in [
            ("3..9", Kind::Count),
            ("log:1..1000", Kind::Count),
            ("-2..0.25", Kind::Number),
            ("log:1e-4..1e-2", Kind::Number),
        ] {
            let range = Range::parse(text, &kind).unwrap();
            let ends = range.ends();
            let drawn = draws(&range, 2000);
            assert_eq!(drawn, draws(&range, 2000));
            assert!(drawn.iter().all(|value| kind.accepts(value)), "{text}");
            let (low, high) = (number(&ends[0]), number(&ends[1]));
            assert_eq!(
                share(&drawn, |value| (low..=high).contains(&value)),
                1.0,
                "{text}"
            );
        }
    }

    #[test]
    fn values_are_as_likely_as_the_range_says() {
        let drawn = |text: &str, kind| draws(&Range::parse(text, &kind).unwrap(), 6000);
        let numbers = drawn("0..10", Kind::Number);
        assert!((share(&numbers, |value| value < 2.5) - 0.25).abs() < 0.02);
        let numbers = drawn("log:1e-4..1e-2", Kind::Number);
        assert!((share(&numbers, |value| value < 1e-3) - 0.5).abs() < 0.02);
        for (text, value) in [("1..3", 1.0), ("1..3", 3.0), ("4,5,9", 9.0)] {
            let integers = drawn(text, Kind::Count);
            assert!((share(&integers, |drawn| drawn == value) - 1.0 / 3.0).abs() < 0.02);
        }
        let integers = drawn("log:1..100", Kind::Count);
        assert!((share(&integers, |value| value <= 7.0) - 0.5).abs() < 0.04);
    }
}
