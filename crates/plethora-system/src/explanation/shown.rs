//! Explanations as programs read them: the one form that the command line, the server and Python
//! write.

use plethora_core::LabelId;
use plethora_core::corpus::LabelSpace;
use serde::Serialize;

use super::{ExplainingMember, Explanation, Method, TermContribution};

/// Why a label has its score.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = LabelExplanation))]
pub struct ShownExplanation {
    /// Its key.
    pub label: String,
    /// Its number in this version of the model.
    pub label_id: u32,
    /// Its name.
    pub name: String,
    /// The score that ranking gives to it.
    pub score: f32,
    /// The score that a network gives to it before votes are mixed in, where some are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_score: Option<f32>,
    /// What weights mean: `attention`, `contributions`, `neighbours`, `matches` or `gradient`.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub method: Method,
    /// The model of an ensemble that the weights come from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<ExplainingMember>,
    /// Weighted places of the text in their order; those of several words overlap with others.
    pub spans: Vec<ShownSpan>,
    /// The terms, strongest first; empty for systems without terms.
    pub terms: Vec<TermContribution>,
    /// Training documents that voted, of systems that ask some.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub neighbours: Vec<ShownNeighbour>,
}

/// A place of the text and what it weighs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Span))]
pub struct ShownSpan {
    /// First Unicode character, so that `text[start:end]` of Python is the span.
    pub start: usize,
    /// The character behind the last.
    pub end: usize,
    /// First byte of UTF-8.
    pub start_byte: usize,
    /// The byte behind the last.
    pub end_byte: usize,
    /// The place itself.
    pub text: String,
    /// Below 0 where it speaks against the label.
    pub weight: f32,
}

/// A training document that is like the text.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = ExplainingNeighbour))]
pub struct ShownNeighbour {
    /// What the training corpus calls it.
    pub id: String,
    /// The beginning of its text.
    pub title: String,
    /// How alike the two are, above 0 and up to 1.
    pub similarity: f32,
    /// Its share of the votes.
    pub share: f32,
    /// Whether it votes for the label.
    pub has_label: bool,
    /// Names of the labels that it votes for.
    pub labels: Vec<String>,
}

impl ShownExplanation {
    /// The explanation of a label for `text`, with the names of `labels`.
    pub fn new(found: Explanation, text: &str, labels: &LabelSpace) -> Self {
        let label = labels.label(found.label);
        let starts: Vec<usize> = text.char_indices().map(|(byte, _)| byte).collect();
        let character = |byte: usize| starts.partition_point(|&start| start < byte);
        let spans = found.spans.iter().map(|span| ShownSpan {
            start: character(span.start),
            end: character(span.end),
            start_byte: span.start,
            end_byte: span.end,
            text: text[span.start..span.end].to_owned(),
            weight: span.weight,
        });
        let name_of = |&id: &LabelId| labels.label(id).name.clone();
        let neighbours = found
            .neighbours
            .into_iter()
            .map(|neighbour| ShownNeighbour {
                has_label: neighbour.labels.contains(&found.label),
                labels: neighbour.labels.iter().map(name_of).collect(),
                id: neighbour.id,
                title: neighbour.title,
                similarity: neighbour.similarity,
                share: neighbour.share,
            });
        Self {
            label: label.key.clone(),
            label_id: found.label.0,
            name: label.name.clone(),
            score: found.score,
            network_score: found.network_score,
            method: found.method,
            member: found.member,
            spans: spans.collect(),
            terms: found.terms,
            neighbours: neighbours.collect(),
        }
    }

    /// The name, with the key behind it where that is another.
    pub fn title(&self) -> String {
        if self.name == self.label {
            self.name.clone()
        } else {
            format!("{} [{}]", self.name, self.label)
        }
    }

    /// The strongest spans, strongest first; earlier ones first among equals.
    pub fn strongest_spans(&self, limit: usize) -> Vec<&ShownSpan> {
        let mut spans: Vec<&ShownSpan> = self.spans.iter().collect();
        spans.sort_by(|left, right| right.weight.abs().total_cmp(&left.weight.abs()));
        spans.truncate(limit);
        spans
    }
}

#[cfg(test)]
mod tests {
    use plethora_core::corpus::Label;
    use serde_json::json;

    use super::super::{ExplainingNeighbour, SpanWeight};
    use super::*;

    #[test]
    fn characters_are_counted_across_their_bytes_and_what_is_absent_is_left_out() {
        let labels = LabelSpace::new(vec![Label::from_key("a"), Label::from_key("b")], vec![1; 2]);
        let span = |start, end| SpanWeight {
            start,
            end,
            weight: 0.5,
        };
        let mut found = Explanation {
            spans: vec![span(0, 1), span(1, 6), span(6, 7)],
            ..Explanation::new(LabelId(1), 0.25, Method::Neighbours)
        };
        let shown = |found: &Explanation| ShownExplanation::new(found.clone(), "aé日b", &labels);
        let places: Vec<_> = (shown(&found).spans.iter())
            .map(|span| (span.start, span.end, span.text.clone()))
            .collect();
        let expected = [(0, 1, "a"), (1, 3, "é日"), (3, 4, "b")];
        assert_eq!(places, expected.map(|(s, e, t)| (s, e, t.to_owned())));
        found.spans.clear();
        assert_eq!(
            serde_json::to_value(shown(&found)).unwrap(),
            json!({"label": "b", "label_id": 1, "name": "b", "score": 0.25,
                   "method": "neighbours", "spans": [], "terms": []})
        );
        found.neighbours.push(ExplainingNeighbour {
            id: "7".into(),
            title: "Hives".into(),
            similarity: 0.5,
            share: 1.0,
            labels: vec![LabelId(0)],
        });
        assert_eq!(
            serde_json::to_value(&shown(&found).neighbours).unwrap(),
            json!([{"id": "7", "title": "Hives", "similarity": 0.5, "share": 1.0,
                    "has_label": false, "labels": ["a"]}])
        );
    }
}
