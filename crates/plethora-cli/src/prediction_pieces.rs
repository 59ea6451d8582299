//! Predictions that several processes make, each for documents that follow one another, and the one file of
//! all. Beside each of their files lies a note of what it is a piece of.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

use plethora_core::corpus::{CompleteFile, CorpusReader, Output};
use plethora_core::{Argument, Error, Result};
use plethora_jobs::evaluation::for_each_batch;
use plethora_jobs::merging::check_complete;
use plethora_system::Shard;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::prediction_joint::Joint;
use crate::prediction_writer::{PredictionFormat, PredictionWriter};
use crate::session::Session;

/// Read at a time while merging.
const BLOCK_BYTES: usize = 1 << 20;

/// Documents between two reports of progress.
const DOCUMENTS_PER_STEP: usize = 1024;

/// What a file of predictions is a piece of.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct PieceNote {
    shard: Shard,
    run: PredictionRun,
    corpus: CountedCorpus,
    /// Documents in this piece.
    #[serde(rename = "n_documents")]
    num_documents: u64,
    /// SHA-256 of the file.
    sha256: String,
}

/// How all pieces of one output are made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PredictionRun {
    pub(crate) format: PredictionFormat,
    /// SHA-256 of the model's manifest.
    pub(crate) model: String,
    /// Labels per document, threshold and beam, as asked for.
    pub(crate) asked: String,
}

/// The documents of all pieces together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct CountedCorpus {
    #[serde(rename = "n_documents")]
    num_documents: u64,
    /// SHA-256 of what they say.
    sha256: String,
}

/// The documents that one process predicts for.
#[derive(Debug)]
pub(crate) struct PredictionShare {
    shard: Shard,
    run: PredictionRun,
    corpus: CountedCorpus,
}

/// What came of merging.
#[derive(Debug, Serialize)]
pub(crate) struct MergedPredictions {
    pub(crate) output: PathBuf,
    #[serde(rename = "n_documents")]
    pub(crate) num_documents: u64,
    #[serde(rename = "n_pieces")]
    pub(crate) num_pieces: usize,
}

impl PieceNote {
    /// Where the note of a file lies.
    fn path_for(output: &Path) -> PathBuf {
        let mut name = output
            .file_name()
            .map_or_else(OsString::new, OsString::from);
        name.push(".piece.json");
        output.with_file_name(name)
    }

    /// The note in its file, to be published with the predictions.
    fn complete(&self, output: &Path) -> Result<CompleteFile> {
        let path = Self::path_for(output);
        let text = serde_json::to_string(self).map_err(|error| Error::data(error.to_string()))?;
        let mut file = Output::create(&path, true)?;
        file.write(text.as_bytes())?;
        file.write(b"\n")?;
        file.complete()
    }

    fn of(file: &Path) -> Result<Self> {
        let path = Self::path_for(file);
        let text = fs::read(&path).map_err(|_| {
            let message = format!(
                "is no complete piece: {} is not beside it; make it again with `plethora predict --shard`",
                path.display()
            );
            Error::input(file, None, message)
        })?;
        serde_json::from_slice(&text)
            .map_err(|error| Error::input(&path, None, format!("not the note of a piece: {error}")))
    }
}

impl PredictionShare {
    /// Refuses what cannot be divided.
    pub(crate) fn check(output: &Path, data: &[PathBuf]) -> Result<()> {
        if data.iter().any(|path| path == Path::new("-")) {
            let message = "standard input cannot be divided; write it to a file first";
            return Err(Error::config(Argument::SHARD, message));
        }
        let suffix = output.extension().and_then(|suffix| suffix.to_str());
        if suffix.is_some_and(|suffix| ["gz", "xz", "zst"].contains(&suffix)) {
            let message = "pieces are not compressed; leave the suffix out, and give it to the output of \
                           `plethora merge`";
            return Err(Error::config(Argument::SHARD, message));
        }
        Ok(())
    }

    /// Reads all documents once to know how many there are.
    pub(crate) fn count(
        shard: Shard,
        run: PredictionRun,
        reader: CorpusReader,
        session: &Session,
    ) -> Result<Self> {
        let mut hasher = Sha256::new();
        let mut num_documents = 0;
        session.progress().start("counting", None);
        for_each_batch(reader, DOCUMENTS_PER_STEP, session, |documents| {
            for document in documents {
                hasher.update(document.id.as_bytes());
                hasher.update([0]);
                hasher.update(document.content_hash().unwrap_or_default().to_le_bytes());
            }
            num_documents += documents.len() as u64;
            session.progress().advance(documents.len() as u64);
            Ok(())
        })?;
        let range = shard.range(num_documents);
        let own = format!("{} of {num_documents} documents", range.end - range.start);
        session.progress().finish(&own);
        let corpus = CountedCorpus {
            num_documents,
            sha256: hexadecimal(hasher),
        };
        Ok(Self { shard, run, corpus })
    }

    /// The documents of the share, which follow one another.
    pub(crate) fn documents(&self) -> Range<usize> {
        let range = self.shard.range(self.corpus.num_documents);
        range.start as usize..range.end as usize
    }

    /// Completes predictions and the note of what they are a piece of.
    pub(crate) fn publish(self, writer: PredictionWriter<'_>, output: &Path) -> Result<()> {
        let (file, num_documents, sha256) = writer.complete()?;
        let note = PieceNote {
            shard: self.shard,
            run: self.run,
            corpus: self.corpus,
            num_documents,
            sha256,
        };
        CompleteFile::publish(vec![note.complete(output)?, file])
    }
}

/// SHA-256 as it is written.
pub(crate) fn hexadecimal(hasher: Sha256) -> String {
    let mut digits = String::new();
    for byte in hasher.finalize() {
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}

/// Writes one file of all pieces.
pub(crate) fn merge_predictions(
    files: &[PathBuf],
    target: &Path,
    replace: bool,
    session: &Session,
) -> Result<MergedPredictions> {
    let mut pieces: Vec<(&Path, PieceNote)> = (files.iter())
        .map(|file| Ok((file.as_path(), PieceNote::of(file)?)))
        .collect::<Result<_>>()?;
    check_complete(pieces.iter().map(|(file, note)| (*file, note.shard)))?;
    pieces.sort_by_key(|(_, note)| note.shard);
    let (first, of_first) = pieces[0].clone();
    for (file, note) in &pieces {
        if (&note.run, &note.corpus) != (&of_first.run, &of_first.corpus) {
            let message = format!(
                "is of another model, other documents or other options than {}",
                first.display()
            );
            return Err(Error::input(file, None, message));
        }
    }
    let num_documents = of_first.corpus.num_documents;
    session.progress().start("merging", None);
    let mut output = Output::create(target, replace)?;
    let mut joint = Joint::new(of_first.run.format);
    output.write(joint.header(first, num_documents)?.as_bytes())?;
    for (file, note) in &pieces {
        let source = File::open(file).map_err(Error::read(file))?;
        let mut source = BufReader::with_capacity(BLOCK_BYTES, source);
        let mut hasher = Sha256::new();
        if joint.skips_header(note.num_documents) {
            let mut header = Vec::new();
            source
                .read_until(b'\n', &mut header)
                .map_err(Error::read(file))?;
            hasher.update(&header);
        }
        output.write(joint.before(note.num_documents).as_bytes())?;
        let mut block = vec![0; BLOCK_BYTES];
        loop {
            session.check_interrupt()?;
            let length = source.read(&mut block).map_err(Error::read(file))?;
            if length == 0 {
                break;
            }
            hasher.update(&block[..length]);
            output.write(&block[..length])?;
        }
        if hexadecimal(hasher) != note.sha256 {
            let message = "is damaged: its checksum is not that of the note beside it";
            return Err(Error::input(file, None, message));
        }
    }
    output.finish()?;
    let all = format!("{} pieces", pieces.len());
    session.progress().finish(&all);
    Ok(MergedPredictions {
        output: target.to_owned(),
        num_documents,
        num_pieces: pieces.len(),
    })
}
