//! Writing documents to a file of any format.

mod encode;
mod label_numbers;

use std::path::Path;

use super::output::{Output, Spool};
use super::{CompleteFile, Document, Format, WriteOptions};
use crate::{Argument, Error, Message, Result};
use encode::{Encoder, Lines};
use label_numbers::LabelNumbers;

/// Writes a corpus; its files get their names when it is finished.
///
/// Formats that cannot hold a document - a line end in a line, a blank in a fastText label -
/// refuse it. Compression follows the suffix: `.gz`, `.xz`, `.zst`.
pub struct CorpusWriter {
    format: Format,
    main: Body,
    /// The labels of formats that keep them apart.
    labels: Option<Body>,
    /// The label file that label numbers count in, written at the end.
    label_file: Option<Output>,
    encoder: Encoder,
    lines: Lines,
    num_documents: u64,
}

impl CorpusWriter {
    /// Starts a file, or standard output for `-`.
    pub fn create(path: &Path, format: Format, options: &WriteOptions) -> Result<Self> {
        check_options(format, options)?;
        let is_pair = matches!(format, Format::TextPair | Format::XmcPair);
        let second = options.labels_path.as_deref();
        let (labels_path, label_file_path) = if is_pair {
            (second, None)
        } else {
            (None, second)
        };
        let has_header = matches!(format, Format::XmcLibsvm | Format::XmcPair);
        let body = |path: &Path| Body::create(path, has_header, options.replace);
        let mut main = body(path)?;
        let labels = labels_path.map(body).transpose()?;
        let label_file = label_file_path
            .map(|path| Output::create(path, options.replace))
            .transpose()?;
        if let Some(header) = encode::table_header(format) {
            main.write(header)?;
        }
        let numbers = LabelNumbers::new(&options.label_keys, label_file.is_some());
        let encoder = Encoder::new(format, options, numbers);
        Ok(Self {
            format,
            main,
            labels,
            label_file,
            encoder,
            lines: Lines::default(),
            num_documents: 0,
        })
    }

    /// Writes a document.
    pub fn write(&mut self, document: &Document) -> Result<()> {
        let Self { encoder, lines, .. } = self;
        lines.clear();
        encoder.encode(document, lines).map_err(|message| {
            let (id, format) = (&document.id, self.format);
            let refused = format!("document `{id}` cannot be written as {format}: ");
            Error::Data(Message::new(refused).message(message))
        })?;
        self.num_documents += 1;
        lines.end();
        self.main.write(&lines.main)?;
        match &mut self.labels {
            Some(labels) => labels.write(&lines.labels),
            None => Ok(()),
        }
    }

    /// Copies a document of the same format as it was written there, with all its fields; for
    /// formats of which [`CorpusReader::raw_line`](super::CorpusReader::raw_line) gives lines.
    pub fn write_raw(&mut self, line: &str) -> Result<()> {
        self.num_documents += 1;
        self.main.write(line)?;
        self.main.write("\n")
    }

    /// Completes all files and gives them their names.
    pub fn finish(self) -> Result<()> {
        CompleteFile::publish(self.complete()?)
    }

    /// Completes all files, to be published together with others.
    pub fn complete(self) -> Result<Vec<CompleteFile>> {
        let Self {
            format,
            main,
            labels,
            label_file,
            encoder,
            num_documents,
            ..
        } = self;
        let num_features = encoder.num_features();
        let num_labels = encoder.numbers().num_labels();
        let mut complete = Vec::new();
        if let Some(mut file) = label_file {
            for line in encoder.label_file_lines().map_err(Error::data)? {
                file.write(line.as_bytes())?;
            }
            complete.push(file.complete()?);
        }
        if let Some(labels) = labels {
            complete.push(labels.complete(&format!("{num_documents} {num_labels}\n"))?);
        }
        complete.push(main.complete(&match format {
            Format::XmcLibsvm => format!("{num_documents} {num_features} {num_labels}\n"),
            _ => format!("{num_documents} {num_features}\n"),
        })?);
        Ok(complete)
    }
}

impl std::fmt::Debug for CorpusWriter {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("CorpusWriter")
            .field("format", &self.format)
            .field("num_documents", &self.num_documents)
            .finish_non_exhaustive()
    }
}

fn check_options(format: Format, options: &WriteOptions) -> Result<()> {
    if !format.is_written() {
        let message = format!("the format {format} is read and not written");
        return Err(Error::config(Argument::FORMAT, message));
    }
    let needs_second = match format {
        Format::TextPair | Format::XmcPair => true,
        Format::XmcRaw | Format::Text2Text => options.label_keys.is_empty(),
        _ => false,
    };
    if needs_second && options.labels_path.is_none() {
        let message = format!("the format {format} needs a second file, for labels");
        return Err(Error::config(Argument::LABELS_FILE, message));
    }
    if options.labels_path.is_some() && !format.takes_labels_file() {
        return Err(Error::config(
            Argument::LABELS_FILE,
            format!("the format {format} has no second file"),
        ));
    }
    if format == Format::Libsvm && !matches!(options.index_base, Some(0 | 1)) {
        return Err(Error::config(
            Argument::INDEX_BASE,
            "expected 0 or 1: libsvm without header can count features from either",
        ));
    }
    let nothing = |key: Argument| Err(Error::config(key, "expected at least one character"));
    if options.label_prefix.is_empty() {
        return nothing(Argument::LABEL_PREFIX);
    }
    if options.label_separator.as_deref() == Some("") {
        return nothing(Argument::LABEL_SEPARATOR);
    }
    Ok(())
}

/// A file of lines, kept aside first where a header with counts comes before them.
enum Body {
    Direct(Output),
    Spooled(Output, Spool),
}

impl Body {
    fn create(path: &Path, has_header: bool, replace: bool) -> Result<Self> {
        let output = Output::create(path, replace)?;
        Ok(if has_header {
            Self::Spooled(output, Spool::create(path)?)
        } else {
            Self::Direct(output)
        })
    }

    fn write(&mut self, text: &str) -> Result<()> {
        match self {
            Self::Direct(output) => output.write(text.as_bytes()),
            Self::Spooled(_, spool) => spool.write(text.as_bytes()),
        }
    }

    fn complete(self, header: &str) -> Result<CompleteFile> {
        match self {
            Self::Direct(output) => output.complete(),
            Self::Spooled(mut output, spool) => {
                output.write(header.as_bytes())?;
                spool.copy_to(&mut output)?;
                output.complete()
            }
        }
    }
}
