//! The model card: `README.md` of a model folder, for people and for model hubs.

use std::fmt::Write as _;

use super::{ModelDetails, ModelWriter};
use crate::metrics::Evaluation;
use crate::{Result, grouped};

/// Name of the model card in a model folder.
pub const MODEL_CARD_FILE: &str = "README.md";

/// What a model card tells.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelCard {
    /// The system that was trained (`parabel`).
    pub system: String,
    /// Number of labels the model can predict.
    pub num_labels: u64,
    /// Number of documents it was trained on.
    pub num_documents: u64,
    /// Number of features a document has, where the system counts them.
    pub num_features: Option<u64>,
    /// True if documents are texts, false if they come as features.
    pub takes_text: bool,
    /// Fields that the training texts came from, where rows had fields.
    pub text_fields: Vec<String>,
    /// How well the model does, where it was measured.
    pub metrics: Option<CardMetrics>,
}

/// Measured quality of a model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CardMetrics {
    /// The documents it was measured on (`documents held out from training`).
    pub evaluated_on: String,
    /// Names and values in the order of the table; values are fractions.
    pub values: Vec<(String, f64)>,
}

impl ModelCard {
    /// The card of a model with these sizes, and how well it does on which documents.
    pub fn new(details: &ModelDetails, evaluation: Option<(&Evaluation, &str)>) -> Self {
        Self {
            system: details.system.clone(),
            num_labels: details.num_labels,
            num_documents: details.num_documents,
            num_features: Some(details.num_features),
            takes_text: details.takes_text,
            text_fields: details.text_fields.clone(),
            metrics: evaluation.map(|(evaluation, evaluated_on)| CardMetrics {
                evaluated_on: evaluated_on.to_owned(),
                values: evaluation.values().to_vec(),
            }),
        }
    }

    /// Writes the card into a model.
    pub fn save(&self, writer: &ModelWriter) -> Result<()> {
        writer.write_text(MODEL_CARD_FILE, &self.render())
    }

    /// The card as Markdown behind YAML front matter.
    pub fn render(&self) -> String {
        let mut card = self.front_matter();
        let Self {
            system,
            num_labels,
            num_documents,
            ..
        } = self;
        let _ = write!(
            card,
            "\n# {system}\n\n\
             An extreme multi-label text classifier, trained with Plethora {}. \
             It ranks the labels that fit a text.\n\n\
             | | |\n| --- | ---: |\n\
             | System | {system} |\n\
             | Labels | {} |\n\
             | Training documents | {} |\n",
            env!("CARGO_PKG_VERSION"),
            grouped(*num_labels),
            grouped(*num_documents),
        );
        if let Some(num_features) = self.num_features {
            let _ = writeln!(card, "| Features | {} |", grouped(num_features));
        }
        if let Some(metrics) = &self.metrics {
            let _ = write!(
                card,
                "\n## Quality\n\nMeasured on {}, in percent.\n\n| Metric | Value |\n| --- | ---: |\n",
                metrics.evaluated_on
            );
            for (name, value) in &metrics.values {
                let _ = writeln!(card, "| {name} | {:.2} |", 100.0 * value);
            }
        }
        card.push_str(&self.usage());
        card
    }

    fn usage(&self) -> String {
        if !self.takes_text {
            return "\n## Use\n\n\
                    `MODEL` is this folder; documents come as the features it was trained on.\n\n\
                    ```sh\nplethora predict MODEL features.txt -k 5\n```\n"
                .into();
        }
        let fields = match self.text_fields.as_slice() {
            [] => "field `text`".into(),
            [field] => format!("field `{field}`"),
            [others @ .., last] => format!("fields `{}` and `{last}`", others.join("`, `")),
        };
        format!(
            "\n## Use\n\n\
             Each line of `documents.jsonl` is an object with the {fields}; `MODEL` is this \
             folder.\n\n\
             ```sh\nplethora predict MODEL documents.jsonl -k 5\n```\n"
        )
    }

    fn front_matter(&self) -> String {
        let system = quoted(&self.system);
        let mut yaml = format!(
            "---\n\
             library_name: plethora\n\
             pipeline_tag: text-classification\n\
             tags:\n- extreme-multi-label-classification\n- {system}\n\
             num_labels: {}\n\
             num_documents: {}\n",
            self.num_labels, self.num_documents
        );
        if let Some(num_features) = self.num_features {
            let _ = writeln!(yaml, "num_features: {num_features}");
        }
        if let Some(metrics) = &self.metrics {
            let dataset = quoted(&metrics.evaluated_on);
            let _ = write!(
                yaml,
                "model-index:\n- name: {system}\n  results:\n  \
                 - task:\n      type: text-classification\n    \
                 dataset:\n      name: {dataset}\n      type: {dataset}\n    \
                 metrics:\n"
            );
            for (name, value) in &metrics.values {
                let _ = write!(yaml, "    - type: {}\n      value: {value}\n", quoted(name));
            }
        }
        yaml.push_str("---\n");
        yaml
    }
}

/// A YAML string: a JSON string is one, whatever it holds.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn card_tells_what_was_trained_how_good_it_is_and_how_to_use_it() {
        let card = ModelCard {
            system: "parabel".into(),
            num_labels: 4271,
            num_documents: 1_045_000,
            num_features: Some(999),
            takes_text: true,
            text_fields: vec!["title".into(), "text".into()],
            metrics: Some(CardMetrics {
                evaluated_on: "held-out \"documents\"".into(),
                values: vec![("P@1".into(), 0.9133), ("nDCG@5".into(), 0.5)],
            }),
        }
        .render();
        for expected in [
            "---\nlibrary_name: plethora\n",
            "num_labels: 4271\n",
            "      name: \"held-out \\\"documents\\\"\"\n",
            "    - type: \"P@1\"\n      value: 0.9133\n    - type",
            "| Labels | 4,271 |\n| Training documents | 1,045,000 |\n| Features | 999 |\n",
            "| P@1 | 91.33 |\n| nDCG@5 | 50.00 |\n",
            "an object with the fields `title` and `text`;",
            "plethora predict MODEL documents.jsonl -k 5",
        ] {
            assert!(card.contains(expected), "{expected:?} is not in\n{card}");
        }
    }

    #[test]
    fn card_without_measurements_has_no_quality_section() {
        let card = ModelCard {
            system: "bonsai".into(),
            ..ModelCard::default()
        }
        .render();
        assert!(
            !card.contains("Quality") && !card.contains("model-index"),
            "{card}"
        );
        assert_eq!(card.matches("---\n").count(), 2, "{card}");
        assert!(!card.contains("field `text`"), "it takes features: {card}");
    }
}
