//! The folder of a search: what it is about, its trials, the best settings, perhaps a model.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use plethora_core::artifact::WorkFolder;
use plethora_core::corpus::Output;
use plethora_core::{Argument, Error, Message, Result};
use serde_json::Value;

use super::journal::Journal;
use super::plan::Step;

/// What the search is about.
const SEARCH_FILE: &str = "search.json";
/// The same of a search that is about to take its place.
const NEXT_FILE: &str = ".search.json.next";
const TRIALS_FILE: &str = "trials.jsonl";
const BEST_FILE: &str = "best.toml";
const MODEL: &str = "model";

/// What the names of trials' folders start with.
const TRIAL: &str = "trial-";

/// What has to stay the same when a search is resumed, by the name that users know it by.
pub(super) type Identity = BTreeMap<&'static str, Value>;

/// The part of an [`Identity`] that is not the user's to change.
pub(super) const DATA: &str = "data";
/// The part of an [`Identity`] that says whether there is a model.
pub(super) const KEEPS_MODEL: &str = "keep_model";

/// What to do with a search that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// Leave it.
    Refuse,
    /// Resume it.
    Resume,
    /// Start over.
    Replace,
}

/// The folder.
#[derive(Debug)]
pub struct SearchFolder {
    path: PathBuf,
}

impl SearchFolder {
    /// True if there is a search to resume.
    pub fn is_at(path: &Path) -> bool {
        path.join(SEARCH_FILE).is_file()
    }

    /// Refuses a place where no search can be before anything is read for it.
    pub fn check(path: &Path, existing: Existing) -> Result<()> {
        let mut entries = match fs::read_dir(path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(Error::write(path)(error)),
        };
        let is_empty = entries.all(|entry| entry.is_ok_and(|entry| is_unused(&entry)));
        let is_search = Self::is_at(path);
        let path = path.to_owned();
        match existing {
            _ if is_empty => Ok(()),
            _ if !is_search => Err(Error::Occupied { path }),
            Existing::Refuse => Err(Error::Exists { path }),
            Existing::Resume | Existing::Replace => Ok(()),
        }
    }

    /// Opens the folder for a search, with the trials that it has already.
    pub fn open(path: &Path, identity: &Identity, existing: Existing) -> Result<(Self, Journal)> {
        Self::check(path, existing)?;
        fs::create_dir_all(path).map_err(Error::write(path))?;
        let folder = Self {
            path: path.to_owned(),
        };
        let mut journal = Journal::open(&folder.path.join(TRIALS_FILE))?;
        // What a killed search had begun to be about.
        folder.begin(&mut journal)?;
        let earlier = folder.earlier()?;
        if let (Some(earlier), Existing::Resume) = (&earlier, existing) {
            folder.check_same(earlier, identity)?;
            journal.read()?;
            return Ok((folder, journal));
        }
        if existing == Existing::Resume {
            tracing::warn!("there is no search to resume; starting from the beginning");
        }
        let text = serde_json::to_string_pretty(identity)
            .map_err(|error| Error::data(error.to_string()))?;
        folder.write(NEXT_FILE, &format!("{text}\n"))?;
        folder.begin(&mut journal)?;
        Ok((folder, journal))
    }

    /// Makes the next search the one that is there: its identity is written down before anything of the
    /// last one goes, so that a killed process leaves enough to do it again.
    fn begin(&self, journal: &mut Journal) -> Result<()> {
        let next = self.path.join(NEXT_FILE);
        if !next.is_file() {
            return Ok(());
        }
        let last = self.earlier()?;
        journal.clear()?;
        self.clear(last.as_ref())?;
        let path = self.path.join(SEARCH_FILE);
        fs::rename(&next, &path).map_err(Error::write(&path))
    }

    /// Writes the best settings.
    pub fn write_best(&self, text: &str) -> Result<()> {
        self.write(BEST_FILE, text)
    }

    /// Where the best settings are.
    pub fn best(&self) -> PathBuf {
        self.path.join(BEST_FILE)
    }

    /// Where the best model is kept.
    pub fn model(&self) -> PathBuf {
        self.path.join(MODEL)
    }

    /// The name under which a step trains; no model ever appears there.
    pub fn trial(&self, step: Step) -> PathBuf {
        self.path
            .join(format!("{TRIAL}{}-{}", step.trial, step.rung))
    }

    /// True if a step was begun, so that its training can be resumed.
    pub fn is_begun(&self, step: Step) -> bool {
        WorkFolder::path_for(&self.trial(step)).exists()
    }

    /// Removes what trials have left.
    pub fn remove_trials(&self) -> Result<()> {
        let entries = fs::read_dir(&self.path).map_err(Error::read(&self.path))?;
        for entry in entries {
            let entry = entry.map_err(Error::read(&self.path))?;
            if entry.file_name().to_string_lossy().starts_with(TRIAL) {
                remove(&entry.path())?;
            }
        }
        Ok(())
    }

    fn earlier(&self) -> Result<Option<BTreeMap<String, Value>>> {
        let path = self.path.join(SEARCH_FILE);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::read(&path)(error)),
        };
        // One that cannot be read is like no other search, which is refused or replaced.
        Ok(Some(serde_json::from_slice(&text).unwrap_or_default()))
    }

    fn check_same(&self, earlier: &BTreeMap<String, Value>, identity: &Identity) -> Result<()> {
        let is_other = |(name, value): &(&&str, &Value)| earlier.get(**name) != Some(*value);
        let others: Vec<&str> = identity
            .iter()
            .filter(is_other)
            .map(|(name, _)| *name)
            .collect();
        let shown = self.path.display();
        match others.as_slice() {
            [] => Ok(()),
            [DATA] => {
                let message = Message::new("holds a search on other documents; ");
                Err(Error::model(&self.path, message.message(start_anew())))
            }
            others => {
                let message = format!(
                    "the search in {shown} has other values for: {}; repeat those, or ",
                    others.join(", ")
                );
                Err(Error::usage(Message::new(message).message(start_anew())))
            }
        }
    }

    /// Removes what an earlier search has written, and nothing else.
    fn clear(&self, earlier: Option<&BTreeMap<String, Value>>) -> Result<()> {
        self.remove_trials()?;
        remove(&self.best())?;
        let had_model = earlier.and_then(|earlier| earlier.get(KEEPS_MODEL));
        if had_model == Some(&Value::Bool(true)) {
            remove(&self.model())?;
        }
        Ok(())
    }

    fn write(&self, name: &str, text: &str) -> Result<()> {
        let mut output = Output::create(&self.path.join(name), true)?;
        output.write(text.as_bytes())?;
        output.finish()
    }
}

/// True for what a search has that was killed before it knew what it is about: no trials yet, and files
/// that never got their names.
fn is_unused(entry: &fs::DirEntry) -> bool {
    let name = entry.file_name();
    let name = name.to_string_lossy();
    let is_half = name.contains(&format!(".{SEARCH_FILE}.")) && name.starts_with('.');
    let is_empty = || {
        entry
            .metadata()
            .is_ok_and(|found| found.is_file() && found.len() == 0)
    };
    is_half || (name == TRIALS_FILE && is_empty())
}

/// How to get rid of a search that is there.
fn start_anew() -> Message {
    Message::new("pass ")
        .hint(Argument::FORCE.on())
        .text(" to start anew")
}

/// Removes a file or a folder, if it is there.
fn remove(path: &Path) -> Result<()> {
    let removed = if path.is_dir() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    };
    match removed {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(Error::write(path)(error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(metric: &str, data: &str) -> Identity {
        [("metric", metric.into()), (DATA, data.into())].into()
    }

    fn open(path: &Path, metric: &str, data: &str, existing: Existing) -> Result<(), String> {
        SearchFolder::open(path, &identity(metric, data), existing)
            .map(drop)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_search_is_resumed_with_the_same_arguments_and_data_alone() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("search");
        open(&path, "P@1", "a", Existing::Refuse).unwrap();
        let message = open(&path, "P@1", "a", Existing::Refuse).unwrap_err();
        assert!(message.contains("pass force"), "{message}");
        open(&path, "P@1", "a", Existing::Resume).unwrap();
        let message = open(&path, "P@5", "a", Existing::Resume).unwrap_err();
        assert!(
            message.contains("has other values for: metric;"),
            "{message}"
        );
        let message = open(&path, "P@1", "b", Existing::Resume).unwrap_err();
        assert!(message.contains("on other documents"), "{message}");
        open(&path, "P@5", "b", Existing::Replace).unwrap();
        open(&path, "P@5", "b", Existing::Resume).unwrap();
    }

    #[test]
    fn a_search_killed_before_its_first_trial_is_begun_again() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("search");
        for existing in [Existing::Refuse, Existing::Resume, Existing::Replace] {
            for half in ["..search.json.next.1.part", ".search.json.next"] {
                fs::create_dir(&path).unwrap();
                fs::write(path.join(TRIALS_FILE), "").unwrap();
                fs::write(path.join(half), "{").unwrap();
                open(&path, "P@1", "a", existing).unwrap_or_else(|message| {
                    // What it was about is unreadable, and then no other may resume it.
                    assert!(message.contains("has other values"), "{message}");
                    open(&path, "P@1", "a", Existing::Replace).unwrap();
                });
                assert!(SearchFolder::is_at(&path));
                open(&path, "P@1", "a", Existing::Resume).unwrap();
                fs::remove_dir_all(&path).unwrap();
            }
        }
    }

    #[test]
    fn a_search_killed_while_it_replaced_another_is_resumed() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("search");
        open(&path, "P@1", "a", Existing::Refuse).unwrap();
        fs::write(path.join(BEST_FILE), "old").unwrap();
        let next = serde_json::to_vec(&identity("P@5", "b")).unwrap();
        fs::write(path.join(NEXT_FILE), next).unwrap();
        open(&path, "P@5", "b", Existing::Resume).unwrap();
        assert!(!path.join(BEST_FILE).exists());
        assert!(!path.join(NEXT_FILE).exists());
    }

    #[test]
    fn folders_of_others_and_models_of_others_are_left_alone() {
        let parent = tempfile::tempdir().unwrap();
        let thesis = parent.path().join("thesis");
        fs::create_dir(&thesis).unwrap();
        fs::write(thesis.join("chapter-1.tex"), "irreplaceable").unwrap();
        for existing in [Existing::Refuse, Existing::Resume, Existing::Replace] {
            let message = open(&thesis, "P@1", "a", existing).unwrap_err();
            assert!(message.contains("was not written by Plethora"), "{message}");
        }
        let path = parent.path().join("search");
        open(&path, "P@1", "a", Existing::Refuse).unwrap();
        fs::create_dir(path.join(MODEL)).unwrap();
        fs::create_dir(path.join("trial-3-0.training")).unwrap();
        open(&path, "P@1", "a", Existing::Replace).unwrap();
        assert!(path.join(MODEL).exists());
        assert!(!path.join("trial-3-0.training").exists());
    }
}
