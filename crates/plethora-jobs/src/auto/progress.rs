//! Progress of what must be finished even where the user asked to stop.

use std::sync::Arc;

use plethora_core::{Message, Progress};

use crate::SharedProgress;

/// Passes everything on, but does not stop: the best so far is kept by it.
pub(super) struct Finishing(pub(super) Arc<SharedProgress>);

impl Progress for Finishing {
    fn start(&self, stage: &str, total: Option<u64>) {
        self.0.start(stage, total);
    }

    fn advance(&self, steps: u64) {
        self.0.advance(steps);
    }

    fn show(&self, figures: &str) {
        self.0.show(figures);
    }

    fn finish(&self, summary: &str) {
        self.0.finish(summary);
    }

    fn warn(&self, warning: &Message) {
        self.0.warn(warning);
    }
}
