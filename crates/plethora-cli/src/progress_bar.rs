//! Progress on a terminal: a bar a stage, and a line when it is over.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use plethora_core::{Message, Progress};

use crate::{figures, interrupt, wording};

/// How often a bar without steps shows that the program lives.
const TICK: Duration = Duration::from_millis(120);

/// What bars show: before the first step there is no pace, and where the number of steps is not known
/// no end.
const WITHOUT_TOTAL: &str = "{prefix:28} {spinner} {human_pos} {wide_msg}";
const WITHOUT_PACE: &str = "{prefix:28} {bar:32} {human_pos}/{human_len} {wide_msg}";
const WITH_PACE: &str = "{prefix:28} {bar:32} {human_pos}/{human_len} {per_sec} {eta} {wide_msg}";

/// Draws bars.
pub(crate) struct TerminalProgress {
    bars: MultiProgress,
    stage: Mutex<Option<Stage>>,
}

struct Stage {
    name: String,
    started: Instant,
    bar: ProgressBar,
    /// Steps are known, but none is done: there is no pace to tell yet.
    has_no_pace: bool,
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

fn set_style(bar: &ProgressBar, template: &str) {
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
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
        set_style(
            &bar,
            if total.is_some() {
                WITHOUT_PACE
            } else {
                WITHOUT_TOTAL
            },
        );
        bar.set_prefix(stage.to_owned());
        bar.enable_steady_tick(TICK);
        self.with_stage(|current| {
            *current = Some(Stage {
                name: stage.to_owned(),
                started: Instant::now(),
                bar,
                has_no_pace: total.is_some(),
            });
        });
    }

    fn advance(&self, steps: u64) {
        self.with_stage(|current| {
            if let Some(stage) = current {
                if steps > 0 && std::mem::take(&mut stage.has_no_pace) {
                    set_style(&stage.bar, WITH_PACE);
                }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_is_told_once_there_is_one() {
        let progress = TerminalProgress::new(MultiProgress::new());
        let has_no_pace = || progress.with_stage(|stage| stage.as_ref().unwrap().has_no_pace);
        progress.start("training", Some(1200));
        assert!(has_no_pace());
        progress.advance(0);
        assert!(has_no_pace());
        progress.advance(600);
        assert!(!has_no_pace());
        assert!(!WITHOUT_PACE.contains("per_sec") && !WITHOUT_PACE.contains("eta"));
    }
}
