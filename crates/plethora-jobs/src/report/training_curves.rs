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
/// Curves of a model.
const MAX_CURVES: usize = 12;
/// What the names of figures that are shown begin with, behind the name of a network.
const FIGURES: [&str; 2] = ["valid/", "loss"];
/// What every network of a model shows before any of them shows more: the figure that its weights were chosen
/// by, and its loss.
const FIRST: [&str; 2] = ["valid/nDCG@5", "loss"];

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
    // Networks in the order in which they were trained.
    let mut networks: Vec<String> = Vec::new();
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
                let (network, _) = parts(key);
                if !networks.iter().any(|known| known == network) {
                    networks.push(network.to_owned());
                }
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
    // A model of several networks has more curves than fit: what comes first decides what is seen.
    curves.sort_by_cached_key(|curve| {
        let (network, figure) = parts(&curve.key);
        let network = networks.iter().position(|known| known == network);
        let place = FIRST.iter().position(|&first| first == figure);
        let place = place.unwrap_or(FIRST.len());
        (place == FIRST.len(), network, place, figure.to_owned())
    });
    curves.truncate(MAX_CURVES);
    curves
}

/// The network that a figure is of, empty for the only or the first one, and the figure's own name.
fn parts(key: &str) -> (&str, &str) {
    let start = FIGURES.iter().filter_map(|&figure| key.rfind(figure)).min();
    key.split_at(start.unwrap_or(0))
}

/// Losses and what validation measured; rates, times and memory say little of a model.
fn is_shown(key: &str) -> bool {
    key.contains(FIGURES[0]) || key.ends_with(FIGURES[1])
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
    use std::fmt::Write as _;

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
        assert_eq!(keys, ["loss", "valid/P@1"]);
        assert_eq!(curves[0].points, [(0.5, 0.9), (1.5, 0.5)]);
    }

    #[test]
    fn every_network_shows_its_loss_and_the_first_one_comes_first() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = String::new();
        let networks = ["", "tree-1.level-0/", "tree-2.level-0/", "tree-3.level-0/"];
        for (number, network) in (0..).zip(networks) {
            for step in 1..=2 {
                let epoch = f64::from(2 * number + step);
                let record = serde_json::json!({
                    "step": epoch, "epoch": epoch, "seconds": epoch,
                    format!("{network}loss"): 1.0 / epoch,
                    format!("{network}valid/P@1"): 0.1,
                    format!("{network}valid/P@3"): 0.1,
                    format!("{network}valid/P@5"): 0.1,
                    format!("{network}valid/nDCG@5"): 0.1,
                });
                writeln!(log, "{record}").unwrap();
            }
        }
        std::fs::write(folder.path().join(LOG_FILE), log).unwrap();
        let curves = read(folder.path());
        assert_eq!(curves.len(), MAX_CURVES);
        let keys: Vec<&str> = curves.iter().map(|curve| curve.key.as_str()).collect();
        assert_eq!(keys[..2], ["valid/nDCG@5", "loss"]);
        for network in networks {
            let loss = format!("{network}loss");
            assert!(keys.contains(&loss.as_str()), "{loss}: {keys:?}");
        }
    }

    #[test]
    fn long_curves_keep_their_ends() {
        let points: Vec<(f64, f64)> = (0..1000).map(|x| (f64::from(x), 0.0)).collect();
        let thin = thinned(&points);
        assert_eq!(thin.len(), MAX_POINTS);
        assert_eq!((thin[0], thin[MAX_POINTS - 1]), (points[0], points[999]));
    }
}
