//! How long-running work reports what it does, and learns that it should stop.

use crate::Message;

/// Receives progress of long-running work. Libraries call it; only programs draw or print.
///
/// The calls of one stage come in this order, and stages do not overlap:
///
/// ```text
/// start("training tree 1", Some(4096))
///     advance(64)  advance(64)  ...          from any thread
///     show("loss 0.0123")  ...               where there is something to show
/// finish("4,096 nodes, 31,000 classifiers")
/// ```
pub trait Progress: Sync {
    /// A stage begins; `total` is the number of steps where it is known.
    fn start(&self, stage: &str, total: Option<u64>);

    /// `steps` more steps of the current stage are done.
    fn advance(&self, steps: u64);

    /// The latest figures of the current stage, as `loss 0.0123, 812 documents/s`; they replace the
    /// earlier ones.
    fn show(&self, _figures: &str) {}

    /// The current stage is over; `summary` says in a few words what came out of it.
    fn finish(&self, summary: &str);

    /// Something was decided for the user, or may not be what they think. Programs word it as their
    /// users know arguments and settings.
    fn warn(&self, warning: &Message) {
        tracing::warn!("{warning}");
    }

    /// True once the user asked to stop: return [`Error::Interrupted`](crate::Error::Interrupted)
    /// at the next safe point.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Ignores all progress; for tests and for callers who do not show any.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn start(&self, _stage: &str, _total: Option<u64>) {}
    fn advance(&self, _steps: u64) {}
    fn finish(&self, _summary: &str) {}
}
