//! What training will cost, roughly, before anything is trained.

use serde::Serialize;

use crate::Device;

/// What the program needs before it reads anything.
pub const BASE_BYTES: u64 = 30 << 20;

/// Bytes of an entry of a sparse matrix.
pub const ENTRY_BYTES: u64 = 8;

/// Bytes of a term: its spelling, its place in the table, its frequency.
pub const TERM_BYTES: u64 = 80;

/// Terms kept of a label's features, as in the recipes.
const LABEL_FEATURES: u64 = 1000;

/// How many times faster than one core of a processor a GPU trains networks: from runs on an H200 and
/// estimates for processors, within a factor of two or so.
const GPU_SPEEDUP: f64 = 1200.0;

/// Threads share memory and caches: two do not quite the work of two.
const THREAD_SHARE: f64 = 0.8;

/// What decides the cost.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct TrainingSize {
    /// Documents with labels.
    #[serde(rename = "n_documents")]
    pub num_documents: u64,
    /// Terms of all documents, each once per document.
    #[serde(rename = "n_feature_entries")]
    pub num_entries: u64,
    /// Different terms.
    #[serde(rename = "n_features")]
    pub num_features: u64,
    /// Different labels.
    #[serde(rename = "n_labels")]
    pub num_labels: u64,
    /// Labels of all documents.
    #[serde(rename = "n_assignments")]
    pub num_assignments: u64,
}

/// What a system will need.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// Seconds of a processor, over all cores.
    pub cpu_seconds: f64,
    /// Most memory held at once.
    pub peak_memory_bytes: u64,
    /// Share of these seconds that a GPU takes over, where there is one.
    #[serde(skip)]
    pub gpu_share: f64,
}

impl Estimate {
    /// Seconds that it should take on a device, the rest on so many threads of a processor.
    pub fn wall_seconds(&self, device: Device, num_threads: usize) -> f64 {
        let threads = 1.0 + (num_threads.max(1) - 1) as f64 * THREAD_SHARE;
        if device == Device::Cpu {
            return self.cpu_seconds / threads;
        }
        let on_gpu = self.cpu_seconds * self.gpu_share;
        on_gpu / GPU_SPEEDUP + (self.cpu_seconds - on_gpu) / threads
    }
}

impl TrainingSize {
    /// With pairs of words for terms, too: on eurlex57k and gnd-tib memory and time double, and so
    /// many pairs occur once that terms are ten times as many while they are counted.
    #[must_use]
    pub fn with_pairs(self) -> Self {
        Self {
            num_entries: self.num_entries * 2,
            num_features: self.num_features * 10,
            ..self
        }
    }

    /// Bytes of documents and labels as rows of features, the entries of documents `copies` times;
    /// trees and classifiers go to disk one by one.
    pub fn feature_bytes(&self, copies: u64) -> u64 {
        let entries_per_document = self.num_entries / self.num_documents.max(1);
        let label_entries =
            (self.num_assignments * entries_per_document).min(self.num_labels * LABEL_FEATURES);
        BASE_BYTES
            + ENTRY_BYTES * (copies * self.num_entries + label_entries)
            + TERM_BYTES * self.num_features
    }
}
