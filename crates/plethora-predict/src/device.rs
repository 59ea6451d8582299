//! The devices of a program without neural systems.

use std::fmt;
use std::str::FromStr;

use plethora_core::{Error, Result};

/// Where models compute. This program was built without neural systems, so there is the processor
/// alone; with the feature `torch` this is the `Device` of `plethora-neural`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Device {
    /// The processor.
    #[default]
    Cpu,
}

impl FromStr for Device {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "cpu" => Ok(Self::Cpu),
            _ => Err(Error::config(
                "device",
                format!(
                    "{name:?} cannot be used: this program was built without neural systems, \
                     which alone compute elsewhere than on the cpu"
                ),
            )),
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("cpu")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_processor_is_there() {
        assert_eq!("cpu".parse::<Device>().unwrap().to_string(), "cpu");
        let error = "cuda".parse::<Device>().unwrap_err().to_string();
        assert!(error.contains("without neural systems"), "{error}");
    }
}
