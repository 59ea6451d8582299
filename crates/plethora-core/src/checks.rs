//! Bounds of settings. A value beyond them is refused with its key, what is allowed and what was found; one that is
//! left to the data has nothing to check.

use std::fmt::Display;
use std::ops::RangeInclusive;

use crate::{Error, Key, Result};

/// Refuses a setting, naming its key, where it is not valid.
pub fn check(is_valid: bool, key: impl Into<Key>, message: &str) -> Result<()> {
    if is_valid {
        Ok(())
    } else {
        Err(Error::config(key, message))
    }
}

/// Refuses values outside of `range`.
pub fn within<T: PartialOrd + Display>(
    key: &str,
    value: impl Into<Option<T>>,
    range: RangeInclusive<T>,
) -> Result<()> {
    let (least, most) = (range.start(), range.end());
    let allowed = || format!("from {least} to {most}");
    bounded(key, value.into(), |value| range.contains(value), allowed)
}

/// Refuses counts below `least`.
pub fn at_least<T: PartialOrd + Display + Copy>(
    key: &str,
    value: impl Into<Option<T>>,
    least: T,
) -> Result<()> {
    let allowed = || format!("at least {least}");
    bounded(key, value.into(), |value| *value >= least, allowed)
}

/// Refuses numbers up to 0, and such without end.
pub fn above_zero(key: &str, value: impl Into<Option<f64>>) -> Result<()> {
    let is_valid = |&value: &f64| value > 0.0 && value.is_finite();
    bounded(key, value.into(), is_valid, || "a number above 0".into())
}

/// Refuses numbers below `least`, and such without end.
pub fn number_from(key: &str, value: impl Into<f64>, least: f64) -> Result<()> {
    let is_valid = |&value: &f64| value >= least && value.is_finite();
    let allowed = || format!("a number from {least}");
    bounded(key, Some(value.into()), is_valid, allowed)
}

/// Refuses shares below 0 and above 1.
pub fn share(key: &str, value: impl Into<f64>) -> Result<()> {
    let is_valid = |value: &f64| (0.0..=1.0).contains(value);
    let allowed = || "a number from 0 to 1".into();
    bounded(key, Some(value.into()), is_valid, allowed)
}

/// Refuses shares below 0, and those that leave nothing.
pub fn share_below_one(key: &str, value: f64) -> Result<()> {
    let is_valid = |value: &f64| (0.0..1.0).contains(value);
    let allowed = || "a number from 0 to below 1".into();
    bounded(key, Some(value), is_valid, allowed)
}

/// Refuses shares of nothing, and those above 1.
pub fn share_above_zero(key: &str, value: impl Into<Option<f64>>) -> Result<()> {
    let is_valid = |&value: &f64| value > 0.0 && value <= 1.0;
    let allowed = || "a number above 0 and up to 1".into();
    bounded(key, value.into(), is_valid, allowed)
}

fn bounded<T: Display>(
    key: &str,
    value: Option<T>,
    is_valid: impl Fn(&T) -> bool,
    allowed: impl Fn() -> String,
) -> Result<()> {
    match value {
        Some(value) if !is_valid(&value) => Err(Error::config(
            key,
            format!("must be {}, found {value}", allowed()),
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused_is_told_with_what_was_found() {
        let refused = |checked: Result<()>| checked.unwrap_err().to_string();
        assert_eq!(
            refused(within("width", 0_usize, 1..=4096)),
            "width: must be from 1 to 4096, found 0"
        );
        assert_eq!(
            refused(above_zero("cost", f64::NAN)),
            "cost: must be a number above 0, found NaN"
        );
        assert_eq!(
            refused(share_below_one("dropout", 1.0)),
            "dropout: must be a number from 0 to below 1, found 1"
        );
        assert_eq!(
            refused(at_least("beam", 0, 1)),
            "beam: must be at least 1, found 0"
        );
    }

    #[test]
    fn bounds_belong_to_what_is_allowed_and_nothing_is_never_refused() {
        within("width", 4096_usize, 1..=4096).unwrap();
        share("share", 1.0).unwrap();
        share_above_zero("share", 1.0).unwrap();
        number_from("shrink", 1.0, 1.0).unwrap();
        within::<usize>("width", None, 1..=4096).unwrap();
        above_zero("rate", None).unwrap();
        share_above_zero("share", 0.0).unwrap_err();
        share_below_one("share", -0.1).unwrap_err();
    }
}
