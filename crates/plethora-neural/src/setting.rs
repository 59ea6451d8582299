//! Settings that are numbers, or may still become some: what both forms of settings are checked by.

use plethora_system::settings::Auto;

/// A setting in a type that is generic over whether choices are left.
pub trait Setting<T> {
    /// The value; none where it is left to the data and the machine.
    fn value(&self) -> Option<&T>;

    /// True unless there is a value and it is not as it must be.
    fn holds(&self, is_valid: impl FnOnce(&T) -> bool) -> bool {
        self.value().is_none_or(is_valid)
    }
}

impl<T> Setting<T> for T {
    fn value(&self) -> Option<&T> {
        Some(self)
    }
}

impl<T> Setting<T> for Auto<T> {
    fn value(&self) -> Option<&T> {
        match self {
            Self::Auto => None,
            Self::Set(value) => Some(value),
        }
    }
}
