//! A search from beginning to end.

use std::time::Duration;

use plethora_core::{Error, Result};
use plethora_system::Effort;
use serde_json::{Value, json};

use super::documents::{DocumentFacts, Documents};
use super::effort::min_share;
use super::folder::{DATA, Existing, Identity, KEEPS_MODEL, SearchFolder};
use super::metric_choice::MetricChoice;
use super::plan::{Method, Plan};
use super::report::SearchReport;
use super::running_search::RunningSearch;
use super::search_space::SearchSpace;
use super::trial_runner::TrialRunner;
use crate::Session;
use crate::training::TrainingJob;

/// What to search, and how long.
#[derive(Debug)]
pub struct SearchJob {
    /// What trials have in common; its output is the folder of the search.
    pub training: TrainingJob,
    /// Documents to learn from and to measure on.
    pub documents: Documents,
    /// What it varies.
    pub space: SearchSpace,
    /// What early rungs get less of.
    pub effort: Effort,
    /// How trials are chosen.
    pub method: Method,
    /// Most trials to run.
    pub num_trials: usize,
    /// What to maximise.
    pub metric: MetricChoice,
    /// Time for all trials.
    pub budget: Duration,
    /// What validation is on, for the identity of the search.
    pub validation: Value,
    /// Keep the best trial's model.
    pub keeps_model: bool,
    /// What to do with a search that is there.
    pub existing: Existing,
}

impl SearchJob {
    /// Searches until all trials are done or the time is over.
    pub fn run(&self, session: &Session) -> Result<SearchReport> {
        self.run_with(None, session)
    }

    /// As [`run`](Self::run), with trials that are trained elsewhere, where there is a place for it.
    pub fn run_with(
        &self,
        runner: Option<&dyn TrialRunner>,
        session: &Session,
    ) -> Result<SearchReport> {
        if runner.is_some() && self.keeps_model {
            let message = "models of trials that are trained elsewhere are not kept; train the best \
                           settings again";
            return Err(Error::config("keep_model", message));
        }
        SearchFolder::check(&self.training.output, self.existing)?;
        self.training.check(session)?;
        let facts = self.documents.read(session)?;
        let identity = self.identity(&facts);
        let opened = SearchFolder::open(&self.training.output, &identity, self.existing)?;
        let mut running = RunningSearch::new(self, self.plan(&facts), opened, runner, session);
        let is_complete = running.run()?;
        running.report(&facts, is_complete)
    }

    /// The order of trials; the smallest ones depend on how much there is to learn from.
    fn plan(&self, facts: &DocumentFacts) -> Plan {
        let min_share = min_share(self.effort, facts.num_train);
        Plan::new(self.method, self.num_trials, min_share)
    }

    fn identity(&self, facts: &DocumentFacts) -> Identity {
        let mut identity: Identity = [
            ("program version", json!(env!("CARGO_PKG_VERSION"))),
            ("settings", json!(self.space.base())),
            ("ranges", json!(self.space.shown_ranges())),
            ("method", json!(self.method)),
            ("metric", json!(self.metric.key)),
            ("validation", self.validation.clone()),
            (KEEPS_MODEL, json!(self.keeps_model)),
            (DATA, json!(facts.fingerprint)),
        ]
        .into();
        // More random trials are the same trials and some more.
        if self.method == Method::Halving {
            identity.insert("trials", json!(self.num_trials));
        }
        identity
    }
}
