//! The short form of a report, for the terminal.

use std::fmt::Write as _;

use super::Report;
use crate::figures::percent;

/// Width of the first column.
const NAMES: usize = 15;

impl Report {
    /// All metrics of all models in percent, and which differences of the first model are more than
    /// chance.
    pub(crate) fn to_screen(&self) -> String {
        let widths: Vec<usize> = (self.names().iter())
            .map(|name| name.chars().count().max(7) + 2)
            .collect();
        let mut text = format!("{:NAMES$}", "percent");
        for (name, width) in self.names().iter().zip(&widths) {
            let _ = write!(text, "{name:>width$}");
        }
        text.push('\n');
        let Some(first) = self.models.first() else {
            return text;
        };
        for (key, _) in first.metrics.iter() {
            let _ = write!(text, "{key:NAMES$}");
            for (model, width) in self.models.iter().zip(&widths) {
                let value = model.metrics.get(key).map(|one| percent(one.value));
                let _ = write!(text, "{:>width$}", value.unwrap_or_default());
            }
            text.push('\n');
        }
        text.push('\n');
        let metric = format!("P@{}", self.settings.largest_k());
        for pair in &self.comparisons {
            if let Some(difference) = pair.get(&metric) {
                let _ = writeln!(
                    text,
                    "{metric:NAMES$}{} - {}: {:+.2} ({:+.2} to {:+.2}), p {:.3}",
                    pair.first,
                    pair.second,
                    100.0 * difference.estimate.value,
                    100.0 * difference.estimate.low,
                    100.0 * difference.estimate.high,
                    difference.p_value
                );
            }
        }
        text
    }

    /// What the user should know of the data.
    pub(crate) fn warnings(&self) -> &[String] {
        &self.published.warnings
    }
}
