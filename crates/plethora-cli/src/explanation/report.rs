//! What is to be told of a text and its labels.

use std::borrow::Cow;

use plethora_core::corpus::Label;
use plethora_core::{LabelId, Result};
use plethora_predict::{ExplainingNeighbour, Explanation, Predictor, SpanWeight};

/// A text, and why each of some labels has its score for it.
#[derive(Debug)]
pub(crate) struct ExplanationReport<'a> {
    /// The model as the user named it.
    pub(super) model: String,
    pub(super) system: &'a str,
    pub(super) text: &'a str,
    pub(super) labels: Vec<ExplainedLabel<'a>>,
}

/// One label of an [`ExplanationReport`].
#[derive(Debug)]
pub(super) struct ExplainedLabel<'a> {
    pub(super) label: &'a Label,
    pub(super) explanation: Explanation,
    /// The labels of each of its neighbours.
    pub(super) neighbour_labels: Vec<Vec<&'a Label>>,
}

impl<'a> ExplanationReport<'a> {
    /// Explains `labels` for a text; the model is shown as `model`.
    pub(crate) fn new(
        predictor: &'a Predictor,
        model: String,
        text: &'a str,
        labels: &[LabelId],
    ) -> Result<Self> {
        let explain = |&label: &LabelId| {
            let explanation = predictor.explain(text, label)?;
            let labels_of = |neighbour: &ExplainingNeighbour| {
                let labels = neighbour.labels.iter();
                labels
                    .map(|&label| predictor.labels().label(label))
                    .collect()
            };
            Ok(ExplainedLabel {
                label: predictor.labels().label(label),
                neighbour_labels: explanation.neighbours.iter().map(labels_of).collect(),
                explanation,
            })
        };
        Ok(Self {
            model,
            system: &predictor.details().system,
            text,
            labels: labels.iter().map(explain).collect::<Result<_>>()?,
        })
    }
}

impl ExplainedLabel<'_> {
    /// The name, with the key behind it where that is another.
    pub(super) fn title(&self) -> String {
        let Label { key, name, .. } = self.label;
        if name == key {
            name.clone()
        } else {
            format!("{name} [{key}]")
        }
    }

    /// The member of an ensemble that the weights come from.
    pub(super) fn member(&self) -> Option<String> {
        let member = self.explanation.member.as_ref()?;
        Some(format!("{} ({})", member.name, member.system))
    }

    /// The neighbours, each with its labels.
    pub(super) fn neighbours(&self) -> impl Iterator<Item = (&ExplainingNeighbour, &[&Label])> {
        let labels = self.neighbour_labels.iter().map(Vec::as_slice);
        self.explanation.neighbours.iter().zip(labels)
    }

    /// True for a neighbour that votes for the label.
    pub(super) fn is_voted_by(&self, neighbour: &ExplainingNeighbour) -> bool {
        neighbour.labels.contains(&self.explanation.label)
    }

    /// The strongest spans, strongest first; earlier ones first among equals.
    pub(super) fn strongest_spans(&self, limit: usize) -> Vec<SpanWeight> {
        let mut spans = self.explanation.spans.clone();
        spans.sort_by(|left, right| right.weight.abs().total_cmp(&left.weight.abs()));
        spans.truncate(limit);
        spans
    }
}

/// Turns places in bytes into places in characters.
pub(super) struct CharacterOffsets(Vec<usize>);

impl CharacterOffsets {
    pub(super) fn of(text: &str) -> Self {
        Self(text.char_indices().map(|(byte, _)| byte).collect())
    }

    /// Number of characters before a byte.
    pub(super) fn character(&self, byte: usize) -> usize {
        self.0.partition_point(|&start| start < byte)
    }
}

/// Text without what would command a terminal or break a page; line ends and tabs stay.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    let is_command =
        |character: char| character.is_control() && !matches!(character, '\n' | '\t' | '\r');
    if text.contains(is_command) {
        text.replace(is_command, "\u{fffd}").into()
    } else {
        text.into()
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn keys_are_told_only_where_they_say_something() {
        let parts = sample::parts();
        let report = parts.report();
        let titles: Vec<String> = report.labels.iter().map(ExplainedLabel::title).collect();
        assert_eq!(titles, ["Tides & <coasts> [C1]", "Bees"]);
    }

    #[test]
    fn characters_are_counted_across_their_bytes() {
        let offsets = CharacterOffsets::of("aé日b");
        let characters = [0, 1, 3, 6, 7].map(|byte| offsets.character(byte));
        assert_eq!(characters, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn commands_to_the_terminal_are_taken_out() {
        assert_eq!(printable("a\n\tb"), "a\n\tb");
        assert_eq!(
            printable("a\u{1b}[2Jb\0\u{9b}"),
            "a\u{fffd}[2Jb\u{fffd}\u{fffd}"
        );
    }
}
