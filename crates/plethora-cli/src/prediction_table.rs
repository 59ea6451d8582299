//! Predictions as people read them on a terminal.

use std::fmt::Write as _;

use plethora_core::corpus::{Document, LabelSpace};
use plethora_core::{ScoredLabel, one_field, printable};

/// A terminal's usual width.
const WIDTH: usize = 80;

/// The most of it that names of labels take, so that their keys stay beside them.
const MAX_NAME: usize = 50;

/// The ranking of a document below its id and the beginning of its text.
pub(crate) fn render(document: &Document, ranking: &[ScoredLabel], labels: &LabelSpace) -> String {
    let begin = document.text().map(one_field).unwrap_or_default();
    let mut text = format!("{}\n", cut(&format!("{}  {begin}", document.id), WIDTH));
    let rows: Vec<(String, &str)> = ranking
        .iter()
        .map(|scored| {
            let label = labels.label(scored.label);
            let key = if label.key == label.name {
                ""
            } else {
                label.key.as_str()
            };
            (cut(&one_field(&label.name), MAX_NAME), key)
        })
        .collect();
    let width = rows.iter().map(|(name, _)| name.chars().count()).max();
    let width = width.unwrap_or_default();
    for (scored, (name, key)) in ranking.iter().zip(&rows) {
        let line = format!("  {:.3}  {name:width$}  {}", scored.score, one_field(key));
        let _ = writeln!(text, "{}", line.trim_end());
    }
    if rows.is_empty() {
        text.push_str("  no label\n");
    }
    printable(&text).into_owned()
}

/// As many characters as fit, with a mark where some are left out.
fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.trim_end().to_owned();
    }
    let begin: String = text.chars().take(width - 1).collect();
    format!("{}…", begin.trim_end())
}

#[cfg(test)]
mod tests {
    use plethora_core::LabelId;
    use plethora_core::corpus::{Content, Label};

    use super::*;

    fn shown(text: &str, scores: &[f32]) -> String {
        let named = |key: &str, name: &str| Label {
            name: name.into(),
            ..Label::from_key(key)
        };
        let labels = vec![
            named("C1", "Tides"),
            named("C2", "Bridges"),
            Label::from_key("sea"),
        ];
        let space = LabelSpace::new(labels, vec![1; 3]);
        let document = Document {
            id: "b7".into(),
            content: Content::Text(text.into()),
            labels: Vec::new(),
        };
        let scored = |(label, &score): (u32, &f32)| ScoredLabel {
            label: LabelId(label),
            score,
        };
        let ranking: Vec<ScoredLabel> = (0..).zip(scores).map(scored).collect();
        render(&document, &ranking, &space)
    }

    #[test]
    fn scores_names_and_keys_stand_below_each_other() {
        assert_eq!(
            shown("Tide\ntables", &[0.93, 0.4, 0.01]),
            "b7  Tide tables\n  0.930  Tides    C1\n  0.400  Bridges  C2\n  0.010  sea\n"
        );
    }

    #[test]
    fn long_texts_are_cut_and_control_characters_are_shown() {
        let text = shown(&"ab ".repeat(200), &[]);
        let first = text.lines().next().unwrap();
        assert!(
            first.chars().count() <= WIDTH && first.ends_with('…'),
            "{first}"
        );
        assert!(text.ends_with("\n  no label\n"), "{text}");
        assert!(!shown("a\u{1b}[2J", &[]).contains('\u{1b}'));
    }
}
