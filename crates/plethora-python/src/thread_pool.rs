//! The threads that work runs on.

use std::collections::HashMap;
use std::process;
use std::sync::{Arc, Mutex, PoisonError};

use plethora_core::{Error, Result};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Far beyond any machine; a typing error would have the system make threads until it falls over.
const MAX_THREADS: usize = 1024;

/// Pools by their number of threads, and the process that has them.
static POOLS: Mutex<Option<(u32, Pools)>> = Mutex::new(None);

type Pools = HashMap<usize, Arc<ThreadPool>>;

/// A pool of so many threads, 0 for one per processor. It is kept for the next call.
pub(crate) fn pool(num_threads: usize) -> Result<Arc<ThreadPool>> {
    if num_threads > MAX_THREADS {
        return Err(Error::config(
            "n_jobs",
            format!("must be at most {MAX_THREADS}, found {num_threads}"),
        ));
    }
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    // A forked process has the pools of its parent, but none of their threads.
    if let Some((owner, inherited)) = pools.take_if(|(owner, _)| *owner != process::id()) {
        tracing::debug!(owner, "forgetting the threads of another process");
        std::mem::forget(inherited);
    }
    let (_, known) = pools.get_or_insert_with(|| (process::id(), HashMap::new()));
    if let Some(pool) = known.get(&num_threads) {
        return Ok(Arc::clone(pool));
    }
    let pool = ThreadPoolBuilder::new()
        .num_threads(num_threads)
        .thread_name(|index| format!("plethora-{index}"))
        .build()
        .map_err(|error| Error::Compute(format!("starting threads: {error}")))?;
    let pool = Arc::new(pool);
    known.insert(num_threads, Arc::clone(&pool));
    Ok(pool)
}

/// Has libtorch, if it is there, compute with as many threads on the calling one.
pub(crate) fn limit_libtorch(num_threads: usize) {
    if num_threads > 0 {
        plethora::set_num_threads(num_threads);
    }
}
