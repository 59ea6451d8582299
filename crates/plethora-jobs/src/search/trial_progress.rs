//! The progress of one trial, as figures of the search's.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use plethora_core::{Message, Progress};

use crate::SharedProgress;

/// How long a stage is watched before it is judged by its speed.
const WATCHED: Duration = Duration::from_secs(10);

/// How much longer than there is time a stage may seem to take: speeds change, and networks may stop early.
const DOUBT: f64 = 1.5;

/// Shows the stages of a trial as figures of the stage that is the search, and asks the trial to
/// stop when the time of the search is over.
pub(crate) struct TrialProgress {
    search: Arc<SharedProgress>,
    /// What stands before the stages.
    name: String,
    deadline: Instant,
    gives_up: bool,
    stage: Mutex<Stage>,
}

struct Stage {
    name: String,
    total: Option<u64>,
    done: u64,
    started: Instant,
}

impl Stage {
    fn new(name: &str, total: Option<u64>) -> Self {
        Self {
            name: name.to_owned(),
            total,
            done: 0,
            started: Instant::now(),
        }
    }

    /// True if it would take much longer than there is time, as fast as it went so far.
    fn is_hopeless(&self, now: Instant, deadline: Instant) -> bool {
        let taken = now.saturating_duration_since(self.started);
        let Some(total) = self.total.filter(|_| taken >= WATCHED && self.done > 0) else {
            return false;
        };
        let to_do = total.saturating_sub(self.done) as f64 / self.done as f64;
        let left = deadline.saturating_duration_since(now);
        taken.as_secs_f64() * to_do > DOUBT * left.as_secs_f64()
    }
}

impl TrialProgress {
    /// The progress of a trial with this name.
    pub(crate) fn new(search: Arc<SharedProgress>, name: String, deadline: Instant) -> Self {
        Self {
            search,
            name,
            deadline,
            gives_up: false,
            stage: Mutex::new(Stage::new("", None)),
        }
    }

    /// The same, which also stops a trial that will not end in time, as soon as that is clear.
    pub(crate) fn giving_up(self) -> Self {
        Self {
            gives_up: true,
            ..self
        }
    }

    fn with_stage(&self, change: impl FnOnce(&mut Stage)) -> String {
        let mut stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut stage);
        let done = match (stage.total, stage.done) {
            (_, 0) => String::new(),
            (None, done) => format!(" {done}"),
            (Some(total), done) => format!(" {done} of {total}"),
        };
        format!("{}: {}{done}", self.name, stage.name)
    }
}

impl Progress for TrialProgress {
    fn start(&self, stage: &str, total: Option<u64>) {
        let shown = self.with_stage(|current| *current = Stage::new(stage, total));
        self.search.show(&shown);
    }

    fn advance(&self, steps: u64) {
        let shown = self.with_stage(|stage| stage.done += steps);
        self.search.show(&shown);
        // No trial more is done, but lines come with steps alone.
        self.search.advance(0);
    }

    fn show(&self, figures: &str) {
        let shown = self.with_stage(|_| ());
        self.search.show(&format!("{shown}, {figures}"));
    }

    fn finish(&self, summary: &str) {
        let shown = self.with_stage(|_| ());
        tracing::info!("{shown}: {summary}");
    }

    fn warn(&self, warning: &Message) {
        self.search.warn(warning);
    }

    fn is_cancelled(&self) -> bool {
        let now = Instant::now();
        if self.search.is_cancelled() || now >= self.deadline {
            return true;
        }
        let stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        self.gives_up && stage.is_hopeless(now, self.deadline)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[derive(Default)]
    struct Shown(Mutex<Vec<String>>);

    impl Progress for Shown {
        fn start(&self, _: &str, _: Option<u64>) {}
        fn advance(&self, steps: u64) {
            assert_eq!(steps, 0, "a stage of a trial is no trial");
        }
        fn show(&self, figures: &str) {
            self.0.lock().unwrap().push(figures.to_owned());
        }
        fn finish(&self, _: &str) {
            panic!("the search is not over");
        }
    }

    #[test]
    fn stages_of_a_trial_are_figures_of_the_search() {
        let search = Arc::new(Shown::default());
        let later = Instant::now() + Duration::from_secs(60);
        let progress = TrialProgress::new(search.clone(), "trial 7".into(), later);
        progress.start("classifiers", Some(40));
        progress.advance(10);
        progress.show("loss 2");
        progress.finish("done");
        assert_eq!(
            *search.0.lock().unwrap(),
            [
                "trial 7: classifiers",
                "trial 7: classifiers 10 of 40",
                "trial 7: classifiers 10 of 40, loss 2"
            ]
        );
        assert!(!progress.is_cancelled());
        let over = TrialProgress::new(search, "trial 8".into(), Instant::now());
        assert!(over.is_cancelled());
    }

    #[test]
    fn what_cannot_end_in_time_is_hopeless_once_its_speed_is_known() {
        let mut stage = Stage::new("vectors", Some(1000));
        let after = |seconds: u64| stage.started + Duration::from_secs(seconds);
        let (early, later) = (after(5), after(20));
        let (soon, far) = (after(40), after(400));
        assert!(!stage.is_hopeless(later, soon), "nothing is known yet");
        stage.done = 100;
        assert!(!stage.is_hopeless(early, soon), "too early to tell");
        assert!(stage.is_hopeless(later, soon), "180 s where there are 20");
        assert!(!stage.is_hopeless(later, far));
        stage.total = None;
        assert!(!stage.is_hopeless(later, soon));
    }
}
