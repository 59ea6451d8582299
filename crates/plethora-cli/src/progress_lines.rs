//! Progress where there is no terminal: lines on standard error, as JSON or for people.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use plethora_core::Progress;
use serde_json::json;

use crate::logging::LogFormat;
use crate::{failure, figures, interrupt};

/// Time between two lines of one stage.
const INTERVAL: Duration = Duration::from_secs(5);

/// Writes lines, or nothing.
pub(crate) struct LineProgress {
    /// Absent for silence.
    format: Option<LogFormat>,
    stage: Mutex<Option<Stage>>,
}

struct Stage {
    name: String,
    total: Option<u64>,
    done: u64,
    started: Instant,
    told: Instant,
}

impl LineProgress {
    /// Lines in this format, or none.
    pub(crate) fn new(format: Option<LogFormat>) -> Self {
        Self {
            format,
            stage: Mutex::new(None),
        }
    }

    fn with_stage<T>(&self, act: impl FnOnce(&mut Option<Stage>) -> T) -> T {
        act(&mut self.stage.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Stage {
    fn tell_progress(&self, format: LogFormat) {
        let Self {
            name, total, done, ..
        } = self;
        failure::tell(&match (format, total) {
            (LogFormat::Json, _) => {
                json!({"event": "progress", "stage": name, "done": done, "total": total})
                    .to_string()
            }
            (LogFormat::Text, Some(total)) => format!("{name}: {done} of {total}"),
            (LogFormat::Text, None) => format!("{name}: {done}"),
        });
    }

    fn tell_end(&self, format: LogFormat, summary: &str) {
        let name = &self.name;
        let seconds = self.started.elapsed().as_secs_f64();
        failure::tell(&match format {
            LogFormat::Json => {
                json!({"event": "finish", "stage": name, "summary": summary, "seconds": seconds})
                    .to_string()
            }
            LogFormat::Text => format!("{name}: {summary} ({})", figures::duration(seconds)),
        });
    }
}

impl Progress for LineProgress {
    fn start(&self, stage: &str, total: Option<u64>) {
        if self.format == Some(LogFormat::Json) {
            failure::tell(&json!({"event": "start", "stage": stage, "total": total}).to_string());
        }
        let now = Instant::now();
        self.with_stage(|current| {
            *current = Some(Stage {
                name: stage.to_owned(),
                total,
                done: 0,
                started: now,
                told: now,
            });
        });
    }

    fn advance(&self, steps: u64) {
        self.with_stage(|current| {
            let (Some(stage), Some(format)) = (current, self.format) else {
                return;
            };
            stage.done += steps;
            if stage.told.elapsed() >= INTERVAL {
                stage.told = Instant::now();
                stage.tell_progress(format);
            }
        });
    }

    fn finish(&self, summary: &str) {
        if let (Some(stage), Some(format)) = (self.with_stage(Option::take), self.format) {
            stage.tell_end(format, summary);
        }
    }

    fn is_cancelled(&self) -> bool {
        interrupt::is_requested()
    }
}
