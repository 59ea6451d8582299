//! The systems of this program. Here alone it matters whether it was built with libtorch.

use std::sync::LazyLock;

#[cfg(not(feature = "torch"))]
use plethora_system::Absent;
use plethora_system::{Ensembles, Family, Registry};

/// What a program without libtorch lacks.
#[cfg(not(feature = "torch"))]
const NEURAL: Absent = Absent {
    systems: &[
        "attentionxml",
        "attentionxml-plt",
        "xml-rnn",
        "xml-cnn",
        "lightxml",
        "aplc-xlnet",
        "lightattention",
        "treaderxml",
        "dense",
        "xr-transformer",
        "siamese",
    ],
    what: "neural systems",
    remedy: "in its repository, `cargo xtask setup` and `cargo install --path crates/plethora-cli \
             --features torch` build one with them",
};

static REGISTRY: LazyLock<Registry> = LazyLock::new(all_systems);

/// All systems of this program, to be used as they are.
pub fn registry() -> &'static Registry {
    &REGISTRY
}

/// All systems of this program, to be added to: `all_systems().with(&Mine)`.
pub fn all_systems() -> Registry {
    let families = plethora_linear::FAMILIES.into_iter();
    #[cfg(feature = "torch")]
    let families = families.chain(plethora_neural::FAMILIES);
    let registry = Registry::new(families.chain([&Ensembles as &dyn Family]));
    #[cfg(not(feature = "torch"))]
    let registry = registry.without(NEURAL);
    registry
}

/// Keeps libtorch, if it is there, from instructions that would end the process. Programs call it first
/// of all, while there are no other threads.
pub fn prepare() {
    #[cfg(feature = "torch")]
    plethora_neural::limit_instructions();
}

/// Has libtorch, if it is there, compute with as many threads on the calling one.
pub fn set_num_threads(num_threads: usize) {
    #[cfg(feature = "torch")]
    plethora_neural::set_num_threads(num_threads);
    #[cfg(not(feature = "torch"))]
    let _ = num_threads;
}
