//! `demo`: everything once, on a catalogue made up on the spot.

mod example;

use std::env;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use plethora_catalogue::{Catalogue, CatalogueConfig};
use plethora_core::corpus::{CompleteFile, Filter, ReadOptions};
use plethora_core::metrics::EvaluationConfig;
use plethora_core::{Error, Result};
use plethora_jobs::auto::{AutoJob, AutoReport, EncoderChoice, Objective};
use plethora_jobs::check::{CheckReport, CorpusProfile};
use plethora_system::Predictor;

use super::generate::{DOCUMENTS_FILE, LABELS_FILE, name_option};
use crate::catalogue_files::{write_documents, write_labels};
use crate::evaluation::EvaluationRun;
use crate::figures::percent;
use crate::session::Session;
use crate::settings::default_settings;
use crate::training::{Corpus, TrainingJob};
use crate::{auto_table, interrupt, registry, results};

const EXAMPLES: &str = "\
Examples:
  plethora demo
  plethora demo --documents 2000 --dir /tmp/demo";

/// Name of the model in the folder of the demo.
const MODEL: &str = "model";

/// Time for the model.
const BUDGET: Duration = Duration::from_secs(90);

/// Metrics on the test part.
const SHOWN_METRICS: [&str; 6] = ["P@1", "P@3", "P@5", "nDCG@5", "R@5", "PSP@5"];

/// Make up a corpus, train a model on it, measure it and show what to do next
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
        let report = self.train(session)?;
        results::print(&auto_table::report(&report))?;
        let predictor = registry().open(&self.model_path())?;
        results::print(&self.measure(&predictor, session)?)?;
        results::print(&example::render(self.corpus("test").open()?, &predictor)?)?;
        results::print(&self.next_commands())?;
        Ok(())
    }

    fn documents_path(&self) -> PathBuf {
        self.dir.join(DOCUMENTS_FILE)
    }

    fn model_path(&self) -> PathBuf {
        self.dir.join(MODEL)
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

    fn train(&self, session: &Session) -> anyhow::Result<AutoReport> {
        let job = AutoJob {
            registry: registry(),
            training: TrainingJob {
                vocabulary: Some(self.labels_path().into()),
                piece_cache: None,
                replaces: true,
                ..TrainingJob::new(self.corpus("train"), default_settings()?, self.model_path())
            },
            budget: Some(BUDGET),
            objective: Objective::default(),
            seed: self.seed,
            encoder: EncoderChoice::None,
            vectors: None,
        };
        Ok(job.run(session, &|_| Ok(()))?)
    }

    fn measure(&self, predictor: &Predictor, session: &Session) -> Result<String> {
        let test = self.corpus("test");
        let run = EvaluationRun {
            config: EvaluationConfig::default(),
            beam: None,
            depth: None,
            is_tuned: false,
        };
        let measured = run.run(predictor, test.open()?, &test.path, session)?;
        let shown = SHOWN_METRICS.iter().map(|key| {
            let value = measured.evaluation.get(key).unwrap_or_default();
            format!("{key} {}", percent(value))
        });
        let shown: Vec<String> = shown.collect();
        Ok(format!("test part   {}\n", shown.join(", ")))
    }

    fn next_commands(&self) -> String {
        let program = env::args().next().unwrap_or_else(|| "plethora".into());
        let (model, data) = (self.model_path(), self.documents_path());
        let model = model.display();
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
