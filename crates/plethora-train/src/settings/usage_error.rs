//! Settings that make no sense.

use std::fmt;

/// Arguments or settings that make no sense, found after parsing.
#[derive(Debug)]
pub struct UsageError(String);

impl UsageError {
    /// An error with a message of its own.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for UsageError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}
