//! A search from beginning to end.

use std::time::Duration;

use serde_json::{Value, json};

use super::documents::{DocumentFacts, Documents};
use super::effort::Effort;
use super::folder::{DATA, Existing, Identity, KEEPS_MODEL, SearchFolder};
use super::metric_choice::MetricChoice;
use super::plan::{Method, Plan};
use super::report::SearchReport;
use super::running_search::RunningSearch;
use super::search_space::SearchSpace;
use crate::session::Session;
use crate::training::TrainingJob;

/// What to search, and how long.
#[derive(Debug)]
pub(crate) struct SearchJob {
    /// What trials have in common; its output is the folder of the search.
    pub(crate) training: TrainingJob,
    pub(crate) documents: Documents,
    pub(crate) space: SearchSpace,
    pub(crate) method: Method,
    pub(crate) num_trials: usize,
    pub(crate) metric: MetricChoice,
    pub(crate) budget: Duration,
    /// What validation is on, for the identity of the search.
    pub(crate) validation: Value,
    /// Keep the best trial's model.
    pub(crate) keeps_model: bool,
    pub(crate) existing: Existing,
}

impl SearchJob {
    /// Searches until all trials are done or the time is over.
    pub(crate) fn run(&self, session: &Session) -> anyhow::Result<SearchReport> {
        SearchFolder::check(&self.training.output, self.existing)?;
        self.training.check()?;
        let facts = self.documents.read(session)?;
        let identity = self.identity(&facts)?;
        let opened = SearchFolder::open(&self.training.output, &identity, self.existing)?;
        let mut running = RunningSearch::new(self, self.plan(&facts), opened, session);
        let is_complete = running.run()?;
        running.report(&facts, is_complete)
    }

    /// The order of trials; the smallest ones depend on how much there is to learn from.
    fn plan(&self, facts: &DocumentFacts) -> Plan {
        let min_share = Effort::min_share(self.space.base(), facts.num_train);
        Plan::new(self.method, self.num_trials, min_share)
    }

    fn identity(&self, facts: &DocumentFacts) -> anyhow::Result<Identity> {
        let mut identity: Identity = [
            ("program version", json!(env!("CARGO_PKG_VERSION"))),
            ("settings", serde_json::to_value(self.space.base())?),
            ("ranges", json!(self.space.shown_ranges())),
            ("--method", serde_json::to_value(self.method)?),
            ("--metric", json!(self.metric.key)),
            ("validation", self.validation.clone()),
            (KEEPS_MODEL, json!(self.keeps_model)),
            (DATA, json!(facts.fingerprint)),
        ]
        .into();
        // More random trials are the same trials and some more.
        if self.method == Method::Halving {
            identity.insert("--trials", json!(self.num_trials));
        }
        Ok(identity)
    }
}
