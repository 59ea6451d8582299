//! `demo`: everything once, on a catalogue made up on the spot.

mod example;

use std::env;
use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use plethora_core::corpus::catalogue::{Catalogue, CatalogueConfig};
use plethora_core::corpus::{Filter, ReadOptions};
use plethora_core::metrics::EvaluationConfig;
use plethora_core::{Error, Result};
use plethora_predict::{Device, Predictor};

use super::generate::{DOCUMENTS_FILE, LABELS_FILE, name_option};
use crate::catalogue_files::{write_documents, write_labels};
use crate::corpus_check::{CheckReport, CorpusProfile};
use crate::evaluation::{EvaluationRun, MeasuredModel};
use crate::figures::{bytes, duration, percent};
use crate::session::Session;
use crate::settings::SettingsArgs;
use crate::training::{Corpus, TrainingJob, TrainingReport};
use crate::{interrupt, results};

const EXAMPLES: &str = "\
Examples:
  plethora demo
  plethora demo --documents 2000 --dir /tmp/demo";

/// The systems to compare with their presets, the default first.
const CONTENDERS: &[(&str, Option<&str>)] = &[
    ("wide-tree", None),
    ("parabel", None),
    #[cfg(feature = "torch")]
    ("attentionxml", Some("demo")),
];

/// The system that labels the example: what it attends to can be seen best.
const EXAMPLE_SYSTEM: &str = if cfg!(feature = "torch") {
    "attentionxml"
} else {
    CONTENDERS[0].0
};

/// Metrics of the table.
const SHOWN_METRICS: [&str; 6] = ["P@1", "P@3", "P@5", "nDCG@5", "R@5", "PSP@5"];

/// Make up a corpus, train some systems on it, measure them and show what to do next
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
        for (system, preset) in CONTENDERS {
            contenders.push(self.contend(system, *preset, session)?);
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
        let options = ReadOptions {
            text_fields: vec!["title".into(), "text".into()],
            filters: vec![Filter {
                field: "split".into(),
                value: split.into(),
            }],
            ..ReadOptions::default()
        };
        Corpus::of_file(self.documents_path(), options)
    }

    fn contend(
        &self,
        system: &str,
        preset: Option<&str>,
        session: &Session,
    ) -> anyhow::Result<Contender> {
        let settings = SettingsArgs {
            system: Some(system.to_owned()),
            preset: preset.map(str::to_owned),
            seed: Some(self.seed),
            ..SettingsArgs::default()
        };
        let job = TrainingJob {
            data: self.corpus("train"),
            valid: None,
            vocabulary: Some(self.labels_path()),
            output: self.dir.join(system),
            config: settings.resolve_alone()?,
            device: Device::default(),
            piece_cache: None,
            epoch_share: 1.0,
            replaces: true,
            resumes: false,
        };
        let report = job.run(session)?;
        let test = self.corpus("test");
        let run = EvaluationRun {
            config: EvaluationConfig::default(),
            beam: None,
            depth: None,
            is_tuned: false,
        };
        let predictor = Predictor::open(&job.output)?;
        let measured = run.run(&predictor, test.open()?, &test.path, session)?;
        Ok(Contender { report, measured })
    }

    fn example(&self) -> Result<String> {
        let predictor = Predictor::open(&self.dir.join(EXAMPLE_SYSTEM))?;
        example::render(self.corpus("test").open()?, &predictor)
    }

    fn next_commands(&self) -> String {
        let program = env::args().next().unwrap_or_else(|| "plethora".into());
        let model = self.dir.join(CONTENDERS[0].0);
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
    let mut text = format!("{:14}", "system");
    for key in SHOWN_METRICS {
        let _ = write!(text, "{key:>8}");
    }
    let _ = writeln!(
        text,
        "{:>10}{:>12}{:>16}",
        "training", "model", "ranking/doc"
    );
    for Contender { report, measured } in contenders {
        let _ = write!(text, "{:14}", report.system);
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
