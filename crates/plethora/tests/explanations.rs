//! Explanations of trained models: contributions that add up, and spans that point at words.

#![expect(clippy::unwrap_used, reason = "a failed set-up fails the test")]

mod support;

use plethora::settings::Settings;
use plethora_core::corpus::{Content, Document};
use plethora_core::{LabelId, SparseVector};
use plethora_system::{BIAS, Explanation, Method, Predictor, RankOptions};
use tempfile::TempDir;

/// Subjects and the words of books on them.
const SHELVES: [(&str, [&str; 5]); 4] = [
    ("bees", ["bee", "hive", "honey", "swarm", "wax"]),
    ("bridges", ["arch", "span", "stone", "pillar", "Brücke"]),
    ("clocks", ["wheel", "hour", "pendulum", "dial", "Größe"]),
    ("tides", ["harbour", "moon", "gauge", "coast", "日本"]),
];

/// Two places of a term that speaks for the label of bridges, in other bytes than characters.
const TEXT: &str = "Über die BRÜCKE: stone, stone — 日本 honey arch";

fn books() -> impl Iterator<Item = Document> {
    (0..60).map(|number| {
        let (label, words) = SHELVES[number % SHELVES.len()];
        let chosen: Vec<&str> = (0..3).map(|place| words[(number + place) % 5]).collect();
        Document {
            id: number.to_string(),
            content: Content::Text(format!("Über {}", chosen.join(" "))),
            labels: vec![label.to_owned()],
        }
    })
}

fn as_features(document: Document) -> Document {
    let length = document.text().unwrap_or_default().len() as u32;
    Document {
        content: Content::Features(SparseVector::from_entries(vec![(length % 7, 1.0)])),
        ..document
    }
}

fn train(documents: impl Iterator<Item = Document>, config: &Settings) -> (Predictor, TempDir) {
    let folder = TempDir::new().unwrap();
    let documents: Vec<Document> = documents.collect();
    let predictor = support::train(&documents, config, &folder.path().join("model"));
    (predictor, folder)
}

fn config(system: &str, max_ngram: usize) -> Settings {
    support::config_with(system, &format!("text.max_ngram={max_ngram}"))
}

fn margin(explanation: &Explanation) -> f32 {
    explanation.terms.iter().map(|term| term.contribution).sum()
}

#[test]
fn contributions_sum_to_the_margin_behind_the_score() {
    let (predictor, _files) = train(books(), &config("one-vs-all", 1));
    for label in (0..4).map(LabelId) {
        let explanation = predictor.explain(TEXT, label).unwrap();
        assert_eq!(explanation.method, Method::Contributions);
        // Without a tree, the score is the squared hinge loss of the margin, in the log domain.
        let violation = (1.0 - margin(&explanation)).max(0.0);
        let expected = (-violation * violation).exp();
        assert!(
            (explanation.score - expected).abs() < 1e-4,
            "{explanation:?}"
        );
    }
}

#[test]
fn scores_are_those_of_the_ranking() {
    for system in ["wide-tree", "parabel", "bonsai", "one-vs-all"] {
        let (predictor, _files) = train(books(), &config(system, 1));
        let document = Document {
            id: "1".into(),
            content: Content::Text(TEXT.into()),
            labels: Vec::new(),
        };
        let options = RankOptions {
            top_k: 4,
            beam: None,
        };
        for scored in &predictor.rank(&[document], options).unwrap()[0] {
            let explanation = predictor.explain(TEXT, scored.label).unwrap();
            assert_eq!(explanation.score, scored.score, "{system}");
        }
    }
}

#[test]
fn spans_point_at_the_words_and_share_their_contributions() {
    let (predictor, _files) = train(books(), &config("wide-tree", 1));
    let label = predictor.labels().id("bridges").unwrap();
    let explanation = predictor.explain(TEXT, label).unwrap();
    let best = &explanation.terms[0];
    assert_eq!(best.term, "stone");
    assert_eq!(best.contribution, best.value * best.weight);
    let weight_of = |place: &str| -> Vec<f32> {
        let spans = explanation.spans.iter();
        spans
            .filter(|span| &TEXT[span.start..span.end] == place)
            .map(|span| span.weight)
            .collect()
    };
    assert_eq!(weight_of("stone"), [best.contribution / 2.0; 2]);
    assert!(weight_of("BRÜCKE")[0] > 0.0);
    assert!(weight_of("honey")[0] < 0.0, "it speaks for bees");
    assert!(explanation.spans.is_sorted_by_key(|span| span.start));
    let without_bias = explanation.terms.iter().filter(|term| term.term != BIAS);
    let of_terms: f32 = without_bias.map(|term| term.contribution).sum();
    let of_spans: f32 = explanation.spans.iter().map(|span| span.weight).sum();
    assert!((of_terms - of_spans).abs() < 1e-5);
}

#[test]
fn terms_of_two_words_span_both() {
    let (predictor, _files) = train(books(), &config("wide-tree", 2));
    let label = predictor.labels().id("bridges").unwrap();
    let text = "Arch,  Span";
    let explanation = predictor.explain(text, label).unwrap();
    let places: Vec<&str> = (explanation.spans.iter())
        .map(|span| &text[span.start..span.end])
        .collect();
    assert_eq!(places, ["Arch", "Arch,  Span", "Span"]);
}

#[test]
fn a_text_without_known_words_leaves_the_bias() {
    let (predictor, _files) = train(books(), &config("wide-tree", 1));
    for text in ["", "nothing known here"] {
        let explanation = predictor.explain(text, LabelId(0)).unwrap();
        assert!(explanation.spans.is_empty());
        assert!(explanation.terms.iter().all(|term| term.term == BIAS));
    }
}

#[test]
fn what_cannot_be_explained_is_said_so() {
    let (predictor, _files) = train(books(), &config("wide-tree", 1));
    let error = predictor.explain(TEXT, LabelId(4)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is no label number 4, the model has 4"
    );
    let (predictor, _files) = train(books().map(as_features), &config("wide-tree", 1));
    let error = predictor.explain(TEXT, LabelId(0)).unwrap_err();
    assert!(error.to_string().contains("trained on features"), "{error}");
}
