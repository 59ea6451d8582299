//! What paths name: files, standard input, patterns of names, folders.

use std::path::{Path, PathBuf};

use super::ReadOptions;
use super::folder::inputs_of;
use super::format::TextFile;
use super::source::is_standard_stream;
use crate::{Error, Result};

/// Characters that make a name a pattern.
const PATTERN: [char; 3] = ['*', '?', '['];

/// A part of a corpus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Input {
    /// A file of any format, or standard input.
    File(PathBuf),
    /// Files of which each is a document.
    Documents {
        folder: PathBuf,
        files: Vec<TextFile>,
        /// True if there are labels beside them.
        has_labels: bool,
    },
}

/// All parts that paths name, in their order; those of patterns and folders by name.
pub(super) fn expand(path: &Path, options: &ReadOptions) -> Result<Vec<Input>> {
    let mut inputs = Vec::new();
    let paths = std::iter::once(path).chain(options.more_paths.iter().map(PathBuf::as_path));
    for path in paths {
        if is_standard_stream(path) && !options.more_paths.is_empty() {
            return Err(Error::usage(
                "standard input is a corpus by itself; name files alone, or - alone",
            ));
        }
        if path.is_dir() {
            inputs.extend(inputs_of(path, options)?);
        } else if is_pattern(path) && !path.exists() {
            for found in matches_of(path)? {
                if found.is_dir() {
                    inputs.extend(inputs_of(&found, options)?);
                } else {
                    inputs.push(Input::File(found));
                }
            }
        } else {
            inputs.push(Input::File(path.to_owned()));
        }
    }
    check_repeated(&inputs)?;
    Ok(inputs)
}

fn is_pattern(path: &Path) -> bool {
    path.to_string_lossy().contains(PATTERN)
}

fn matches_of(pattern: &Path) -> Result<Vec<PathBuf>> {
    let refuse = |message: String| Error::input(pattern, None, message);
    let text = pattern
        .to_str()
        .ok_or_else(|| refuse("a pattern that is not UTF-8".into()))?;
    let options = glob::MatchOptions {
        require_literal_separator: true,
        require_literal_leading_dot: true,
        ..glob::MatchOptions::new()
    };
    let paths =
        glob::glob_with(text, options).map_err(|error| refuse(format!("a pattern: {error}")))?;
    let found = paths
        .collect::<Result<Vec<PathBuf>, _>>()
        .map_err(|error| Error::read(error.path())(std::io::Error::from(error.error().kind())))?;
    if found.is_empty() {
        return Err(refuse("no file has a name of this pattern".into()));
    }
    Ok(found)
}

/// A file that is read twice is a slip: patterns overlap.
fn check_repeated(inputs: &[Input]) -> Result<()> {
    let mut seen = hashbrown::HashSet::new();
    for input in inputs {
        if let Input::File(path) = input
            && inputs.len() > 1
            && !seen.insert(path)
        {
            return Err(Error::input(
                path,
                None,
                "named twice; each file is read once",
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "Harbours and the sea\n").unwrap();
        }
        folder
    }

    /// The names of files, or `folder of N` for documents; or the error.
    fn names(folder: &tempfile::TempDir, path: &str) -> Result<Vec<String>, String> {
        let root = format!("{}/", folder.path().display());
        let inputs = expand(&folder.path().join(path), &ReadOptions::default());
        let inputs = inputs.map_err(|error| error.to_string().replace(&root, ""))?;
        Ok(inputs
            .iter()
            .map(|input| match input {
                Input::File(path) => path.display().to_string().replace(&root, ""),
                Input::Documents { files, .. } => format!("{} documents", files.len()),
            })
            .collect())
    }

    #[test]
    fn patterns_and_folders_give_their_files_by_name() {
        let folder = folder(&[
            "b.jsonl",
            "a.jsonl",
            "c.csv.gz",
            "_SUCCESS",
            ".x.jsonl",
            "README.md",
        ]);
        assert_eq!(names(&folder, "*.jsonl").unwrap(), ["a.jsonl", "b.jsonl"]);
        assert_eq!(
            names(&folder, "").unwrap(),
            ["a.jsonl", "b.jsonl", "c.csv.gz"]
        );
        assert_eq!(
            names(&folder, "*.tsv").unwrap_err(),
            "*.tsv: no file has a name of this pattern"
        );
        // A name that is there is no pattern.
        std::fs::write(folder.path().join("odd[1].csv"), "x").unwrap();
        assert_eq!(names(&folder, "odd[1].csv").unwrap(), ["odd[1].csv"]);
    }

    #[test]
    fn folders_of_several_parts_are_not_mixed() {
        let parts = folder(&[
            "data/train-00000-of-00002.parquet",
            "data/test-00000-of-00001.parquet",
        ]);
        let message = names(&parts, "").unwrap_err();
        assert!(
            message.starts_with(
                "data: a folder with files of several parts (test, train); name one, as '"
            ),
            "{message}"
        );
        assert_eq!(names(&parts, "data/train*").unwrap().len(), 1);
        let splits = folder(&["train/data.arrow", "test/data.arrow", "dataset_dict.json"]);
        let message = names(&splits, "").unwrap_err();
        assert!(
            message.contains("a folder of folders: test, train; name one"),
            "{message}"
        );
    }

    #[test]
    fn texts_with_labels_beside_them_are_documents() {
        let annif = folder(&["a.txt", "a.tsv", "b.txt", "b.key", "c.txt"]);
        assert_eq!(names(&annif, "").unwrap(), ["3 documents"]);
        let orphan = folder(&["a.txt", "a.tsv", "b.tsv"]);
        let message = names(&orphan, "").unwrap_err();
        assert!(
            message.starts_with("b.tsv: labels without a text"),
            "{message}"
        );
        let plain = folder(&["a.txt", "b.txt"]);
        assert_eq!(names(&plain, "").unwrap(), ["2 documents"]);
        let tables = folder(&["a.tsv", "b.tsv"]);
        assert_eq!(names(&tables, "").unwrap(), ["a.tsv", "b.tsv"]);
        std::fs::write(plain.path().join("a.txt"), "__label__sea The sea\n").unwrap();
        assert_eq!(names(&plain, "").unwrap(), ["a.txt", "b.txt"]);
    }

    #[test]
    fn what_is_no_corpus_is_named() {
        let model = folder(&["manifest.json", "labels.txt"]);
        assert!(names(&model, "").unwrap_err().contains("a model folder"));
        let both = folder(&["a.txt", "b.jsonl"]);
        assert!(
            names(&both, "")
                .unwrap_err()
                .contains(".txt files and others")
        );
        assert!(
            names(&folder(&["a.pdf"]), "")
                .unwrap_err()
                .contains("without files of a corpus")
        );
    }
}
