//! What the report of a piece says, as figures to keep.

use std::collections::BTreeMap;
use std::path::Path;

use plethora_core::{Error, Result};
use serde_json::Value;

/// Metrics that are kept of each model.
const KEPT: [&str; 13] = [
    "P@1", "P@3", "P@5", "nDCG@1", "nDCG@3", "nDCG@5", "PSP@1", "PSP@3", "PSP@5", "RP@5", "R@5",
    "microF1", "macroF1",
];
/// Groups of labels by how often they are true, the most frequent first.
const GROUPS: [&str; 3] = ["frequent", "middle", "rare"];

/// Metrics in percent of a folder with a report: those of its model, or how far the rankings of two models agree.
///
/// # Errors
/// If the report cannot be read.
pub fn figures_of(report: &Path) -> Result<BTreeMap<String, f64>> {
    let path = report.join("report.json");
    let text = fs_err::read_to_string(&path).map_err(Error::read(&path))?;
    let report: Value = serde_json::from_str(&text)
        .map_err(|error| Error::input(&path, None, format!("is no report: {error}")))?;
    let mut figures = BTreeMap::new();
    let mut keep = |name: String, value: &Value| {
        if let Some(value) = value.as_f64() {
            figures.insert(name, (10_000.0 * value).round() / 100.0);
        }
    };
    if let Some(pair) = report["comparisons"].get(0) {
        for (k, share) in (1..).zip(pair["overlap"].as_array().into_iter().flatten()) {
            keep(format!("overlap@{k}"), share);
        }
        return Ok(figures);
    }
    let model = &report["models"][0];
    for name in KEPT {
        keep(name.to_owned(), &model["metrics"][name]["value"]);
    }
    let groups = model["test_frequency"].as_array().into_iter().flatten();
    for (name, group) in GROUPS.iter().zip(groups) {
        keep(format!("AUC {name}"), &group["auc"]["value"]);
        keep(format!("AUPR {name}"), &group["aupr"]["value"]);
    }
    Ok(figures)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn figures(report: &Value) -> BTreeMap<String, f64> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("report.json"), report.to_string()).unwrap();
        figures_of(folder.path()).unwrap()
    }

    #[test]
    fn one_model_gives_its_metrics_and_two_their_agreement() {
        let model = json!({
            "metrics": {"P@1": {"value": 0.923_456, "low": 0.9, "high": 0.95}},
            "test_frequency": [{"auc": {"value": 0.9}, "aupr": {"value": 0.8}}]
        });
        let one = figures(&json!({"models": [model], "comparisons": []}));
        let expected = [
            ("AUC frequent", 90.0),
            ("AUPR frequent", 80.0),
            ("P@1", 92.35),
        ];
        assert_eq!(
            one,
            expected
                .map(|(name, value)| (name.to_owned(), value))
                .into()
        );
        let pair = json!({"overlap": [0.5, 0.625]});
        let two = figures(&json!({"models": [model, model], "comparisons": [pair]}));
        assert_eq!(
            two,
            [
                ("overlap@1".to_owned(), 50.0),
                ("overlap@2".to_owned(), 62.5)
            ]
            .into()
        );
    }
}
