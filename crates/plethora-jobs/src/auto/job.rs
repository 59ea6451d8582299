//! From a corpus to the best model that the time allows.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use plethora_core::artifact::{METRICS_FILE, ModelReader, ModelWriter, WorkFolder};
use plethora_core::calibration::{
    CALIBRATION_FILE, Calibration, CalibrationCollector, CalibrationConfig, ThresholdScope,
};
use plethora_core::{Error, Result, grouped};
use plethora_system::settings::Settings;
use plethora_system::{
    Combination, EnsembleConfig, EnsembleParts, FUSION_RANKS, Predictor, Registry,
};
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

use super::consensus::Consensus;
use super::held_back::HeldBack;
use super::objective::Objective;
use super::plan::{Plan, PlannedMember, Planning};
use super::progress::Finishing;
use super::rankings::{Labels, MemberRankings, measure, rank};
use super::report::{AutoReport, HeldBackFigures, MemberReport};
use crate::Session;
use crate::check::CorpusProfile;
use crate::figures::percent;
use crate::model_folder::{about_model, size_of_model};
use crate::search::TrialProgress;
use crate::training::TrainingJob;

/// Seconds that members took, by their names.
const SECONDS_FILE: &str = "seconds.json";

/// What to learn from, for how long, and what for.
#[derive(Debug)]
pub struct AutoJob {
    /// The systems that members may be of.
    pub registry: &'static Registry,
    /// Data, validation documents, names, output and device; its settings are not used.
    pub training: TrainingJob,
    /// Time for everything; chosen by the data where absent.
    pub budget: Option<Duration>,
    /// What the model should be best at.
    pub objective: Objective,
    /// Seed of all random choices.
    pub seed: u64,
    /// The pretrained encoder to start from, where one is named.
    pub encoder: Option<String>,
}

/// Everything that is known once the corpus was read.
struct Prepared {
    plan: Plan,
    held_back: HeldBack,
    labels: Labels,
}

/// A member that was trained.
struct TrainedMember<'a> {
    planned: &'a PlannedMember,
    rankings: MemberRankings,
    /// Its model on a part of the documents, where that is one.
    folder: Option<PathBuf>,
    seconds: f64,
    figures: HeldBackFigures,
}

impl AutoJob {
    /// What would be trained, and why; nothing is trained.
    pub fn plan(&self, session: &Session) -> Result<Plan> {
        Ok(self.prepare(session)?.plan)
    }

    /// Plans, trains, fuses and saves; `tell` gets the plan before work starts. Interrupted after the
    /// first member, it keeps what it has.
    pub fn run(&self, session: &Session, tell: &dyn Fn(&Plan) -> Result<()>) -> Result<AutoReport> {
        let started = Instant::now();
        ModelWriter::check_target(&self.training.output, self.training.replaces)?;
        let Prepared {
            plan,
            held_back,
            mut labels,
        } = self.prepare(session)?;
        session.progress().start("planning", None);
        session.progress().finish(&plan.summary());
        tell(&plan)?;
        let end = started + Duration::from_secs_f64(plan.budget_s);
        let work = WorkFolder::open(
            &self.training.output,
            &self.fingerprint(&plan),
            self.training.resumes,
        )?;
        let members = self.train_members(&plan, &held_back, &mut labels, &work, end, session)?;
        // From here on, a model is kept whatever the user does.
        let is_interrupted = session.progress().is_cancelled();
        let finishing = session.part(|progress| Arc::new(Finishing(progress)));
        let num_documents = plan.size.num_documents;
        finishing.progress().start("fusing", None);
        let rankings: Vec<MemberRankings> = members
            .iter()
            .map(|member| member.rankings.clone())
            .collect();
        let consensus = Consensus::find(&rankings, &held_back, &labels, num_documents)?;
        finishing.progress().finish(&format!(
            "nDCG@5 {} on {} held-back documents",
            percent(consensus.figures.ndcg_at_5),
            grouped(held_back.documents.len() as u64)
        ));
        let session = if is_interrupted { &finishing } else { session };
        let finals = self.train_on_all(&members, &consensus, &held_back, &work, end, session)?;
        self.save(&finals, &consensus, &labels, &finishing)?;
        let reports = members.iter().enumerate().map(|(place, member)| {
            let kept = consensus.kept.iter().position(|own| *own == place);
            let last = kept.map(|kept| &finals[kept]);
            MemberReport {
                name: member.planned.name.into(),
                seconds: member.seconds + last.map_or(0.0, |last| last.seconds),
                held_back: member.figures,
                is_kept: kept.is_some(),
                saw_all: last.is_some_and(|last| last.saw_all),
            }
        });
        let combination = match (&consensus.fusion, consensus.kept.as_slice()) {
            (_, [only]) => members[*only].planned.name,
            (Some(_), _) => Combination::Fused.as_str(),
            (None, _) => Combination::Mean.as_str(),
        };
        let report = AutoReport {
            model: self.training.output.clone(),
            objective: self.objective,
            members: reports.collect(),
            consensus: consensus.figures,
            combination: combination.into(),
            num_held_back: held_back.documents.len() as u64,
            is_interrupted,
            model_bytes: size_of_model(&self.training.output)?,
            seconds: started.elapsed().as_secs_f64(),
            plan,
        };
        work.remove()?;
        Ok(report)
    }

    fn prepare(&self, session: &Session) -> Result<Prepared> {
        let data = &self.training.data;
        let profile = CorpusProfile::read(data.open()?, None, session)?;
        let size = profile.training_size();
        if size.num_documents == 0 {
            return Err(crate::no_labels(
                &data.path,
                data.open()?.format(),
                "to learn from",
            ));
        }
        let valid = self.training.valid.as_ref();
        let held_back = HeldBack::choose(data, valid, self.seed, size.num_documents, session)?;
        let planning = Planning {
            registry: self.registry,
            size,
            budget: self.budget,
            device: self.training.device,
            seed: self.seed,
            encoder: self.encoder.as_deref(),
            has_names: self.training.vocabulary.is_some() || profile.has_names(),
            effort: held_back.effort(),
            num_threads: rayon::current_num_threads(),
            check: &|settings| self.job(settings.clone(), PathBuf::new()).check(session),
        };
        Ok(Prepared {
            plan: planning.plan()?,
            labels: Labels::new(profile.label_counts(), &held_back),
            held_back,
        })
    }

    /// What tells this run from others.
    fn fingerprint(&self, plan: &Plan) -> String {
        let mut hasher = FxHasher::default();
        env!("CARGO_PKG_VERSION").hash(&mut hasher);
        self.training.data.path.hash(&mut hasher);
        self.seed.hash(&mut hasher);
        let size = plan.size;
        (size.num_documents, size.num_entries, size.num_features).hash(&mut hasher);
        (size.num_labels, size.num_assignments).hash(&mut hasher);
        for member in &plan.members {
            member.settings.to_toml().hash(&mut hasher);
        }
        format!("auto-{:016x}", hasher.finish())
    }

    /// A member's training.
    fn job(&self, settings: Settings, output: PathBuf) -> TrainingJob {
        TrainingJob {
            valid: None,
            settings,
            output,
            replaces: true,
            resumes: false,
            ..self.training.clone()
        }
    }

    /// Trains members, the cheapest first, until all are or the time for it is over.
    fn train_members<'p>(
        &self,
        plan: &'p Plan,
        held_back: &HeldBack,
        labels: &mut Labels,
        work: &WorkFolder,
        end: Instant,
        session: &Session,
    ) -> Result<Vec<TrainedMember<'p>>> {
        let chosen: Vec<&PlannedMember> = plan.chosen().collect();
        let mut earlier = earlier_seconds(work);
        let mut members: Vec<TrainedMember<'_>> = Vec::new();
        session
            .progress()
            .start("training", Some(chosen.len() as u64));
        for (place, planned) in chosen.iter().enumerate() {
            // The first one is trained whatever it takes: there must be a model.
            let deadline = if members.is_empty() {
                Instant::now() + Duration::from_secs(3650 * 86_400)
            } else {
                end - (end - Instant::now().min(end)).mul_f64(0.3)
            };
            let name = format!("{}, {} of {}", planned.name, place + 1, chosen.len());
            let part = session.part(|all| Arc::new(TrialProgress::new(all, name, deadline)));
            let folder = (held_back.train.len() == 1).then(|| work.path(&format!("part-{place}")));
            let trained = Instant::now();
            let rankings = match folder.as_ref().filter(|folder| folder.exists()) {
                Some(folder) => self.rank_earlier(folder, held_back, labels),
                None => self.train_member(planned, folder.as_ref(), held_back, labels, &part),
            };
            let rankings = match rankings {
                Ok(rankings) => rankings,
                Err(Error::Interrupted) if !members.is_empty() => {
                    if session.progress().is_cancelled() {
                        break;
                    }
                    tracing::warn!("{}: left out, as its time was over", planned.name);
                    continue;
                }
                Err(error @ (Error::Interrupted | Error::Write { .. } | Error::Input { .. })) => {
                    return Err(error);
                }
                Err(error) if place + 1 < chosen.len() || !members.is_empty() => {
                    tracing::warn!("{} was left out: {error}", planned.name);
                    continue;
                }
                Err(error) => return Err(error),
            };
            let seconds = (earlier.get(planned.name).copied())
                .unwrap_or_else(|| trained.elapsed().as_secs_f64());
            earlier.insert(planned.name.to_owned(), seconds);
            write_seconds(work, &earlier)?;
            let (_, figures) = measure(&rankings, labels, plan.size.num_documents)?;
            session.progress().advance(1);
            tracing::info!("{}: nDCG@5 {}", planned.name, percent(figures.ndcg_at_5));
            members.push(TrainedMember {
                planned,
                rankings,
                folder,
                seconds,
                figures,
            });
        }
        session
            .progress()
            .finish(&format!("{} members", members.len()));
        Ok(members)
    }

    fn rank_earlier(
        &self,
        folder: &std::path::Path,
        held_back: &HeldBack,
        labels: &mut Labels,
    ) -> Result<MemberRankings> {
        let predictor = self.registry.open_on(folder, self.training.device)?;
        let mut rankings = vec![Vec::new(); held_back.documents.len()];
        let places: Vec<usize> = held_back.places(0).collect();
        rank(&predictor, held_back, &places, labels, &mut rankings)?;
        Ok(rankings)
    }

    /// Trains a member on each part of the documents, and ranks the others with it.
    fn train_member(
        &self,
        planned: &PlannedMember,
        folder: Option<&PathBuf>,
        held_back: &HeldBack,
        labels: &mut Labels,
        session: &Session,
    ) -> Result<MemberRankings> {
        let mut rankings = vec![Vec::new(); held_back.documents.len()];
        for (part, data) in held_back.train.iter().enumerate() {
            let job = TrainingJob {
                data: data.clone(),
                epoch_share: planned.epoch_share,
                learns_names: planned.learns_names,
                ..self.job(
                    planned.settings.clone(),
                    folder
                        .cloned()
                        .unwrap_or_else(|| self.training.output.with_extension("part")),
                )
            };
            let places: Vec<usize> = held_back.places(part).collect();
            let mut judge =
                |predictor: &Predictor| rank(predictor, held_back, &places, labels, &mut rankings);
            job.train_and_use(folder.is_some(), session, &mut judge)?;
        }
        Ok(rankings)
    }

    /// Trains the members that are kept on all documents, as far as the time allows.
    fn train_on_all(
        &self,
        members: &[TrainedMember<'_>],
        consensus: &Consensus,
        held_back: &HeldBack,
        work: &WorkFolder,
        end: Instant,
        session: &Session,
    ) -> Result<Vec<FinalMember>> {
        let kept = consensus.kept.iter().map(|&place| (place, &members[place]));
        let mut finals = Vec::new();
        session.progress().start(
            "training on all documents",
            Some(consensus.kept.len() as u64),
        );
        for (place, member) in kept {
            let output = work.path(&format!("all-{place}"));
            let expected = member.seconds / held_back.effort().max(1e-9);
            let has_time = end.saturating_duration_since(Instant::now()).as_secs_f64() > expected;
            let is_wanted = held_back.returns() && member.planned.returns && has_time;
            let job = TrainingJob {
                epoch_share: member.planned.epoch_share,
                learns_names: member.planned.learns_names,
                ..self.job(member.planned.settings.clone(), output.clone())
            };
            let started = Instant::now();
            let (folder, saw_all) = match &member.folder {
                _ if output.exists() => (output, true),
                Some(folder) if !is_wanted => (folder.clone(), !held_back.returns()),
                _ => {
                    let name = member.planned.name.to_owned();
                    let far = Instant::now() + Duration::from_secs(3650 * 86_400);
                    // A member of a crossed corpus has no model yet: it is trained whatever it takes.
                    let deadline = if member.folder.is_some() { end } else { far };
                    let part =
                        session.part(|all| Arc::new(TrialProgress::new(all, name, deadline)));
                    match (
                        job.train_and_use(true, &part, &mut |_| Ok(())),
                        &member.folder,
                    ) {
                        (Ok(()), _) => (output, true),
                        (Err(Error::Interrupted), Some(folder)) => (folder.clone(), false),
                        (Err(error), _) => return Err(error),
                    }
                }
            };
            finals.push(FinalMember {
                folder,
                saw_all,
                seconds: started.elapsed().as_secs_f64(),
            });
            session.progress().advance(1);
        }
        session
            .progress()
            .finish(&format!("{} members", finals.len()));
        Ok(finals)
    }

    fn save(
        &self,
        finals: &[FinalMember],
        consensus: &Consensus,
        labels: &Labels,
        session: &Session,
    ) -> Result<()> {
        let output = &self.training.output;
        let calibration = self.calibration(consensus, labels);
        let more = |writer: &ModelWriter| {
            writer.write_json(METRICS_FILE, &consensus.evaluation)?;
            match &calibration {
                Some(calibration) => writer.write_json(CALIBRATION_FILE, calibration),
                None => Ok(()),
            }
        };
        let writer = ModelWriter::create(output, self.training.replaces)?;
        let saved = if let [only] = finals {
            copy(&ModelReader::open(&only.folder)?, writer, &more, session)
        } else {
            let paths: Vec<PathBuf> = finals.iter().map(|member| member.folder.clone()).collect();
            let config = EnsembleConfig {
                combination: match consensus.fusion {
                    Some(_) => Combination::Fused,
                    None => Combination::Mean,
                },
                depth: FUSION_RANKS,
                ..EnsembleConfig::equal(paths.len())
            };
            let progress = session.progress();
            let mut parts = EnsembleParts::open(self.registry, &paths, config, progress)?;
            if let Some(fusion) = &consensus.fusion {
                parts.set_fusion(match self.objective {
                    Objective::Psp => fusion
                        .clone()
                        .for_rare_labels(parts.details().num_documents),
                    Objective::Ndcg | Objective::MicroF1 => fusion.clone(),
                });
            }
            parts.save_with(writer, progress, more)
        };
        saved.map_err(|error| about_model(error, output))
    }

    /// Thresholds for F1 from what the consensus ranked without having seen it; none where there is too
    /// little to tell, or scores are no probabilities.
    fn calibration(&self, consensus: &Consensus, labels: &Labels) -> Option<Calibration> {
        if self.objective == Objective::Psp || consensus.fusion.is_none() {
            return None;
        }
        let config = CalibrationConfig {
            thresholds: Some(ThresholdScope::Global),
            depth: FUSION_RANKS,
            ..CalibrationConfig::default()
        };
        let mut collector = CalibrationCollector::new(labels.counts(), false);
        for (truth, ranking) in labels.truth.iter().zip(&consensus.rankings) {
            collector.add(truth, ranking);
        }
        let bands = collector.bands();
        Calibration::fit(&collector.finish(), bands, &config).ok()
    }
}

/// A member as the model has it.
struct FinalMember {
    folder: PathBuf,
    saw_all: bool,
    seconds: f64,
}

/// A model of one member is that member.
fn copy(
    model: &ModelReader,
    writer: ModelWriter,
    more: &dyn Fn(&ModelWriter) -> Result<()>,
    session: &Session,
) -> Result<()> {
    let copy = plethora_core::artifact::ModelCopy {
        without: Some(METRICS_FILE),
        ..Default::default()
    };
    session
        .progress()
        .start("saving", Some(copy.num_files(model)));
    copy.run(model, &writer, session.progress())?;
    more(&writer)?;
    let manifest = model.manifest();
    writer.finish(&manifest.kind, manifest.details.clone())?;
    session.progress().finish("done");
    Ok(())
}

/// What members took in an earlier run that was interrupted.
fn earlier_seconds(work: &WorkFolder) -> BTreeMap<String, f64> {
    let text = std::fs::read(work.path(SECONDS_FILE)).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

fn write_seconds(work: &WorkFolder, seconds: &BTreeMap<String, f64>) -> Result<()> {
    let path = work.path(SECONDS_FILE);
    let text = serde_json::to_vec(seconds).map_err(|error| Error::write(&path)(error.into()))?;
    std::fs::write(&path, text).map_err(Error::write(&path))
}
