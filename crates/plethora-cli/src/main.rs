//! The program `plethora`: the command line with all systems that it was built with.

use std::process::ExitCode;

fn main() -> ExitCode {
    plethora_cli::run(plethora::registry())
}
