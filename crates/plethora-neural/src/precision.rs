//! The numbers that are computed with.

use plethora_system::Precision;
use tch::{Device, Kind};

/// The numbers a device trains with.
pub(crate) fn compute_kind(precision: Precision, device: Device) -> Kind {
    match precision {
        Precision::Auto if device != Device::Cpu => Kind::BFloat16,
        Precision::Auto | Precision::F32 => Kind::Float,
        Precision::Bf16 => Kind::BFloat16,
    }
}

/// The numbers a device predicts with: of 16 bits where it multiplies these faster.
pub(crate) fn prediction_kind(precision: Precision, device: Device) -> Kind {
    match precision {
        Precision::Auto if device != Device::Cpu || processor_has_bf16() => Kind::BFloat16,
        Precision::Auto | Precision::F32 => Kind::Float,
        Precision::Bf16 => Kind::BFloat16,
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
