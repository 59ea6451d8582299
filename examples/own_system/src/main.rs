//! A system of one's own: labels by how often training documents have them, whatever the text says.
//!
//! This file is all of it. [`SYSTEMS`] registers it in one line, and everything else is there: `train`,
//! `check`, `search`, `eval`, `predict`, `explain`, `ensemble`, `serve`.
//!
//! ```text
//! cargo run -p own_system -- train books.jsonl -o model --system popularity
//! cargo run -p own_system -- serve model
//! ```

use std::process::ExitCode;
use std::sync::LazyLock;
use std::time::Instant;

use plethora::artifact::{CONFIG_FILE, ModelReader, ModelWriter, WorkFolder};
use plethora::corpus::{Document, LabelSpaceBuilder};
use plethora::settings::{Settings, schema_of};
use plethora::{
    DocumentStream, Error, Estimate, Explanation, Facts, Family, LabelId, Method, OpenParts,
    RankOptions, Ranker, Rankings, Registry, Result, RunContext, ScoredLabel, Stages, SystemSpec,
    TermContribution, Trainable, Trained, TrainingSize, all_systems,
};
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

/// All systems of Plethora, and this one.
static SYSTEMS: LazyLock<Registry> = LazyLock::new(|| all_systems().with(&Popularity));

fn main() -> ExitCode {
    plethora_cli::run(&SYSTEMS)
}

/// The family, of one system.
#[derive(Debug)]
struct Popularity;

static SPECS: [SystemSpec; 1] = [SystemSpec {
    name: "popularity",
    about: "labels by how often training documents have them",
    recipe: "system = \"popularity\"\n# Added to the number of documents of each label.\nsmoothing = 0.5\n",
    presets: &[],
    ranges: "smoothing = \"0.1..2.0\"\n",
    auto: &[],
    options: &[],
    example: "--system popularity",
}];

impl Family for Popularity {
    fn systems(&self) -> &'static [SystemSpec] {
        &SPECS
    }

    fn schema(&self) -> Schema {
        schema_of::<PopularityConfig>()
    }

    fn config(&self, settings: &Settings) -> Result<Box<dyn Trainable>> {
        let config: PopularityConfig = settings.read_as()?;
        if !(config.smoothing >= 0.0 && config.smoothing.is_finite()) {
            return Err(Error::config("smoothing", "must be a number from 0"));
        }
        Ok(Box::new(config))
    }

    fn open(&self, folder: &ModelReader, parts: &OpenParts<'_>) -> Result<Box<dyn Ranker>> {
        let config: PopularityConfig = folder.read_json(CONFIG_FILE)?;
        let (counts, documents) = (parts.labels.train_counts(), parts.details.num_documents);
        Ok(Box::new(Ranking::new(config, counts, documents)))
    }
}

/// The settings.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PopularityConfig {
    system: String,
    /// Added to the number of documents of each label.
    smoothing: f32,
}

impl Trainable for PopularityConfig {
    fn check(&self, _run: &RunContext<'_>) -> Result<()> {
        Ok(())
    }

    fn estimate(&self, size: &TrainingSize) -> Estimate {
        Estimate {
            cpu_seconds: 1e-7 * size.num_assignments as f64,
            peak_memory_bytes: 100 * size.num_labels,
            gpu_share: 0.0,
        }
    }

    fn train(&self, documents: &mut dyn DocumentStream, run: &RunContext<'_>) -> Result<Trained> {
        let started = Instant::now();
        run.progress.start("counting", documents.limit());
        let mut space = LabelSpaceBuilder::default();
        let (mut num_documents, mut takes_text) = (0, true);
        while let Some(document) = documents.next_document()? {
            if !document.labels.is_empty() {
                takes_text &= document.text().is_some();
                space.add(&document);
                num_documents += 1;
            }
        }
        let (labels, _) = space.finish(documents.labels());
        run.progress.finish(&format!("{} labels", labels.len()));
        let mut stages = Stages::default();
        stages.end("counting", started);
        Ok(Trained {
            ranker: Box::new(Ranking::new(
                self.clone(),
                labels.train_counts(),
                num_documents,
            )),
            // There is nothing to resume, so any two runs are alike.
            work: run.open_work("popularity", self.resume_point())?,
            labels,
            num_documents,
            num_features: 0,
            takes_text,
            facts: Facts::default(),
            stages,
        })
    }

    fn resume_point(&self) -> &'static str {
        "the beginning"
    }
}

/// The trained part: all labels, the most frequent first.
#[derive(Debug)]
struct Ranking {
    config: PopularityConfig,
    labels: Vec<ScoredLabel>,
}

impl Ranking {
    fn new(config: PopularityConfig, counts: &[u32], num_documents: u64) -> Self {
        let total = num_documents as f32 + 2.0 * config.smoothing;
        let mut labels: Vec<ScoredLabel> = (0..)
            .zip(counts)
            .map(|(label, &count)| ScoredLabel {
                label: LabelId(label),
                score: (count as f32 + config.smoothing) / total,
            })
            .collect();
        // Stable: of equally frequent labels the first comes first.
        labels.sort_by(|left, right| right.score.total_cmp(&left.score));
        Self { config, labels }
    }
}

impl Ranker for Ranking {
    fn rank(&self, documents: &[Document], options: RankOptions) -> Result<Rankings> {
        let count = options.top_k.min(self.labels.len());
        let best = self.labels[..count].to_vec();
        Ok(vec![best; documents.len()].into())
    }

    fn explain(&self, _text: &str, label: LabelId) -> Result<Explanation> {
        let found = self.labels.iter().find(|scored| scored.label == label);
        let score = found.map_or(0.0, |scored| scored.score);
        Ok(Explanation {
            terms: vec![TermContribution {
                term: "(frequency)".into(),
                value: 1.0,
                weight: score,
                contribution: score,
            }],
            ..Explanation::new(label, score, Method::Contributions)
        })
    }

    fn save(&self, _work: &WorkFolder, writer: &ModelWriter) -> Result<()> {
        writer.write_json(CONFIG_FILE, &self.config)
    }
}
