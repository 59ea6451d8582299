//! Which trial comes next: pure logic, which knows nothing of training.

use std::iter;

use serde::{Deserialize, Serialize};

use super::search_space::UNCHANGED;

/// Of this many trials of a rung one is promoted to the next, and trained this many times as much.
const FACTOR: usize = 3;

/// The first rung of four has a 27th of everything, and less says too little about all of it.
const MAX_RUNGS: usize = 4;

/// How trials are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// All trials are trained in full.
    Random,
    /// All trials are trained a little, the best third of them three times as much, and so on; the
    /// unchanged settings are trained in full, too, so that it shows what the search has gained.
    Halving,
}

/// The trials of a search, in rungs of growing effort.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Plan {
    num_trials: usize,
    num_rungs: usize,
}

/// One training run of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Counted from 1.
    pub trial: usize,
    /// Counted from 0.
    pub rung: usize,
}

/// What came of a step: its score, or nothing where it failed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    pub step: Step,
    pub score: Option<f64>,
}

impl Method {
    /// The word for it in settings and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Halving => "halving",
        }
    }
}

impl Plan {
    /// A plan for this many trials, whose smallest share of the effort is not below `min_share`.
    pub(super) fn new(method: Method, num_trials: usize, min_share: f64) -> Self {
        let mut num_rungs = 1;
        let is_possible = |num_rungs: usize| {
            num_rungs < MAX_RUNGS
                && num_trials >= FACTOR.pow(num_rungs as u32)
                && share(num_rungs) >= min_share
        };
        while method == Method::Halving && is_possible(num_rungs) {
            num_rungs += 1;
        }
        Self {
            num_trials,
            num_rungs,
        }
    }

    /// How much of the effort of full training a trial of this rung gets.
    pub(super) fn share(self, rung: usize) -> f64 {
        share(self.num_rungs - 1 - rung)
    }

    /// Steps of the whole search, if none fails and time suffices.
    pub(super) fn num_steps(self) -> usize {
        self.sizes().sum()
    }

    /// The effort of the whole search.
    pub(super) fn total_weight(self) -> u64 {
        let rungs = self.sizes().enumerate();
        rungs.map(|(rung, size)| size as u64 * weight(rung)).sum()
    }

    /// Steps of each rung.
    fn sizes(self) -> impl Iterator<Item = usize> {
        let next = |size: &usize| Some(promoted_of(*size));
        let sizes = iter::successors(Some(self.num_trials), next).take(self.num_rungs);
        let with_unchanged = move |(rung, size)| size + usize::from(self.is_last_of_several(rung));
        sizes.enumerate().map(with_unchanged)
    }

    /// The next step after these, `spent` being the share of the time that is gone; none where all
    /// is done. Each rung has an equal part of the time: it is over when that is, so that a search
    /// that has too little of it still trains its best trials in full.
    pub(super) fn next(self, outcomes: &[Outcome], spent: f64) -> Option<Step> {
        let mut candidates: Vec<usize> = (1..=self.num_trials).collect();
        for rung in 0..self.num_rungs {
            let done: Vec<&Outcome> = of_rung(outcomes, rung).collect();
            let is_last = rung + 1 == self.num_rungs;
            let is_over = of_rung(outcomes, rung + 1).next().is_some()
                || (!is_last && !done.is_empty() && spent >= self.time_share(rung));
            let is_missing =
                |trial: &usize| done.iter().all(|outcome| outcome.step.trial != *trial);
            if let Some(&trial) = candidates.iter().find(|trial| is_missing(trial))
                && !is_over
            {
                return Some(Step { trial, rung });
            }
            candidates = promoted(&done);
            if self.is_last_of_several(rung + 1) {
                candidates = self.with_unchanged(outcomes, &done);
            }
        }
        None
    }

    /// A next step, and those that follow it in its rung, whatever comes of it.
    pub(super) fn beside(self, step: Step, outcomes: &[Outcome]) -> Vec<Step> {
        let mut outcomes = outcomes.to_vec();
        let mut steps = Vec::new();
        let mut next = Some(step);
        while let Some(step) = next.filter(|next| next.rung == step.rung) {
            steps.push(step);
            outcomes.push(Outcome {
                step,
                score: Some(0.0),
            });
            next = self.next(&outcomes, 0.0);
        }
        steps
    }

    fn is_last_of_several(self, rung: usize) -> bool {
        rung > 0 && rung + 1 == self.num_rungs
    }

    /// The trials of the last rung: the best third of the others, and the unchanged settings, in their
    /// place or else at the end. Where these have failed, they are left out.
    fn with_unchanged(self, outcomes: &[Outcome], done: &[&Outcome]) -> Vec<usize> {
        let mut num_left = promoted_of(done.len());
        let mut trials = ranked(done);
        trials.retain(|&trial| {
            let is_kept = trial == UNCHANGED || num_left > 0;
            num_left -= usize::from(trial != UNCHANGED && num_left > 0);
            is_kept
        });
        let is_unchanged = |outcome: &&Outcome| outcome.step.trial == UNCHANGED;
        let mut of_unchanged = outcomes.iter().filter(is_unchanged).peekable();
        let has_worked = of_unchanged.peek().is_some()
            && of_unchanged
                .all(|one| one.score.is_some() || self.is_last_of_several(one.step.rung));
        if has_worked && !trials.contains(&UNCHANGED) {
            trials.push(UNCHANGED);
        }
        trials
    }

    /// How much of the time may be gone when a rung is over.
    fn time_share(self, rung: usize) -> f64 {
        (rung + 1) as f64 / self.num_rungs as f64
    }
}

/// How much more effort a step of this rung is than one of the first.
pub(super) fn weight(rung: usize) -> u64 {
    FACTOR.pow(rung.min(MAX_RUNGS) as u32) as u64
}

/// The best outcome: of the highest rung that has any score, the highest score, and of equal ones
/// the first.
pub(super) fn best(outcomes: &[Outcome]) -> Option<Step> {
    let scored = outcomes.iter().filter(|outcome| outcome.score.is_some());
    let rung = scored.map(|outcome| outcome.step.rung).max()?;
    let of_rung: Vec<&Outcome> = of_rung(outcomes, rung).collect();
    let trial = *ranked(&of_rung).first()?;
    Some(Step { trial, rung })
}

fn of_rung(outcomes: &[Outcome], rung: usize) -> impl Iterator<Item = &Outcome> {
    outcomes
        .iter()
        .filter(move |outcome| outcome.step.rung == rung)
}

fn share(rungs_above: usize) -> f64 {
    1.0 / FACTOR.pow(rungs_above as u32) as f64
}

/// How many of a rung are promoted.
fn promoted_of(size: usize) -> usize {
    (size / FACTOR).max(1)
}

/// The trials of a rung that are promoted, the best first.
fn promoted(done: &[&Outcome]) -> Vec<usize> {
    let mut trials = ranked(done);
    trials.truncate(promoted_of(done.len()));
    trials
}

/// The trials of a rung that have a score, the best first and the earlier of equal ones first.
fn ranked(done: &[&Outcome]) -> Vec<usize> {
    let mut scored: Vec<(f64, usize)> = done
        .iter()
        .filter_map(|outcome| Some((outcome.score?, outcome.step.trial)))
        .collect();
    scored.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(&right.1)));
    scored.into_iter().map(|(_, trial)| trial).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(trial: usize, rung: usize, score: f64) -> Outcome {
        let score = (score >= 0.0).then_some(score);
        Outcome {
            step: Step { trial, rung },
            score,
        }
    }

    /// Runs a plan to its end with a score per step; below 0 is a failure.
    fn run(plan: Plan, score: impl Fn(Step) -> f64) -> Vec<Outcome> {
        let mut outcomes = Vec::new();
        while let Some(step) = plan.next(&outcomes, 0.0) {
            outcomes.push(outcome(step.trial, step.rung, score(step)));
            assert!(outcomes.len() < 1000, "a plan has an end");
        }
        outcomes
    }

    fn trials(outcomes: &[Outcome], rung: usize) -> Vec<usize> {
        of_rung(outcomes, rung)
            .map(|outcome| outcome.step.trial)
            .collect()
    }

    #[test]
    fn rungs_grow_by_three_up_to_the_whole() {
        let sizes = |num_trials, min_share| {
            let plan = Plan::new(Method::Halving, num_trials, min_share);
            let shares = (0..plan.num_rungs).map(|rung| (1.0 / plan.share(rung)).round());
            (shares.collect::<Vec<f64>>(), plan.num_steps())
        };
        assert_eq!(sizes(27, 0.0), (vec![27.0, 9.0, 3.0, 1.0], 41));
        assert_eq!(sizes(81, 0.0), (vec![27.0, 9.0, 3.0, 1.0], 81 + 27 + 9 + 4));
        assert_eq!(sizes(10, 0.0), (vec![9.0, 3.0, 1.0], 15));
        assert_eq!(sizes(2, 0.0), (vec![1.0], 2));
        assert_eq!(sizes(27, 0.1), (vec![9.0, 3.0, 1.0], 40));
        assert_eq!(sizes(27, 2.0), (vec![1.0], 27));
        let plan = Plan::new(Method::Halving, 27, 0.0);
        assert_eq!(
            plan.total_weight(),
            4 * 27 + 27,
            "every rung is as much work, and the unchanged settings are trained in full"
        );
        let random = Plan::new(Method::Random, 27, 0.0);
        assert_eq!((random.num_rungs, random.num_steps()), (1, 27));
    }

    #[test]
    fn the_best_third_is_promoted_and_the_best_of_all_wins() {
        let plan = Plan::new(Method::Halving, 9, 0.0);
        // Trials 8, 2 and 5 are the best early; then 5 is the best.
        let early = [0.1, 0.8, 0.3, 0.2, 0.7, 0.3, 0.3, 0.9, 0.0];
        let score = |step: Step| match step.rung {
            0 => early[step.trial - 1],
            _ => f64::from(u8::from(step.trial == 5)),
        };
        let outcomes = run(plan, score);
        assert_eq!(trials(&outcomes, 0), (1..=9).collect::<Vec<_>>());
        assert_eq!(trials(&outcomes, 1), [8, 2, 5], "the best first");
        assert_eq!(trials(&outcomes, 2), [5, 1], "and the unchanged settings");
        assert_eq!(best(&outcomes), Some(Step { trial: 5, rung: 2 }));
        assert_eq!(outcomes.len(), plan.num_steps());
    }

    #[test]
    fn the_unchanged_settings_take_no_other_trials_place() {
        let plan = Plan::new(Method::Halving, 9, 0.0);
        let outcomes = run(plan, |step| 1.0 / step.trial as f64);
        assert_eq!(trials(&outcomes, 1), [1, 2, 3]);
        assert_eq!(trials(&outcomes, 2), [1, 2]);
        assert_eq!(outcomes.len(), plan.num_steps());
        let late = run(plan, |step| match step {
            Step { trial: 1, rung: 2 } => -1.0,
            _ => step.trial as f64,
        });
        assert_eq!(trials(&late, 2), [9, 1]);
    }

    #[test]
    fn of_equal_trials_the_first_is_promoted() {
        let outcomes = run(Plan::new(Method::Halving, 9, 0.0), |_| 0.5);
        assert_eq!(trials(&outcomes, 1), [1, 2, 3]);
        assert_eq!(trials(&outcomes, 2), [1, 2]);
        assert_eq!(best(&outcomes), Some(Step { trial: 1, rung: 2 }));
    }

    #[test]
    fn failed_trials_are_never_promoted() {
        let plan = Plan::new(Method::Halving, 9, 0.0);
        let outcomes = run(plan, |step| if step.trial == 4 { 0.2 } else { -1.0 });
        assert_eq!(trials(&outcomes, 1), [4]);
        assert_eq!(trials(&outcomes, 2), [4]);
        let outcomes = run(plan, |_| -1.0);
        assert_eq!((outcomes.len(), best(&outcomes)), (9, None));
        let late = run(plan, |step| if step.rung == 0 { 0.5 } else { -1.0 });
        assert_eq!(best(&late), Some(Step { trial: 1, rung: 0 }));
    }

    #[test]
    fn a_search_resumes_from_any_of_its_outcomes() {
        let plan = Plan::new(Method::Halving, 12, 0.0);
        let whole = run(plan, |step| (step.trial * 7 % 12) as f64);
        for done in 0..whole.len() {
            assert_eq!(plan.next(&whole[..done], 0.0), Some(whole[done].step));
        }
    }

    #[test]
    fn a_rung_whose_time_is_over_promotes_its_best() {
        let plan = Plan::new(Method::Halving, 9, 0.0);
        let mut outcomes = vec![outcome(1, 0, 0.1)];
        assert_eq!(plan.next(&outcomes, 0.3), Some(Step { trial: 2, rung: 0 }));
        outcomes.push(outcome(2, 0, 0.4));
        let next = plan.next(&outcomes, 0.34);
        assert_eq!(next, Some(Step { trial: 2, rung: 1 }));
        outcomes.push(outcome(2, 1, 0.4));
        assert_eq!(plan.next(&outcomes, 0.35), Some(Step { trial: 2, rung: 2 }));
        // More time later does not open a rung again that others have left.
        assert_eq!(plan.next(&outcomes, 0.0), Some(Step { trial: 2, rung: 2 }));
        assert_eq!(plan.next(&[], 0.9), Some(Step { trial: 1, rung: 0 }));
    }
}
