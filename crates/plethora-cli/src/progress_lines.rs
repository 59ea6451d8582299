//! Progress where there is no terminal: lines on standard error, as JSON or for people.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use plethora_core::{Message, Progress};
use serde_json::json;

use crate::logging::LogFormat;
use crate::{failure, figures, interrupt, wording};

/// Time between two lines of one stage.
const INTERVAL: Duration = Duration::from_secs(10);

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
    /// The latest, or nothing.
    figures: String,
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
    /// What is done, how long the rest takes at the pace so far, and the latest figures.
    fn progress_line(&self, format: LogFormat, elapsed: f64) -> String {
        let Self {
            name,
            total,
            done,
            figures,
            ..
        } = self;
        let eta = total
            .filter(|_| *done > 0)
            .map(|total| elapsed * total.saturating_sub(*done) as f64 / *done as f64);
        match format {
            LogFormat::Json => json!({
                "event": "progress",
                "stage": name,
                "done": done,
                "total": total,
                "eta_seconds": eta.map(f64::round),
                "figures": (!figures.is_empty()).then_some(figures),
            })
            .to_string(),
            LogFormat::Text => {
                let total = total.map(|total| format!(" of {total}"));
                let eta = eta.map(|eta| format!(", {} left", figures::duration(eta)));
                let shown = (!figures.is_empty()).then(|| format!(", {figures}"));
                let parts = [total, eta, shown].map(Option::unwrap_or_default);
                format!("{name}: {done}{}", parts.concat())
            }
        }
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
                figures: String::new(),
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
                let elapsed = stage.started.elapsed().as_secs_f64();
                failure::tell(&stage.progress_line(format, elapsed));
            }
        });
    }

    fn show(&self, figures: &str) {
        self.with_stage(|current| {
            if let Some(stage) = current {
                figures.clone_into(&mut stage.figures);
            }
        });
    }

    fn finish(&self, summary: &str) {
        if let (Some(stage), Some(format)) = (self.with_stage(Option::take), self.format) {
            stage.tell_end(format, summary);
        }
    }

    fn warn(&self, warning: &Message) {
        wording::warn(warning);
    }

    fn is_cancelled(&self) -> bool {
        interrupt::is_requested()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(total: Option<u64>, done: u64, figures: &str) -> Stage {
        let now = Instant::now();
        Stage {
            name: "epoch 2".into(),
            total,
            done,
            figures: figures.into(),
            started: now,
            told: now,
        }
    }

    #[test]
    fn lines_tell_pace_and_figures_where_known() {
        for (stage, line) in [
            (stage(None, 7, ""), "epoch 2: 7"),
            (stage(Some(40), 0, ""), "epoch 2: 0 of 40"),
            (stage(Some(40), 10, ""), "epoch 2: 10 of 40, 60.0 s left"),
            (
                stage(Some(40), 40, "loss 0.0123, 812 documents/s"),
                "epoch 2: 40 of 40, 0.00 s left, loss 0.0123, 812 documents/s",
            ),
        ] {
            assert_eq!(stage.progress_line(LogFormat::Text, 20.0), line);
        }
    }

    #[test]
    fn json_lines_always_have_the_same_keys() {
        let line = |stage: &Stage| -> serde_json::Value {
            serde_json::from_str(&stage.progress_line(LogFormat::Json, 20.0)).unwrap()
        };
        assert_eq!(
            line(&stage(Some(40), 30, "loss 0.5")),
            json!({"event": "progress", "stage": "epoch 2", "done": 30, "total": 40,
                   "eta_seconds": 7.0, "figures": "loss 0.5"})
        );
        assert_eq!(
            line(&stage(None, 3, "")),
            json!({"event": "progress", "stage": "epoch 2", "done": 3, "total": null,
                   "eta_seconds": null, "figures": null})
        );
    }

    #[test]
    fn the_latest_figures_count() {
        let progress = LineProgress::new(None);
        progress.show("before any stage");
        progress.start("epoch 2", None);
        progress.show("loss 2");
        progress.show("loss 1");
        let shown = progress.with_stage(|stage| stage.as_ref().map(|stage| stage.figures.clone()));
        assert_eq!(shown.as_deref(), Some("loss 1"));
    }
}
