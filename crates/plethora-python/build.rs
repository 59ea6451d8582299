//! Tells the linker where libtorch is at run time, as `plethora` passes it on; without the
//! feature `torch` there is nothing to tell.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let Ok(folder) = std::env::var("DEP_PLETHORA_LIBTORCH_LIB") else {
        return;
    };
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        // What is given to others looks beside itself alone.
        println!("cargo::rerun-if-env-changed=PLETHORA_RELOCATABLE");
        let own = match std::env::var_os("PLETHORA_RELOCATABLE") {
            Some(_) => String::new(),
            None => format!(",-rpath,{folder}"),
        };
        println!("cargo::rustc-link-arg=-Wl,--enable-new-dtags,-rpath,$ORIGIN/lib{own}");
    }
}
