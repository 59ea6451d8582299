//! `predict`: the best labels of each document.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use clap::Args;
use plethora_core::artifact::{Check, ModelReader};
use plethora_core::corpus::{CorpusReader, Output, ReadOptions};
use plethora_system::{Selection, Shard};

use crate::bounds;
use crate::data_args::{AndMore as _, DataArgs, first_of, in_file, tell_warnings};
use crate::device_args::DeviceArgs;
use crate::evaluation::for_each_batch;
use crate::interrupt;
use crate::prediction_pieces::{PredictionRun, PredictionShare};
use crate::prediction_writer::{PredictionFormat, PredictionWriter};
use crate::score_args::ScoreArgs;
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  plethora predict model new.jsonl -k 5
  plethora predict model books.jsonl --where split=test --text-field title,text -o out.jsonl
  echo 'A history of harbours' | plethora predict model - -k 3 --out-format annif
  plethora predict model new.csv --threshold 0.3 --out-format csv > labels.csv
  plethora predict model report.txt          a text of several lines is one document
  plethora predict model texts/              so is each .txt file of a folder
  plethora predict model new.jsonl --shard 0/2 -o new-0.jsonl     half of them; see `plethora merge --help`
  plethora predict calibrated new.jsonl --tuned";

/// Standard output.
const STDOUT: &str = "-";

/// Rank labels for documents
#[derive(Debug, Args)]
#[command(visible_alias = "suggest", after_help = EXAMPLES)]
pub(crate) struct PredictArgs {
    /// Model folder
    model: PathBuf,

    /// Documents: files of any format or with one text per line, a file that is one text, patterns
    /// such as 'part-*.jsonl', folders; - is standard input. A table of one column, or with blanks in
    /// its header, needs --format or --text-field to be told from texts
    #[arg(required = true, value_name = "DATA")]
    data: Vec<PathBuf>,

    /// Labels per document at most. If not given: 10, and with --threshold or --tuned as many as
    /// reach it
    #[arg(short = 'k', long = "top-k", visible_alias = "limit", value_name = "K")]
    #[arg(value_parser = bounds::at_least_one())]
    top_k: Option<usize>,

    /// Give all labels with this score or a higher one
    #[arg(short, long, value_name = "SCORE", value_parser = bounds::score)]
    threshold: Option<f32>,

    #[command(flatten)]
    scores: ScoreArgs,

    /// Tree nodes kept per level, if not those the model was trained with
    #[arg(short, long, value_name = "N", value_parser = bounds::at_least_one())]
    beam: Option<usize>,

    /// File to write to instead of standard output; it appears when it is complete
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Form of the predictions. If not given: table on a terminal, jsonl in files and pipes
    #[arg(long, value_name = "FORMAT")]
    out_format: Option<PredictionFormat>,

    /// Predict one of so many shares of the documents, counted from 0, such as 0/4; `merge` makes one
    /// file of all. Needs --output
    #[arg(long, value_name = "I/N", requires = "output")]
    shard: Option<Shard>,

    /// Replace the output file if it exists
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    device: DeviceArgs,

    #[command(flatten)]
    input: DataArgs,
}

impl PredictArgs {
    /// Predicts, batch by batch.
    pub(crate) fn run(&self, session: &Session) -> anyhow::Result<()> {
        let target = self.output.as_deref().unwrap_or(Path::new(STDOUT));
        self.input.check_output(&self.data, target)?;
        self.scores.check()?;
        let predictor = self.scores.open(&self.model, self.device)?;
        let selection = Selection {
            top_k: self.top_k,
            cutoff: self.scores.cutoff(&predictor, self.threshold),
        };
        let options = ReadOptions {
            texts_only: true,
            ..self.input.to_options_for(predictor.details())
        }
        .and_more(&self.data);
        let share = self.share(&options, session)?;
        let mut reader = CorpusReader::open(first_of(&self.data), &options)?;
        let range = (share.as_ref()).map_or(0..usize::MAX, PredictionShare::documents);
        let output = Output::create(target, self.force)?;
        if self.output.is_some() {
            interrupt::install();
        }
        let mut writer = PredictionWriter::new(self.format(), output, predictor.labels());
        let mut num_documents = 0;
        session.progress().start("predicting", None);
        let batch_size = predictor.documents_per_batch();
        let documents = reader.by_ref().skip(range.start).take(range.len());
        for_each_batch(documents, batch_size, session, |documents| {
            let rankings = predictor.select(documents, &selection, self.beam)?;
            for (document, ranking) in documents.iter().zip(rankings) {
                writer.write(document, &ranking)?;
            }
            num_documents += documents.len();
            session.progress().advance(documents.len() as u64);
            Ok(())
        })
        .map_err(|error| in_file(error, first_of(&self.data)))?;
        tell_warnings(&reader, session.progress());
        match share {
            None => writer.finish()?,
            Some(share) => share.publish(writer, target)?,
        }
        session
            .progress()
            .finish(&format!("{num_documents} documents"));
        Ok(())
    }

    /// The documents to rank, where these are not all.
    fn share(
        &self,
        options: &ReadOptions,
        session: &Session,
    ) -> anyhow::Result<Option<PredictionShare>> {
        let Some(shard) = self.shard else {
            return Ok(None);
        };
        let target = self.output.as_deref().unwrap_or(Path::new(STDOUT));
        PredictionShare::check(target, &self.data)?;
        let run = PredictionRun {
            format: self.format(),
            model: ModelReader::open_with(&self.model, Check::Sizes)?.manifest_sha256()?,
            asked: format!("{:?}", (self.top_k, self.threshold, self.scores, self.beam)),
        };
        let reader = CorpusReader::open(first_of(&self.data), options)?;
        let share = PredictionShare::count(shard, run, reader, session);
        let share = share.map_err(|error| in_file(error, first_of(&self.data)))?;
        Ok(Some(share))
    }

    /// As asked for, else what the reader of the output can use.
    fn format(&self) -> PredictionFormat {
        self.out_format.unwrap_or_else(|| {
            let is_stdout = self
                .output
                .as_deref()
                .is_none_or(|path| path == Path::new(STDOUT));
            if is_stdout && io::stdout().is_terminal() {
                PredictionFormat::Table
            } else {
                PredictionFormat::Jsonl
            }
        })
    }
}
