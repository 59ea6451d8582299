//! A search under way: one trial after another, until all are done or the time is over.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use plethora_core::artifact::WorkFolder;
use plethora_core::metrics::Evaluation;
use plethora_core::{Error, Result};
use tracing::subscriber::NoSubscriber;

use super::budget::Clock;
use super::documents::DocumentFacts;
use super::effort::{self, Work};
use super::folder::SearchFolder;
use super::job::SearchJob;
use super::journal::Journal;
use super::plan::{self, Outcome, Plan, Step};
use super::record::{Status, TrialRecord};
use super::report::SearchReport;
use super::trial_progress::TrialProgress;
use super::trial_runner::{TrialResult, TrialRunner};
use crate::Session;
use crate::figures::percent;
use crate::training::TrainingJob;
use plethora_system::settings::Settings;

/// A search under way.
pub(super) struct RunningSearch<'a> {
    job: &'a SearchJob,
    session: &'a Session,
    plan: Plan,
    folder: SearchFolder,
    journal: Journal,
    clock: Clock,
    /// Who trains, where it is not this process.
    runner: Option<&'a dyn TrialRunner>,
    /// Steps that the runner was given.
    begun: Vec<Step>,
    /// Warnings of the first trial about the data are not repeated.
    is_told: bool,
}

impl<'a> RunningSearch<'a> {
    /// A search in the folder that was opened for it, with the trials that are finished.
    pub(super) fn new(
        job: &'a SearchJob,
        plan: Plan,
        (folder, journal): (SearchFolder, Journal),
        runner: Option<&'a dyn TrialRunner>,
        session: &'a Session,
    ) -> Self {
        let seconds = journal.records().iter().map(|record| record.seconds);
        Self {
            clock: Clock::start(job.budget, seconds.sum()),
            job,
            session,
            plan,
            folder,
            journal,
            runner,
            begun: Vec::new(),
            is_told: false,
        }
    }

    /// Runs trials; false if the time ran out before all were done.
    pub(super) fn run(&mut self) -> Result<bool> {
        // A search that was killed may have ended a trial and not have told.
        if let Some(best) = self.best() {
            self.write_best(best)?;
        }
        let progress = self.session.progress();
        progress.start("searching", Some(self.plan.total_weight()));
        let done = self.journal.records().iter();
        progress.advance(done.map(|record| plan::weight(record.rung)).sum());
        let is_complete = loop {
            let Some(step) = self.plan.next(&self.outcomes(), self.clock.spent_share()) else {
                break true;
            };
            self.session.check_interrupt()?;
            if self.clock.spent_share() >= 1.0 {
                break false;
            }
            let Some(record) = self.step(step)? else {
                break false;
            };
            self.journal.append(record)?;
            if self.best() == Some(step) {
                self.write_best(step)?;
            }
            progress.advance(plan::weight(step.rung));
        };
        self.folder.remove_trials()?;
        let (metric, best) = (&self.job.metric.key, self.best_record());
        let best = best.and_then(|record| Some((record.trial, record.score(metric)?)));
        let best = best
            .map(|(trial, score)| format!(", best {metric} {} (trial {trial})", percent(score)));
        let num_done = self.journal.records().len();
        progress.finish(&format!(
            "{num_done} trained and measured{}",
            best.unwrap_or_default()
        ));
        Ok(is_complete)
    }

    fn outcomes(&self) -> Vec<Outcome> {
        let records = self.journal.records().iter();
        records
            .map(|record| record.outcome(&self.job.metric.key))
            .collect()
    }

    fn best(&self) -> Option<Step> {
        plan::best(&self.outcomes())
    }

    fn best_record(&self) -> Option<&TrialRecord> {
        let best = self.best()?;
        self.journal
            .records()
            .iter()
            .find(|record| record.step() == best)
    }

    /// Does one step; none if the time ran out before its end.
    fn step(&mut self, step: Step) -> Result<Option<TrialRecord>> {
        let started = Instant::now();
        let settings = self.job.space.settings(step.trial)?;
        if let Some(earlier) = self.same_work(step, &settings)? {
            return Ok(Some(earlier));
        }
        if let Some(runner) = self.runner {
            return self.wait(runner, step).map(Some);
        }
        let outcome = match settings.config() {
            Ok(_) => self.train(step, settings),
            Err(error) => Err(error),
        };
        let (status, message, metrics) = match outcome {
            Ok(metrics) => (Status::Ok, None, metrics),
            Err(Error::Interrupted) if !self.session.progress().is_cancelled() => return Ok(None),
            Err(error) if is_end(&error) => return Err(error),
            Err(error) => {
                let reason = error.to_string();
                tracing::warn!("trial {} failed: {reason}", step.trial);
                (Status::Failed, Some(reason), BTreeMap::new())
            }
        };
        let seconds = started.elapsed().as_secs_f64();
        Ok(Some(self.record(step, status, message, metrics, seconds)))
    }

    fn record(
        &self,
        step: Step,
        status: Status,
        message: Option<String>,
        metrics: BTreeMap<String, f64>,
        seconds: f64,
    ) -> TrialRecord {
        TrialRecord {
            trial: step.trial,
            rung: step.rung,
            share: self.plan.share(step.rung),
            settings: self.job.space.draw(step.trial),
            status,
            message,
            metrics,
            seconds,
            same_as: None,
        }
    }

    /// Begins all steps that can be trained beside this one, and waits for it.
    fn wait(&mut self, runner: &dyn TrialRunner, step: Step) -> Result<TrialRecord> {
        if !self.begun.contains(&step) {
            let steps = self.plan.beside(step, &self.outcomes());
            let with_shares: Vec<(Step, f64)> = (steps.iter())
                .map(|&step| (step, self.plan.share(step.rung)))
                .collect();
            runner.begin(&with_shares)?;
            self.begun.extend(steps);
        }
        let TrialResult {
            metrics,
            message,
            seconds,
        } = runner.wait(step)?;
        let status = match &message {
            None => Status::Ok,
            Some(reason) => {
                tracing::warn!("trial {} failed: {reason}", step.trial);
                Status::Failed
            }
        };
        Ok(self.record(step, status, message, metrics, seconds))
    }

    /// The record of a step that trains what an earlier one has trained. Where the best model is
    /// kept, one that becomes the best is trained again unless its model is there.
    fn same_work(&self, step: Step, settings: &Settings) -> Result<Option<TrialRecord>> {
        let work = self.work(settings.clone(), self.plan.share(step.rung));
        for earlier in self.journal.records() {
            let other = self.job.space.settings(earlier.trial)?;
            if self.work(other, earlier.share) != work {
                continue;
            }
            let score = earlier.score(&self.job.metric.key);
            if self.job.keeps_model && self.becomes_best(step, score) && !self.is_kept(&work)? {
                return Ok(None);
            }
            return Ok(Some(TrialRecord {
                trial: step.trial,
                rung: step.rung,
                share: self.plan.share(step.rung),
                settings: self.job.space.draw(step.trial),
                seconds: 0.0,
                same_as: Some(earlier.trial),
                ..earlier.clone()
            }));
        }
        Ok(None)
    }

    /// True if the model that is kept is of this work.
    fn is_kept(&self, work: &Work) -> Result<bool> {
        let Some(best) = self.best_record() else {
            return Ok(false);
        };
        let settings = self.job.space.settings(best.trial)?;
        Ok(self.work(settings, best.share) == *work)
    }

    fn work(&self, settings: Settings, share: f64) -> Work {
        let effort = settings
            .config()
            .map_or(self.job.effort, |system| system.effort());
        Work::new(settings, effort, share)
    }

    fn becomes_best(&self, step: Step, score: Option<f64>) -> bool {
        let mut outcomes = self.outcomes();
        outcomes.push(Outcome { step, score });
        plan::best(&outcomes) == Some(step)
    }

    /// Trains and measures a step.
    fn train(&mut self, step: Step, settings: Settings) -> Result<BTreeMap<String, f64>> {
        let job = TrainingJob {
            output: self.folder.trial(step),
            resumes: self.folder.is_begun(step),
            ..self.job.trial(settings, self.plan.share(step.rung))
        };
        let name = format!(
            "trial {}, {} of {}",
            step.trial,
            self.journal.records().len() + 1,
            self.plan.num_steps()
        );
        let deadline = self.clock.deadline();
        let session = self
            .session
            .part(|search| Arc::new(TrialProgress::new(search, name, deadline)));
        let keep = |evaluation: &Evaluation| -> Option<PathBuf> {
            let score = evaluation.get(&self.job.metric.key);
            let is_kept = self.job.keeps_model && self.becomes_best(step, score);
            is_kept.then(|| self.folder.model())
        };
        in_silence(|| job.check(self.session))?;
        let try_out = || job.try_out(&self.job.metric.evaluation, &session, keep);
        let tried = if self.is_told && !tracing::enabled!(tracing::Level::INFO) {
            in_silence(try_out)
        } else {
            try_out()
        };
        self.is_told = true;
        if tried.is_err() && !self.session.progress().is_cancelled() {
            remove_work(&job)?;
        }
        let measured = tried?.expect("a trial has documents to be measured on");
        Ok(measured.evaluation.values().iter().cloned().collect())
    }

    fn write_best(&self, step: Step) -> Result<()> {
        let record = self.best_record();
        let metric = &self.job.metric.key;
        let score = record
            .and_then(|record| record.score(metric))
            .unwrap_or_default();
        let settings = self.job.space.settings(step.trial)?.to_toml();
        self.folder.write_best(&format!(
            "# The best settings of `plethora search` so far: {metric} {} on validation, trial {}.\n{settings}",
            percent(score),
            step.trial
        ))?;
        Ok(())
    }

    /// What is to be told of it.
    pub(super) fn report(&self, facts: &DocumentFacts, is_complete: bool) -> Result<SearchReport> {
        let records = self.journal.records().to_vec();
        let Some(best) = self.best() else {
            return Err(
                match records.iter().find_map(|record| record.message.clone()) {
                    Some(message) => {
                        let count = records.len();
                        Error::Compute(format!("all {count} trials failed; the first: {message}"))
                    }
                    None => Error::Compute(
                        "no trial was complete when the time was over; give the search more".into(),
                    ),
                },
            );
        };
        Ok(SearchReport {
            system: self.job.space.base().system().to_owned(),
            method: self.job.method,
            metric: self.job.metric.key.clone(),
            effort: effort::name(self.job.effort),
            best,
            best_settings: self.folder.best(),
            model: self.job.keeps_model.then(|| self.folder.model()),
            num_valid: facts.num_valid,
            is_complete,
            seconds: self.clock.spent().as_secs_f64(),
            budget_seconds: self.job.budget.as_secs_f64(),
            num_steps: self.plan.num_steps(),
            records,
        })
    }
}

/// Errors that no other settings would avoid.
fn is_end(error: &Error) -> bool {
    matches!(
        error,
        Error::Interrupted
            | Error::Write { .. }
            | Error::Read { .. }
            | Error::Exists { .. }
            | Error::Occupied { .. }
    )
}

/// Does something whose warnings were shown before, without showing them again.
fn in_silence<T>(act: impl FnOnce() -> T) -> T {
    tracing::subscriber::with_default(NoSubscriber::default(), act)
}

fn remove_work(job: &TrainingJob) -> Result<()> {
    let path = WorkFolder::path_for(&job.output);
    if path.exists() {
        fs_err::remove_dir_all(&path).map_err(Error::write(&path))?;
    }
    Ok(())
}
