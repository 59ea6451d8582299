//! The short form of a report, for the terminal.

use std::fmt::Write as _;

use plethora_jobs::report::Report;

use crate::figures::percent;

/// Width of the first column.
const NAMES: usize = 15;

/// All metrics of all models in percent, and which differences of the first model are more than
/// chance.
pub(crate) fn to_screen(report: &Report) -> String {
    let names = report.names();
    let widths: Vec<usize> = (names.iter())
        .map(|name| name.chars().count().max(7) + 2)
        .collect();
    let mut text = format!("{:NAMES$}", "percent");
    for (name, width) in names.iter().zip(&widths) {
        let _ = write!(text, "{name:>width$}");
    }
    text.push('\n');
    let Some(first) = report.metrics().next() else {
        return text;
    };
    for (key, _) in first.iter() {
        let _ = write!(text, "{key:NAMES$}");
        for (metrics, width) in report.metrics().zip(&widths) {
            let value = metrics.get(key).map(|one| percent(one.value));
            let _ = write!(text, "{:>width$}", value.unwrap_or_default());
        }
        text.push('\n');
    }
    text.push('\n');
    let metric = format!("P@{}", report.largest_k());
    for (first, second, difference) in report.differences(&metric) {
        let _ = writeln!(
            text,
            "{metric:NAMES$}{first} - {second}: {:+.2} ({:+.2} to {:+.2}), p {:.3}",
            100.0 * difference.estimate.value,
            100.0 * difference.estimate.low,
            100.0 * difference.estimate.high,
            difference.p_value
        );
    }
    text
}
