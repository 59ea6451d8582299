//! Numbers of tensors as Rust sees them.

use half::bf16;
use tch::{Device, Kind, Tensor};

/// A number of an activation, in 32 or 16 bits.
pub(super) trait Number: Copy + Send + Sync + 'static {
    const KIND: Kind;
    fn wide(self) -> f32;
    /// Rounded to the nearest, ties to even.
    fn of(wide: f32) -> Self;
}

impl Number for f32 {
    const KIND: Kind = Kind::Float;

    #[inline(always)]
    fn wide(self) -> f32 {
        self
    }

    #[inline(always)]
    fn of(wide: f32) -> Self {
        wide
    }
}

impl Number for bf16 {
    const KIND: Kind = Kind::BFloat16;

    #[inline(always)]
    fn wide(self) -> f32 {
        f32::from_bits(u32::from(self.to_bits()) << 16)
    }

    // Without the branch of `bf16::from_f32`, so that loops of it are of vectors.
    #[inline(always)]
    fn of(wide: f32) -> Self {
        let bits = wide.to_bits();
        let rounded = bits.wrapping_add(0x7fff + ((bits >> 16) & 1));
        let bits = if wide.is_nan() {
            bits | 0x0040_0000
        } else {
            rounded
        };
        Self::from_bits((bits >> 16) as u16)
    }
}

/// The numbers of a tensor of this kind that lies in memory without gaps.
pub(super) fn numbers<T: Number>(tensor: &Tensor) -> &[T] {
    check::<T>(tensor);
    #[expect(unsafe_code, reason = "tch has no view of a tensor's memory")]
    // SAFETY: just checked; the tensor keeps its memory as long as it is borrowed, and nothing writes to the
    // tensors of a batch but their own thread.
    unsafe {
        std::slice::from_raw_parts(tensor.data_ptr().cast::<T>(), tensor.numel())
    }
}

/// The same, to be written to.
pub(super) fn numbers_mut<T: Number>(tensor: &mut Tensor) -> &mut [T] {
    check::<T>(tensor);
    #[expect(unsafe_code, reason = "tch has no view of a tensor's memory")]
    // SAFETY: as above, and the tensor is borrowed alone.
    unsafe {
        std::slice::from_raw_parts_mut(tensor.data_ptr().cast::<T>(), tensor.numel())
    }
}

fn check<T: Number>(tensor: &Tensor) {
    let fits = tensor.kind() == T::KIND
        && tensor.device() == Device::Cpu
        && tensor.is_contiguous()
        && tensor.numel() > 0;
    assert!(fits, "{:?} is no tensor to look into", tensor.size());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_bits_are_rounded_as_by_the_crate_of_them() {
        let numbers = (0..=u32::MAX).step_by(65_521).map(f32::from_bits);
        for number in numbers.chain([f32::NAN, f32::INFINITY, -0.0, f32::MAX, 1.0 + 1.0 / 256.0]) {
            let (ours, theirs) = (<bf16 as Number>::of(number), bf16::from_f32(number));
            assert_eq!(ours.is_nan(), theirs.is_nan());
            assert!(
                ours.is_nan() || ours.to_bits() == theirs.to_bits(),
                "{number}"
            );
            assert!(ours.is_nan() || ours.wide() == theirs.to_f32());
        }
    }

    #[test]
    fn a_tensor_is_read_and_written_in_place() {
        let mut tensor = Tensor::from_slice(&[1.0_f32, 2.0, 3.0]);
        numbers_mut::<f32>(&mut tensor)[1] = 5.0;
        assert_eq!(numbers::<f32>(&tensor), [1.0, 5.0, 3.0]);
        assert_eq!(tensor.double_value(&[1]), 5.0);
    }
}
