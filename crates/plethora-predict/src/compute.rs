//! Where and how models compute.

use std::str::FromStr;

use plethora_core::{Error, Result};

use crate::Device;

/// Where and with which numbers models compute. Linear ones take the processor and 32 bits always.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Compute {
    /// Where.
    pub device: Device,
    /// With which numbers.
    pub precision: Precision,
}

impl Compute {
    /// Makes the device ready. libtorch looks for GPUs once, when it is first used, so where models are
    /// opened on the processor too, this comes before.
    ///
    /// # Errors
    /// If the machine has no such device.
    pub fn prepare(self) -> Result<()> {
        #[cfg(feature = "torch")]
        self.device.open()?;
        Ok(())
    }
}

/// Numbers that are computed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Precision {
    /// 16 bits where that is faster, 32 elsewhere.
    #[default]
    Auto,
    /// 32 bits.
    F32,
    /// 16 bits with the exponents of 32.
    Bf16,
}

impl Precision {
    /// The name, as in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::F32 => "f32",
            Self::Bf16 => "bf16",
        }
    }
}

impl FromStr for Precision {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        [Self::Auto, Self::F32, Self::Bf16]
            .into_iter()
            .find(|precision| precision.name() == name)
            .ok_or_else(|| {
                let message = format!("{name:?} is unknown; use auto, f32 or bf16");
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

#[cfg(feature = "torch")]
impl From<Precision> for plethora_neural::train::Precision {
    fn from(precision: Precision) -> Self {
        match precision {
            Precision::Auto => Self::Auto,
            Precision::F32 => Self::F32,
            Precision::Bf16 => Self::Bf16,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precisions_have_names() {
        for precision in [Precision::Auto, Precision::F32, Precision::Bf16] {
            assert_eq!(precision.name().parse::<Precision>().unwrap(), precision);
        }
        let error = "f16".parse::<Precision>().unwrap_err().to_string();
        assert_eq!(error, "dtype: \"f16\" is unknown; use auto, f32 or bf16");
    }
}
