//! What a training run records as it proceeds: `metrics.jsonl`, a JSON object per line, and an
//! event file that `TensorBoard` shows. Both have the same records, and both can be resumed after
//! an interruption.

mod crc32c;
mod event;
mod event_file;
mod kept_log;
mod log;
mod metrics_file;

pub use log::{LogRecord, TrainingLog, is_log_file};
