//! Several complete files that get their names together. One after the other is renamed; a run that is
//! killed between two leaves notes of what is to come, and whoever writes or reads one of the files next
//! finishes it. The last note decides: where one is missing, nothing was renamed yet, and the old files stay.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// A file with all its content on the disk, which has a hidden name until it is published. Dropped
/// before, it leaves nothing.
#[derive(Debug)]
pub struct CompleteFile {
    path: PathBuf,
    /// `None` for streams and devices.
    temporary: Option<PathBuf>,
    /// Open, so that nobody takes the hidden file for abandoned.
    _lock: Option<File>,
}

/// A rename to come. Names are relative to the folder of the note where the file is in the same one.
#[derive(Debug, Serialize, Deserialize)]
struct Renaming {
    from: PathBuf,
    to: PathBuf,
}

impl CompleteFile {
    pub(super) fn new(path: &Path, temporary: Option<PathBuf>, lock: Option<File>) -> Self {
        Self {
            path: path.to_owned(),
            temporary,
            _lock: lock,
        }
    }

    /// Gives all files their names: either none changes, or all do, now or when the next run finds the
    /// notes.
    ///
    /// # Errors
    /// [`Error::Write`] if the system does not let us.
    pub fn publish(mut files: Vec<Self>) -> Result<()> {
        let named: Vec<&Self> = files
            .iter()
            .filter(|file| file.temporary.is_some())
            .collect();
        let is_folder = |file: &&&Self| file.path.is_dir();
        if let (2.., Some(file)) = (named.len(), named.iter().find(is_folder)) {
            let source = io::Error::from(io::ErrorKind::IsADirectory);
            return Err(Error::write(&file.path)(source));
        }
        // Notes are text, so that files with names that are not go without.
        let is_text = |file: &&Self| file.path.to_str().is_some();
        let notes: Vec<Note> = if named.len() > 1 && named.iter().all(is_text) {
            let notes = named.iter().map(|file| Note::leave(&file.path, &named));
            notes.collect::<Result<_>>()?
        } else {
            Vec::new()
        };
        for file in &mut files {
            if let Some(temporary) = &file.temporary {
                fs::rename(temporary, &file.path).map_err(Error::write(&file.path))?;
                file.temporary = None;
            }
        }
        drop(notes);
        Ok(())
    }
}

impl Drop for CompleteFile {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            // Nobody can be told, and the error that led here is the one to show.
            let _ = fs::remove_file(temporary);
        }
    }
}

/// A note beside a file, locked while its writer lives. Dropped, it is gone.
struct Note {
    path: PathBuf,
    _lock: File,
}

impl Note {
    fn leave(path: &Path, files: &[&CompleteFile]) -> Result<Self> {
        let folder = folder_of(path)?;
        let mut renamings = Vec::new();
        for file in files {
            let Some(temporary) = &file.temporary else {
                continue;
            };
            renamings.push(Renaming {
                from: seen_from(&folder, temporary)?,
                to: seen_from(&folder, &file.path)?,
            });
        }
        let note = note_of(path);
        let write = || -> io::Result<File> {
            let mut file = File::create(&note)?;
            // Where the file system has no locks, a reader at this very moment finishes our work.
            let _ = file.try_lock();
            serde_json::to_writer(&mut file, &renamings)?;
            file.write_all(b"\n")?;
            file.sync_all()?;
            Ok(file)
        };
        let lock = write().map_err(Error::write(path))?;
        Ok(Self {
            path: note,
            _lock: lock,
        })
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Finishes what a killed run has begun for this file.
///
/// # Errors
/// [`Error::Write`] if that cannot be done: then the file may not belong to those beside it.
pub(super) fn finish_interrupted(path: &Path) -> Result<()> {
    let note = note_of(path);
    let Ok(file) = File::open(&note) else {
        return Ok(());
    };
    // Whoever holds it is about to finish.
    if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
        return Ok(());
    }
    let folder = folder_of(path)?;
    let renamings = read_note(&note).unwrap_or_default();
    // Otherwise somebody who reads two of the files might have the old one of the first, which has no note yet, and the new
    // one of the second.
    let is_decided = |to: &Path| read_note(&note_of(&folder.join(to))).is_some();
    if renamings.is_empty() || !renamings.iter().all(|renaming| is_decided(&renaming.to)) {
        let _ = fs::remove_file(&note);
        return Ok(());
    }
    for Renaming { from, to } in &renamings {
        match fs::rename(folder.join(from), folder.join(to)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                let message = format!(
                    "an interrupted run was giving it its name together with others, \
                     and that cannot be finished: {error}"
                );
                return Err(Error::input(path, None, message));
            }
            _ => {}
        }
    }
    tracing::warn!(path = %path.display(), "finished what an interrupted run was writing");
    for Renaming { to, .. } in &renamings {
        let _ = fs::remove_file(note_of(&folder.join(to)));
    }
    let _ = fs::remove_file(&note);
    Ok(())
}

/// What a note says, where it is there and complete.
fn read_note(note: &Path) -> Option<Vec<Renaming>> {
    serde_json::from_reader(File::open(note).ok()?).ok()
}

fn note_of(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".unfinished");
    path.with_file_name(name)
}

fn folder_of(path: &Path) -> Result<PathBuf> {
    let path = std::path::absolute(path).map_err(Error::write(path))?;
    Ok(path.parent().unwrap_or(&path).to_owned())
}

/// The name alone where a file is in the folder, so that this may be moved.
fn seen_from(folder: &Path, path: &Path) -> Result<PathBuf> {
    let path = std::path::absolute(path).map_err(Error::write(path))?;
    match path.strip_prefix(folder) {
        Ok(name) => Ok(name.to_owned()),
        Err(_) => Ok(path),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Output;
    use super::*;

    fn complete(path: &Path, text: &str) -> CompleteFile {
        let mut output = Output::create(path, true).unwrap();
        output.write(text.as_bytes()).unwrap();
        output.complete().unwrap()
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string();
        let mut names: Vec<String> = entries.map(|entry| name(entry).unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn files_get_their_names_together() {
        let desk = tempfile::tempdir().unwrap();
        let (one, two) = (desk.path().join("one"), desk.path().join("two"));
        let files = vec![complete(&one, "1"), complete(&two, "2")];
        assert!(!one.exists() && !two.exists());
        CompleteFile::publish(files).unwrap();
        assert_eq!(names(desk.path()), ["one", "two"]);
        drop(complete(&one, "3"));
        assert_eq!(fs::read_to_string(&one).unwrap(), "1");
        assert_eq!(names(desk.path()), ["one", "two"]);
    }

    #[test]
    fn what_a_kill_between_two_names_left_is_finished_by_who_comes_next() {
        for reads_first in [true, false] {
            let desk = tempfile::tempdir().unwrap();
            let folder = desk.path().join("parts");
            fs::create_dir(&folder).unwrap();
            let paths = ["one", "two"].map(|name| folder.join(name));
            for path in &paths {
                fs::write(path, "old\n").unwrap();
            }
            let files: Vec<_> = paths.iter().map(|path| complete(path, "new\n")).collect();
            let named: Vec<&CompleteFile> = files.iter().collect();
            let notes: Vec<Note> = (paths.iter())
                .map(|path| Note::leave(path, &named).unwrap())
                .collect();
            fs::rename(files[0].temporary.as_ref().unwrap(), &paths[0]).unwrap();
            // As a kill does: locks go, files stay.
            let held: Vec<Vec<u8>> = notes
                .iter()
                .map(|note| fs::read(&note.path).unwrap())
                .collect();
            let note_paths: Vec<PathBuf> = notes.iter().map(|note| note.path.clone()).collect();
            let hidden = files[1].temporary.clone().unwrap();
            let content = fs::read(&hidden).unwrap();
            drop((notes, files));
            fs::write(&hidden, content).unwrap();
            for (path, bytes) in note_paths.iter().zip(&held) {
                fs::write(path, bytes).unwrap();
            }
            // The folder may have been moved since.
            let moved = desk.path().join("moved");
            fs::rename(&folder, &moved).unwrap();
            if reads_first {
                finish_interrupted(&moved.join("two")).unwrap();
            } else {
                drop(Output::create(&moved.join("one"), true).unwrap());
            }
            assert_eq!(names(&moved), ["one", "two"]);
            for name in ["one", "two"] {
                assert_eq!(fs::read_to_string(moved.join(name)).unwrap(), "new\n");
            }
        }
    }

    #[test]
    fn while_a_note_is_missing_the_old_files_stay() {
        let desk = tempfile::tempdir().unwrap();
        let paths = ["one", "two"].map(|name| desk.path().join(name));
        for path in &paths {
            fs::write(path, "old").unwrap();
        }
        let files: Vec<_> = paths.iter().map(|path| complete(path, "new")).collect();
        let named: Vec<&CompleteFile> = files.iter().collect();
        let first = Note::leave(&paths[0], &named).unwrap();
        let bytes = fs::read(&first.path).unwrap();
        drop(first);
        for second in [None, Some("[{\"from\"")] {
            fs::write(note_of(&paths[0]), &bytes).unwrap();
            if let Some(half) = second {
                fs::write(note_of(&paths[1]), half).unwrap();
            }
            for path in paths.iter().rev() {
                finish_interrupted(path).unwrap();
                assert_eq!(fs::read_to_string(path).unwrap(), "old");
            }
            assert!(!note_of(&paths[0]).exists());
        }
    }

    #[test]
    fn a_note_of_the_living_is_left_alone_and_half_a_note_means_nothing() {
        let desk = tempfile::tempdir().unwrap();
        let path = desk.path().join("one");
        fs::write(&path, "old").unwrap();
        fs::write(note_of(&path), "[{\"from\": \".one.1.pa").unwrap();
        let living = File::open(note_of(&path)).unwrap();
        living.try_lock().unwrap();
        finish_interrupted(&path).unwrap();
        assert_eq!(names(desk.path()), [".one.unfinished", "one"]);
        drop(living);
        finish_interrupted(&path).unwrap();
        assert_eq!(names(desk.path()), ["one"]);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    }
}
