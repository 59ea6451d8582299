//! `explain`: which words of a text speak for a label.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use plethora_core::corpus::{Content, Document, Output};
use plethora_core::{Error, LabelId};
use plethora_system::{Predictor, RankOptions, UnclearLabel, find_label};

use crate::device_args::DeviceArgs;
use crate::explanation::{ExplanationReport, TextStyle, to_text};
use crate::{bounds, results};

const EXAMPLES: &str = "\
Examples:
  plethora explain model 'Tides and harbours of the North Sea'
  plethora explain model 'Tides and harbours' --label Oceanography --label Harbours
  plethora explain model --file chapter.txt -k 5 -o chapter.html
  echo 'A history of harbours' | plethora explain model - --format json | jq '.explanations[0].spans'

In JSON, start and end of a span count Unicode characters, as Python does: text[start:end] is the
span. start_byte and end_byte count bytes of UTF-8.

Labels of an ensemble are explained by its first model that can, which is named with them.";

/// Standard input.
const STDIN: &str = "-";

/// How explanations are written; the words here are those of `--help`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExplanationFormat {
    /// Coloured text and a table; numbers in the text where there are no colours
    Terminal,
    /// One JSON object
    Json,
    /// One page with everything inside
    Html,
}

/// Show which words of a text speak for a label, and which against it
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ExplainArgs {
    /// Model folder
    model: PathBuf,

    /// The text itself; - reads it from standard input
    #[arg(conflicts_with = "file")]
    text: Option<String>,

    /// Read the text from this file
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,

    /// Label to explain, by key or name; several times for several. The best labels if not given
    #[arg(short = 'l', long = "label", value_name = "LABEL")]
    labels: Vec<String>,

    /// Number of best labels to explain where none is named
    #[arg(short = 'k', long = "top-k", visible_alias = "limit", value_name = "K")]
    #[arg(value_parser = bounds::at_least_one(), default_value_t = 3)]
    top_k: usize,

    /// Form of the explanation; told by the suffix of --output (.json, .html), else terminal
    #[arg(short, long, value_name = "FORMAT")]
    format: Option<ExplanationFormat>,

    /// File to write to instead of standard output; it appears when it is complete
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Replace the output file if it exists
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    device: DeviceArgs,
}

impl ExplainArgs {
    /// Explains and writes.
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        self.check_output()?;
        let text = self.read_text()?;
        let predictor = self.device.open(&self.model)?;
        if !predictor.details().takes_text {
            let message = "was trained on features, not on texts: there are no words to explain";
            return Err(Error::model(&self.model, message).into());
        }
        let labels = self.choose_labels(&predictor, &text)?;
        let model = self.model.display().to_string();
        let report = ExplanationReport::new(&predictor, model, &text, &labels)?;
        let rendered = match self.format() {
            ExplanationFormat::Terminal => to_text(&report, self.style()),
            ExplanationFormat::Json => serde_json::to_string_pretty(&report)? + "\n",
            ExplanationFormat::Html => report.to_html(),
        };
        match &self.output {
            Some(path) => {
                let mut output = Output::create(path, self.force)?;
                output.write(rendered.as_bytes())?;
                output.finish()?;
            }
            None => results::print(&rendered)?,
        }
        Ok(())
    }

    fn check_output(&self) -> Result<(), Error> {
        let (Some(input), Some(output)) = (&self.file, &self.output) else {
            return Ok(());
        };
        match (input.canonicalize(), output.canonicalize()) {
            (Ok(input), Ok(existing)) if input == existing => Err(Error::usage(format!(
                "{}: this is the input; choose another name for the output",
                output.display()
            ))),
            _ => Ok(()),
        }
    }

    fn read_text(&self) -> anyhow::Result<String> {
        match (&self.text, &self.file) {
            (Some(text), _) if text == STDIN => Ok(read_stdin()?),
            (None, Some(path)) if path.as_os_str() == STDIN => Ok(read_stdin()?),
            (Some(text), _) if text.trim().is_empty() => {
                Err(Error::usage("the text is empty").into())
            }
            (Some(text), _) => {
                if Path::new(text).is_file() {
                    tracing::warn!("`{text}` is taken for the text; --file {text} reads the file");
                }
                Ok(text.clone())
            }
            (None, Some(path)) => {
                let bytes = std::fs::read(path).map_err(Error::read(path))?;
                Ok(as_text(bytes, path)?)
            }
            (None, None) => Err(Error::usage(
                "there is no text: give it as an argument, as --file FILE, or as - for standard input",
            )
            .into()),
        }
    }

    /// The labels that were named, each once, or the best.
    fn choose_labels(&self, predictor: &Predictor, text: &str) -> anyhow::Result<Vec<LabelId>> {
        if self.labels.is_empty() {
            let document = Document {
                id: "1".into(),
                content: Content::Text(text.to_owned()),
                labels: Vec::new(),
            };
            let options = RankOptions {
                top_k: self.top_k,
                beam: None,
            };
            let rankings = predictor.rank(&[document], options)?;
            let best = rankings.iter().flatten();
            return Ok(best.map(|scored| scored.label).collect());
        }
        let mut chosen = Vec::new();
        for wanted in &self.labels {
            let label = find_label(predictor.labels(), wanted).map_err(|label| unclear(&label))?;
            if !chosen.contains(&label) {
                chosen.push(label);
            }
        }
        Ok(chosen)
    }

    fn format(&self) -> ExplanationFormat {
        let suffix = || self.output.as_ref()?.extension()?.to_str();
        self.format.unwrap_or_else(|| match suffix() {
            Some("json") => ExplanationFormat::Json,
            Some("html" | "htm") => ExplanationFormat::Html,
            _ => ExplanationFormat::Terminal,
        })
    }

    fn style(&self) -> TextStyle {
        match self.output {
            None => TextStyle::of_stdout(),
            Some(_) => TextStyle::Plain,
        }
    }
}

fn unclear(label: &UnclearLabel) -> Error {
    let hint = match label {
        UnclearLabel::Unknown { guess: None, .. } => {
            "; labels.jsonl in the model folder has all there are"
        }
        _ => "",
    };
    Error::usage(format!("--label: {label}{hint}"))
}

fn read_stdin() -> plethora_core::Result<String> {
    let path = Path::new("<stdin>");
    let mut bytes = Vec::new();
    (io::stdin().lock().read_to_end(&mut bytes)).map_err(Error::read(path))?;
    as_text(bytes, path)
}

fn as_text(bytes: Vec<u8>, path: &Path) -> plethora_core::Result<String> {
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.split(|&byte| byte == b'\n').count() as u64;
        Error::input(path, line, "expected text in UTF-8, found other bytes")
    })?;
    if text.trim().is_empty() {
        return Err(Error::input(path, None, "there is no text in it"));
    }
    Ok(text)
}
