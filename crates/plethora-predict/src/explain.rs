//! Why a label has its score: which places of a text speak for it and against it.

use std::ops::Range;

use plethora_core::corpus::{Content, Document};
use plethora_core::text::TfIdf;
use plethora_core::{Error, LabelId, Result};
use plethora_linear::{FeatureContribution, LinearModel};

use crate::explain_votes::explain_knn;

use crate::{EnsembleModel, Predictor, System};

/// Stands for the classifier's bias among the terms; no term is spelt so.
pub const BIAS: &str = "(bias)";

/// Where the weights of an explanation come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// How much a label attends to each place, from 0; the weights of a text sum to 1.
    Attention,
    /// What each term adds to the margin of a label's linear classifier, or takes from it.
    Contributions,
    /// What each term, by making training documents with the label alike, adds to their votes for it.
    Neighbours,
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

/// The member of an ensemble that explains a label: the first that can.
#[derive(Debug, Clone, PartialEq, Eq)]
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
#[derive(Debug, Clone, PartialEq)]
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
        }
    }
}

impl Predictor {
    /// Why `label` has its score for a text.
    ///
    /// # Errors
    /// [`Error::Data`] if the model was trained on features, has no such label, or is of a system
    /// that cannot tell.
    pub fn explain(&self, text: &str, label: LabelId) -> Result<Explanation> {
        if label.index() >= self.labels().len() {
            return Err(Error::Data(format!(
                "there is no label number {}, the model has {}",
                label.0,
                self.labels().len()
            )));
        }
        let found = match self.system() {
            System::Linear(model) => {
                let tfidf = self.tfidf().ok_or_else(without_words)?;
                Ok(explain_linear(model, tfidf, text, label))
            }
            System::Knn(model) => {
                let tfidf = self.tfidf().ok_or_else(without_words)?;
                Ok(explain_knn(model, tfidf, text, label))
            }
            #[cfg(feature = "torch")]
            System::Neural(model) => explain_neural(self, model, text, label),
            System::Ensemble(_) if !self.details().takes_text => Err(without_words()),
            System::Ensemble(model) => explain_ensemble(model, text, label),
        }?;
        Ok(Explanation {
            score: self.shown_score(label, found.score),
            // What calibration made of the score must not look like the votes' doing.
            network_score: found.network_score.filter(|_| self.calibration().is_none()),
            ..found
        })
    }
}

fn without_words() -> Error {
    Error::Data("the model was trained on features, so it has no words to explain with".into())
}

fn explain_linear(model: &LinearModel, tfidf: &TfIdf, text: &str, label: LabelId) -> Explanation {
    let document = tfidf.transform_one(text);
    let found = model.explain(document.as_row(), label);
    let mut terms = terms_of(&found.features, tfidf);
    if found.bias != 0.0 {
        terms.push(TermContribution {
            term: BIAS.to_owned(),
            value: 1.0,
            weight: found.bias,
            contribution: found.bias,
        });
    }
    Explanation {
        label,
        score: found.score,
        network_score: None,
        method: Method::Contributions,
        spans: spans_of(&found.features, tfidf, text),
        terms,
        neighbours: Vec::new(),
        member: None,
    }
}

/// The terms, strongest first.
pub(crate) fn terms_of(features: &[FeatureContribution], tfidf: &TfIdf) -> Vec<TermContribution> {
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

/// Attention says where a label looks, not whether what it finds speaks for it.
#[cfg(feature = "torch")]
fn explain_neural(
    predictor: &Predictor,
    model: &plethora_neural::NeuralModel,
    text: &str,
    label: LabelId,
) -> Result<Explanation> {
    if let Some(found) = model.explain_by_votes(text, label)? {
        return Ok(crate::explain_votes::explain_reader(&found, text, label));
    }
    let Some(places) = model.attention(text, label)? else {
        return Err(Error::Data(format!(
            "{} has no attention, so there is nothing to explain a label with",
            predictor.details().system
        )));
    };
    let options = plethora_neural::RankOptions {
        top_k: predictor.labels().len(),
        beam: None,
    };
    let rankings = model.rank(&[text], options)?;
    let ranked = rankings
        .iter()
        .flatten()
        .find(|scored| scored.label == label);
    // A label that the beam does not reach is not ranked at all.
    let score = ranked.map_or(0.0, |scored| scored.score);
    Ok(Explanation {
        label,
        score,
        network_score: None,
        method: Method::Attention,
        spans: places
            .into_iter()
            .map(|(place, weight)| SpanWeight {
                start: place.start,
                end: place.end,
                weight,
            })
            .collect(),
        terms: Vec::new(),
        neighbours: Vec::new(),
        member: None,
    })
}

/// Weights of different systems cannot be added up, so that one member speaks for all.
fn explain_ensemble(ensemble: &EnsembleModel, text: &str, label: LabelId) -> Result<Explanation> {
    let mut reason = "none of them knows it".to_owned();
    for member in ensemble.members() {
        let Some(own_label) = member.own_label(label) else {
            continue;
        };
        let found = match member.predictor().explain(text, own_label) {
            Ok(found) => found,
            Err(Error::Data(message)) => {
                reason = message;
                continue;
            }
            Err(error) => return Err(error),
        };
        let document = Document {
            id: String::new(),
            content: Content::Text(text.to_owned()),
            labels: Vec::new(),
        };
        return Ok(Explanation {
            label,
            score: ensemble.score(&document, label)?,
            network_score: None,
            member: Some(match found.member {
                Some(inner) => ExplainingMember {
                    name: format!("{}/{}", member.name(), inner.name),
                    ..inner
                },
                None => ExplainingMember {
                    name: member.name().to_owned(),
                    system: member.predictor().details().system.clone(),
                },
            }),
            neighbours: (found.neighbours.into_iter())
                .map(|neighbour| ExplainingNeighbour {
                    labels: member.ensemble_labels(&neighbour.labels),
                    ..neighbour
                })
                .collect(),
            ..found
        });
    }
    Err(Error::Data(format!(
        "no member of the ensemble can explain the label: {reason}"
    )))
}

/// The places of terms, each with an equal share of what its term contributes.
pub(crate) fn spans_of(
    features: &[FeatureContribution],
    tfidf: &TfIdf,
    text: &str,
) -> Vec<SpanWeight> {
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

/// All runs of words that may be terms, with their bytes in the text.
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
}
