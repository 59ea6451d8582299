//! Measuring models one after another and putting the report together.

use std::path::{Path, PathBuf};

use plethora_core::artifact::{Check, ModelReader, OutputFolder};
use plethora_core::metrics::{
    BootstrapConfig, BucketEstimates, DetailedEvaluation, DetailedEvaluator, Draws, Estimates,
    Evaluation, FrequencyGroup, LengthGroup, LengthGroups, MissedLabel,
};
use plethora_core::{Error, Result, shortened};
use plethora_system::Predictor;

use super::compare::{Comparable, pairs};
use super::content::{
    BucketReport, CalibrationReport, DataSummary, MissedLabelReport, ModelReport, Report,
    ReportSettings,
};
use super::judge::{DocumentsSeen, ReportJudge};
use super::model_names::names;
use super::published::{self, Evidence};
use super::training_curves;
use crate::evaluation::{EvaluationRun, MeasuredModel};
use crate::training::Corpus;
use crate::{ModelOpening, Session, shown};

/// The JSON form, by which a folder is known to be a report.
const REPORT_FILE: &str = "report.json";
const FORMAT_VERSION: u32 = 1;
/// Labels that are listed of a model, and the longest name.
const NUM_MISSED_LABELS: usize = 30;
const MAX_NAME: usize = 120;
/// Documents that are listed of all models together and of one.
const ALL_WORST_DOCUMENTS: usize = 60;
const MAX_WORST_DOCUMENTS: usize = 20;
const MIN_WORST_DOCUMENTS: usize = 3;

/// How to make a report.
#[derive(Debug)]
pub struct ReportRun {
    /// Folders of the models.
    pub models: Vec<PathBuf>,
    /// How to open them.
    pub opening: ModelOpening,
    /// Documents with true labels; each model reads them.
    pub data: Corpus,
    /// What to measure.
    pub evaluation: EvaluationRun,
    /// How to draw intervals.
    pub bootstrap: BootstrapConfig,
}

/// The latest model, as it stands on the screen where it is the only one.
pub struct MeasuredForReport {
    /// The model.
    pub predictor: Predictor,
    /// Its metrics.
    pub measured: MeasuredModel,
}

/// What is gathered from one model to the next.
#[derive(Default)]
struct Gathered {
    models: Vec<ModelReport>,
    comparables: Vec<Comparable>,
    label_counts: Vec<u64>,
    /// Of the first model, which all others must agree with.
    first: Option<(DocumentsSeen, LengthGroups, DataSummary)>,
    depth: usize,
    latest: Option<MeasuredForReport>,
}

/// What is known of one model's rankings.
struct Estimated {
    metrics: Estimates,
    buckets: Vec<BucketEstimates>,
    lengths: Vec<LengthGroup>,
    test_frequency: Vec<FrequencyGroup>,
    calibration: CalibrationReport,
    missed: Vec<MissedLabel>,
    evaluation: Evaluation,
}

impl ReportRun {
    /// Measures all models, writes all three forms of the report to the folder `target`, and warns
    /// of what users should know of the data. Returns the last model too.
    ///
    /// # Errors
    /// Where a model or the data cannot be used, the data has one document, or the folder cannot be
    /// written.
    pub fn write(
        self,
        target: &Path,
        replaces: bool,
        session: &Session,
    ) -> Result<(Report, Option<MeasuredForReport>)> {
        // A folder that cannot be written is told before the work, not after it.
        let folder = OutputFolder::create(target, replaces, REPORT_FILE)?;
        let (report, latest) = self.run(session)?;
        report.write(folder)?;
        for warning in report.warnings() {
            tracing::warn!("{warning}");
        }
        Ok((report, latest))
    }

    fn run(self, session: &Session) -> Result<(Report, Option<MeasuredForReport>)> {
        self.bootstrap.validate()?;
        for model in &self.models {
            // A misspelt name is told before the work, not after half of it.
            ModelReader::open_with(model, Check::Sizes)?;
        }
        let mut gathered = Gathered::default();
        for (model, name) in self.models.iter().zip(names(&self.models)) {
            gathered.latest = None;
            self.measure(model, name, &mut gathered, session)?;
        }
        let Gathered {
            models,
            comparables,
            mut label_counts,
            first,
            depth,
            latest,
        } = gathered;
        let (_, _, data) = first.ok_or_else(|| Error::Data("no model was measured".into()))?;
        label_counts.push(data.num_labels);
        let published = published::look_up(&Evidence {
            path: &self.data.path,
            num_test_documents: data.num_documents,
            label_counts: &label_counts,
        });
        let config = self.evaluation.config;
        let report = Report {
            format_version: FORMAT_VERSION,
            program_version: env!("CARGO_PKG_VERSION"),
            data,
            settings: ReportSettings {
                k: config.ks,
                depth,
                threshold: config.threshold,
                is_tuned: self.evaluation.is_tuned,
                a: config.a,
                b: config.b,
                bootstrap: self.bootstrap,
            },
            comparisons: pairs(&models, &comparables, &self.bootstrap),
            models,
            published,
        };
        Ok((report, latest))
    }

    fn measure(
        &self,
        model: &Path,
        name: String,
        gathered: &mut Gathered,
        session: &Session,
    ) -> Result<()> {
        let predictor = self.opening.open(model, self.evaluation.is_tuned)?;
        let reader = self.data.open_for(predictor.details())?;
        let judge = self.judge_of(&predictor)?;
        let (judge, facts) =
            (self.evaluation).judge(&predictor, reader, &self.data.path, session, judge)?;
        self.check_documents(&judge, gathered, model)?;
        session.progress().start("drawing intervals", None);
        let (documents, length_unit) = (judge.documents, judge.length_unit);
        let (top, worst_documents) = (judge.top, judge.worst.finish());
        let detailed = judge.detailed.finish();
        let (_, groups, _) = gathered.first.get_or_insert_with(|| {
            let data = self.summary(&detailed, length_unit);
            (documents, detailed.length_groups(), data)
        });
        let (estimated, draws) = self.estimate(detailed, groups);
        session.progress().finish(&name);
        let measured = MeasuredModel::new(estimated.evaluation, facts);
        let details = predictor.details();
        gathered.models.push(ModelReport {
            name,
            path: model.display().to_string(),
            system: details.system.clone(),
            num_labels: details.num_labels,
            num_train_documents: details.num_documents,
            num_unseen_labels: measured.num_unseen_labels,
            num_unseen_assignments: measured.num_unseen_assignments,
            speed: measured.speed,
            metrics: estimated.metrics,
            buckets: estimated.buckets.iter().map(bucket).collect(),
            lengths: estimated.lengths,
            test_frequency: estimated.test_frequency,
            calibration: estimated.calibration,
            missed_labels: named(&estimated.missed, &measured, &predictor),
            worst_documents,
            training: training_curves::read(model),
        });
        gathered.comparables.push(Comparable { draws, top });
        let num_labels = details.num_labels;
        let counts = [num_labels, num_labels + measured.num_unseen_labels];
        gathered.label_counts.extend(counts);
        gathered.depth = measured.depth;
        gathered.latest = Some(MeasuredForReport {
            predictor,
            measured,
        });
        Ok(())
    }

    /// All that comes from a detailed evaluation, which is large and gone afterwards.
    fn estimate(
        &self,
        mut detailed: DetailedEvaluation,
        groups: &LengthGroups,
    ) -> (Estimated, Draws) {
        let (metrics, draws) = detailed.metrics(&self.bootstrap);
        let estimated = Estimated {
            metrics,
            buckets: detailed.buckets(&self.bootstrap),
            lengths: detailed.by_length(groups, &self.bootstrap),
            test_frequency: detailed.by_test_frequency(&self.bootstrap),
            calibration: CalibrationReport {
                top: detailed.top_reliability().into(),
                all: detailed.reliability().into(),
            },
            missed: detailed.missed_labels(NUM_MISSED_LABELS),
            evaluation: detailed.into_evaluation(),
        };
        (estimated, draws)
    }

    fn judge_of<'p>(&self, predictor: &'p Predictor) -> Result<ReportJudge<'p>> {
        let labels = predictor.labels();
        let config = &self.evaluation.config;
        let detailed = DetailedEvaluator::from(self.evaluation.evaluator(predictor)?);
        let largest_k = config.ks.iter().copied().max().unwrap_or(1);
        let num_worst = (ALL_WORST_DOCUMENTS / self.models.len().max(1))
            .clamp(MIN_WORST_DOCUMENTS, MAX_WORST_DOCUMENTS);
        Ok(ReportJudge::new(detailed, labels, largest_k, num_worst))
    }

    /// Refuses one document, of which nothing can be drawn, and models that see different ones.
    fn check_documents(
        &self,
        judge: &ReportJudge<'_>,
        gathered: &Gathered,
        model: &Path,
    ) -> Result<()> {
        let seen = judge.documents;
        if seen.count < 2 {
            return Err(Error::input(
                shown(&self.data.path),
                None,
                "has one document; a report needs two or more, for its intervals come from drawing \
                 documents anew",
            ));
        }
        match &gathered.first {
            Some((first, _, _)) if *first != seen => Err(Error::input(
                shown(&self.data.path),
                None,
                format!(
                    "gives other documents to {} ({}) than to {} ({}), so they cannot be compared; \
                     --text-field chooses the same fields for all",
                    model.display(),
                    seen.count,
                    self.models[0].display(),
                    first.count
                ),
            )),
            _ => Ok(()),
        }
    }

    fn summary(&self, detailed: &DetailedEvaluation, length_unit: &'static str) -> DataSummary {
        let evaluation = detailed.evaluation();
        let frequencies = || {
            evaluation
                .labels()
                .map(|label| u64::from(label.test_frequency))
        };
        DataSummary {
            path: shown(&self.data.path).display().to_string(),
            num_documents: evaluation.num_documents(),
            num_without_labels: evaluation.num_documents_without_labels(),
            num_labels: frequencies().filter(|&frequency| frequency > 0).count() as u64,
            num_assignments: frequencies().sum(),
            length_unit,
        }
    }
}

/// Labels with their keys and names.
fn named(
    missed: &[MissedLabel],
    measured: &MeasuredModel,
    predictor: &Predictor,
) -> Vec<MissedLabelReport> {
    let named = |missed: &MissedLabel| {
        let (key, name) = measured.describe(predictor, missed.label);
        MissedLabelReport {
            key: shortened(key, MAX_NAME),
            name: shortened(name, MAX_NAME),
            train_frequency: missed.train_frequency,
            test_frequency: missed.test_frequency,
            num_found: missed.num_found,
            num_missed: missed.num_missed(),
        }
    };
    missed.iter().map(named).collect()
}

fn bucket(estimates: &BucketEstimates) -> BucketReport {
    let sizes = &estimates.bucket;
    BucketReport {
        bucket: sizes.bucket.as_str(),
        min_train_frequency: sizes.min_train_frequency,
        num_labels: sizes.num_labels,
        num_test_labels: sizes.num_test_labels,
        num_test_assignments: sizes.num_test_assignments,
        metrics: estimates.metrics.clone(),
    }
}

impl Report {
    fn write(&self, folder: OutputFolder) -> Result<()> {
        let mut json = serde_json::to_vec_pretty(self)
            .map_err(|error| Error::write(Path::new(REPORT_FILE))(error.into()))?;
        json.push(b'\n');
        folder.write(REPORT_FILE, &json)?;
        folder.write("report.md", self.to_markdown().as_bytes())?;
        folder.write("report.html", self.to_html().as_bytes())?;
        folder.finish()
    }
}
