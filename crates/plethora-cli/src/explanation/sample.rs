//! A made-up explanation for the tests of all forms.

use plethora_core::LabelId;
use plethora_core::corpus::Label;
use plethora_predict::{BIAS, ExplainingMember, Explanation, Method, SpanWeight, TermContribution};

use super::ExplanationReport;
use super::report::ExplainedLabel;

/// Markup and characters of several bytes between the words.
pub(super) const TEXT: &str = "Tide <script>alert('é')</script>\nhoney & tide";

/// What a report borrows.
pub(super) struct Parts {
    labels: [Label; 2],
}

pub(super) fn parts() -> Parts {
    let named = Label {
        key: "C1".into(),
        name: "Tides & <coasts>".into(),
        ..Label::default()
    };
    Parts {
        labels: [named, Label::from_key("Bees")],
    }
}

impl Parts {
    /// A label with contributions and one with attention.
    pub(super) fn report(&self) -> ExplanationReport<'_> {
        let explanations = [contributions(), attention()];
        let labels = self.labels.iter().zip(explanations);
        ExplanationReport {
            model: "models/<sea>".into(),
            system: "wide-tree",
            text: TEXT,
            labels: labels
                .map(|(label, explanation)| ExplainedLabel {
                    label,
                    neighbour_labels: vec![vec![label]; explanation.neighbours.len()],
                    explanation,
                })
                .collect(),
        }
    }
}

/// The `count`th place of a word in the text.
fn span(word: &str, count: usize, weight: f32) -> SpanWeight {
    let (start, _) = TEXT.match_indices(word).nth(count).unwrap();
    SpanWeight {
        start,
        end: start + word.len(),
        weight,
    }
}

fn term(term: &str, value: f32, weight: f32) -> TermContribution {
    TermContribution {
        term: term.into(),
        value,
        weight,
        contribution: value * weight,
    }
}

fn contributions() -> Explanation {
    Explanation {
        label: LabelId(7),
        score: 0.875,
        network_score: None,
        method: Method::Contributions,
        spans: vec![
            span("Tide", 0, 0.5),
            span("script", 0, 0.01),
            span("honey", 0, -0.25),
            span("tide", 0, 0.5),
        ],
        terms: vec![
            term("tide", 0.5, 2.0),
            term("honey", 0.25, -1.0),
            term("script", 0.01, 1.0),
            term(BIAS, 1.0, -0.5),
        ],
        neighbours: Vec::new(),
        member: None,
    }
}

fn attention() -> Explanation {
    Explanation {
        label: LabelId(2),
        score: 0.125,
        network_score: Some(0.25),
        method: Method::Attention,
        spans: vec![span("alert('é')", 0, 0.25), span("honey", 0, 0.75)],
        terms: Vec::new(),
        neighbours: Vec::new(),
        member: Some(ExplainingMember {
            name: "member-1".into(),
            system: "attentionxml".into(),
        }),
    }
}
