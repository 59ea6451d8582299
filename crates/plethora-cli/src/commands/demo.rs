//! `demo`: everything once, on a catalogue made up on the spot.

use std::env;
use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use plethora_core::corpus::catalogue::{Catalogue, CatalogueConfig};
use plethora_core::corpus::{Document, Filter, ReadOptions};
use plethora_core::metrics::EvaluationConfig;
use plethora_core::{Error, Result};
use plethora_linear::LinearConfig;
use plethora_predict::{Predictor, RankOptions};

use super::generate::{DOCUMENTS_FILE, LABELS_FILE, name_option};
use crate::catalogue_files::{write_documents, write_labels};
use crate::corpus_check::{CheckReport, CorpusProfile};
use crate::evaluation::{EvaluationRun, MeasuredModel};
use crate::figures::{bytes, duration, percent};
use crate::session::Session;
use crate::training::{Corpus, TrainingJob, TrainingReport};
use crate::{interrupt, results};

const EXAMPLES: &str = "\
Examples:
  plethora demo
  plethora demo --documents 2000 --dir /tmp/demo";

/// The systems to compare, the default first.
const SYSTEMS: [&str; 2] = ["wide-tree", "parabel"];

/// Metrics of the table.
const SHOWN_METRICS: [&str; 6] = ["P@1", "P@3", "P@5", "nDCG@5", "R@5", "PSP@5"];

/// Labels predicted for the example.
const EXAMPLE_LABELS: usize = 5;

/// A document with so many labels shows more than hit or miss.
const EXAMPLE_MIN_LABELS: usize = 3;

/// Make up a corpus, train two systems on it, measure them and show what to do next
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DemoArgs {
    /// Number of documents
    #[arg(short = 'n', long, value_name = "N", default_value_t = CatalogueConfig::default().num_documents)]
    documents: u64,

    /// Folder for corpus and models
    #[arg(long, value_name = "FOLDER", default_value = ".demo")]
    dir: PathBuf,

    /// Seed of corpus and models
    #[arg(long, value_name = "N", default_value_t = CatalogueConfig::default().seed)]
    seed: u64,
}

/// A trained and measured system.
struct Contender {
    report: TrainingReport,
    measured: MeasuredModel,
}

impl DemoArgs {
    /// Runs the whole way.
    pub(crate) fn run(&self, session: &Session) -> anyhow::Result<()> {
        interrupt::install();
        self.generate(session)?;
        results::print(&format!(
            "A catalogue of {} invented records is in {}.\n\n",
            self.documents,
            self.documents_path().display()
        ))?;
        let profile = CorpusProfile::read(self.corpus("train").open()?, None, session)?;
        let check = CheckReport::new(&profile, None, None);
        results::print(&format!("{}\n", check.render_briefly()))?;
        let mut contenders = Vec::new();
        for system in SYSTEMS {
            contenders.push(self.contend(system, session)?);
        }
        results::print(&table(&contenders))?;
        results::print(&self.example()?)?;
        results::print(&self.next_commands())?;
        Ok(())
    }

    fn documents_path(&self) -> PathBuf {
        self.dir.join(DOCUMENTS_FILE)
    }

    fn labels_path(&self) -> PathBuf {
        self.dir.join(LABELS_FILE)
    }

    fn generate(&self, session: &Session) -> Result<()> {
        let catalogue = Catalogue::new(CatalogueConfig {
            seed: self.seed,
            num_documents: self.documents,
            ..CatalogueConfig::default()
        })
        .map_err(name_option)?;
        fs_err::create_dir_all(&self.dir).map_err(Error::write(&self.dir))?;
        write_labels(&catalogue, &self.labels_path(), true, session)?;
        write_documents(&catalogue, &self.documents_path(), true, session)
    }

    fn corpus(&self, split: &str) -> Corpus {
        Corpus {
            path: self.documents_path(),
            options: ReadOptions {
                text_fields: vec!["title".into(), "text".into()],
                filters: vec![Filter {
                    field: "split".into(),
                    value: split.into(),
                }],
                ..ReadOptions::default()
            },
        }
    }

    fn contend(&self, system: &str, session: &Session) -> Result<Contender> {
        let job = TrainingJob {
            data: self.corpus("train"),
            valid: None,
            vocabulary: Some(self.labels_path()),
            output: self.dir.join(system),
            config: LinearConfig {
                seed: self.seed,
                ..LinearConfig::of_system(system)?
            },
            replaces: true,
            resumes: false,
        };
        let report = job.run(session)?;
        let test = self.corpus("test");
        let run = EvaluationRun {
            config: EvaluationConfig::default(),
            beam: None,
            depth: None,
        };
        let predictor = Predictor::open(&job.output)?;
        let measured = run.run(&predictor, test.open()?, &test.path, session)?;
        Ok(Contender { report, measured })
    }

    fn example(&self) -> Result<String> {
        let predictor = Predictor::open(&self.dir.join(SYSTEMS[0]))?;
        let mut documents = self.corpus("test").open()?;
        let document = loop {
            match documents.next().transpose()? {
                Some(document) if document.labels.len() >= EXAMPLE_MIN_LABELS => break document,
                Some(_) => {}
                None => return Ok(String::new()),
            }
        };
        render_example(&document, &predictor)
    }

    fn next_commands(&self) -> String {
        let program = env::args().next().unwrap_or_else(|| "plethora".into());
        let model = self.dir.join(SYSTEMS[0]);
        let (model, data) = (model.display(), self.documents_path());
        let data = data.display();
        format!(
            "\nNext commands\n\
             \x20 echo 'A history of lighthouses' | {program} predict {model} - -k 5 --out-format annif\n\
             \x20 {program} predict {model} {data} --text-field title,text --where split=test -k 5\n\
             \x20 {program} eval {model} {data} --text-field title,text --where split=test\n\
             \x20 {program} check YOUR.jsonl\n\
             \x20 {program} train YOUR.jsonl -o YOUR-MODEL\n"
        )
    }
}

fn table(contenders: &[Contender]) -> String {
    let mut text = format!("{:12}", "system");
    for key in SHOWN_METRICS {
        let _ = write!(text, "{key:>8}");
    }
    let _ = writeln!(
        text,
        "{:>10}{:>12}{:>16}",
        "training", "model", "ranking/doc"
    );
    for Contender { report, measured } in contenders {
        let _ = write!(text, "{:12}", report.system);
        for key in SHOWN_METRICS {
            let value = measured.evaluation.get(key).unwrap_or_default();
            let _ = write!(text, "{:>8}", percent(value));
        }
        let _ = writeln!(
            text,
            "{:>10}{:>12}{:>16}",
            duration(report.seconds.total),
            bytes(report.model_bytes),
            format!("{:.3} ms CPU", measured.speed.ranking_ms_cpu_per_doc)
        );
    }
    text
}

fn render_example(document: &Document, predictor: &Predictor) -> Result<String> {
    let labels = predictor.labels();
    let name = |key: &str| {
        labels
            .id(key)
            .map_or_else(|| key.to_owned(), |id| labels.label(id).name.clone())
    };
    let options = RankOptions {
        top_k: EXAMPLE_LABELS,
        beam: None,
    };
    let rankings = predictor.rank(std::slice::from_ref(document), options)?;
    let mut text = format!(
        "\nExample: document {} of the test part\n{}\n\n\
         predicted (* is true)\n",
        document.id,
        wrapped(document.text().unwrap_or_default())
    );
    for scored in rankings.iter().flatten() {
        let label = labels.label(scored.label);
        let mark = if document.labels.contains(&label.key) {
            '*'
        } else {
            ' '
        };
        let _ = writeln!(text, "  {mark} {:.3}  {}", scored.score, label.name);
    }
    let truth: Vec<String> = document.labels.iter().map(|key| name(key)).collect();
    let _ = writeln!(text, "true labels\n    {}", truth.join("; "));
    Ok(text)
}

/// Breaks text into lines that fit a terminal, indented.
fn wrapped(text: &str) -> String {
    const WIDTH: usize = 92;
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::from(" ");
        for word in paragraph.split_whitespace() {
            if line.chars().count() + word.chars().count() > WIDTH {
                lines.push(std::mem::replace(&mut line, String::from(" ")));
            }
            line.push(' ');
            line.push_str(word);
        }
        lines.push(line);
    }
    lines.join("\n")
}
