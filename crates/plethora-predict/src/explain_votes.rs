//! Why a label has its score where training documents vote.

use plethora_core::LabelId;
use plethora_core::neighbours::{KnownDocuments, Neighbour, TermVote};
use plethora_core::text::TfIdf;
use plethora_linear::FeatureContribution;
use plethora_linear::knn::KnnModel;

use crate::explain::{spans_of, terms_of};
use crate::{ExplainingNeighbour, Explanation, Method, TermContribution};

/// Stands for what does not come from neighbours; no term is spelt so.
const PRIOR: &str = "(frequency)";

/// The label's votes, by the documents that cast them and by the terms that made these near.
pub(crate) fn explain_knn(
    model: &KnnModel,
    tfidf: &TfIdf,
    text: &str,
    label: LabelId,
) -> Explanation {
    let document = tfidf.transform_one(text);
    let found = model.explain(document.as_row(), label);
    let features: Vec<FeatureContribution> = found.terms.iter().map(as_feature).collect();
    let mut terms = terms_of(&features, tfidf);
    if found.prior > 0.0 {
        terms.push(TermContribution {
            term: PRIOR.to_owned(),
            value: 1.0,
            weight: found.prior,
            contribution: found.prior,
        });
    }
    let votes = found.neighbours.iter();
    Explanation {
        label,
        score: found.score,
        network_score: None,
        method: Method::Neighbours,
        spans: spans_of(&features, tfidf, text),
        terms,
        neighbours: votes
            .map(|vote| explaining(vote.neighbour, vote.share, model.documents()))
            .collect(),
        member: None,
    }
}

/// The votes of a network's neighbours for a label, by the documents that cast them and by the terms
/// that made these near. The score is what became of them and the network's word.
#[cfg(feature = "torch")]
pub(crate) fn explain_reader(
    found: &plethora_neural::ReaderExplanation<'_>,
    text: &str,
    label: LabelId,
) -> Explanation {
    let votes = &found.votes;
    let features: Vec<FeatureContribution> = votes.terms.iter().map(as_feature).collect();
    let (terms, spans) = match votes.tfidf {
        Some(tfidf) => (terms_of(&features, tfidf), spans_of(&features, tfidf, text)),
        None => (Vec::new(), Vec::new()),
    };
    let neighbours = votes.neighbours.iter();
    Explanation {
        label,
        score: found.score,
        network_score: found.network_score,
        method: Method::Neighbours,
        spans,
        terms,
        neighbours: neighbours
            .map(|&(neighbour, share)| explaining(neighbour, share, votes.documents))
            .collect(),
        member: None,
    }
}

/// A neighbour with its name and labels.
fn explaining(neighbour: Neighbour, share: f32, documents: &KnownDocuments) -> ExplainingNeighbour {
    let labels = documents.labels(neighbour.document).iter();
    ExplainingNeighbour {
        id: documents.id(neighbour.document).to_owned(),
        title: documents.title(neighbour.document).to_owned(),
        similarity: neighbour.similarity,
        share,
        labels: labels.map(|&label| LabelId(label)).collect(),
    }
}

/// A term's part of the votes, as value and weight.
fn as_feature(vote: &TermVote) -> FeatureContribution {
    FeatureContribution {
        feature: vote.term,
        value: vote.value,
        weight: vote.contribution / vote.value,
    }
}
