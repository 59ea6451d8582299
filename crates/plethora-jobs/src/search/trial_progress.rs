//! The progress of one trial, as figures of the search's.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use plethora_core::{Message, Progress};

use crate::SharedProgress;

/// Shows the stages of a trial as figures of the stage that is the search, and asks the trial to
/// stop when the time of the search is over.
pub(crate) struct TrialProgress {
    search: Arc<SharedProgress>,
    /// What stands before the stages.
    name: String,
    deadline: Instant,
    stage: Mutex<Stage>,
}

#[derive(Default)]
struct Stage {
    name: String,
    total: Option<u64>,
    done: u64,
}

impl TrialProgress {
    /// The progress of a trial with this name.
    pub(crate) fn new(search: Arc<SharedProgress>, name: String, deadline: Instant) -> Self {
        Self {
            search,
            name,
            deadline,
            stage: Mutex::default(),
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
        let shown = self.with_stage(|current| {
            *current = Stage {
                name: stage.to_owned(),
                total,
                done: 0,
            };
        });
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
        self.search.is_cancelled() || Instant::now() >= self.deadline
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
}
