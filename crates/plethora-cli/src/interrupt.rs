//! Ctrl-C and `kill`: the first asks the work to stop at the next safe point, the second stops it.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure;

static IS_REQUESTED: AtomicBool = AtomicBool::new(false);

/// Exit status after a second request, when nothing is tidied up any more.
const ABORTED: i32 = 1;

/// From now on, asks the work to stop instead of ending the process. For work that leaves
/// something behind; reading standard input would not notice the request.
pub(crate) fn install() {
    let handler = || {
        if IS_REQUESTED.swap(true, Ordering::Relaxed) {
            end_at_once();
        }
        failure::tell("stopping at the next safe point; once more stops at once");
    };
    // It fails where a handler is installed already, which is ours, or where the system has none.
    if let Err(error) = ctrlc::set_handler(handler) {
        tracing::debug!(%error, "no handler for interruptions");
    }
}

/// Ends the process with nothing tidied up, not by us and not by libraries: libtorch takes itself apart
/// when a process exits as usual, and crashes where other threads are computing with it.
pub(crate) fn end_at_once() -> ! {
    #[expect(unsafe_code, reason = "the standard library has no such exit")]
    // SAFETY: it takes a number and does not come back.
    unsafe {
        libc::_exit(ABORTED)
    }
}

/// True once the user asked to stop.
pub(crate) fn is_requested() -> bool {
    IS_REQUESTED.load(Ordering::Relaxed)
}
