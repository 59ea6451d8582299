//! From the main memory to a GPU.

use tch::{Device, Tensor};

/// A copy in memory that a GPU can read by itself.
///
/// `pin_memory` would do the same, but it wants no device by now, which this binding always gives, and
/// complains on standard error at every call.
pub(crate) fn pinned(tensor: &Tensor, device: Device) -> Tensor {
    tensor.internal_pin_memory(device)
}

/// Starts an upload, and does not wait for it where the memory is pinned.
pub(crate) fn upload(tensor: &Tensor, device: Device) -> Tensor {
    tensor.to_device_(device, tensor.kind(), true, false)
}
