//! `predict`: the best labels of each document.

use std::path::{Path, PathBuf};

use clap::Args;
use plethora_core::ScoredLabel;
use plethora_core::corpus::{CorpusReader, Output, ReadOptions};
use plethora_system::RankOptions;

use crate::bounds;
use crate::data_args::{DataArgs, in_file, tell_warnings};
use crate::device_args::DeviceArgs;
use crate::evaluation::for_each_batch;
use crate::interrupt;
use crate::prediction_writer::{PredictionFormat, PredictionWriter};
use crate::score_args::ScoreArgs;
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  plethora predict model new.jsonl -k 5
  plethora predict model books.jsonl --where split=test --text-field title,text -o out.jsonl
  echo 'A history of harbours' | plethora predict model - -k 3 --out-format annif
  plethora predict model new.csv --threshold 0.3 --out-format csv > labels.csv
  plethora predict calibrated new.jsonl -k 100 --tuned";

/// Standard output.
const STDOUT: &str = "-";

/// Rank labels for documents
#[derive(Debug, Args)]
#[command(visible_alias = "suggest", after_help = EXAMPLES)]
pub(crate) struct PredictArgs {
    /// Model folder
    model: PathBuf,

    /// Documents, of any format or one text per line; - is standard input. A table of one column,
    /// or with blanks in its header, needs --format or --text-field to be told from texts
    data: PathBuf,

    /// Labels per document
    #[arg(short = 'k', long = "top-k", visible_alias = "limit", value_name = "K")]
    #[arg(value_parser = bounds::at_least_one(), default_value_t = 10)]
    top_k: usize,

    /// Leave out labels with a lower score
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

    /// Form of the predictions
    #[arg(long, value_name = "FORMAT", default_value = "jsonl")]
    out_format: PredictionFormat,

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
        let tuned = self.scores.thresholds(&predictor);
        let options = ReadOptions {
            texts_only: true,
            ..self.input.to_options_for(predictor.details())
        };
        let mut reader = CorpusReader::open(&self.data, &options)?;
        let output = Output::create(target, self.force)?;
        if self.output.is_some() {
            interrupt::install();
        }
        let mut writer = PredictionWriter::new(self.out_format, output, predictor.labels());
        let rank = RankOptions {
            top_k: self.top_k,
            beam: self.beam,
        };
        let mut num_documents = 0;
        session.progress().start("predicting", None);
        let batch_size = predictor.documents_per_batch();
        for_each_batch(&mut reader, batch_size, session, |documents| {
            for (document, mut ranking) in documents.iter().zip(predictor.rank(documents, rank)?) {
                self.cut(&mut ranking, tuned.as_deref());
                writer.write(&document.id, &ranking)?;
            }
            num_documents += documents.len();
            session.progress().advance(documents.len() as u64);
            Ok(())
        })
        .map_err(|error| in_file(error, &self.data))?;
        tell_warnings(&reader, session.progress());
        writer.finish()?;
        session
            .progress()
            .finish(&format!("{num_documents} documents"));
        Ok(())
    }

    fn cut(&self, ranking: &mut Vec<ScoredLabel>, tuned: Option<&[f32]>) {
        if let Some(thresholds) = tuned {
            ranking.retain(|scored| scored.score >= thresholds[scored.label.index()]);
        }
        if let Some(threshold) = self.threshold {
            ranking.retain(|scored| scored.score >= threshold);
        }
    }
}
