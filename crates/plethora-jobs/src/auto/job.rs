//! From a corpus to the best model that the time allows.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use plethora_core::artifact::{METRICS_FILE, ModelReader, ModelWriter, WorkFolder};
use plethora_core::calibration::{
    CALIBRATION_FILE, Calibration, CalibrationCollector, CalibrationConfig, ThresholdScope,
};
use plethora_core::{Result, grouped};
use plethora_system::settings::Settings;
use plethora_system::{Combination, Device, EnsembleConfig, EnsembleParts, FUSION_RANKS, Registry};
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

use super::consensus::Consensus;
use super::encoders;
use super::held_back::HeldBack;
use super::members::FinalMember;
use super::objective::Objective;
use super::plan::{Plan, Planning};
use super::progress::Finishing;
use super::rankings::{Labels, MemberRankings};
use super::report::{AutoReport, MemberReport};
use crate::Session;
use crate::check::CorpusProfile;
use crate::figures::percent;
use crate::folders;
use crate::model_folder::{about_model, size_of_model};
use crate::training::TrainingJob;

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
    /// The pretrained encoder to start from; where none is named, one that the machine has.
    pub encoder: EncoderChoice,
    /// A file with pretrained word vectors, for members that read words.
    pub vectors: Option<PathBuf>,
}

/// Which pretrained encoder members may start from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum EncoderChoice {
    /// A sentence encoder from the Hugging Face cache, where there is one that can be used.
    #[default]
    AtHand,
    /// This one.
    Named(String),
    /// None.
    None,
}

impl From<Option<String>> for EncoderChoice {
    /// As people write it: a name, `none`, or nothing.
    fn from(given: Option<String>) -> Self {
        match given {
            Some(name) if name == "none" => Self::None,
            Some(name) => Self::Named(name),
            None => Self::AtHand,
        }
    }
}

/// Everything that is known once the corpus was read.
struct Prepared {
    plan: Plan,
    held_back: HeldBack,
    labels: Labels,
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
        self.training.check_output()?;
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
        let asked = session;
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
            is_interrupted: is_interrupted || asked.progress().is_cancelled(),
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
        let has_names = self.training.vocabulary.is_some() || profile.has_names();
        let effort = held_back.effort();
        let check = |settings: &Settings| {
            let job = self.job(settings.clone(), PathBuf::new());
            job.check(session)
        };
        let is_encoder_asked = matches!(self.encoder, EncoderChoice::Named(_));
        let planning = |encoder: Option<String>| Planning {
            registry: self.registry,
            size,
            budget: self.budget,
            device: self.training.device,
            seed: self.seed,
            encoder,
            is_encoder_asked,
            vectors: self.vectors.as_deref(),
            has_names,
            keeps_models: held_back.keeps_models(),
            effort,
            num_threads: rayon::current_num_threads(),
            check: &check,
        };
        let plan = match &self.encoder {
            EncoderChoice::Named(name) => planning(Some(name.clone())).plan()?,
            EncoderChoice::None => planning(None).plan()?,
            EncoderChoice::AtHand => {
                let cache = folders::encoders().unwrap_or_default();
                let mut found = encoders::at_hand(&cache, self.training.device).into_iter();
                // One that no member can use is as good as none.
                let usable = found.find_map(|name| {
                    let plan = planning(Some(name)).plan().ok()?;
                    plan.encoder.is_some().then_some(plan)
                });
                match usable {
                    Some(plan) => plan,
                    None => planning(None).plan()?,
                }
            }
        };
        Ok(Prepared {
            plan: match held_back.documents.len() {
                0 => plan.of_one(self.registry.default_system().name),
                _ => plan,
            },
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
    pub(super) fn job(&self, settings: Settings, output: PathBuf) -> TrainingJob {
        let device = if settings.spec().uses_devices() {
            self.training.device
        } else {
            Device::Cpu
        };
        TrainingJob {
            valid: None,
            device,
            settings,
            output,
            replaces: true,
            resumes: false,
            ..self.training.clone()
        }
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
            if !labels.truth.is_empty() {
                writer.write_json(METRICS_FILE, &consensus.evaluation)?;
            }
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
