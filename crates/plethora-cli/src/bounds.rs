//! Bounds and forms of values on the command line, so that wrong ones are refused before any work.

use clap::builder::{RangedU64ValueParser, TypedValueParser};
use plethora_core::corpus::Filter;

/// Far beyond any machine; a typing error would have the system make threads until it falls over.
pub(crate) const MAX_THREADS: u64 = 1024;

/// Threads, where 0 stands for all processors.
pub(crate) fn threads() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(..=MAX_THREADS)
}

/// A number of things of which none makes no sense.
pub(crate) fn at_least_one() -> impl TypedValueParser<Value = usize> {
    |text: &str| match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err("expected a whole number from 1 on"),
    }
}

/// A choice of rows, refused without the library's name for the option, which clap tells.
pub(crate) fn filter(text: &str) -> Result<Filter, String> {
    text.parse().map_err(|_| "expected FIELD=VALUE".into())
}

/// A score, which is a probability.
pub(crate) fn score(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(score) if (0.0..=1.0).contains(&score) => Ok(score),
        _ => Err("expected a number from 0 to 1".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_probabilities() {
        assert_eq!(score("0"), Ok(0.0));
        assert_eq!(score("1"), Ok(1.0));
        for text in ["-0.1", "1.01", "nan", "inf", "", "half"] {
            assert!(score(text).is_err(), "{text}");
        }
    }
}
