//! Vocabularies in JSON: one object of all labels, or one object per line.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value};

use super::super::Label;
use super::super::source::Source;
use super::{PlacedLabel, read_whole};
use crate::Result;

/// True for an object that describes one label by its `key` or `uid`.
pub(super) fn is_label_line(line: &str) -> bool {
    serde_json::from_str::<Map<String, Value>>(line)
        .is_ok_and(|fields| fields.contains_key("key") || fields.contains_key("uid"))
}

/// A label as JSON lines describe it: ours, or the XMC repository's `lbl.json`.
#[derive(Deserialize)]
struct LabelLine {
    #[serde(alias = "uid")]
    key: StringOrNumber,
    #[serde(alias = "title", default)]
    name: Option<String>,
    #[serde(default)]
    alternatives: Vec<String>,
    #[serde(default)]
    parents: Vec<String>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a string or a whole number as key")]
enum StringOrNumber {
    Text(String),
    Number(i64),
}

/// The label of a line.
pub(super) fn parse_line(line: &str) -> Result<Label, String> {
    let LabelLine {
        key,
        name,
        alternatives,
        parents,
    } = serde_json::from_str(line).map_err(|error| format!("not a label: {error}"))?;
    let key = match key {
        StringOrNumber::Text(key) => key,
        StringOrNumber::Number(key) => key.to_string(),
    };
    let name = name
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| key.clone());
    Ok(Label {
        key,
        name,
        alternatives,
        parents,
    })
}

/// What a map of labels says of one: only its name, or all.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "expected a name or an object with `label`, `alt_labels` and `parents`"
)]
enum Entry {
    Name(String),
    Description {
        label: String,
        #[serde(default)]
        alt_labels: Vec<String>,
        #[serde(default)]
        parents: Vec<String>,
    },
}

/// Reads one object that maps keys to descriptions, in the file's order.
pub(super) fn read_map(source: Source) -> Result<Vec<PlacedLabel>> {
    let (text, origin) = read_whole(source)?;
    let LabelMap(labels) = serde_json::from_str(&text).map_err(|error| {
        let message = error.to_string();
        let text = message
            .rfind(" at line ")
            .map_or(message.as_str(), |end| &message[..end]);
        origin.error(error.line() as u64, format!("not a vocabulary: {text}"))
    })?;
    Ok(labels.into_iter().map(|label| (label, None)).collect())
}

struct LabelMap(Vec<Label>);

impl<'de> Deserialize<'de> for LabelMap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(LabelMapVisitor)
    }
}

struct LabelMapVisitor;

impl<'de> Visitor<'de> for LabelMapVisitor {
    type Value = LabelMap;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object that maps label keys to descriptions")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<LabelMap, A::Error> {
        let mut labels = Vec::new();
        while let Some((key, entry)) = map.next_entry::<String, Entry>()? {
            labels.push(match entry {
                Entry::Name(name) => Label {
                    key,
                    name,
                    ..Label::default()
                },
                Entry::Description {
                    label: name,
                    alt_labels: alternatives,
                    parents,
                } => Label {
                    key,
                    name,
                    alternatives,
                    parents,
                },
            });
        }
        Ok(LabelMap(labels))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::read;
    use crate::corpus::Label;

    #[test]
    fn a_map_keeps_its_order_names_and_parents() {
        let labels = read(
            r#"{"9": {"concept_id": "9", "label": "sea", "alt_labels": ["ocean"], "parents": ["1"]},
                "1": {"concept_id": "1", "label": "water", "alt_labels": [], "parents": []},
                "2": "air"}"#,
        )
        .unwrap();
        let sea = Label {
            key: "9".into(),
            name: "sea".into(),
            alternatives: vec!["ocean".into()],
            parents: vec!["1".into()],
        };
        assert_eq!(labels[0], sea);
        assert_eq!(
            (labels[1].name.as_str(), labels[2].name.as_str()),
            ("water", "air")
        );
    }

    #[test]
    fn lines_of_ours_are_read_back() {
        let labels = [
            Label {
                key: "sea".into(),
                name: "The sea".into(),
                ..Label::default()
            },
            Label {
                key: "wave".into(),
                name: "Waves".into(),
                alternatives: vec!["Breakers".into()],
                parents: vec!["sea".into()],
            },
        ];
        let text: Vec<String> = labels
            .iter()
            .map(|label| serde_json::to_string(label).unwrap())
            .collect();
        assert_eq!(read(&text.join("\n")).unwrap(), labels);
    }

    #[test]
    fn lines_of_the_xmc_repository_name_labels_by_title() {
        let labels = read("{\"uid\": \"B01\", \"title\": \"Sea\"}\n{\"uid\": 7}\n").unwrap();
        assert_eq!(
            (labels[0].key.as_str(), labels[0].name.as_str()),
            ("B01", "Sea")
        );
        assert_eq!(
            (labels[1].key.as_str(), labels[1].name.as_str()),
            ("7", "7")
        );
    }

    #[test]
    fn broken_json_names_its_line() {
        let message = read("{\"1\": {\"label\": \"sea\"},\n \"2\": 5}")
            .unwrap_err()
            .to_string();
        assert!(
            message.contains("vocabulary:2: not a vocabulary: expected a name"),
            "{message}"
        );
        let message = read("{\"uid\": \"1\"}\n{\"title\": \"sea\"}\n")
            .unwrap_err()
            .to_string();
        assert!(
            message.contains("vocabulary:2: not a label: missing field `key`"),
            "{message}"
        );
    }
}
