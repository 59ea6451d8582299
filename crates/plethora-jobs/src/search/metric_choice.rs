//! The metric that a search maximises.

use std::str::FromStr;

use plethora_core::metrics::{EvaluationConfig, metric_keys};

use plethora_system::settings::nearest;

/// The metric of a search unless users choose another.
pub const DEFAULT_METRIC: &str = "nDCG@5";

/// A metric, and what has to be measured for it.
#[derive(Debug, Clone)]
pub struct MetricChoice {
    /// Its key, as `nDCG@5`.
    pub key: String,
    /// What to measure for it.
    pub evaluation: EvaluationConfig,
}

impl FromStr for MetricChoice {
    type Err = String;

    fn from_str(key: &str) -> Result<Self, String> {
        let mut evaluation = EvaluationConfig::default();
        let depth = key
            .split_once('@')
            .and_then(|(_, depth)| depth.parse().ok());
        if let Some(depth) = depth.filter(|depth| !evaluation.ks.contains(depth)) {
            evaluation.ks.push(depth);
        }
        evaluation.validate().map_err(|_| unknown(key))?;
        let mut known = metric_keys(&evaluation.ks).into_iter();
        match known.find(|known| known.eq_ignore_ascii_case(key)) {
            Some(key) => Ok(Self { key, evaluation }),
            None => Err(unknown(key)),
        }
    }
}

fn unknown(key: &str) -> String {
    let known = metric_keys(&EvaluationConfig::default().ks);
    let guess = nearest(key, known.iter().map(String::as_str)).unwrap_or(DEFAULT_METRIC);
    format!("unknown metric; did you mean `{guess}`?")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_may_have_any_depth() {
        let depths = |key: &str| {
            key.parse::<MetricChoice>()
                .map(|metric| metric.evaluation.ks)
        };
        assert_eq!(depths(DEFAULT_METRIC), Ok(vec![1, 3, 5]));
        assert_eq!(depths("PSP@10"), Ok(vec![1, 3, 5, 10]));
        assert_eq!(depths("microF1"), Ok(vec![1, 3, 5]));
        assert_eq!("ndcg@5".parse::<MetricChoice>().unwrap().key, "nDCG@5");
        for (key, guess) in [
            ("nDGC@5", "nDCG@5"),
            ("P@0", "P@5"),
            ("P@", "P@5"),
            ("", "nDCG@5"),
        ] {
            let message = depths(key).unwrap_err();
            assert_eq!(message, format!("unknown metric; did you mean `{guess}`?"));
        }
    }
}
