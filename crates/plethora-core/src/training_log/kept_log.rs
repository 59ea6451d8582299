//! The log as a model folder keeps it: all figures, and nothing that the clock has made. Equal runs leave equal folders.

use std::fmt;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::event::{encode_values, encode_version};
use super::event_file::{framed, kept_name};
use super::metrics_file::METRICS_FILE;
use crate::{Error, Result};

/// Figures that differ between equal runs.
const OF_THE_CLOCK: [&str; 4] = ["seconds", "documents_per_s", "step_ms", "gpu_gib"];

/// Columns that an event has by itself.
const OF_THE_EVENT: [&str; 2] = ["step", "epoch"];

/// Writes the log of one folder, if it has one, into another. Events get their step for a time, in seconds.
pub(super) fn write(from: &Path, to: &Path) -> Result<()> {
    let path = from.join(METRICS_FILE);
    if !path.is_file() {
        return Ok(());
    }
    let mut metrics = Vec::new();
    let mut events = framed(&encode_version(0.0));
    for line in BufReader::new(File::open(&path).map_err(Error::read(&path))?).lines() {
        let line = line.map_err(Error::read(&path))?;
        // A torn line is no record.
        let Ok(record) = serde_json::from_str::<Record>(&line) else {
            break;
        };
        let record = record.without(&OF_THE_CLOCK);
        serde_json::to_writer(&mut metrics, &record)
            .map_err(|error| Error::write(to)(error.into()))?;
        metrics.push(b'\n');
        let step = record.get("step").unwrap_or(0.0);
        let values = record.without(&OF_THE_EVENT);
        let values: Vec<(&str, f64)> = (values.0.iter())
            .map(|(name, value)| (name.as_str(), value.unwrap_or(f64::NAN)))
            .collect();
        events.extend(framed(&encode_values(step, step as u64, &values)));
    }
    for (name, content) in [(METRICS_FILE.to_owned(), metrics), (kept_name(), events)] {
        let copy = to.join(name);
        fs::write(&copy, content).map_err(Error::write(&copy))?;
    }
    Ok(())
}

/// The figures of a line in their order; none for what is no number.
struct Record(Vec<(String, Option<f64>)>);

impl Record {
    fn without(&self, names: &[&str]) -> Self {
        let kept = self.0.iter();
        Self(
            kept.filter(|(name, _)| !names.contains(&name.rsplit('/').next().unwrap_or(name)))
                .cloned()
                .collect(),
        )
    }

    fn get(&self, wanted: &str) -> Option<f64> {
        let found = self.0.iter().find(|(name, _)| name == wanted);
        found.and_then(|(_, value)| *value)
    }
}

impl<'de> Deserialize<'de> for Record {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Record;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object of numbers")
            }

            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> std::result::Result<Record, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Record(fields))
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

impl Serialize for Record {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            match value {
                // Counts are whole numbers, and are written as such.
                Some(count) if name == "step" => map.serialize_entry(name, &(*count as u64))?,
                value => map.serialize_entry(name, value)?,
            }
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::training_log::{LogRecord, TrainingLog};

    fn kept(seconds: f64) -> (String, Vec<u8>) {
        let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let [from, to] = folders.each_ref().map(tempfile::TempDir::path);
        let mut log = TrainingLog::create(from).unwrap();
        for step in [10, 20] {
            let values = [
                ("loss", 1.0 / step as f64),
                ("step_ms", seconds),
                ("valid/P@1", 0.5),
                ("member-0/documents_per_s", 1.0 / seconds),
            ];
            let record = LogRecord {
                step,
                epoch: 0.5,
                seconds,
                values: &values,
            };
            log.add(&record).unwrap();
        }
        write(from, to).unwrap();
        let metrics = fs::read_to_string(to.join(METRICS_FILE)).unwrap();
        (metrics, fs::read(to.join(kept_name())).unwrap())
    }

    #[test]
    fn equal_runs_keep_equal_logs_whatever_the_clock_says() {
        let (metrics, events) = kept(1.5);
        assert_eq!(
            metrics,
            "{\"step\":10,\"epoch\":0.5,\"loss\":0.1,\"valid/P@1\":0.5}\n\
             {\"step\":20,\"epoch\":0.5,\"loss\":0.05,\"valid/P@1\":0.5}\n"
        );
        assert_eq!(kept(77.0), (metrics, events));
    }
}
