//! `cargo xtask commands`: every command that the pages show, run as it stands there.
//!
//! Blocks that are indented or fenced as `sh` are commands. Those of a page run one after another in a folder of its own, with what
//! `desk.sh` puts there, by a shell that knows what `shell.sh` says. Comments in the page, which its readers do not see, say the rest:
//!
//! - `<!-- before: COMMANDS -->` has commands that run here as well, to prepare what comes;
//! - `<!-- not run: REASON -->` leaves the next block out;
//! - `<!-- not run on this page: REASON -->` leaves all blocks out.

use std::fmt::Write as _;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use super::markdown::{self, Part};
use super::sources;
use crate::{Result, process, program};

/// Where the commands run, from the root.
const FOLDER: &str = "target/commands";

/// Where the examples in Python are run.
const PYTHON_TEST: &str = "crates/plethora-python/tests/test_readme.py";

/// How long the commands of one page may take.
const MOST_SECONDS: &str = "300";

/// Lines of output that are shown where a command fails.
const SHOWN_LINES: usize = 25;

/// Commands and where they stand.
#[derive(Debug, PartialEq, Eq)]
struct Step {
    line: usize,
    text: String,
}

/// Builds the program, or takes that of `PLETHORA_PROGRAM`, and runs the commands of the pages whose paths contain one of
/// `wanted`, or of all.
pub(crate) fn run(root: &Path, wanted: &[String]) -> Result<()> {
    let program = match std::env::var_os("PLETHORA_PROGRAM") {
        Some(program) => program.into(),
        None => program::build(root)?,
    };
    let python_test = fs::read_to_string(root.join(PYTHON_TEST))
        .map_err(|error| format!("{PYTHON_TEST}: {error}"))?;
    let mut pages = Vec::new();
    for source in sources(root)? {
        let name = source.name();
        let steps = steps(&source.text, python_test.contains(&format!("\"{name}\"")))
            .map_err(|error| format!("{name}:{error}"))?;
        let is_wanted = wanted.is_empty() || wanted.iter().any(|part| name.contains(part));
        if is_wanted && !steps.is_empty() {
            pages.push((name, steps));
        }
    }
    let shell = Shell::new(root, &program)?;
    let mut failures = Vec::new();
    for (name, steps) in pages {
        let started = Instant::now();
        match shell.run(&name, &steps) {
            Ok(()) => eprintln!(
                "{name}: {} blocks of commands, {:.1} s",
                steps.len(),
                started.elapsed().as_secs_f64()
            ),
            Err(message) => failures.push(message),
        }
    }
    if failures.is_empty() {
        Ok(())
    } else {
        Err(failures.join("\n\n"))
    }
}

/// What runs of a page, or the line and what is wrong there.
fn steps(text: &str, has_python_test: bool) -> Result<Vec<Step>> {
    let mut steps = Vec::new();
    let mut left_out: Option<String> = None;
    let mut line = 1;
    for part in markdown::read(text).parts {
        match part {
            Part::Comment(comment) => {
                let Some((what, rest)) = comment.split_once(':') else {
                    continue;
                };
                match (what, rest.trim()) {
                    ("before", commands) => steps.push(Step {
                        line,
                        text: commands.to_owned(),
                    }),
                    ("not run" | "not run on this page", "") => {
                        return Err(format!("{line}: `{what}` needs a reason"));
                    }
                    ("not run on this page", _) => return Ok(Vec::new()),
                    ("not run", reason) => left_out = Some(reason.to_owned()),
                    _ => {}
                }
            }
            Part::Block(block) => {
                line = block.line;
                if left_out.take().is_some() {
                    continue;
                }
                match block.language.as_deref() {
                    None | Some("sh") => steps.push(Step {
                        line,
                        text: block.text,
                    }),
                    Some("python") if !has_python_test => {
                        return Err(format!("{line}: {PYTHON_TEST} does not run this page"));
                    }
                    Some(_) => {}
                }
            }
            Part::Prose => {
                if let Some(reason) = left_out {
                    return Err(format!(
                        "{line}: nothing that could run follows `not run: {reason}`"
                    ));
                }
            }
        }
    }
    Ok(steps)
}

/// Runs commands in folders of their own.
struct Shell {
    root: PathBuf,
    folder: PathBuf,
    /// Where the program is.
    bin: PathBuf,
}

impl Shell {
    fn new(root: &Path, program: &Path) -> Result<Self> {
        let folder = root.join(FOLDER);
        if folder.exists() {
            fs::remove_dir_all(&folder)
                .map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        let shell = Self {
            root: root.to_owned(),
            bin: program.parent().unwrap_or(root).to_owned(),
            folder,
        };
        let desk = Step {
            line: 1,
            text: include_str!("desk.sh").to_owned(),
        };
        shell.run_in(&shell.folder.join("desk"), "desk.sh", &[desk])?;
        Ok(shell)
    }

    /// Runs the commands of a page.
    fn run(&self, page: &str, steps: &[Step]) -> Result<()> {
        let folder = self.folder.join(page.replace('/', "_"));
        process::run_quietly(
            Command::new("cp")
                .arg("-a")
                .arg(self.folder.join("desk"))
                .arg(&folder),
        )?;
        self.run_in(&folder, page, steps)?;
        // What models leave is as large as they are.
        fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))
    }

    fn run_in(&self, folder: &Path, page: &str, steps: &[Step]) -> Result<()> {
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let port = free_port()?;
        let script = folder.join(".commands.sh");
        fs::write(&script, script_of(page, steps, port))
            .map_err(|error| format!("{}: {error}", script.display()))?;
        let path = std::env::var("PATH").unwrap_or_default();
        let output = process::capture(
            Command::new("timeout")
                .args([MOST_SECONDS, "bash", "-c", "exec bash .commands.sh 2>&1"])
                .current_dir(folder)
                .env("HOME", folder)
                .env("PATH", format!("{}:{path}", self.bin.display()))
                .env("REPOSITORY", &self.root)
                .env("PLETHORA_PORT", port.to_string())
                .env("OMP_NUM_THREADS", "1"),
        )?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stdout);
        let lines: Vec<&str> = said.lines().collect();
        let last = &lines[lines.len().saturating_sub(SHOWN_LINES)..];
        Err(format!(
            "{page}: {}; in {}:\n  {}",
            output.status,
            folder.display(),
            last.join("\n  ")
        ))
    }
}

/// One script of all commands, as what they set and where they go must last from block to block.
fn script_of(page: &str, steps: &[Step], port: u16) -> String {
    let mut script = include_str!("shell.sh").to_owned();
    for step in steps {
        let port = port.to_string();
        let text = step.text.replace("8080", &port).replace("8000", &port);
        _ = write!(script, "\nat='{page}:{}'\n{text}\n", step.line);
    }
    script
}

/// Others may serve where the pages do.
fn free_port() -> Result<u16> {
    let address = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    address
        .map(|address| address.port())
        .map_err(|error| format!("no free port: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(page: &str) -> Vec<String> {
        let steps = steps(page, false).unwrap();
        steps.into_iter().map(|step| step.text).collect()
    }

    #[test]
    fn commands_run_in_their_order_with_what_prepares_them() {
        let page = "# T\n\n<!-- before: touch a -->\n\n    cat a\n\n```sh\nrm a\n```\n\n```json\n{}\n```\n";
        assert_eq!(texts(page), ["touch a", "cat a\n", "rm a\n"]);
    }

    #[test]
    fn what_is_left_out_has_a_reason_and_a_block() {
        assert!(texts("<!-- not run: a GPU -->\n\n    x\n").is_empty());
        assert_eq!(
            texts("<!-- not run: a GPU -->\n\n    x\n\ny\n\n    z\n"),
            ["z\n"]
        );
        assert!(texts("# T\n\n<!-- not run on this page: data -->\n\n    x\n").is_empty());
        let refused = |page: &str| steps(page, false).unwrap_err();
        assert!(refused("<!-- not run: -->\n\n    x\n").contains("needs a reason"));
        assert!(refused("<!-- not run: why -->\n\nProse.\n").contains("nothing that could run"));
    }

    #[test]
    fn examples_in_python_belong_to_a_test() {
        let page = "```python\nimport plethora\n```\n";
        assert!(steps(page, false).unwrap_err().contains("test_readme.py"));
        assert!(steps(page, true).unwrap().is_empty());
    }

    #[test]
    fn a_command_that_fails_is_told_with_its_page_and_line() {
        let root = crate::repository();
        let folder = root
            .join(FOLDER)
            .join(format!("own-{}", std::process::id()));
        let shell = Shell {
            root,
            folder: folder.clone(),
            bin: "/bin".into(),
        };
        let step = |line, text: &str| Step {
            line,
            text: text.to_owned(),
        };
        shell.run_in(&folder, "a.md", &[step(3, "true")]).unwrap();
        let steps = [step(3, "true"), step(7, "echo so far\ngrep -q a /dev/null")];
        let error = shell.run_in(&folder, "a.md", &steps).unwrap_err();
        assert!(error.contains("so far"), "{error}");
        assert!(error.contains("a.md:7: grep -q a /dev/null"), "{error}");
        fs::remove_dir_all(folder).unwrap();
    }
}
