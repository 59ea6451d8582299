//! One command over an older output, killed again and again.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::killer::{Counts, KINDS, Killer, message_of};
use crate::Result;

/// Of the writes, one in so many is a moment to kill at.
pub(super) const WRITES_PER_KILL: usize = 10;

/// A command that writes.
#[derive(Debug)]
pub(super) struct Scenario {
    pub(super) name: &'static str,
    /// Whether it takes seconds, not minutes.
    pub(super) is_quick: bool,
    /// Systems that the program must have.
    pub(super) needs: Option<&'static str>,
    /// Commands that make what it reads and an older output.
    pub(super) prepare: &'static [&'static str],
    /// The command that is killed.
    pub(super) command: &'static str,
    /// What it writes: together the old or the new.
    pub(super) outputs: &'static [&'static str],
    /// A command that reads the output, and finishes what was begun where several files are published.
    pub(super) reader: Option<&'static str>,
    /// Whether the output is a folder that shows the work as it proceeds, so that finishing it is what counts.
    pub(super) shows_progress: bool,
    /// What stands in lines of the output that tell how long the work took.
    pub(super) times: &'static [&'static str],
    /// The command that finishes the work afterwards, where there is none to resume by naming `--force`.
    pub(super) finish: &'static str,
}

/// What came of the kills.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) counts: Counts,
    pub(super) num_kills: usize,
    pub(super) num_old: usize,
    pub(super) num_new: usize,
    pub(super) num_finished: usize,
    pub(super) faults: Vec<String>,
}

/// Files by their paths.
type Files = BTreeMap<PathBuf, Vec<u8>>;

impl Scenario {
    /// False where the program lacks the system.
    pub(super) fn can_run(&self, killer: &Killer) -> bool {
        self.needs.is_none_or(|system| {
            let line = format!("init --system {system}");
            killer
                .run(Path::new("."), &line)
                .is_ok_and(|output| output.status.success())
        })
    }

    /// Kills it at all moments, in the folder `desk`.
    pub(super) fn run(&self, killer: &Killer, desk: &Path) -> Result<Found> {
        let template = desk.with_extension("template");
        empty(&template)?;
        for line in self.prepare {
            killer.succeed(&template, line)?;
        }
        let old = self.outputs(&template)?;
        copy(&template, desk)?;
        let (output, counts) = killer.kill(desk, self.command, KINDS[0], 0)?;
        if !output.status.success() {
            return Err(format!("{}: {}", self.name, message_of(&output)));
        }
        let reference = Reference {
            old,
            new: self.outputs(desk)?,
            everything: everything(desk)?,
        };
        if reference.old == reference.new {
            return Err(format!("{}: the new output equals the old one", self.name));
        }
        let mut found = Found {
            counts,
            ..Found::default()
        };
        for (kind, count) in KINDS.into_iter().zip(counts) {
            let step = if kind == "write" { WRITES_PER_KILL } else { 1 };
            for number in (1..=count).step_by(step) {
                copy(&template, desk)?;
                let (output, _) = killer.kill(desk, self.command, kind, number)?;
                if output.status.code() != Some(137) {
                    // Threads make a few calls more or fewer in each run.
                    continue;
                }
                found.num_kills += 1;
                if let Err(fault) = self.look(killer, desk, &reference, &mut found) {
                    let moment = format!("{}, killed at {kind} {number}", self.name);
                    found.faults.push(format!("{moment}: {fault}"));
                }
            }
        }
        Ok(found)
    }

    /// Looks at what a kill has left, and finishes the work.
    fn look(
        &self,
        killer: &Killer,
        desk: &Path,
        reference: &Reference,
        found: &mut Found,
    ) -> Result<()> {
        let left = self.outputs(desk)?;
        if left == reference.old {
            found.num_old += 1;
        } else if left == reference.new {
            found.num_new += 1;
        } else if let Some(reader) = self.reader {
            let said = killer.run(desk, reader)?;
            if self.outputs(desk)? != reference.new {
                return Err(format!("mixed even for `{reader}`: {}", message_of(&said)));
            }
            found.num_finished += 1;
        } else if !self.shows_progress {
            let differ: Vec<String> = difference(&left, &reference.new);
            return Err(format!("neither old nor new: {}", differ.join(", ")));
        }
        if let Some(reader) = self.reader {
            killer.succeed(desk, reader)?;
        }
        self.finish(killer, desk)?;
        let finished = self.outputs(desk)?;
        if finished != reference.new {
            let differ = difference(&finished, &reference.new);
            let finish = self.finish;
            return Err(format!(
                "`{finish}` gives another output: {}",
                differ.join(", ")
            ));
        }
        let left: Vec<String> = everything(desk)?;
        let behind: Vec<&String> = (left.iter())
            .filter(|path| !reference.everything.contains(path))
            .collect();
        if behind.is_empty() {
            return Ok(());
        }
        Err(format!("left behind: {behind:?}"))
    }

    fn finish(&self, killer: &Killer, desk: &Path) -> Result<()> {
        let Err(message) = killer.succeed(desk, self.finish) else {
            return Ok(());
        };
        // Where nothing was begun, another output may be in the way.
        if self.finish != self.command && message.contains("--force") {
            return killer.succeed(desk, self.command).map(drop);
        }
        Err(message)
    }

    fn outputs(&self, desk: &Path) -> Result<Files> {
        let mut files = Files::new();
        for output in self.outputs {
            collect(desk, Path::new(output), &mut files)?;
        }
        if !self.times.is_empty() {
            for content in files.values_mut() {
                *content = without_lines(content, self.times);
            }
        }
        Ok(files)
    }
}

struct Reference {
    old: Files,
    new: Files,
    /// Paths of all that lies on the desk after an undisturbed run.
    everything: Vec<String>,
}

fn difference(one: &Files, other: &Files) -> Vec<String> {
    let paths = one.keys().chain(other.keys());
    let mut differ: Vec<String> = paths
        .filter(|path| one.get(*path) != other.get(*path))
        .map(|path| path.display().to_string())
        .collect();
    differ.sort();
    differ.dedup();
    differ.truncate(8);
    differ
}

fn everything(folder: &Path) -> Result<Vec<String>> {
    let mut paths = names(folder)?;
    for name in paths.clone() {
        if folder.join(&name).is_dir() {
            let inside = everything(&folder.join(&name))?;
            paths.extend(inside.iter().map(|path| format!("{name}/{path}")));
        }
    }
    Ok(paths)
}

fn names(folder: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut names: Vec<String> = entries
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name != ".cache")
        .collect();
    names.sort();
    Ok(names)
}

fn collect(desk: &Path, path: &Path, files: &mut Files) -> Result<()> {
    let full = desk.join(path);
    if full.is_dir() {
        // Hidden files are notes and unfinished work; what counts is what readers see.
        for name in names(&full)?.iter().filter(|name| !name.starts_with('.')) {
            collect(desk, &path.join(name), files)?;
        }
    } else if full.exists() {
        let content = fs::read(&full).map_err(|error| format!("{}: {error}", full.display()))?;
        files.insert(path.to_owned(), content);
    }
    Ok(())
}

/// A text without the lines in which one of these stands.
fn without_lines(content: &[u8], marks: &[&str]) -> Vec<u8> {
    let text = String::from_utf8_lossy(content);
    let is_kept = |line: &&str| !marks.iter().any(|mark| line.contains(mark));
    let kept: Vec<&str> = text.lines().filter(is_kept).collect();
    kept.join("\n").into_bytes()
}

/// An empty folder.
pub(super) fn empty(folder: &Path) -> Result<()> {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))
}

/// A copy of a folder in place of another.
pub(super) fn copy(from: &Path, to: &Path) -> Result<()> {
    empty(to)?;
    let entries = fs::read_dir(from).map_err(|error| format!("{}: {error}", from.display()))?;
    for entry in entries.flatten() {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &target)?;
        } else {
            fs::copy(&path, &target).map_err(|error| format!("{}: {error}", path.display()))?;
        }
    }
    Ok(())
}
