//! Where tensors live: chosen once by the program, then passed to everything as a value.

use std::sync::OnceLock;

use plethora_system::Device;

use crate::{Error, Result};

/// The device as libtorch knows it, after making sure that it can be used.
///
/// ```
/// use plethora_neural::open_device;
/// use plethora_system::Device;
///
/// let ones = tch::Tensor::ones([2], (tch::Kind::Float, open_device(Device::Cpu)?));
/// assert_eq!(ones.double_value(&[0]), 1.0);
/// # Ok::<(), plethora_neural::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::NoCudaLibrary`] where only the CPU part of libtorch is installed;
/// [`Error::NoCudaDevice`] where the machine has no such GPU.
pub fn open_device(device: Device) -> Result<tch::Device> {
    let Device::Cuda(index) = device else {
        return Ok(tch::Device::Cpu);
    };
    load_cuda().map_err(|reason| Error::NoCudaLibrary {
        device: device.to_string(),
        reason,
    })?;
    let num_devices = usize::try_from(tch::Cuda::device_count()).unwrap_or(0);
    if index < num_devices {
        Ok(tch::Device::Cuda(index))
    } else {
        Err(Error::NoCudaDevice {
            device: device.to_string(),
            num_devices,
        })
    }
}

/// Opens the CUDA part of libtorch, which registers itself with the CPU part. libtorch looks for it
/// once, so this comes before anything that asks about CUDA; the outcome stands for the process.
fn load_cuda() -> Result<(), String> {
    static OUTCOME: OnceLock<Result<(), String>> = OnceLock::new();
    OUTCOME.get_or_init(open_library).clone()
}

#[cfg(unix)]
fn open_library() -> Result<(), String> {
    use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};
    #[expect(unsafe_code, reason = "opening a library runs its initialisers")]
    // SAFETY: the initialisers of libtorch_cuda.so are written to run when Python opens it in the
    // same way; the library is never closed, so nothing of it can dangle.
    let library = unsafe { Library::open(Some("libtorch_cuda.so"), RTLD_NOW | RTLD_GLOBAL) }
        .map_err(|error| reason(&error))?;
    std::mem::forget(library);
    Ok(())
}

/// The innermost message: the outer one says only that opening failed.
#[cfg(unix)]
fn reason(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), reason)
}

#[cfg(not(unix))]
fn open_library() -> Result<(), String> {
    Err("only supported on Linux".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_is_always_there() {
        assert_eq!(open_device(Device::Cpu).unwrap(), tch::Device::Cpu);
    }

    /// On a machine without CUDA the error, on one with it the GPU that was asked for.
    #[test]
    fn gpu_opens_or_says_what_is_missing() {
        match open_device(Device::Cuda(0)) {
            Ok(device) => assert_eq!(device, tch::Device::Cuda(0)),
            Err(error) => {
                let message = error.to_string();
                assert!(
                    message.contains("libtorch_cuda.so: cannot open shared object file")
                        || message == "cuda:0: libtorch finds 0 CUDA devices on this machine",
                    "{message}"
                );
            }
        }
    }

    #[test]
    fn gpu_beyond_the_last_is_an_error() {
        assert!(open_device(Device::Cuda(1000)).is_err());
    }
}
