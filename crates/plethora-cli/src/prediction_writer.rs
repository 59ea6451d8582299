//! The forms in which predictions leave the program.

use std::fmt::Write as _;

use clap::ValueEnum;
use plethora_core::corpus::{CompleteFile, Document, LabelSpace, Output};
use plethora_core::{Error, Result, ScoredLabel, one_field};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::prediction_pieces::hexadecimal;
use crate::prediction_table;

/// How predictions are written; the words here are those of `--help`.
#[expect(clippy::doc_markdown, reason = "backticks would show in the help")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PredictionFormat {
    /// A JSON object per document: id, and predictions with label, key, score and label_id
    Jsonl,
    /// A JSON array per document: label and score, as Hugging Face pipelines give
    Hf,
    /// A line per document: __label__KEY SCORE ...; blanks in keys become _
    Fasttext,
    /// A line per label: key in angle brackets, name, score; a blank line between documents
    Annif,
    /// Sparse matrix with a header: label_id:score of each document
    Xmc,
    /// Table with a header and a line per label: id, rank, key, label, score
    Csv,
    /// For people: score, name and key of each label below the document's id and first words
    Table,
}

/// Writes one ranking after another.
pub(crate) struct PredictionWriter<'a> {
    format: PredictionFormat,
    output: Output,
    labels: &'a LabelSpace,
    num_documents: u64,
    /// Of all that was written.
    hasher: Sha256,
    /// The lines of [`PredictionFormat::Xmc`], kept until the header before them is known.
    body: String,
    line: String,
}

#[derive(Serialize)]
struct JsonDocument<'a> {
    id: &'a str,
    predictions: Vec<JsonLabel<'a>>,
}

#[derive(Serialize)]
struct JsonLabel<'a> {
    label: &'a str,
    key: &'a str,
    score: f32,
    label_id: u32,
}

#[derive(Serialize)]
struct BareLabel<'a> {
    label: &'a str,
    score: f32,
}

impl<'a> PredictionWriter<'a> {
    /// Writes to `output`, with labels of this space.
    pub(crate) fn new(format: PredictionFormat, output: Output, labels: &'a LabelSpace) -> Self {
        Self {
            format,
            output,
            labels,
            num_documents: 0,
            hasher: Sha256::new(),
            body: String::new(),
            line: String::new(),
        }
    }

    /// Writes the ranking of a document.
    pub(crate) fn write(&mut self, document: &Document, ranking: &[ScoredLabel]) -> Result<()> {
        let id = &document.id;
        self.line.clear();
        match self.format {
            PredictionFormat::Jsonl => self.jsonl(id, ranking)?,
            PredictionFormat::Hf => self.hf(ranking)?,
            PredictionFormat::Fasttext => self.fasttext(ranking),
            PredictionFormat::Annif => self.annif(ranking),
            PredictionFormat::Xmc => self.xmc(ranking),
            PredictionFormat::Csv => self.csv(id, ranking)?,
            PredictionFormat::Table => {
                self.line = prediction_table::render(document, ranking, self.labels);
            }
        }
        self.num_documents += 1;
        if self.format == PredictionFormat::Xmc {
            self.body.push_str(&self.line);
            return Ok(());
        }
        let line = std::mem::take(&mut self.line);
        self.emit(&line)?;
        self.line = line;
        Ok(())
    }

    /// Completes the output.
    pub(crate) fn finish(self) -> Result<()> {
        let (file, ..) = self.complete()?;
        CompleteFile::publish(vec![file])
    }

    /// Completes the output, to be published with others; with its number of documents and its SHA-256.
    pub(crate) fn complete(mut self) -> Result<(CompleteFile, u64, String)> {
        if self.format == PredictionFormat::Xmc {
            let header = format!("{} {}\n", self.num_documents, self.labels.len());
            self.emit(&header)?;
            let body = std::mem::take(&mut self.body);
            self.emit(&body)?;
        }
        let sha256 = hexadecimal(self.hasher);
        Ok((self.output.complete()?, self.num_documents, sha256))
    }

    fn emit(&mut self, text: &str) -> Result<()> {
        self.hasher.update(text.as_bytes());
        self.output.write(text.as_bytes())
    }

    fn jsonl(&mut self, id: &str, ranking: &[ScoredLabel]) -> Result<()> {
        let predictions = ranking
            .iter()
            .map(|scored| {
                let label = self.labels.label(scored.label);
                JsonLabel {
                    label: &label.name,
                    key: &label.key,
                    score: scored.score,
                    label_id: scored.label.0,
                }
            })
            .collect();
        self.line = to_json_line(&JsonDocument { id, predictions })?;
        Ok(())
    }

    fn hf(&mut self, ranking: &[ScoredLabel]) -> Result<()> {
        let predictions: Vec<BareLabel<'_>> = ranking
            .iter()
            .map(|scored| BareLabel {
                label: &self.labels.label(scored.label).name,
                score: scored.score,
            })
            .collect();
        self.line = to_json_line(&predictions)?;
        Ok(())
    }

    fn fasttext(&mut self, ranking: &[ScoredLabel]) {
        let labels: Vec<String> = ranking
            .iter()
            .map(|scored| {
                let key = &self.labels.label(scored.label).key;
                let word = key.replace(char::is_whitespace, "_");
                format!("__label__{word} {}", scored.score)
            })
            .collect();
        self.line = format!("{}\n", labels.join(" "));
    }

    fn annif(&mut self, ranking: &[ScoredLabel]) {
        if self.num_documents > 0 {
            self.line.push('\n');
        }
        for scored in ranking {
            let label = self.labels.label(scored.label);
            let _ = writeln!(
                self.line,
                "<{}>\t{}\t{:.4}",
                one_field(&label.key),
                one_field(&label.name),
                scored.score
            );
        }
    }

    fn xmc(&mut self, ranking: &[ScoredLabel]) {
        let mut by_id = ranking.to_vec();
        by_id.sort_unstable_by_key(|scored| scored.label);
        let entries: Vec<String> = by_id
            .iter()
            .map(|scored| format!("{}:{}", scored.label.0, scored.score))
            .collect();
        self.line = format!("{}\n", entries.join(" "));
    }

    fn csv(&mut self, id: &str, ranking: &[ScoredLabel]) -> Result<()> {
        let mut rows = csv::Writer::from_writer(Vec::new());
        let failed = |error: csv::Error| Error::data(error.to_string());
        if self.num_documents == 0 {
            rows.write_record(["id", "rank", "key", "label", "score"])
                .map_err(failed)?;
        }
        for (rank, scored) in (1..).zip(ranking) {
            let label = self.labels.label(scored.label);
            rows.serialize((id, rank, &label.key, &label.name, scored.score))
                .map_err(failed)?;
        }
        let bytes = rows
            .into_inner()
            .map_err(|error| Error::data(error.to_string()))?;
        self.line = String::from_utf8_lossy(&bytes).into_owned();
        Ok(())
    }
}

fn to_json_line(value: &impl Serialize) -> Result<String> {
    let mut line = serde_json::to_string(value).map_err(|error| Error::data(error.to_string()))?;
    line.push('\n');
    Ok(line)
}
