//! What was measured, as lines of JSON that are kept.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;

use plethora_core::{Error, Result};
use serde::{Deserialize, Serialize};

/// What one piece gave.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figures {
    /// The run.
    pub run: String,
    /// The data.
    pub data: String,
    /// The seed.
    pub seed: u64,
    /// What `plethora train` and `plethora ensemble` were told beside data, files and folders.
    pub arguments: String,
    /// Metrics, those of rankings in percent.
    pub metrics: BTreeMap<String, f64>,
    /// The encoder or the word vectors that the user brought, by name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub with: String,
    /// Where it was computed.
    pub device: String,
    /// The day, as 2026-11-18; empty where it was not kept.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub day: String,
    /// The page that had it first, where it was not measured by this command.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// What else is to be known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// All that was measured.
#[derive(Debug, Clone, Default)]
pub struct Results(Vec<Figures>);

/// Mean and spread of a metric over seeds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// Standard deviation of the sample; none of one seed.
    pub deviation: Option<f64>,
}

impl Results {
    /// Adds the lines of a file; of equal run, data and seed the later line counts.
    ///
    /// # Errors
    /// [`Error::Input`] with the line that cannot be read.
    pub fn read(&mut self, path: &Path) -> Result<()> {
        let text = fs_err::read_to_string(path).map_err(Error::read(path))?;
        for (number, line) in (1..).zip(text.lines()) {
            let figures = serde_json::from_str(line).map_err(|error| {
                let message = format!("expected figures as JSON: {error}");
                Error::input(path, Some(number), message)
            })?;
            self.add(figures);
        }
        Ok(())
    }

    /// Takes the place of figures of the same run, data and seed.
    pub fn add(&mut self, figures: Figures) {
        let is_same = |known: &Figures| {
            (&known.run, &known.data, known.seed) == (&figures.run, &figures.data, figures.seed)
        };
        self.0.retain(|known| !is_same(known));
        self.0.push(figures);
    }

    /// What there is of a run on some data, by seed.
    pub fn of(&self, run: &str, data: &str) -> Vec<&Figures> {
        let is_wanted = |figures: &&Figures| figures.run == run && figures.data == data;
        let mut found: Vec<&Figures> = self.0.iter().filter(is_wanted).collect();
        found.sort_by_key(|figures| figures.seed);
        found
    }

    /// True if a piece was measured, with these arguments.
    pub fn has(&self, run: &str, data: &str, seed: u64, arguments: &str) -> bool {
        let mut found = self.of(run, data).into_iter();
        found.any(|figures| figures.seed == seed && figures.arguments == arguments)
    }

    /// A metric of a run on some data.
    pub fn spread(&self, run: &str, data: &str, metric: &str) -> Option<Spread> {
        let found = self.of(run, data);
        let values = found
            .iter()
            .filter_map(|figures| figures.metrics.get(metric));
        Spread::of(&values.copied().collect::<Vec<f64>>())
    }

    /// All of it.
    pub fn all(&self) -> &[Figures] {
        &self.0
    }
}

impl Figures {
    /// Adds a line to a file, which is made where it is missing.
    pub fn append(&self, path: &Path) -> Result<()> {
        let mut line =
            serde_json::to_vec(self).map_err(|error| Error::write(path)(error.into()))?;
        line.push(b'\n');
        let mut options = fs_err::OpenOptions::new();
        let file = options.create(true).append(true).open(path);
        file.and_then(|mut file| file.write_all(&line))
            .map_err(Error::write(path))
    }
}

impl Spread {
    fn of(values: &[f64]) -> Option<Self> {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        (!values.is_empty()).then(|| Self {
            mean,
            deviation: (values.len() > 1).then(|| (squares / (count - 1.0)).sqrt()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(run: &str, seed: u64, value: f64) -> Figures {
        Figures {
            run: run.into(),
            data: "books".into(),
            seed,
            metrics: BTreeMap::from([("P@1".to_owned(), value)]),
            ..Figures::default()
        }
    }

    #[test]
    fn lines_add_up_and_the_latest_counts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.jsonl");
        for (seed, value) in [(1, 10.0), (2, 14.0), (1, 12.0)] {
            figures("a", seed, value).append(&path).unwrap();
        }
        let mut results = Results::default();
        results.read(&path).unwrap();
        assert_eq!(results.all().len(), 2);
        let spread = results.spread("a", "books", "P@1").unwrap();
        assert!((spread.mean - 13.0).abs() < 1e-12);
        assert!((spread.deviation.unwrap() - 2.0f64.sqrt()).abs() < 1e-12);
        assert!(results.spread("a", "books", "P@5").is_none());
        assert!(results.has("a", "books", 2, "") && !results.has("a", "books", 2, "--seed 3"));
    }

    #[test]
    fn a_broken_line_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.jsonl");
        figures("a", 1, 1.0).append(&path).unwrap();
        std::fs::write(
            &path,
            [std::fs::read(&path).unwrap(), b"{\n".into()].concat(),
        )
        .unwrap();
        let message = Results::default().read(&path).unwrap_err().to_string();
        assert!(
            message.contains("results.jsonl") && message.contains('2'),
            "{message}"
        );
    }
}
