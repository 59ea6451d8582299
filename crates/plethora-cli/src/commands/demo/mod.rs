//! `demo`: everything once, on a catalogue made up on the spot.

mod example;

use std::env;
use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use plethora_catalogue::{Catalogue, CatalogueConfig};
use plethora_core::corpus::{CompleteFile, Filter, ReadOptions};
use plethora_core::metrics::EvaluationConfig;
use plethora_core::{Error, Result};
use plethora_system::{Registry, SystemSpec};

use super::generate::{DOCUMENTS_FILE, LABELS_FILE, name_option};
use crate::catalogue_files::{write_documents, write_labels};
use crate::evaluation::{EvaluationRun, MeasuredModel};
use crate::figures::{bytes, duration, percent};
use crate::session::Session;
use crate::settings::SettingsArgs;
use crate::training::{Corpus, TrainingJob, TrainingReport};
use crate::{interrupt, registry, results};
use plethora_jobs::check::{CheckReport, CorpusProfile};

const EXAMPLES: &str = "\
Examples:
  plethora demo
  plethora demo --documents 2000 --dir /tmp/demo";

/// Name of the preset that makes a system small enough to take part.
const PRESET: &str = "demo";

/// Systems that take part beside those with that preset: the first ones.
const NUM_PLAIN: usize = 2;

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
        let check = CheckReport::new(registry(), &profile, None, None)?;
        results::print(&format!("{}\n", check.render_briefly()))?;
        let mut contenders = Vec::new();
        for spec in contenders_of(registry()) {
            contenders.push(self.contend(spec, session)?);
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
        CompleteFile::publish(vec![
            write_labels(&catalogue, &self.labels_path(), true, session)?,
            write_documents(&catalogue, &self.documents_path(), true, session)?,
        ])
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

    fn contend(&self, spec: &SystemSpec, session: &Session) -> anyhow::Result<Contender> {
        let settings = SettingsArgs {
            system: Some(spec.name.to_owned()),
            preset: has_preset(spec).then(|| PRESET.to_owned()),
            seed: Some(self.seed),
            ..SettingsArgs::default()
        };
        let output = self.dir.join(spec.name);
        let job = TrainingJob {
            vocabulary: Some(self.labels_path()),
            piece_cache: None,
            replaces: true,
            ..TrainingJob::new(self.corpus("train"), settings.resolve_alone()?, output)
        };
        let report = job.run(session)?;
        let test = self.corpus("test");
        let run = EvaluationRun {
            config: EvaluationConfig::default(),
            beam: None,
            depth: None,
            is_tuned: false,
        };
        let predictor = registry().open(&job.output)?;
        let measured = run.run(&predictor, test.open()?, &test.path, session)?;
        Ok(Contender { report, measured })
    }

    /// The last system labels the example: the slower ones show best what they look at.
    fn example(&self) -> Result<String> {
        let system = contenders_of(registry()).last();
        let system = system.map_or(registry().default_system().name, |spec| spec.name);
        let predictor = registry().open(&self.dir.join(system))?;
        example::render(self.corpus("test").open()?, &predictor)
    }

    fn next_commands(&self) -> String {
        let program = env::args().next().unwrap_or_else(|| "plethora".into());
        let model = self.dir.join(registry().default_system().name);
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

/// The systems to compare, the default first.
fn contenders_of(registry: &Registry) -> impl Iterator<Item = &'static SystemSpec> {
    let numbered = registry.systems().enumerate();
    numbered
        .filter(|(number, spec)| *number < NUM_PLAIN || has_preset(spec))
        .map(|(_, spec)| spec)
}

fn has_preset(spec: &SystemSpec) -> bool {
    spec.presets.iter().any(|preset| preset.name == PRESET)
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
