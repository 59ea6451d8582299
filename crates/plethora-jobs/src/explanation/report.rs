//! What is to be told of a text and its labels.

use std::borrow::Cow;

use plethora_core::{LabelId, Result};
use plethora_system::{Predictor, ShownExplanation};
use serde::Serialize;

/// A text, and why each of some labels has its score for it; as JSON, what `explain` writes.
#[derive(Debug, Serialize)]
pub struct ExplanationReport<'a> {
    /// The model as the user named it.
    pub model: String,
    /// Its system.
    pub system: &'a str,
    /// The text.
    pub text: &'a str,
    /// One per label.
    pub explanations: Vec<ShownExplanation>,
}

impl<'a> ExplanationReport<'a> {
    /// Explains `labels` for a text; the model is shown as `model`.
    pub fn new(
        predictor: &'a Predictor,
        model: String,
        text: &'a str,
        labels: &[LabelId],
    ) -> Result<Self> {
        let explain = |&label: &LabelId| {
            let found = predictor.explain(text, label)?;
            Ok(ShownExplanation::new(found, text, predictor.labels()))
        };
        Ok(Self {
            model,
            system: &predictor.details().system,
            text,
            explanations: labels.iter().map(explain).collect::<Result<_>>()?,
        })
    }
}

/// Text without what would command a terminal or break a page; line ends and tabs stay.
pub fn printable(text: &str) -> Cow<'_, str> {
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
    use serde_json::{Value, json};

    use super::super::sample;
    use super::*;

    #[test]
    fn keys_are_told_only_where_they_say_something() {
        let report = sample::report();
        let titles: Vec<String> = report
            .explanations
            .iter()
            .map(ShownExplanation::title)
            .collect();
        assert_eq!(titles, ["Tides & <coasts> [C1]", "Bees"]);
    }

    #[test]
    fn commands_to_the_terminal_are_taken_out() {
        assert_eq!(printable("a\n\tb"), "a\n\tb");
        assert_eq!(
            printable("a\u{1b}[2Jb\0\u{9b}"),
            "a\u{fffd}[2Jb\u{fffd}\u{fffd}"
        );
    }

    #[test]
    fn spans_count_characters_and_bytes() {
        let report: Value = serde_json::to_value(sample::report()).unwrap();
        assert_eq!(report["model"], "models/<sea>");
        assert_eq!(report["text"], sample::TEXT);
        let [first, second] = [0, 1].map(|index| &report["explanations"][index]);
        assert_eq!(
            first["spans"][2],
            json!({"start": 33, "end": 38, "start_byte": 34, "end_byte": 39,
                   "text": "honey", "weight": -0.25})
        );
        assert_eq!(
            first["terms"][1],
            json!({"term": "honey", "value": 0.25, "weight": -1.0, "contribution": -0.25})
        );
        assert_eq!(second["terms"], json!([]));
        assert_eq!(first.get("member"), None);
        assert_eq!(first.get("network_score"), None);
        assert_eq!(second["network_score"], 0.25);
        assert_eq!(
            second["member"],
            json!({"name": "member-1", "system": "network"})
        );
        let heads = ["label", "label_id", "name", "score", "method"];
        assert_eq!(
            heads.map(|key| first[key].clone()),
            [
                json!("C1"),
                json!(7),
                json!("Tides & <coasts>"),
                json!(0.875),
                json!("contributions")
            ]
        );
        assert_eq!(
            heads.map(|key| second[key].clone()),
            [
                json!("Bees"),
                json!(2),
                json!("Bees"),
                json!(0.125),
                json!("attention")
            ]
        );
    }
}
