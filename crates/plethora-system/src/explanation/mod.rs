//! Why a label has its score: which places of a text speak for it and against it.

mod shown;

use std::fmt;
use std::ops::Range;

use plethora_core::neighbours::{KnownDocuments, Neighbour, TermVote};
use plethora_core::text::TfIdf;
use plethora_core::{LabelId, TermId};
use serde::Serialize;

pub use shown::{ShownExplanation, ShownNeighbour, ShownSpan};

/// Stands for the classifier's bias among the terms; no term is spelt so.
pub const BIAS: &str = "(bias)";

/// Where the weights of an explanation come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Method {
    /// How much a label attends to each place, from 0; the weights of a text sum to 1.
    Attention,
    /// What each term adds to the margin of a label's linear classifier, or takes from it.
    Contributions,
    /// What each term adds to the votes for the label, by making the text resemble documents with
    /// it.
    Neighbours,
    /// What each name of the label, or phrase learnt as one, adds to its score; they sum to it.
    Matches,
    /// What each word adds to the log-odds of the label, to first order: the gradient by its
    /// embedding, times the embedding.
    Gradient,
}

/// Why a label has its score.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The label.
    pub label: LabelId,
    /// The score that ranking gives to it.
    pub score: f32,
    /// The score that a network gives to it before votes are mixed in; absent where none are, and
    /// where the score is not of these two alone: in ensembles and calibrated models.
    pub network_score: Option<f32>,
    /// What the weights mean.
    pub method: Method,
    /// Weighted places of the text in their order; terms of several words overlap with others.
    pub spans: Vec<SpanWeight>,
    /// The terms, strongest first, then the bias; empty for systems without terms.
    pub terms: Vec<TermContribution>,
    /// The training documents that voted, the nearest first; empty for systems that ask none.
    pub neighbours: Vec<ExplainingNeighbour>,
    /// The member of an ensemble that the weights come from; the score is that of the ensemble.
    pub member: Option<ExplainingMember>,
}

/// The member of an ensemble that explains a label: the one that says most for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ExplainingMember {
    /// Its folder in that of the ensemble (`member-0`, or `member-1/member-0` where ensembles are
    /// members of others).
    pub name: String,
    /// Its system.
    pub system: String,
}

/// A training document that voted for its labels.
#[derive(Debug, Clone, PartialEq)]
pub struct ExplainingNeighbour {
    /// What the training corpus calls it.
    pub id: String,
    /// The beginning of its text; empty where it came without.
    pub title: String,
    /// How alike the two are, above 0 and up to 1.
    pub similarity: f32,
    /// Its share of the votes.
    pub share: f32,
    /// The labels that it votes for.
    pub labels: Vec<LabelId>,
}

/// A place of the text and what it weighs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpanWeight {
    /// First byte of the place in the text.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
    /// Its weight; below 0 where it speaks against the label.
    pub weight: f32,
}

/// A term and what it adds to a label's classifier.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Term))]
pub struct TermContribution {
    /// The term, or [`BIAS`].
    pub term: String,
    /// Value of the feature in the text; 1 for the bias.
    pub value: f32,
    /// Weight in the label's classifier, averaged over the trees.
    pub weight: f32,
    /// Value times weight. All contributions sum to the classifier's margin.
    pub contribution: f32,
}

impl Method {
    /// The word for it in JSON and for people.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Attention => "attention",
            Self::Contributions => "contributions",
            Self::Neighbours => "neighbours",
            Self::Matches => "matches",
            Self::Gradient => "gradient",
        }
    }
}

impl fmt::Display for ExplainingMember {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({})", self.name, self.system)
    }
}

impl Explanation {
    /// An explanation with nothing but a score and how it came about.
    pub fn new(label: LabelId, score: f32, method: Method) -> Self {
        Self {
            label,
            score,
            network_score: None,
            method,
            spans: Vec::new(),
            terms: Vec::new(),
            neighbours: Vec::new(),
            member: None,
        }
    }
}

/// What a feature adds to the score of a label.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FeatureContribution {
    /// The feature.
    pub feature: TermId,
    /// Its value in the document.
    pub value: f32,
    /// Its weight for the label.
    pub weight: f32,
}

impl FeatureContribution {
    /// Value times weight.
    pub fn contribution(&self) -> f32 {
        self.value * self.weight
    }
}

impl From<&TermVote> for FeatureContribution {
    fn from(vote: &TermVote) -> Self {
        Self {
            feature: vote.term,
            value: vote.value,
            weight: vote.contribution / vote.value,
        }
    }
}

impl ExplainingNeighbour {
    /// A neighbour with its name and labels.
    pub fn new(neighbour: Neighbour, share: f32, documents: &KnownDocuments) -> Self {
        let labels = documents.labels(neighbour.document).iter();
        Self {
            id: documents.id(neighbour.document).to_owned(),
            title: documents.title(neighbour.document).to_owned(),
            similarity: neighbour.similarity,
            share,
            labels: labels.map(|&label| LabelId(label)).collect(),
        }
    }
}

/// The terms, strongest first.
pub fn terms_of(features: &[FeatureContribution], tfidf: &TfIdf) -> Vec<TermContribution> {
    let mut terms: Vec<TermContribution> = features
        .iter()
        .map(|feature| TermContribution {
            term: tfidf.term(feature.feature).to_owned(),
            value: feature.value,
            weight: feature.weight,
            contribution: feature.contribution(),
        })
        .collect();
    terms.sort_by(|left, right| {
        let strength = |term: &TermContribution| term.contribution.abs();
        strength(right).total_cmp(&strength(left))
    });
    terms
}

/// The places of terms, each with an equal share of what its term contributes.
pub fn spans_of(features: &[FeatureContribution], tfidf: &TfIdf, text: &str) -> Vec<SpanWeight> {
    let mut counts = vec![0_u32; features.len()];
    let mut places = Vec::new();
    for_each_term(tfidf, text, |term, place| {
        let feature = tfidf.vocabulary().id(term).and_then(|id| {
            let found = features.binary_search_by_key(&id, |feature| feature.feature);
            found.ok()
        });
        if let Some(feature) = feature {
            counts[feature] += 1;
            places.push((feature, place));
        }
    });
    places
        .into_iter()
        .map(|(feature, Range { start, end })| SpanWeight {
            start,
            end,
            weight: features[feature].contribution() / counts[feature] as f32,
        })
        .collect()
}

/// All runs and parts of words that may be terms, with their bytes in the text.
fn for_each_term(tfidf: &TfIdf, text: &str, mut act: impl FnMut(&str, Range<usize>)) {
    let tokens: Vec<_> = tfidf.tokenizer().tokens(text).collect();
    let bytes: Vec<usize> = (text.char_indices().map(|(byte, _)| byte))
        .chain([text.len()])
        .collect();
    let mut term = String::new();
    for (first, start) in tokens.iter().enumerate() {
        term.clear();
        for token in tokens[first..].iter().take(tfidf.config().max_ngram) {
            if !term.is_empty() {
                term.push(' ');
            }
            term.push_str(&token.text);
            act(&term, bytes[start.start]..bytes[token.end]);
        }
    }
    let parts = &tfidf.config().parts;
    for token in tokens.iter().take(parts.max_words) {
        let place = bytes[token.start]..bytes[token.end];
        parts.for_each(&token.text, |part, letters| {
            // Where spelling changed the word's letters, the whole word stands for its part.
            let is_as_written = token.text.len() == place.len();
            let of_part = place.start + letters.start..place.start + letters.end;
            let is_whole = !is_as_written
                || !text.is_char_boundary(of_part.start)
                || !text.is_char_boundary(of_part.end);
            act(part, if is_whole { place.clone() } else { of_part });
        });
    }
}
