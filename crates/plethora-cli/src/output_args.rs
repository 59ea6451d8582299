//! The options of commands that write corpora.

use std::path::{Path, PathBuf};

use clap::Args;
use plethora_core::corpus::{CorpusReader, CorpusWriter, Format, WriteOptions};
use plethora_core::{Argument, Error};

use crate::data_args::out_format_parser;

/// Suffixes of compressed files, behind the one that tells the format.
const COMPRESSIONS: [&str; 3] = ["gz", "xz", "zst"];

/// How to write a corpus.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Format to write; told by the suffix (.jsonl, .csv, .tsv) where not given
    #[arg(long, value_name = "FORMAT", value_parser = out_format_parser())]
    pub(crate) out_format: Option<Format>,

    /// What to put between labels in one field or line
    #[arg(long, value_name = "TEXT")]
    pub(crate) out_label_separator: Option<String>,

    /// Number of the first feature in libsvm files without header: 0 or 1
    #[arg(long, value_name = "N")]
    pub(crate) out_index_base: Option<u8>,

    /// Replace line ends and tabs in texts with blanks where the format cannot hold them
    #[arg(long)]
    pub(crate) flatten: bool,

    /// Replace files that exist
    #[arg(long)]
    pub(crate) force: bool,
}

impl OutputArgs {
    /// Starts a corpus with the feature count and label numbers of the one it comes from.
    pub(crate) fn create(
        &self,
        target: Target<'_>,
        reader: &CorpusReader,
    ) -> plethora_core::Result<CorpusWriter> {
        let counts_labels = matches!(
            target.format,
            Format::XmcRaw | Format::Text2Text | Format::XmcLibsvm | Format::XmcPair
        );
        let label_keys = if counts_labels {
            let labels = reader.vocabulary().iter();
            labels.map(|label| label.key.clone()).collect()
        } else {
            Vec::new()
        };
        let options = WriteOptions {
            labels_path: target.labels_path.map(Path::to_owned),
            label_separator: self.out_label_separator.clone(),
            index_base: self.out_index_base,
            num_features: reader.num_features(),
            label_keys,
            flatten_text: self.flatten,
            replace: self.force,
            ..WriteOptions::default()
        };
        CorpusWriter::create(target.path, target.format, &options).map_err(about_output)
    }
}

/// A corpus to write.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target<'a> {
    pub(crate) path: &'a Path,
    pub(crate) format: Format,
    /// The second file of formats that have one.
    pub(crate) labels_path: Option<&'a Path>,
}

/// The library speaks of options by the names they have for reading.
pub(crate) fn about_output(error: Error) -> Error {
    error.renamed(|argument| match argument {
        Argument::INDEX_BASE => Argument::new("out_index_base"),
        Argument::LABELS_FILE => Argument::new("out_labels_file"),
        Argument::LABEL_PREFIX => Argument::new("out_label_prefix"),
        Argument::LABEL_SEPARATOR => Argument::new("out_label_separator"),
        other => other,
    })
}

/// The format that a file's suffix stands for; several formats share `.txt` and `.json`.
pub(crate) fn format_of_suffix(path: &Path) -> Option<Format> {
    let suffix = |path: &Path| path.extension()?.to_str().map(str::to_lowercase);
    let mut path = PathBuf::from(path);
    if suffix(&path).is_some_and(|suffix| COMPRESSIONS.contains(&suffix.as_str())) {
        path.set_extension("");
    }
    match suffix(&path)?.as_str() {
        "jsonl" | "ndjson" => Some(Format::Jsonl),
        "csv" => Some(Format::Csv),
        "tsv" => Some(Format::Tsv),
        _ => None,
    }
}

/// The suffix that a format's files usually have.
pub(crate) const fn suffix_of_format(format: Format) -> &'static str {
    match format {
        Format::Jsonl => "jsonl",
        Format::Csv => "csv",
        Format::Tsv | Format::AnnifTsv | Format::LibMultiLabelTsv => "tsv",
        Format::XmcRaw => "json",
        _ => "txt",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_tell_formats_through_compression() {
        let format = |name: &str| format_of_suffix(Path::new(name));
        assert_eq!(format("a.jsonl"), Some(Format::Jsonl));
        assert_eq!(format("a.b.CSV.gz"), Some(Format::Csv));
        assert_eq!(format("a.tsv.zst"), Some(Format::Tsv));
        assert_eq!(format("a.txt"), None);
        assert_eq!(format("gz"), None);
    }
}
