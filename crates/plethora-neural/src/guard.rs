//! The border to libtorch.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::first_line;
use crate::threads::sleep_while_waiting;
use crate::{Error, Result};

/// Runs tensor code. The convenient forms of tch's operations panic where libtorch fails, as when
/// memory runs out: here such a panic becomes an error. Training, opening and ranking go through
/// here as a whole.
pub(crate) fn guarded<T>(compute: impl FnOnce() -> Result<T>) -> Result<T> {
    sleep_while_waiting();
    // State that a failed computation leaves behind is given up together with its owner.
    catch_unwind(AssertUnwindSafe(compute)).unwrap_or_else(|panic| Err(torch_error(panic)))
}

fn torch_error(panic: Box<dyn Any + Send>) -> Error {
    let text = match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => match panic.downcast::<&str>() {
            Ok(text) => (*text).to_owned(),
            Err(panic) => std::panic::resume_unwind(panic),
        },
    };
    match text.split_once("Torch(\"") {
        Some((_, message)) => {
            let message = message.replace("\\n", "\n");
            Error::Torch(first_line(message.trim_end_matches("\")")))
        }
        None => std::panic::resume_unwind(Box::new(text)),
    }
}

#[cfg(test)]
mod tests {
    use tch::{Device, Kind, Tensor};

    use super::*;

    #[test]
    fn failures_inside_libtorch_become_errors() {
        let error = guarded(|| {
            let ones = Tensor::ones([2, 3], (Kind::Float, Device::Cpu));
            Ok(ones.matmul(&ones))
        })
        .unwrap_err()
        .to_string();
        assert!(error.starts_with("libtorch: mat1 and mat2"), "{error}");
        assert!(!error.contains('\n'), "{error}");
    }

    #[test]
    #[should_panic(expected = "a mistake of ours")]
    fn other_panics_go_on() {
        let _ = guarded::<()>(|| panic!("a mistake of ours: {}", 1));
    }
}
