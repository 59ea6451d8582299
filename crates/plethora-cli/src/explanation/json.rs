//! Explanations as one JSON object.

use serde::Serialize;

use super::ExplanationReport;
use super::report::{CharacterOffsets, ExplainedLabel};

#[derive(Serialize)]
struct JsonReport<'a> {
    model: &'a str,
    system: &'a str,
    text: &'a str,
    explanations: Vec<JsonExplanation<'a>>,
}

#[derive(Serialize)]
struct JsonExplanation<'a> {
    /// The key.
    label: &'a str,
    label_id: u32,
    name: &'a str,
    score: f32,
    /// Before votes are mixed in, where some are.
    #[serde(skip_serializing_if = "Option::is_none")]
    network_score: Option<f32>,
    method: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    member: Option<JsonMember<'a>>,
    spans: Vec<JsonSpan<'a>>,
    terms: Vec<JsonTerm<'a>>,
    /// Training documents that voted, of systems that ask some.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    neighbours: Vec<JsonNeighbour<'a>>,
}

#[derive(Serialize)]
struct JsonNeighbour<'a> {
    id: &'a str,
    title: &'a str,
    similarity: f32,
    share: f32,
    /// Whether it votes for the label.
    has_label: bool,
    /// Names of the labels that it votes for.
    labels: Vec<&'a str>,
}

/// The member of an ensemble that the weights come from.
#[derive(Serialize)]
struct JsonMember<'a> {
    name: &'a str,
    system: &'a str,
}

#[derive(Serialize)]
struct JsonSpan<'a> {
    /// In Unicode characters, so that `text[start:end]` of Python is the span.
    start: usize,
    end: usize,
    /// In bytes of UTF-8.
    start_byte: usize,
    end_byte: usize,
    text: &'a str,
    weight: f32,
}

#[derive(Serialize)]
struct JsonTerm<'a> {
    term: &'a str,
    value: f32,
    weight: f32,
    contribution: f32,
}

impl ExplanationReport<'_> {
    /// The report as JSON over several lines.
    pub(crate) fn to_json(&self) -> serde_json::Result<String> {
        let offsets = CharacterOffsets::of(self.text);
        let explained = self.labels.iter();
        let report = JsonReport {
            model: &self.model,
            system: self.system,
            text: self.text,
            explanations: explained
                .map(|label| label.to_json(self.text, &offsets))
                .collect(),
        };
        Ok(serde_json::to_string_pretty(&report)? + "\n")
    }
}

impl ExplainedLabel<'_> {
    fn to_json<'a>(&'a self, text: &'a str, offsets: &CharacterOffsets) -> JsonExplanation<'a> {
        let explanation = &self.explanation;
        JsonExplanation {
            label: &self.label.key,
            label_id: explanation.label.0,
            name: &self.label.name,
            score: explanation.score,
            network_score: explanation.network_score,
            method: explanation.method.as_str(),
            member: explanation.member.as_ref().map(|member| JsonMember {
                name: &member.name,
                system: &member.system,
            }),
            spans: (explanation.spans.iter())
                .map(|span| JsonSpan {
                    start: offsets.character(span.start),
                    end: offsets.character(span.end),
                    start_byte: span.start,
                    end_byte: span.end,
                    text: &text[span.start..span.end],
                    weight: span.weight,
                })
                .collect(),
            terms: (explanation.terms.iter())
                .map(|term| JsonTerm {
                    term: &term.term,
                    value: term.value,
                    weight: term.weight,
                    contribution: term.contribution,
                })
                .collect(),
            neighbours: self
                .neighbours()
                .map(|(neighbour, labels)| JsonNeighbour {
                    id: &neighbour.id,
                    title: &neighbour.title,
                    similarity: neighbour.similarity,
                    share: neighbour.share,
                    has_label: self.is_voted_by(neighbour),
                    labels: labels.iter().map(|label| label.name.as_str()).collect(),
                })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::sample;

    #[test]
    fn spans_count_characters_and_bytes() {
        let parts = sample::parts();
        let report: Value = serde_json::from_str(&parts.report().to_json().unwrap()).unwrap();
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
            json!({"name": "member-1", "system": "attentionxml"})
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
