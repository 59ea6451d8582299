//! Where and how models compute.

use std::fmt;
use std::str::FromStr;

use plethora_core::{Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where and with which numbers models compute. Linear ones take the processor and 32 bits always.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Compute {
    /// Where.
    pub device: Device,
    /// With which numbers.
    pub precision: Precision,
}

/// A device by its name: `cpu`, `cuda` (the first GPU) or `cuda:N`.
///
/// ```
/// use plethora_system::Device;
///
/// assert_eq!("cuda".parse::<Device>()?.to_string(), "cuda:0");
/// # Ok::<(), plethora_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Device {
    /// The processor.
    #[default]
    Cpu,
    /// The GPU with this index.
    Cuda(usize),
}

/// Numbers that are computed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// 16 bits where that is faster, 32 elsewhere.
    #[default]
    Auto,
    /// 32 bits.
    F32,
    /// 16 bits with the exponents of 32.
    Bf16,
    /// Eight bits for the products of encoders that are only read, on processors; all else as `Auto`.
    Int8,
}

impl FromStr for Device {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let unknown = || {
            let message = format!("{name:?} is unknown; use cpu, cuda or cuda:N");
            Error::config("device", message)
        };
        match name.split_once(':') {
            None if name == "cpu" => Ok(Self::Cpu),
            None if name == "cuda" => Ok(Self::Cuda(0)),
            Some(("cuda", index)) if index.bytes().all(|byte| byte.is_ascii_digit()) => {
                index.parse().map(Self::Cuda).map_err(|_| unknown())
            }
            _ => Err(unknown()),
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => formatter.write_str("cpu"),
            Self::Cuda(index) => write!(formatter, "cuda:{index}"),
        }
    }
}

impl Precision {
    const ALL: [Self; 4] = [Self::Auto, Self::F32, Self::Bf16, Self::Int8];

    /// The name, as in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::F32 => "f32",
            Self::Bf16 => "bf16",
            Self::Int8 => "int8",
        }
    }
}

impl FromStr for Precision {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|precision| precision.name() == name)
            .ok_or_else(|| {
                let message = format!("{name:?} is unknown; use auto, f32, bf16 or int8");
                Error::config("dtype", message)
            })
    }
}

impl From<Device> for Compute {
    fn from(device: Device) -> Self {
        Self {
            device,
            precision: Precision::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_named_as_they_are_shown() {
        for (name, device) in [
            ("cpu", Device::Cpu),
            ("cuda:0", Device::Cuda(0)),
            ("cuda:3", Device::Cuda(3)),
        ] {
            assert_eq!(name.parse::<Device>().unwrap(), device);
            assert_eq!(device.to_string(), name);
        }
        assert_eq!("cuda".parse::<Device>().unwrap(), Device::Cuda(0));
        for name in ["", "gpu", "cuda:", "cuda:x", "cuda:-1", "cpu:0", "CPU"] {
            assert!(name.parse::<Device>().is_err(), "{name:?} was taken");
        }
    }

    #[test]
    fn precisions_have_names() {
        for precision in Precision::ALL {
            assert_eq!(precision.name().parse::<Precision>().unwrap(), precision);
        }
        let error = "f16".parse::<Precision>().unwrap_err().to_string();
        assert_eq!(
            error,
            "dtype: \"f16\" is unknown; use auto, f32, bf16 or int8"
        );
    }
}
