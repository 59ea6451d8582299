//! The label space of a model, one JSON line per label in the order of the label ids.

use std::borrow::Cow;
use std::io::{BufRead, BufReader, Write};

use serde::{Deserialize, Serialize};

use super::{ModelReader, ModelWriter, open_regular};
use crate::corpus::{Label, LabelSpace};
use crate::{Error, LabelId, Result};

/// Name of the label file in a model folder.
pub const LABELS_FILE: &str = "labels.jsonl";

/// A line of the file: a [`Label`] with its training frequency.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LabelLine<'a> {
    key: Cow<'a, str>,
    /// Left out where it equals the key, which halves the file of most corpora.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "<[String]>::is_empty")]
    alternatives: Cow<'a, [String]>,
    #[serde(default, skip_serializing_if = "<[String]>::is_empty")]
    parents: Cow<'a, [String]>,
    train_count: u32,
}

/// Writes the label space into a model.
pub fn save_label_space(labels: &LabelSpace, writer: &ModelWriter) -> Result<()> {
    let path = writer.path(LABELS_FILE);
    let mut file = writer.file(LABELS_FILE)?;
    for (label, &train_count) in labels.labels().iter().zip(labels.train_counts()) {
        let line = LabelLine {
            key: Cow::Borrowed(&label.key),
            name: (label.name != label.key).then_some(Cow::Borrowed(&label.name)),
            alternatives: Cow::Borrowed(&label.alternatives),
            parents: Cow::Borrowed(&label.parents),
            train_count,
        };
        serde_json::to_writer(&mut file, &line)
            .map_err(Into::into)
            .and_then(|()| file.write_all(b"\n"))
            .map_err(Error::write(&path))?;
    }
    file.flush().map_err(Error::write(&path))
}

/// Reads the label space of a model.
///
/// # Errors
///
/// [`Error::Model`] with the line where a label cannot be read or appears a second time.
pub fn load_label_space(reader: &ModelReader) -> Result<LabelSpace> {
    let path = reader.path(LABELS_FILE)?;
    let mut file = BufReader::new(open_regular(&path).map_err(Error::read(&path))?);
    let mut labels: Vec<Label> = Vec::new();
    let mut train_counts = Vec::new();
    let mut line = Vec::new();
    while file
        .read_until(b'\n', &mut line)
        .map_err(Error::read(&path))?
        > 0
    {
        let number = labels.len() + 1;
        let parsed: LabelLine<'_> = serde_json::from_slice(&line)
            .map_err(|error| Error::model(&path, format!("line {number}: {error}")))?;
        let name = parsed
            .name
            .unwrap_or_else(|| parsed.key.clone())
            .into_owned();
        labels.push(Label {
            key: parsed.key.into_owned(),
            name,
            alternatives: parsed.alternatives.into_owned(),
            parents: parsed.parents.into_owned(),
        });
        train_counts.push(parsed.train_count);
        line.clear();
    }
    let space = LabelSpace::new(labels, train_counts);
    // Of equal keys the space finds the last only.
    let found = |label: &Label| space.id(&label.key).map(LabelId::index);
    let twice = (0..)
        .zip(space.labels())
        .find(|&(index, label)| found(label) != Some(index));
    match twice {
        Some((index, label)) => Err(Error::model(
            &path,
            format!(
                "line {}: label {} appears again further down",
                index + 1,
                label.key
            ),
        )),
        None => Ok(space),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn write(target: &Path, fill: impl FnOnce(&ModelWriter) -> Result<()>) -> ModelReader {
        let writer = ModelWriter::create(target, true).unwrap();
        fill(&writer).unwrap();
        writer.finish("parabel", serde_json::Value::Null).unwrap();
        ModelReader::open(target).unwrap()
    }

    #[test]
    fn label_space_comes_back_as_saved() {
        let labels = vec![
            Label::from_key("air \"and\" sea\n"),
            Label {
                key: "http://example.org/2".into(),
                name: "Ships".into(),
                alternatives: vec!["Vessels".into(), "Boats".into()],
                parents: vec!["http://example.org/1".into()],
            },
        ];
        let space = LabelSpace::new(labels.clone(), vec![3, 1]);
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("model");
        let reader = write(&target, |writer| save_label_space(&space, writer));
        let text = std::fs::read_to_string(target.join(LABELS_FILE)).unwrap();
        assert!(
            text.starts_with(r#"{"key":"air \"and\" sea\n","train_count":3}"#),
            "{text}"
        );
        let loaded = load_label_space(&reader).unwrap();
        assert_eq!(loaded.labels(), labels);
        assert_eq!(loaded.train_counts(), [3, 1]);
        assert_eq!(loaded.id("http://example.org/2"), Some(LabelId(1)));
    }

    #[test]
    fn wrong_lines_are_named_by_number() {
        let folder = tempfile::tempdir().unwrap();
        let line = r#"{"key":"a","train_count":1}"#;
        for (text, expected) in [
            (
                format!("{line}\n{{\"key\":1,\"train_count\":1}}\n"),
                "line 2: invalid type",
            ),
            (format!("{line}\n\n"), "line 2: EOF"),
            (format!("{line}\n{line}\n"), "line 1: label a appears again"),
        ] {
            let reader = write(&folder.path().join("model"), |writer| {
                writer.write_text(LABELS_FILE, &text)
            });
            let error = load_label_space(&reader).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
