//! How many processors libtorch takes, and that it leaves them to others while it waits.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Once, mpsc};
use std::thread;

use tch::{Device, Kind, Tensor};

/// Elements from which libtorch gives a further thread a part of an operation.
const ELEMENTS_PER_THREAD: usize = 32_768;

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

/// Has threads of libtorch sleep while they wait for each other. By itself the OpenMP of libtorch has them
/// turn in place for milliseconds, and one other busy program is enough that all wait for the one whose
/// processor was taken: training then takes a hundred times as long. It turns for microseconds only where
/// it has more threads than there are processors; so it gets a second set of them, which sleeps for good.
/// (`OMP_WAIT_POLICY` would do the same, but is read before a program begins.)
pub(crate) fn sleep_while_waiting() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let num_threads = num_threads();
        if num_threads < 2 {
            return;
        }
        let (done, is_done) = mpsc::channel::<()>();
        let second_set = move || {
            tch::set_num_threads(num_threads as i32);
            let elements = (2 * num_threads * ELEMENTS_PER_THREAD) as i64;
            let _ = Tensor::zeros([elements], (Kind::Float, Device::Cpu)).exp();
            drop(done);
            // The set ends with the thread that made it.
            loop {
                thread::park();
            }
        };
        // Without it everything works, only slower beside others.
        let name = "sleeping".into();
        let _ = thread::Builder::new().name(name).spawn(second_set);
        // Meanwhile nobody may change the number of threads.
        let _ = is_done.recv();
    });
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

    #[cfg(target_os = "linux")]
    #[test]
    fn there_are_more_threads_than_processors_so_that_those_that_wait_sleep() {
        set_num_threads(num_threads().max(2));
        sleep_while_waiting();
        let tasks = std::fs::read_dir("/proc/self/task").unwrap();
        let names =
            tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
        // Those of OpenMP are called as the one that made them.
        let num_sleeping = names.filter(|name| name.trim() == "sleeping").count();
        assert!(num_sleeping >= num_threads(), "{num_sleeping}");
    }

    #[test]
    fn libtorch_takes_as_many_threads_as_it_is_told() {
        set_num_threads(2);
        assert_eq!(tch::get_num_threads(), 2);
        let within = with_threads(1, || (tch::get_num_threads(), num_threads()));
        assert_eq!(within, (1, 2));
        assert_eq!(tch::get_num_threads(), 2);
    }
}
