//! The numbers that are computed with.

use std::fmt;

use plethora_system::Precision;
use tch::{Device, Kind};

use crate::int8;

/// The numbers that a network reads with, without being trained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Numbers {
    /// Of all that is between products.
    pub(crate) kind: Kind,
    /// Whether the products of encoders are computed in eight bits.
    pub(crate) is_int8: bool,
}

impl fmt::Display for Numbers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let products = if self.is_int8 { "Int8 beside " } else { "" };
        write!(formatter, "{products}{:?}", self.kind)
    }
}

impl From<Kind> for Numbers {
    fn from(kind: Kind) -> Self {
        Self {
            kind,
            is_int8: false,
        }
    }
}

/// The numbers a device trains with. There are no gradients in eight bits.
pub(crate) fn compute_kind(precision: Precision, device: Device) -> Kind {
    match precision {
        Precision::Auto | Precision::Int8 if device != Device::Cpu => Kind::BFloat16,
        Precision::Auto | Precision::F32 | Precision::Int8 => Kind::Float,
        Precision::Bf16 => Kind::BFloat16,
    }
}

/// The numbers a device predicts with: of 16 bits where it multiplies these faster, and of eight on processors
/// where they are asked for.
pub(crate) fn prediction_numbers(precision: Precision, device: Device) -> Numbers {
    let is_on_gpu = device != Device::Cpu;
    let kind = match precision {
        Precision::Auto | Precision::Int8 if is_on_gpu || processor_has_bf16() => Kind::BFloat16,
        Precision::Auto | Precision::F32 | Precision::Int8 => Kind::Float,
        Precision::Bf16 => Kind::BFloat16,
    };
    Numbers {
        kind,
        is_int8: precision == Precision::Int8 && !is_on_gpu,
    }
}

/// The numbers that an encoder reads with which stays as it is, so that what learns from its vectors learns
/// from their rounding, too: of eight bits also where nothing is asked for and the processor is fast with them.
pub(crate) fn frozen_numbers(precision: Precision, device: Device) -> Numbers {
    match precision {
        Precision::Auto if int8::is_fast() => prediction_numbers(Precision::Int8, device),
        said => prediction_numbers(said, device),
    }
}

/// True where the processor multiplies numbers of 16 bits in hardware.
#[cfg(target_arch = "x86_64")]
fn processor_has_bf16() -> bool {
    std::is_x86_feature_detected!("avx512bf16")
}

#[cfg(not(target_arch = "x86_64"))]
fn processor_has_bf16() -> bool {
    false
}
