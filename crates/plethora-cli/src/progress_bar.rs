//! Progress on a terminal: a bar a stage, and a line when it is over.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use plethora_core::{Message, Progress};

use crate::{figures, interrupt, wording};

/// How often a bar without steps shows that the program lives.
const TICK: Duration = Duration::from_millis(120);

/// Draws bars.
pub(crate) struct TerminalProgress {
    bars: MultiProgress,
    stage: Mutex<Option<Stage>>,
}

struct Stage {
    name: String,
    started: Instant,
    bar: ProgressBar,
}

impl TerminalProgress {
    /// Draws among `bars`, which log lines know to avoid.
    pub(crate) fn new(bars: MultiProgress) -> Self {
        Self {
            bars,
            stage: Mutex::new(None),
        }
    }

    fn with_stage<T>(&self, act: impl FnOnce(&mut Option<Stage>) -> T) -> T {
        act(&mut self.stage.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for TerminalProgress {
    /// A stage that failed leaves no bar behind, and the error a line of its own.
    fn drop(&mut self) {
        if let Some(stage) = self.with_stage(Option::take) {
            stage.bar.finish_and_clear();
        }
    }
}

impl Progress for TerminalProgress {
    fn start(&self, stage: &str, total: Option<u64>) {
        let bar = self.bars.add(match total {
            Some(total) => ProgressBar::new(total),
            None => ProgressBar::new_spinner(),
        });
        let template = match total {
            Some(_) => "{prefix:28} {bar:32} {human_pos}/{human_len} {per_sec} {eta} {wide_msg}",
            None => "{prefix:28} {spinner} {human_pos} {wide_msg}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_prefix(stage.to_owned());
        bar.enable_steady_tick(TICK);
        self.with_stage(|current| {
            *current = Some(Stage {
                name: stage.to_owned(),
                started: Instant::now(),
                bar,
            });
        });
    }

    fn advance(&self, steps: u64) {
        self.with_stage(|current| {
            if let Some(stage) = current {
                stage.bar.inc(steps);
            }
        });
    }

    fn show(&self, figures: &str) {
        self.with_stage(|current| {
            if let Some(stage) = current {
                stage.bar.set_message(figures.to_owned());
            }
        });
    }

    fn finish(&self, summary: &str) {
        if let Some(stage) = self.with_stage(Option::take) {
            stage.bar.finish_and_clear();
            let seconds = stage.started.elapsed().as_secs_f64();
            let line = format!(
                "{:28} {summary} ({})",
                stage.name,
                figures::duration(seconds)
            );
            // A terminal that went away is no reason to stop.
            let _ = self.bars.println(line);
        }
    }

    fn warn(&self, warning: &Message) {
        wording::warn(warning);
    }

    fn is_cancelled(&self) -> bool {
        interrupt::is_requested()
    }
}
