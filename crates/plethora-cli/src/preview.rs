//! What a dry run shows of a corpus: how it is read, and its first documents.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use plethora_core::corpus::{Content, Document};
use plethora_core::{Result, printable, shortened};
use serde::Serialize;
use serde_json::{Value, json};

use crate::results;
use crate::training::Corpus;

/// Documents shown.
const NUM_DOCUMENTS: usize = 3;

/// Characters of a text, and labels, shown of each.
const MAX_CHARS: usize = 300;
const MAX_LABELS: usize = 20;

/// How a corpus is read, and its first documents.
pub(crate) struct Preview {
    layout: Vec<(&'static str, String)>,
    documents: Vec<Document>,
}

impl Preview {
    /// Reads the first documents.
    pub(crate) fn read(corpus: &Corpus) -> Result<Self> {
        let mut reader = corpus.open()?;
        let layout = reader.layout();
        let documents = (reader.by_ref().take(NUM_DOCUMENTS)).collect::<Result<_>>()?;
        Ok(Self { layout, documents })
    }

    /// How the corpus is read, by name.
    pub(crate) fn reading(&self) -> Value {
        let facts: BTreeMap<&str, &str> = (self.layout.iter())
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        json!(facts)
    }

    /// The documents as JSON, whole.
    pub(crate) fn documents(&self) -> Value {
        let show = |document: &Document| match &document.content {
            Content::Text(text) => {
                json!({"id": document.id, "text": text, "labels": document.labels})
            }
            Content::Features(row) => json!({
                "id": document.id,
                "n_features": row.columns.len(),
                "labels": document.labels,
            }),
        };
        self.documents.iter().map(show).collect()
    }

    /// Lines that each begin with `margin`.
    pub(crate) fn render(&self, margin: &str) -> String {
        let mut text = String::new();
        let mut line = |name: &str, value: &str| {
            let _ = writeln!(text, "{margin}  {name:<12}{}", printable(value));
        };
        for (name, value) in &self.layout {
            line(name, value);
        }
        for document in &self.documents {
            line("document", &document.id);
            match &document.content {
                Content::Text(text) => line("  text", &shortened(text, MAX_CHARS)),
                Content::Features(row) => {
                    line("  features", &format!("{} of them", row.columns.len()));
                }
            }
            let mut labels = document.labels[..document.labels.len().min(MAX_LABELS)].join(" | ");
            match document.labels.len() {
                0 => labels.push_str("(none)"),
                len if len > MAX_LABELS => {
                    let _ = write!(labels, " | ... ({} more)", len - MAX_LABELS);
                }
                _ => {}
            }
            line("  labels", &labels);
        }
        text
    }

    /// Prints the preview, and below it what else there is to show.
    pub(crate) fn show_above<T: Serialize>(
        &self,
        is_json: bool,
        value: &T,
        render: impl FnOnce(&T) -> String,
    ) -> anyhow::Result<()> {
        if !is_json {
            let text = format!("{}\n{}", self.render(""), render(value));
            return Ok(results::print(&text)?);
        }
        let mut value = serde_json::to_value(value)?;
        if let Value::Object(fields) = &mut value {
            fields.insert("reading".into(), self.reading());
            fields.insert("documents".into(), self.documents());
        }
        Ok(results::print_json(&value)?)
    }
}
