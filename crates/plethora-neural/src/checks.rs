//! Checks of settings.

use plethora_core::{Error, Result};

/// Refuses a setting, naming its key, where it is not valid.
pub(crate) fn check(is_valid: bool, key: &str, message: &str) -> Result<()> {
    if is_valid {
        Ok(())
    } else {
        Err(Error::config(key, message))
    }
}

/// Refuses shares of 1 and more, and below 0.
pub(crate) fn check_share(value: f64, key: &str) -> Result<()> {
    check(
        (0.0..1.0).contains(&value),
        key,
        "must be a number from 0 to below 1",
    )
}

/// Refuses layers that are too narrow or too wide to be meant.
pub(crate) fn check_layers(layers: &[usize], key: &str) -> Result<()> {
    check(
        layers.iter().all(|width| (1..=65_536).contains(width)),
        key,
        "must be widths from 1 to 65536",
    )
}

/// Refuses spreads below 0.
pub(crate) fn check_spread(value: f64, key: &str) -> Result<()> {
    check(
        value >= 0.0 && value.is_finite(),
        key,
        "must be a number from 0",
    )
}
