//! What a folder is as a corpus: files of any format, or documents in files of their own.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::format::{Format, TextFile, detect};
use super::source::Source;
use super::{Input, ReadOptions};
use crate::{Argument, Error, Message, Result};

/// Suffixes of files that may be a corpus, without that of their compression.
const DATA_SUFFIXES: [&str; 9] = [
    "jsonl", "ndjson", "json", "csv", "tsv", "txt", "parquet", "arrow", "feather",
];
const COMPRESSIONS: [&str; 3] = ["gz", "xz", "zst"];

/// Files that data sets have beside their data.
const DESCRIPTIONS: [&str; 5] = [
    "dataset_info.json",
    "dataset_infos.json",
    "dataset_dict.json",
    "state.json",
    "labels.json",
];

/// What names of parts start with, and the part that they mean.
const SPLITS: [(&str, &str); 9] = [
    ("training", "train"),
    ("train", "train"),
    ("testing", "test"),
    ("test", "test"),
    ("validation", "validation"),
    ("valid", "validation"),
    ("val", "validation"),
    ("dev", "validation"),
    ("eval", "validation"),
];

/// Folders in which data sets of Hugging Face keep their files.
const DATA_FOLDER: &str = "data";

/// Names shown in messages.
const MAX_NAMES: usize = 8;

/// What is in a folder, by the names of files.
#[derive(Debug, Default)]
struct Listing {
    texts: Vec<PathBuf>,
    data: Vec<PathBuf>,
    /// `.tsv` and `.key` files.
    label_files: Vec<PathBuf>,
    folders: Vec<String>,
    others: Vec<String>,
}

/// The files or documents of a folder.
pub(super) fn inputs_of(folder: &Path, options: &ReadOptions) -> Result<Vec<Input>> {
    let refuse = |message: Message| Err(Error::input(folder, None, message));
    if folder.join("manifest.json").is_file() {
        return refuse("a model folder; expected a corpus".into());
    }
    let mut listing = Listing::read(folder)?;
    let has_pairs = (listing.label_files.iter())
        .any(|file| listing.texts.contains(&file.with_extension("txt")));
    if !has_pairs {
        let tables = std::mem::take(&mut listing.label_files);
        let is_table = |path: &PathBuf| has_suffix(path, "tsv");
        listing.data.extend(tables.into_iter().filter(is_table));
        listing.data.sort();
    }
    if !listing.texts.is_empty() && !listing.data.is_empty() {
        let message = "a folder with .txt files and others; name those to read, as ";
        let example = folder.join("*.txt");
        return refuse(format!("{message}'{}'", example.display()).into());
    }
    if !listing.texts.is_empty() {
        return if has_pairs || is_folder_of_documents(&listing.texts, options)? {
            listing.documents(folder, has_pairs)
        } else {
            Ok(listing.texts.into_iter().map(Input::File).collect())
        };
    }
    if listing.data.is_empty() {
        if listing.folders.iter().any(|name| name == DATA_FOLDER) {
            return inputs_of(&folder.join(DATA_FOLDER), options);
        }
        return refuse(listing.explain_nothing(folder));
    }
    if let Some(question) = several_splits(folder, &listing.data) {
        return refuse(question);
    }
    if !listing.others.is_empty() {
        tracing::warn!(
            "{}: left out, as their suffixes are of no corpus: {}",
            folder.display(),
            listed(&listing.others)
        );
    }
    Ok(listing.data.into_iter().map(Input::File).collect())
}

impl Listing {
    fn read(folder: &Path) -> Result<Self> {
        let mut listing = Self::default();
        let entries = std::fs::read_dir(folder).map_err(Error::read(folder))?;
        for entry in entries {
            let entry = entry.map_err(Error::read(folder))?;
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            // Hidden files, and those that Spark and others write beside data.
            if name.starts_with(['.', '_']) {
                continue;
            }
            if path.is_dir() {
                listing.folders.push(name);
            } else if DESCRIPTIONS.contains(&name.as_str()) || is_description(&name) {
                // Says something of the data and is none.
            } else if has_suffix(&path, "txt") {
                listing.texts.push(path);
            } else if has_suffix(&path, "tsv") || has_suffix(&path, "key") {
                listing.label_files.push(path);
            } else if is_data(&path) {
                listing.data.push(path);
            } else {
                listing.others.push(name);
            }
        }
        listing.texts.sort();
        listing.data.sort();
        listing.label_files.sort();
        listing.folders.sort();
        listing.others.sort();
        Ok(listing)
    }

    /// Each text as a document, with the labels of the file beside it.
    fn documents(self, folder: &Path, has_labels: bool) -> Result<Vec<Input>> {
        let label_files: BTreeSet<PathBuf> = self.label_files.into_iter().collect();
        let texts: BTreeSet<&PathBuf> = self.texts.iter().collect();
        for file in &label_files {
            if !texts.contains(&file.with_extension("txt")) {
                return Err(Error::input(
                    file,
                    None,
                    "labels without a text: there is no .txt file of this name",
                ));
            }
        }
        let files: Vec<TextFile> = (self.texts.iter())
            .map(|path| TextFile {
                path: path.clone(),
                // As Annif does where there are both.
                labels: ["tsv", "key"]
                    .map(|suffix| path.with_extension(suffix))
                    .into_iter()
                    .find(|labels| label_files.contains(labels)),
            })
            .collect();
        Ok(vec![Input::Documents {
            folder: folder.to_owned(),
            files,
            has_labels,
        }])
    }

    fn explain_nothing(&self, folder: &Path) -> Message {
        if self.folders.is_empty() {
            let suffixes = DATA_SUFFIXES.join(", .");
            return format!("a folder without files of a corpus (.{suffixes})").into();
        }
        let example = folder.join(&self.folders[0]);
        let found = listed(&self.folders);
        format!(
            "a folder of folders: {found}; name one of them, as {}",
            example.display()
        )
        .into()
    }
}

/// True if each text is a document: as asked for, or as the first shows, which is in no format of
/// corpora.
fn is_folder_of_documents(texts: &[PathBuf], options: &ReadOptions) -> Result<bool> {
    if let Some(format) = options.format {
        Ok(format == Format::Document)
    } else {
        let source = Source::open_as(&texts[0], options.encoding)?;
        let strict = ReadOptions {
            texts_only: false,
            ..options.clone()
        };
        Ok(source.sample().is_empty() || detect::detect(&source, &strict).is_err())
    }
}

/// Asks for one part, where files are of several: documents to train on and to test on should
/// not become one corpus by chance.
fn several_splits(folder: &Path, data: &[PathBuf]) -> Option<Message> {
    let mut splits = BTreeMap::new();
    for path in data {
        let name = path.file_name()?.to_string_lossy().to_lowercase();
        let split = SPLITS.iter().find(|(prefix, _)| {
            let rest = name.strip_prefix(prefix);
            rest.is_some_and(|rest| !rest.starts_with(char::is_alphabetic))
        });
        if let Some((prefix, split)) = split {
            splits.entry(*split).or_insert(*prefix);
        }
    }
    if splits.len() < 2 {
        return None;
    }
    let names: Vec<&str> = splits.keys().copied().collect();
    let prefix = splits.get("train").or_else(|| splits.values().next())?;
    let example = folder.join(format!("{prefix}*"));
    Some(
        format!(
            "a folder with files of several parts ({}); name one, as '{}'",
            names.join(", "),
            example.display()
        )
        .into(),
    )
}

fn has_suffix(path: &Path, suffix: &str) -> bool {
    path.extension().is_some_and(|found| found == suffix)
}

fn is_description(name: &str) -> bool {
    let name = name.to_lowercase();
    ["readme", "license", "licence"]
        .iter()
        .any(|start| name.starts_with(start))
        || [".md", ".lock", ".crc"]
            .iter()
            .any(|end| name.ends_with(end))
}

fn is_data(path: &Path) -> bool {
    let suffix = |path: &Path| Some(path.extension()?.to_str()?.to_lowercase());
    let mut path = path.to_owned();
    if suffix(&path).is_some_and(|suffix| COMPRESSIONS.contains(&suffix.as_str())) {
        path.set_extension("");
    }
    suffix(&path).is_some_and(|suffix| DATA_SUFFIXES.contains(&suffix.as_str()))
}

fn listed(names: &[String]) -> String {
    let mut shown: Vec<&str> = names.iter().take(MAX_NAMES).map(String::as_str).collect();
    if names.len() > MAX_NAMES {
        shown.push("...");
    }
    shown.join(", ")
}

/// The hint that a folder of texts may be read by lines, too.
pub(super) fn documents_notice(num_files: usize) -> Message {
    Message::new(format!("each of {num_files} .txt files is a document; "))
        .hint(Argument::FORMAT.value(Format::TextPair.name()))
        .text(" reads one text per line")
}
