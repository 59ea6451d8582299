//! Ctrl-C and `kill`: the first asks the work to stop at the next safe point, the second stops it.

use std::process;
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
            #[expect(
                clippy::exit,
                reason = "the user asked twice; waiting is not an option"
            )]
            process::exit(ABORTED);
        }
        failure::tell("stopping at the next safe point; once more stops at once");
    };
    // It fails where a handler is installed already, which is ours, or where the system has none.
    if let Err(error) = ctrlc::set_handler(handler) {
        tracing::debug!(%error, "no handler for interruptions");
    }
}

/// True once the user asked to stop.
pub(crate) fn is_requested() -> bool {
    IS_REQUESTED.load(Ordering::Relaxed)
}
