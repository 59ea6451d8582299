//! `cargo xtask`: set-up, demo, tests and checks of this repository.
//!
//! It depends on little beside the standard library, so that a fresh clone has it in seconds.
#![expect(clippy::print_stderr, reason = "a tool for the terminal")]

mod browser;
mod check;
mod clients;
mod crash;
mod demo;
mod dist;
mod docs;
mod fuzz;
mod golden;
mod page;
mod papers;
mod process;
mod program;
mod python;
mod setup;
mod test;
mod virtual_environment;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// What went wrong, in one message for the person at the terminal.
type Result<T, E = String> = std::result::Result<T, E>;

const USAGE: &str = "\
Usage: cargo xtask COMMAND

Commands:
  setup           Get libtorch into .libtorch, which only the neural systems need
  demo [ARGS]     Build the release binary, without neural systems, and run `plethora demo`
  test [ARGS]     Set up and run all tests, with those of `page` and `python`; ARGS go to cargo-nextest
                  or `cargo test`, and leave out pages in Chromium and the Python package
  check           Set up and run formatter, lints, documentation and structure checks
  page [ARGS]     Set up, train two small models and test the page that serves them in Chromium, and the site of
                  the documents; ARGS go to pytest, and leave out the site
  clients [ARGS]  Set up and let programs of others talk to `plethora serve`: OpenAI's, OpenTelemetry's, Hugging
                  Face's; ARGS go to pytest
  python [ARGS]   Set up, build the Python package and run its tests in a fresh environment; ARGS are
                  --release for an optimised wheel, --linear for one without neural systems, or
                  go to pytest
  dist [PARTS]    Make what users install, in target/dist: PARTS are some of static, archive, deb, image
                  and wheels; all of them if none is named
  dist try        Install what is in target/dist in a clean Debian and use it, which needs root
  crash [NAMES]   Build the program and kill every command that writes at every rename, every fsync and every
                  tenth write; with NAMES those commands alone. PLETHORA_PROGRAM names a program to kill instead
  commands [PAGES]
                  Set up and run every command that README.md and docs/ show, each page in a folder of its own; with
                  PAGES those whose paths contain one of these. PLETHORA_PROGRAM names a program to run instead
  site            Make a site of the documents in target/site
  fuzz [CASES [FIRST]]
                  Set up and try CASES (10,000) mutated model folders and as many mutated inputs of all readers
  papers [ARGS]   Set up, build the release binary and write docs/papers.md with `plethora reproduce`; ARGS go to it and
                  say what to run, as --data DATA -o OUT --only lightxml/table-5
  golden          Make the golden values in testdata again with the reference programs

A LIBTORCH of your own (version 2.11) wins: then nothing is downloaded.";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((command, rest)) = arguments.split_first() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let started = Instant::now();
    let root = repository();
    let result = match (command.as_str(), rest) {
        ("setup", []) => setup::run(&root),
        ("demo", arguments) => demo::run(&root, arguments),
        ("test", arguments) => test::run(&root, arguments),
        ("check", []) => check::run(&root),
        ("page", arguments) => page::run(&root, arguments),
        ("clients", arguments) => clients::run(&root, arguments),
        ("python", arguments) => python::run(&root, arguments),
        ("crash", names) => crash::run_all(&root, names),
        ("fuzz", [] | [_] | [_, _]) => fuzz::run(&root, rest),
        ("papers", arguments) => papers::run(&root, arguments),
        ("golden", []) => golden::run(&root),
        ("commands", pages) => docs::run_commands(&root, pages),
        ("site", []) => docs::make_site(&root).map(drop),
        ("dist", arguments) => dist::run(&root, arguments),
        ("help" | "--help" | "-h", _) => {
            eprintln!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprintln!("error: cannot do `{}`\n\n{USAGE}", arguments.join(" "));
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => {
            eprintln!(
                "xtask {command}: done in {:.0} s",
                started.elapsed().as_secs_f64()
            );
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("xtask {command}: error: {message}");
            ExitCode::FAILURE
        }
    }
}

/// The root of the repository, above this package.
fn repository() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package).to_owned()
}
