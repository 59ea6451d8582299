//! How many processors libtorch takes.

use std::sync::atomic::{AtomicUsize, Ordering};

/// What [`set_num_threads`] was told; 0 before.
static TOLD: AtomicUsize = AtomicUsize::new(0);

/// Has libtorch compute with so many threads from now on, in the whole process; by itself it takes
/// all processors.
pub fn set_num_threads(num_threads: usize) {
    TOLD.store(num_threads, Ordering::Relaxed);
    tch::set_num_threads(num_threads as i32);
}

/// Threads that may compute at the same time.
pub(crate) fn num_threads() -> usize {
    match TOLD.load(Ordering::Relaxed) {
        0 => tch::get_num_threads().max(1) as usize,
        told => told,
    }
}

/// Has libtorch do `work` on so many threads where it is called from this one.
pub(crate) fn with_threads<T>(num_threads: usize, work: impl FnOnce() -> T) -> T {
    let _restored = Restored(self::num_threads());
    tch::set_num_threads(num_threads as i32);
    work()
}

/// Gives back so many threads when it is dropped.
struct Restored(usize);

impl Drop for Restored {
    fn drop(&mut self) {
        tch::set_num_threads(self.0 as i32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libtorch_takes_as_many_threads_as_it_is_told() {
        set_num_threads(2);
        assert_eq!(tch::get_num_threads(), 2);
        let within = with_threads(1, || (tch::get_num_threads(), num_threads()));
        assert_eq!(within, (1, 2));
        assert_eq!(tch::get_num_threads(), 2);
    }
}
