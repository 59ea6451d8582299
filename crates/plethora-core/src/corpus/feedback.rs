//! What people said of predictions, as corrections of a corpus.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use serde::Deserialize;

use super::format::RawDocument;
use super::lines::Lines;
use super::source::Source;
use super::{Content, Label};
use crate::{Argument, Error, Message, Result};

/// Judgements of labels, document by document. What nobody has judged stays as it is.
#[derive(Debug)]
pub struct Feedback {
    path: PathBuf,
    /// In the order in which documents were judged first.
    documents: Vec<Judged>,
    by_id: HashMap<String, usize>,
    by_content: HashMap<u64, usize>,
    /// Labels that are known though no document of the corpus has them.
    named: HashSet<String>,
}

/// A document with what was said of it.
#[derive(Debug)]
struct Judged {
    id: Option<String>,
    text: String,
    /// Whether each label is right, with the line that says so last.
    labels: Vec<(String, bool, u64)>,
}

/// A line of the file, as `plethora serve --feedback` writes it.
#[derive(Deserialize)]
struct Line {
    id: Option<String>,
    text: String,
    right: Option<Vec<String>>,
    wrong: Option<Vec<String>>,
    missing: Option<Vec<String>>,
}

/// What has become of feedback.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FeedbackCounts {
    /// Documents of the corpus that were judged.
    pub num_corrected: u64,
    /// Documents that the corpus does not have.
    pub num_added: u64,
    /// Of the others, those without any right label, from which nothing can be learnt.
    pub num_left_out: u64,
}

impl Feedback {
    /// Reads a file of judgements; where a label of a document is judged twice, the last one counts.
    ///
    /// # Errors
    /// [`Error::Input`] with the line that is no feedback.
    pub fn read(path: &Path) -> Result<Self> {
        let mut lines = Lines::new(Source::open(path)?);
        let mut feedback = Self {
            path: path.to_owned(),
            documents: Vec::new(),
            by_id: HashMap::new(),
            by_content: HashMap::new(),
            named: HashSet::new(),
        };
        let mut number = 0;
        while let Some(line) = lines.next_line()? {
            number += 1;
            if line.trim().is_empty() {
                continue;
            }
            let wrong = |message: String| Error::input(path, number, message);
            let read: Line = serde_json::from_str(line).map_err(|error| {
                wrong(format!(
                    "expected feedback as `plethora serve --feedback` writes it: {error}"
                ))
            })?;
            if read.right.is_none() && read.wrong.is_none() && read.missing.is_none() {
                return Err(wrong(
                    "expected feedback with right, wrong or missing labels; documents with labels \
                     are a corpus of their own"
                        .into(),
                ));
            }
            feedback.add(read, number);
        }
        Ok(feedback)
    }

    /// The same, where these labels are known though no document has them.
    #[must_use]
    pub fn with_named(mut self, labels: &[Label]) -> Self {
        self.named
            .extend(labels.iter().map(|label| label.key.clone()));
        self
    }

    fn add(&mut self, line: Line, number: u64) {
        let content = Content::Text(line.text.clone()).hash_of_words();
        let known = self.find(line.id.as_deref(), content);
        let place = known.unwrap_or_else(|| {
            self.documents.push(Judged {
                id: line.id.clone(),
                text: line.text,
                labels: Vec::new(),
            });
            self.documents.len() - 1
        });
        if let Some(id) = line.id {
            self.by_id.insert(id, place);
        }
        if let Some(content) = content {
            self.by_content.insert(content, place);
        }
        let document = &mut self.documents[place];
        for (keys, is_right) in [
            (line.right, true),
            (line.missing, true),
            (line.wrong, false),
        ] {
            for key in keys.unwrap_or_default() {
                document.labels.retain(|(other, ..)| *other != key);
                document.labels.push((key, is_right, number));
            }
        }
    }

    /// The document with this content, or else with this id.
    fn find(&self, id: Option<&str>, content: Option<u64>) -> Option<usize> {
        let by_content = content.and_then(|content| self.by_content.get(&content));
        let by_id = || id.and_then(|id| self.by_id.get(id));
        by_content.or_else(by_id).copied()
    }
}

impl Judged {
    fn right(&self) -> impl Iterator<Item = &str> {
        let right = self.labels.iter().filter(|(_, is_right, _)| *is_right);
        right.map(|(key, ..)| key.as_str())
    }

    fn correct(&self, labels: &mut Vec<String>) {
        let is_judged = |key: &String| self.labels.iter().any(|(judged, ..)| judged == key);
        labels.retain(|key| !is_judged(key) || self.right().any(|right| right == key));
        for key in self.right() {
            if !labels.iter().any(|label| label == key) {
                labels.push(key.to_owned());
            }
        }
    }
}

/// What feedback changes in the documents of a corpus: their labels, and behind them the judged documents that
/// it lacks.
pub(super) struct Corrections {
    feedback: Arc<Feedback>,
    met: HashSet<usize>,
    known: HashSet<String>,
    /// The next document to be added, once all rows were read.
    next: Option<usize>,
    counts: FeedbackCounts,
}

impl Corrections {
    pub(super) fn new(feedback: Arc<Feedback>) -> Self {
        Self {
            feedback,
            met: HashSet::new(),
            known: HashSet::new(),
            next: None,
            counts: FeedbackCounts::default(),
        }
    }

    /// What has become of the feedback so far.
    pub(super) fn counts(&self) -> FeedbackCounts {
        self.counts
    }

    /// Corrects the labels of a document of the corpus.
    pub(super) fn correct(&mut self, row: &mut RawDocument) {
        for key in &row.labels {
            if !self.known.contains(key) {
                self.known.insert(key.clone());
            }
        }
        let content = row.content.hash_of_words();
        if let Some(place) = self.feedback.find(row.id.as_deref(), content) {
            self.feedback.documents[place].correct(&mut row.labels);
            self.counts.num_corrected += u64::from(self.met.insert(place));
        }
    }

    /// Labels that nothing else has are mistakes, or of another model.
    fn check_labels(&self, vocabulary: &[Label]) -> Result<()> {
        let is_known = |key: &String| {
            self.known.contains(key)
                || self.feedback.named.contains(key)
                || vocabulary.iter().any(|label| label.key == *key)
        };
        let judged = self.feedback.documents.iter();
        let mut right = judged
            .flat_map(|document| &document.labels)
            .filter(|(_, is_right, _)| *is_right);
        match right.find(|(key, ..)| !is_known(key)) {
            Some((key, _, line)) => {
                let message = Message::new(format!(
                    "the label `{key}` is that of no document of the corpus; is the feedback on \
                     another model? A new label is accepted where "
                ))
                .hint(Argument::VOCABULARY)
                .text(" names it");
                Err(Error::input(&self.feedback.path, *line, message))
            }
            None => Ok(()),
        }
    }

    /// The next document that the corpus lacks, all of which was corrected.
    ///
    /// # Errors
    /// If the feedback has labels that neither the corpus nor a vocabulary has.
    pub(super) fn added(&mut self, vocabulary: &[Label]) -> Result<Option<RawDocument>> {
        if self.next.is_none() {
            self.check_labels(vocabulary)?;
            self.next = Some(0);
        }
        while let Some(place) = self.next {
            let Some(document) = self.feedback.documents.get(place) else {
                break;
            };
            self.next = Some(place + 1);
            if self.met.contains(&place) {
                continue;
            }
            let labels: Vec<String> = document.right().map(str::to_owned).collect();
            if labels.is_empty() {
                self.counts.num_left_out += 1;
                continue;
            }
            self.counts.num_added += 1;
            let id = document.id.clone();
            return Ok(Some(RawDocument {
                id: Some(id.unwrap_or_else(|| format!("feedback {}", place + 1))),
                content: Content::Text(document.text.clone()),
                labels,
            }));
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{CorpusReader, Document, ReadOptions};
    use super::*;

    const CORPUS: &str = r#"{"id": "1", "text": "Tides and harbours", "labels": ["sea", "ports"]}
{"id": "2", "text": "Bees", "labels": ["bees"]}
{"id": "3", "text": "Sails", "labels": ["sea"], "split": "test"}
"#;

    fn read(feedback: &str, named: &[&str]) -> Result<(Vec<Document>, FeedbackCounts)> {
        let desk = tempfile::tempdir().unwrap();
        let path = |name: &str| desk.path().join(name);
        std::fs::write(path("corpus.jsonl"), CORPUS).unwrap();
        std::fs::write(path("feedback.jsonl"), feedback).unwrap();
        let named: Vec<Label> = named.iter().map(|key| Label::from_key(*key)).collect();
        let feedback = Feedback::read(&path("feedback.jsonl"))?.with_named(&named);
        let options = ReadOptions {
            feedback: Some(Arc::new(feedback)),
            ..ReadOptions::default()
        };
        let mut reader = CorpusReader::open(&path("corpus.jsonl"), &options)?;
        let documents = reader.by_ref().collect::<Result<Vec<_>>>()?;
        Ok((documents, reader.feedback().unwrap()))
    }

    fn labels(documents: &[Document]) -> Vec<(&str, Vec<&str>)> {
        let each = documents.iter().map(|document| {
            let labels = document.labels.iter().map(String::as_str);
            (document.id.as_str(), labels.collect())
        });
        each.collect()
    }

    #[test]
    fn judged_documents_are_corrected_and_others_added() {
        let feedback = r#"{"text": "tides and  harbours", "right": ["sea"], "wrong": ["ports"], "missing": ["bees"]}
{"id": "2", "text": "Bees, as shortened", "right": [], "wrong": ["sea"], "missing": []}

{"text": "Sailing", "right": ["sea"], "missing": ["ports"], "predictions": [], "model": "m"}
{"text": "Nothing known", "wrong": ["sea"]}
"#;
        let (documents, counts) = read(feedback, &[]).unwrap();
        assert_eq!(
            labels(&documents),
            [
                ("1", vec!["sea", "bees"]),
                ("2", vec!["bees"]),
                ("3", vec!["sea"]),
                ("feedback 3", vec!["sea", "ports"]),
            ]
        );
        let expected = FeedbackCounts {
            num_corrected: 2,
            num_added: 1,
            num_left_out: 1,
        };
        assert_eq!(counts, expected);
    }

    #[test]
    fn the_last_judgement_of_a_label_counts() {
        let feedback = r#"{"text": "Sailing", "right": ["sea", "bees"]}
{"text": "Sailing", "wrong": ["sea"]}
{"text": "Bees", "wrong": ["bees"]}
{"text": "Bees", "right": ["bees"]}"#;
        let (documents, _) = read(feedback, &[]).unwrap();
        let found = labels(&documents);
        assert_eq!(found[1], ("2", vec!["bees"]));
        assert_eq!(found[3], ("feedback 1", vec!["bees"]));
    }

    #[test]
    fn labels_of_nobody_are_refused_unless_they_are_named() {
        let feedback = "{\"text\": \"Bees\", \"right\": [\"bees\"]}\n\
                        {\"text\": \"Sailing\", \"right\": [\"sae\"]}";
        let message = read(feedback, &[]).unwrap_err().to_string();
        assert!(
            message.contains("feedback.jsonl:2: the label `sae` is that of no document"),
            "{message}"
        );
        assert_eq!(read(feedback, &["sae"]).unwrap().0.len(), 4);
        let wrong = r#"{"text": "Bees", "wrong": ["gone"]}"#;
        assert_eq!(read(wrong, &[]).unwrap().0.len(), 3);
    }

    #[test]
    fn other_lines_are_refused_with_their_place() {
        for (line, expected) in [
            (
                r#"{"text": "a", "labels": ["sea"]}"#,
                "with right, wrong or missing",
            ),
            (r#"{"right": ["sea"]}"#, "missing field `text`"),
            ("tides", "expected feedback as"),
        ] {
            let feedback = format!("{{\"text\": \"Bees\", \"right\": []}}\n{line}\n");
            let message = read(&feedback, &[]).unwrap_err().to_string();
            assert!(message.contains("feedback.jsonl:2: "), "{message}");
            assert!(message.contains(expected), "{message}");
        }
    }
}
