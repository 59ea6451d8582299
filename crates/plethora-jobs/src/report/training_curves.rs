//! The figures of a training run, from the log that a model keeps.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::Serialize;
use serde_json::Value;

const LOG_FILE: &str = "metrics.jsonl";
/// Points of a curve; more cannot be told apart in a picture.
const MAX_POINTS: usize = 200;
/// Curves of a model; those of validation come first.
const MAX_CURVES: usize = 12;

/// One figure over the steps of training.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct TrainingCurve {
    /// The figure's name in the log, as `valid/nDCG@5`.
    pub(super) key: String,
    /// Epochs and values.
    pub(super) points: Vec<(f64, f64)>,
}

/// The curves of a model; none where it has no log. What cannot be read is left out: a report does
/// not fail for want of a picture.
pub(super) fn read(model: &Path) -> Vec<TrainingCurve> {
    let Ok(file) = File::open(model.join(LOG_FILE)) else {
        return Vec::new();
    };
    let mut curves: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    for line in BufReader::new(file).lines().map_while(Result::ok) {
        let Ok(Value::Object(record)) = serde_json::from_str(&line) else {
            continue;
        };
        let Some(epoch) = record.get("epoch").and_then(Value::as_f64) else {
            continue;
        };
        let figures = record.iter().filter(|(key, _)| is_shown(key));
        for (key, value) in figures {
            if let Some(value) = value.as_f64() {
                curves.entry(key.clone()).or_default().push((epoch, value));
            }
        }
    }
    let mut curves: Vec<TrainingCurve> = curves
        .into_iter()
        .filter(|(_, points)| points.len() > 1)
        .map(|(key, points)| TrainingCurve {
            key,
            points: thinned(&points),
        })
        .collect();
    curves.sort_by_key(|curve| (!curve.key.contains("valid/"), curve.key.clone()));
    curves.truncate(MAX_CURVES);
    curves
}

/// Losses and what validation measured; rates, times and memory say little of a model.
fn is_shown(key: &str) -> bool {
    key.contains("valid/") || key.ends_with("loss")
}

/// Evenly chosen points, the first and the last among them.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if points.len() <= MAX_POINTS {
        return points.to_vec();
    }
    let last = points.len() - 1;
    (0..MAX_POINTS)
        .map(|place| points[place * last / (MAX_POINTS - 1)])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_come_from_the_log_and_bad_lines_do_no_harm() {
        let folder = tempfile::tempdir().unwrap();
        assert!(read(folder.path()).is_empty());
        let log = "{\"step\":1,\"epoch\":0.5,\"loss\":0.9,\"rate\":1,\"valid/P@1\":0.1}\n\
                   {\"step\":2,\"epoch\":1.0,\"loss\":null,\"valid/P@1\":0.4}\nhalf a li\n\
                   {\"step\":3,\"epoch\":1.5,\"loss\":0.5}\n";
        std::fs::write(folder.path().join(LOG_FILE), log).unwrap();
        let curves = read(folder.path());
        let keys: Vec<&str> = curves.iter().map(|curve| curve.key.as_str()).collect();
        assert_eq!(keys, ["valid/P@1", "loss"]);
        assert_eq!(curves[1].points, [(0.5, 0.9), (1.5, 0.5)]);
    }

    #[test]
    fn long_curves_keep_their_ends() {
        let points: Vec<(f64, f64)> = (0..1000).map(|x| (f64::from(x), 0.0)).collect();
        let thin = thinned(&points);
        assert_eq!(thin.len(), MAX_POINTS);
        assert_eq!((thin[0], thin[MAX_POINTS - 1]), (points[0], points[999]));
    }
}
