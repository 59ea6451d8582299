//! The numbers that a device computes with.

use tch::{Device, Kind};

use crate::train::Precision;

/// Kinds of numbers by what they are for. Weights are kept in 32 bits whatever these are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ComputeKinds {
    /// Vectors, states and the products of both with weights.
    pub(crate) products: Kind,
    /// States that go from word to word. Over hundreds of words they are sums of small steps, which
    /// 16 bits round away: a network trained so would rank otherwise on a processor.
    pub(crate) recurrence: Kind,
}

impl ComputeKinds {
    pub(crate) fn of(precision: Precision, device: Device) -> Self {
        let (products, recurrence) = match precision {
            Precision::Auto if device != Device::Cpu => (Kind::BFloat16, Kind::Float),
            Precision::Auto | Precision::F32 => (Kind::Float, Kind::Float),
            Precision::Bf16 => (Kind::BFloat16, Kind::BFloat16),
        };
        Self {
            products,
            recurrence,
        }
    }
}
