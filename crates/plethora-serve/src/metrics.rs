//! What a server counts, for Prometheus.

use std::sync::Arc;
use std::time::Duration;

use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// From a linear model on one core to a transformer under load.
const SECONDS: [f64; 14] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
];

/// Documents of a batch.
const DOCUMENTS: [f64; 11] = [
    1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0,
];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabels {
    route: String,
    method: String,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabel {
    route: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ModelLabel {
    model: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReloadLabels {
    model: String,
    outcome: &'static str,
}

type Histograms<L> = Family<L, Histogram, fn() -> Histogram>;

/// All counts of a server.
#[derive(Debug, Clone)]
pub(crate) struct Metrics {
    registry: Arc<Registry>,
    requests: Family<RouteLabels, Counter>,
    latency: Histograms<RouteLabel>,
    in_flight: Gauge,
    documents: Family<ModelLabel, Counter>,
    rejected: Family<ModelLabel, Counter>,
    queued: Family<ModelLabel, Gauge>,
    batches: Histograms<ModelLabel>,
    work: Histograms<ModelLabel>,
    reloads: Family<ReloadLabels, Counter>,
    feedback: Family<ModelLabel, Counter>,
}

/// The counts of one model, found once.
#[derive(Debug, Clone)]
pub(crate) struct ModelMetrics {
    documents: Counter,
    rejected: Counter,
    queued: Gauge,
    batches: Histogram,
    work: Histogram,
}

fn seconds() -> Histogram {
    Histogram::new(SECONDS)
}

fn document_counts() -> Histogram {
    Histogram::new(DOCUMENTS)
}

impl Metrics {
    /// Counts that stand at zero.
    pub(crate) fn new() -> Self {
        let mut metrics = Self {
            registry: Arc::default(),
            requests: Family::default(),
            latency: Family::new_with_constructor(seconds),
            in_flight: Gauge::default(),
            documents: Family::default(),
            rejected: Family::default(),
            queued: Family::default(),
            batches: Family::new_with_constructor(document_counts),
            work: Family::new_with_constructor(seconds),
            reloads: Family::default(),
            feedback: Family::default(),
        };
        metrics.registry = Arc::new(metrics.registered());
        metrics
    }

    fn registered(&self) -> Registry {
        let mut registry = Registry::with_prefix("plethora");
        registry.register("requests", "Requests answered", self.requests.clone());
        registry.register(
            "request_seconds",
            "Time from the headers of a request to its answer",
            self.latency.clone(),
        );
        registry.register(
            "requests_in_flight",
            "Requests being answered",
            self.in_flight.clone(),
        );
        registry.register("documents", "Documents ranked", self.documents.clone());
        registry.register(
            "rejected",
            "Requests refused because too many documents waited",
            self.rejected.clone(),
        );
        registry.register(
            "queue_documents",
            "Documents that wait for a model",
            self.queued.clone(),
        );
        registry.register(
            "batch_documents",
            "Documents that a model took together",
            self.batches.clone(),
        );
        registry.register(
            "batch_seconds",
            "Time that a model took for a batch",
            self.work.clone(),
        );
        registry.register(
            "reloads",
            "New versions of models, by outcome",
            self.reloads.clone(),
        );
        registry.register("feedback", "Feedback stored", self.feedback.clone());
        registry
    }

    /// The counts of a model.
    pub(crate) fn model(&self, id: &str) -> ModelMetrics {
        let label = ModelLabel { model: id.into() };
        ModelMetrics {
            documents: self.documents.get_or_create_owned(&label),
            rejected: self.rejected.get_or_create_owned(&label),
            queued: self.queued.get_or_create_owned(&label),
            batches: self.batches.get_or_create_owned(&label),
            work: self.work.get_or_create_owned(&label),
        }
    }

    /// Counts a request that was answered.
    pub(crate) fn observe_request(&self, route: &str, method: &str, status: u16, time: Duration) {
        let labels = RouteLabels {
            route: route.into(),
            method: method.into(),
            status,
        };
        self.requests.get_or_create(&labels).inc();
        let label = RouteLabel {
            route: route.into(),
        };
        self.latency
            .get_or_create(&label)
            .observe(time.as_secs_f64());
    }

    /// Requests being answered.
    pub(crate) fn in_flight(&self) -> &Gauge {
        &self.in_flight
    }

    /// Counts an attempt to take up a new version of a model.
    pub(crate) fn count_reload(&self, id: &str, is_taken: bool) {
        let labels = ReloadLabels {
            model: id.into(),
            outcome: if is_taken { "taken" } else { "refused" },
        };
        self.reloads.get_or_create(&labels).inc();
    }

    /// Counts feedback.
    pub(crate) fn count_feedback(&self, id: &str) {
        let label = ModelLabel { model: id.into() };
        self.feedback.get_or_create(&label).inc();
    }

    /// All counts in the text form of Prometheus.
    pub(crate) fn render(&self) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = text::encode(&mut text, &self.registry);
        text
    }
}

impl ModelMetrics {
    /// Counts a request that was refused.
    pub(crate) fn count_rejected(&self) {
        self.rejected.inc();
    }

    /// Tells how many documents wait.
    pub(crate) fn set_queued(&self, num_documents: usize) {
        self.queued.set(num_documents as i64);
    }

    /// Counts a batch.
    pub(crate) fn observe_batch(&self, num_documents: usize) {
        self.batches.observe(num_documents as f64);
        self.documents.inc_by(num_documents as u64);
    }

    /// Counts the time of a batch.
    pub(crate) fn observe_work(&self, time: Duration) {
        self.work.observe(time.as_secs_f64());
    }
}
