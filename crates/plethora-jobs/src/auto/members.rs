//! Training the members of an automatic choice: while documents are held back, then on all of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use plethora_core::artifact::WorkFolder;
use plethora_core::{Error, Result};
use plethora_system::Predictor;
use plethora_system::settings::{AssignedValue, Settings};

use super::consensus::Consensus;
use super::held_back::HeldBack;
use super::job::AutoJob;
use super::plan::{MIN_EPOCH_SHARE, Plan, assign};
use super::planned_member::PlannedMember;
use super::rankings::{Labels, MemberRankings, measure, rank};
use super::report::HeldBackFigures;
use crate::Session;
use crate::figures::percent;
use crate::search::TrialProgress;
use crate::training::TrainingJob;

/// Share of the time left that a member may take that is trained again in the end.
const MEMBER_SHARE: f64 = 0.7;

/// Share of the time left that networks plan with, which are trained once; the rest is for fusing and saving.
const NETWORK_SHARE: f64 = 0.85;

/// How much longer than planned a network may take before it is given up.
const NETWORK_DELAY: f64 = 1.1;

/// Share of that time that members may claim which come later.
const LATER_SHARE: f64 = 0.4;

/// Share of the time left that a member may take, trained twice, which the plan had left out.
const SPARE_SHARE: f64 = 0.5;

/// Seconds that members took, by their names.
const SECONDS_FILE: &str = "seconds.json";

/// A member that was trained.
pub(super) struct TrainedMember<'a> {
    pub(super) planned: &'a PlannedMember,
    pub(super) rankings: MemberRankings,
    /// Its model on a part of the documents, where that is one.
    pub(super) folder: Option<PathBuf>,
    pub(super) seconds: f64,
    /// Share of its epochs that there was time for.
    epoch_share: f64,
    pub(super) figures: HeldBackFigures,
}

/// A member as the model has it.
pub(super) struct FinalMember {
    pub(super) folder: PathBuf,
    pub(super) saw_all: bool,
    pub(super) seconds: f64,
}

/// What a member may take when it is its turn.
struct Turn {
    /// Share of its epochs.
    epoch_share: f64,
    /// When it is given up.
    deadline: Instant,
}

impl Turn {
    /// Of the time that is left, networks leave what others need that come later or are trained again in the end.
    fn of(
        planned: &PlannedMember,
        members: &[TrainedMember<'_>],
        later_s: f64,
        held_back: &HeldBack,
        end: Instant,
    ) -> Self {
        let now = Instant::now();
        if members.is_empty() {
            // Trained whatever it takes: there must be a model.
            return Self {
                epoch_share: planned.epoch_share,
                deadline: now + Duration::from_secs(3650 * 86_400),
            };
        }
        let left = end.saturating_duration_since(now);
        if planned.returns {
            return Self {
                epoch_share: planned.epoch_share,
                deadline: now + left.mul_f64(MEMBER_SHARE),
            };
        }
        let again = members.iter().filter(|member| member.planned.returns);
        let again: f64 = again.map(|member| member.seconds).sum();
        let again = if held_back.returns() {
            again / held_back.effort().max(1e-9)
        } else {
            0.0
        };
        let seconds = (NETWORK_SHARE * left.as_secs_f64() - again).max(0.0);
        let time = Duration::from_secs_f64(seconds - later_s.min(LATER_SHARE * seconds));
        Self {
            epoch_share: planned.share_within(time, held_back),
            deadline: now + time.mul_f64(NETWORK_DELAY),
        }
    }
}

impl AutoJob {
    /// Trains members, the cheapest first, until all are or the time for it is over.
    pub(super) fn train_members<'p>(
        &self,
        plan: &'p Plan,
        held_back: &HeldBack,
        labels: &mut Labels,
        work: &WorkFolder,
        end: Instant,
        session: &Session,
    ) -> Result<Vec<TrainedMember<'p>>> {
        // Those that seemed to take too long come last: by then it is known how good estimates are.
        let slow = plan.members.iter().filter(|member| member.is_too_slow);
        let chosen: Vec<&PlannedMember> = plan.chosen().chain(slow).collect();
        let mut earlier = earlier_seconds(work);
        let mut members: Vec<TrainedMember<'_>> = Vec::new();
        session
            .progress()
            .start("training", Some(chosen.len() as u64));
        for (place, planned) in chosen.iter().enumerate() {
            if planned.is_too_slow && !has_time(planned, &members, held_back, end) {
                continue;
            }
            let later = chosen.iter().skip(place + 1);
            let later = later.filter(|other| !other.is_too_slow);
            let later: f64 = later.map(|other| other.part_seconds(held_back)).sum();
            let turn = Turn::of(planned, &members, later, held_back, end);
            let folder = (held_back.keeps_models()).then(|| work.path(&format!("part-{place}")));
            let is_there = folder.as_ref().is_some_and(|folder| folder.exists());
            if turn.epoch_share < MIN_EPOCH_SHARE && !is_there {
                tracing::warn!("{}: left out, as too little time is left", planned.name);
                continue;
            }
            let name = format!("{}, {} of {}", planned.name, place + 1, chosen.len());
            let progress = |all| TrialProgress::new(all, name, turn.deadline).giving_up();
            let part = session.part(|all| Arc::new(progress(all)));
            let Some(settings) = started_from(planned, &members)? else {
                let source = planned.starts_from.unwrap_or_default();
                tracing::warn!("{}: left out, as {source} is not there", planned.name);
                continue;
            };
            let trained = Instant::now();
            let rankings = if let Some(folder) = folder.as_ref().filter(|_| is_there) {
                self.rank_earlier(folder, held_back, labels)
            } else {
                let member = (*planned, &settings, turn.epoch_share);
                self.train_member(member, folder.as_ref(), held_back, labels, &part)
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
                epoch_share: turn.epoch_share,
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
        folder: &Path,
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
        (planned, settings, epoch_share): (&PlannedMember, &Settings, f64),
        folder: Option<&PathBuf>,
        held_back: &HeldBack,
        labels: &mut Labels,
        session: &Session,
    ) -> Result<MemberRankings> {
        let mut rankings = vec![Vec::new(); held_back.documents.len()];
        for (part, data) in held_back.train.iter().enumerate() {
            let job = TrainingJob {
                data: data.clone(),
                epoch_share,
                learns_names: planned.learns_names,
                ..self.job(
                    settings.clone(),
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
    pub(super) fn train_on_all(
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
                epoch_share: member.epoch_share,
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
}

/// The settings of a member, with the encoder of the one that it starts from; none if that was not trained.
fn started_from(
    planned: &PlannedMember,
    members: &[TrainedMember<'_>],
) -> Result<Option<Settings>> {
    let mut settings = planned.settings.clone();
    let Some(source) = planned.starts_from else {
        return Ok(Some(settings));
    };
    let source = members.iter().find(|member| member.planned.name == source);
    let Some(folder) = source.and_then(|member| member.folder.as_ref()) else {
        return Ok(None);
    };
    let folder = AssignedValue::Text(folder.to_string_lossy().into_owned());
    assign(&mut settings, "encoder", folder)?;
    Ok(Some(settings))
}

/// True if a member that the plan left out for its time has enough of it after all, by what others took.
fn has_time(
    planned: &PlannedMember,
    members: &[TrainedMember<'_>],
    held_back: &HeldBack,
    end: Instant,
) -> bool {
    let estimated = members.iter().map(|member| member.planned.estimated_s);
    let estimated = estimated.sum::<f64>() * held_back.effort();
    let taken: f64 = members.iter().map(|member| member.seconds).sum();
    let seconds = planned.estimated_s * (held_back.effort() + 1.0) * taken / estimated.max(1e-9);
    let left = end.saturating_duration_since(Instant::now());
    seconds < SPARE_SHARE * left.as_secs_f64()
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
