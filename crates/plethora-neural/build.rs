//! Tells the linker where libtorch is at run time, for this crate's tests and for dependants.
//!
//! Link arguments of a build script reach the crate itself only. A program that uses this crate
//! therefore reads `DEP_PLETHORA_NEURAL_LIBTORCH_LIB` in a build.rs of its own and passes the same
//! arguments on with `cargo::rustc-link-arg-bins`:
//!
//! ```text
//! -Wl,--enable-new-dtags,-rpath,$ORIGIN/lib,-rpath,LIBTORCH_LIB
//! ```
//!
//! New tags, because `LD_LIBRARY_PATH` wins over them: that is how the same program runs with the
//! CUDA build of libtorch. `$ORIGIN/lib` comes first, for a program shipped with its libraries.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Set by torch-sys; absent where it builds for documentation only.
    let Ok(folder) = std::env::var("DEP_TCH_LIBTORCH_LIB") else {
        return;
    };
    println!("cargo::metadata=LIBTORCH_LIB={folder}");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo::rustc-link-arg=-Wl,--enable-new-dtags,-rpath,$ORIGIN/lib,-rpath,{folder}");
    }
}
