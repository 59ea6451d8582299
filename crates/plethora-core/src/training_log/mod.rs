//! What a training run tells of itself while it goes on: `metrics.jsonl`, a JSON object a line, and
//! an event file that `TensorBoard` shows. Both have the same records, and both can be gone on with
//! after an interruption.

mod crc32c;
mod event;
mod event_file;
mod log;
mod metrics_file;

pub use log::{LogRecord, TrainingLog};
