//! One document of the demo: its text, the labels it gets, and the words behind the first of them.

use std::fmt::Write as _;

use plethora_core::Result;
use plethora_core::corpus::{Content, CorpusReader, Document};
use plethora_system::{Predictor, RankOptions};

use plethora_jobs::explanation::ExplanationReport;

use crate::explanation::{TextStyle, marked_text};

/// Labels predicted for the example.
const NUM_LABELS: usize = 5;

/// A document with so many labels shows more than hit or miss.
const MIN_TRUE_LABELS: usize = 3;

/// Longest line of the text.
const WIDTH: usize = 92;

/// What comes before each line of the text.
const INDENT: &str = "  ";

/// The first document of a corpus that has enough labels; nothing if none has.
pub(super) fn render(mut documents: CorpusReader, predictor: &Predictor) -> Result<String> {
    loop {
        match documents.next().transpose()? {
            Some(document) if document.labels.len() >= MIN_TRUE_LABELS => {
                return render_document(document, predictor);
            }
            Some(_) => {}
            None => return Ok(String::new()),
        }
    }
}

fn render_document(document: Document, predictor: &Predictor) -> Result<String> {
    let labels = predictor.labels();
    let text = broken(document.text().unwrap_or_default());
    let document = Document {
        content: Content::Text(text),
        ..document
    };
    let options = RankOptions {
        top_k: NUM_LABELS,
        beam: None,
    };
    let rankings = predictor.rank(std::slice::from_ref(&document), options)?;
    let mut text = format!(
        "\nExample: document {} of the test part, labelled by {}\n",
        document.id,
        predictor.details().system
    );
    text.push_str(&marked(&document, &rankings, predictor)?);
    text.push_str("\npredicted (* is true)\n");
    for scored in rankings.iter().flatten() {
        let label = labels.label(scored.label);
        let mark = if document.labels.contains(&label.key) {
            '*'
        } else {
            ' '
        };
        let _ = writeln!(text, "  {mark} {:.3}  {}", scored.score, label.name);
    }
    let name = |key: &String| {
        let known = labels.id(key);
        known.map_or_else(|| key.clone(), |id| labels.label(id).name.clone())
    };
    let truth: Vec<String> = document.labels.iter().map(name).collect();
    let _ = writeln!(text, "true labels\n    {}", truth.join("; "));
    Ok(text)
}

/// The text with the words behind the best label marked.
fn marked(
    document: &Document,
    rankings: &[Vec<plethora_core::ScoredLabel>],
    predictor: &Predictor,
) -> Result<String> {
    let text = document.text().unwrap_or_default();
    let best = rankings.iter().flatten().next();
    let Some(best) = best.map(|scored| scored.label) else {
        return Ok(indented(text));
    };
    let report = ExplanationReport::new(predictor, String::new(), text, &[best])?;
    Ok(format!(
        "{}\nmarked are the words behind {}\n",
        indented(&marked_text(&report, TextStyle::of_stdout())),
        predictor.labels().label(best).name
    ))
}

/// Text in lines that fit a terminal. Blanks become line ends, so that no place in it moves.
fn broken(text: &str) -> String {
    let mut broken = String::with_capacity(text.len());
    let mut width = 0;
    for line in text.split_inclusive([' ', '\n']) {
        let (word, end) = match line.strip_suffix([' ', '\n']) {
            Some(word) => (word, &line[word.len()..]),
            None => (line, ""),
        };
        let length = word.chars().count();
        if width > 0 && width + 1 + length > WIDTH && broken.ends_with(' ') {
            broken.pop();
            broken.push('\n');
            width = 0;
        }
        width = if end == "\n" { 0 } else { width + 1 + length };
        broken.push_str(line);
    }
    broken
}

fn indented(text: &str) -> String {
    let mut indented = String::new();
    for line in text.lines() {
        indented.extend([INDENT, line, "\n"]);
    }
    indented
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_text_keeps_its_places_and_fits_the_terminal() {
        let text = format!("A title\n{}", "Straße und Hafen ".repeat(30));
        let lines = broken(&text);
        assert_eq!(lines.len(), text.len());
        assert_eq!(lines.replace('\n', " "), text.replace('\n', " "));
        assert!(lines.lines().all(|line| line.chars().count() <= WIDTH));
        assert!(lines.starts_with("A title\nStraße"));
        let long = "x".repeat(2 * WIDTH);
        assert_eq!(broken(&long), long, "a word is never broken");
    }
}
