//! `split`: a corpus in parts for training, choosing settings and measuring.

use std::path::{Path, PathBuf};

use clap::Args;
use plethora_core::corpus::{
    CompleteFile, CorpusReader, CorpusWriter, Format, Fractions, RandomSplit, SplitMethod, split,
};
use plethora_core::{Error, Result, grouped};

use crate::data_args::{DataArgs, first_of, tell_warnings, warn_of_lost_fields};
use crate::output_args::{OutputArgs, Target, about_output, suffix_of_format};
use crate::session::Session;
use crate::{interrupt, results};

const EXAMPLES: &str = "\
Examples:
  plethora split books.jsonl -o parts
  plethora split books.csv --fractions 0.9,0.1 --method stratified --seed 7 -o parts";

/// Split a corpus into train, dev and test
///
/// Rows of JSON lines are copied as they are, unless another format is to be written. Of all other
/// formats, the parts have id, text and labels only.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SplitArgs {
    /// Corpus to split: files, patterns and folders, together; - is standard input
    #[arg(required = true, value_name = "DATA")]
    data: Vec<PathBuf>,

    /// Folder for the parts: train and test, or train, dev and test, or part-1, part-2, ...
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,

    /// Shares of the parts
    #[arg(long, value_name = "X,...", default_value = "0.8,0.1,0.1")]
    fractions: Fractions,

    /// random: by seed and id, one pass; stratified: each label shared out alike, two passes
    #[arg(long, value_name = "METHOD", default_value_t)]
    method: SplitMethod,

    /// Seed of the split
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    #[command(flatten)]
    writing: OutputArgs,

    #[command(flatten)]
    input: DataArgs,
}

impl SplitArgs {
    /// Decides on a part for each document and writes it there.
    pub(crate) fn run(&self, session: &Session) -> anyhow::Result<()> {
        let parts = self.parts(session)?;
        let mut reader = self.input.open(&self.data)?;
        let format = match (self.writing.out_format, reader.format()) {
            (Some(format), _) => format,
            (None, format) if format.is_written() => format,
            (None, _) => Format::Jsonl,
        };
        check_label_list(format, &reader)?;
        fs_err::create_dir_all(&self.output).map_err(Error::write(&self.output))?;
        interrupt::install();
        let names = part_names(self.fractions.as_slice().len());
        let mut writers: Vec<CorpusWriter> = names
            .iter()
            .map(|name| self.writer(name, format, &reader))
            .collect::<Result<_>>()?;
        let is_copied = [format, reader.format()] == [Format::Jsonl; 2];
        let mut sizes = vec![0_u64; writers.len()];
        session.progress().start("splitting", self.input.docs_limit);
        let mut position = 0;
        while let Some(document) = reader.next().transpose()? {
            session.check_interrupt()?;
            let part = parts.part_of(&document.id, position);
            match reader.raw_line() {
                Some(line) if is_copied => writers[part].write_raw(line)?,
                _ => writers[part].write(&document).map_err(about_output)?,
            }
            sizes[part] += 1;
            position += 1;
            session.progress().advance(1);
        }
        // Parts of two splits would have documents in common.
        let mut complete = Vec::new();
        for writer in writers {
            complete.extend(writer.complete()?);
        }
        CompleteFile::publish(complete)?;
        tell_warnings(&reader, session.progress());
        if !is_copied {
            warn_of_lost_fields(&reader);
        }
        session.progress().finish(&format!("{position} documents"));
        for (name, size) in names.iter().zip(sizes) {
            let path = part_path(&self.output, name, format);
            results::print(&format!("{:>12}  {}\n", grouped(size), path.display()))?;
        }
        Ok(())
    }

    fn parts(&self, session: &Session) -> anyhow::Result<Parts> {
        if self.method == SplitMethod::Random {
            return Ok(Parts::Drawn(RandomSplit::new(&self.fractions, self.seed)));
        }
        if first_of(&self.data).as_os_str() == "-" {
            return Err(Error::usage(
                "--method: stratified reads the data twice; name a file instead of -",
            )
            .into());
        }
        session.progress().start("counting labels", None);
        let documents = self.input.open(&self.data)?;
        let parts = split(documents, self.method, &self.fractions, self.seed)?;
        session
            .progress()
            .finish(&format!("{} documents", parts.len()));
        Ok(Parts::Listed(parts))
    }

    fn writer(&self, name: &str, format: Format, reader: &CorpusReader) -> Result<CorpusWriter> {
        let path = part_path(&self.output, name, format);
        let is_pair = matches!(format, Format::TextPair | Format::XmcPair);
        let labels_path = is_pair.then(|| self.output.join(format!("{name}.labels.txt")));
        let target = Target {
            path: &path,
            format,
            labels_path: labels_path.as_deref(),
        };
        self.writing.create(target, reader)
    }
}

/// Which document goes where.
enum Parts {
    Drawn(RandomSplit),
    /// One part per document, in the order of the corpus.
    Listed(Vec<u8>),
}

impl Parts {
    fn part_of(&self, id: &str, position: usize) -> usize {
        match self {
            Self::Drawn(random) => random.part_of(id),
            Self::Listed(parts) => usize::from(parts[position]),
        }
    }
}

/// Refuses formats whose label numbers would differ from part to part.
fn check_label_list(format: Format, reader: &CorpusReader) -> Result<(), Error> {
    let needs_list = matches!(format, Format::XmcRaw | Format::Text2Text);
    if needs_list && reader.vocabulary().is_empty() {
        return Err(Error::usage(format!(
            "--out-format: the label numbers of {format} count in a list that all parts \
             share, and the input has none; convert it to {format} first"
        )));
    }
    Ok(())
}

fn part_names(num_parts: usize) -> Vec<String> {
    match num_parts {
        2 => vec!["train".into(), "test".into()],
        3 => vec!["train".into(), "dev".into(), "test".into()],
        more => (1..=more).map(|number| format!("part-{number}")).collect(),
    }
}

fn part_path(folder: &Path, name: &str, format: Format) -> PathBuf {
    let kind = match format {
        Format::TextPair => ".texts",
        Format::XmcPair => ".features",
        _ => "",
    };
    folder.join(format!("{name}{kind}.{}", suffix_of_format(format)))
}
