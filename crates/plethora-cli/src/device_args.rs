//! Where neural systems compute.

use std::path::Path;

use clap::Args;
use plethora_core::Result;
use plethora_system::{Compute, Device, Precision, Predictor};

use crate::registry;

/// The device; the words here are those of `--help`.
#[derive(Debug, Clone, Copy, Default, Args)]
#[command(next_help_heading = "Device")]
pub(crate) struct DeviceArgs {
    /// Where neural systems compute: cpu, cuda (the first GPU) or cuda:N
    #[arg(long, value_name = "DEVICE", value_parser = parse, default_value = "cpu")]
    pub(crate) device: Device,

    /// Precision of neural systems: auto (what is fast here: 16 bits, eight for encoders that stay as
    /// they are), f32, bf16 or int8 (prediction on processors, all else as auto)
    #[arg(long, value_name = "DTYPE", value_parser = parse_precision, default_value = "auto")]
    pub(crate) dtype: Precision,
}

impl DeviceArgs {
    /// The same as the library's settings.
    pub(crate) fn compute(self) -> Compute {
        Compute {
            device: self.device,
            precision: self.dtype,
        }
    }

    /// Opens a model on the device.
    pub(crate) fn open(self, model: &Path) -> Result<Predictor> {
        registry().open_on(model, self.compute())
    }
}

pub(crate) fn parse(name: &str) -> Result<Device, String> {
    let known = name.parse::<Device>();
    let usable = known.and_then(|device| registry().check_device(device).map(|()| device));
    usable.map_err(|error| error.to_string())
}

fn parse_precision(name: &str) -> Result<Precision, String> {
    let known = name.parse::<Precision>();
    known.map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_checked_before_any_work() {
        assert_eq!(parse("cpu"), Ok(Device::Cpu));
        for name in ["", "gpu", "cuda:", "cpu:1"] {
            assert!(parse(name).is_err(), "{name}");
        }
    }
}
