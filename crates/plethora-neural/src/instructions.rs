//! Which instructions of the processor libtorch may use.

use std::env;

/// What oneDNN, which multiplies matrices for libtorch, takes its limit from.
const LIMIT: &str = "ONEDNN_MAX_CPU_ISA";

/// Everything up to AMX, whose tiles it uses without having configured them: processors that have them
/// end the process with an illegal instruction in products of 16 bits.
const WITHOUT_TILES: &str = "AVX512_CORE_FP16";

/// Keeps libtorch from instructions that would end the process, unless the user has chosen. Programs
/// call it first of all: before libtorch computes anything, and before there are other threads.
pub fn limit_instructions() {
    if env::var_os(LIMIT).is_none() {
        #[expect(unsafe_code, reason = "oneDNN has no other way in")]
        // SAFETY: the caller has no other threads yet that could read the environment.
        unsafe {
            env::set_var(LIMIT, WITHOUT_TILES);
        }
    }
}
