//! A made-up explanation for the tests of all forms; those of the command line include it, too.

use plethora_core::LabelId;
use plethora_core::corpus::{Label, LabelSpace};
use plethora_system::{
    BIAS, ExplainingMember, Explanation, Method, ShownExplanation, SpanWeight, TermContribution,
};

use super::ExplanationReport;

/// Markup and characters of several bytes between the words.
pub(super) const TEXT: &str = "Tide <script>alert('é')</script>\nhoney & tide";

/// A label with contributions and one with attention.
pub(super) fn report() -> ExplanationReport<'static> {
    let mut labels: Vec<Label> = (0..8).map(|id| Label::from_key(id.to_string())).collect();
    labels[2] = Label::from_key("Bees");
    labels[7] = Label {
        key: "C1".into(),
        name: "Tides & <coasts>".into(),
        ..Label::default()
    };
    let space = LabelSpace::new(labels, vec![1; 8]);
    ExplanationReport {
        model: "models/<sea>".into(),
        system: "wide-tree",
        text: TEXT,
        explanations: [contributions(), attention()]
            .map(|found| ShownExplanation::new(found, TEXT, &space))
            .into(),
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
            system: "network".into(),
        }),
    }
}
