//! Why a label has its score: terms, the vector as a whole, and the documents that vote.

use plethora_core::LabelId;
use plethora_core::neighbours::shares;
use plethora_system::{
    BIAS, ExplainingNeighbour, Explanation, FeatureContribution, Method, RankOptions,
    TermContribution, spans_of, terms_of,
};

use super::blend::Blend;
use super::model::DenseModel;
use crate::Result;

/// Stands for the numbers of the vector, which mean nothing one by one; no term is spelt so.
const VECTOR: &str = "(vector)";

impl DenseModel {
    /// What each term, the vector and the bias add to the margin of the label's classifier, and the nearest
    /// documents by vectors with their shares of the votes.
    pub(super) fn explained(&self, text: &str, label: LabelId) -> Result<Explanation> {
        let asked = self.asked(&[text])?;
        let blend = Blend::from(&self.config);
        let every_label = RankOptions {
            top_k: usize::MAX,
            beam: None,
        };
        let said = self.said(&asked, every_label).remove(0);
        let ranking = blend.rank(&said, &self.indexes.documents, usize::MAX);
        let scored = ranking.iter().find(|scored| scored.label == label);
        let found = self.classifiers.explain(self.rows(&asked).row(0), label);
        let num_terms = self.tfidf.num_features();
        let is_term = |feature: &FeatureContribution| feature.feature.index() < num_terms;
        let (features, numbers): (Vec<_>, Vec<_>) = found.features.iter().partition(|f| is_term(f));
        let of_vector: f32 = numbers.iter().map(FeatureContribution::contribution).sum();
        let mut terms = terms_of(&features, &self.tfidf);
        for (term, contribution) in [(VECTOR, of_vector), (BIAS, found.bias)] {
            if contribution != 0.0 {
                terms.push(TermContribution {
                    term: term.to_owned(),
                    value: 1.0,
                    weight: contribution,
                    contribution,
                });
            }
        }
        let [by_vectors, _] = &said.neighbours;
        let shares = shares(by_vectors, self.config.neighbours.power);
        let [of_votes, _] = blend.shares();
        let votes = by_vectors.iter().zip(shares);
        Ok(Explanation {
            spans: spans_of(&features, &self.tfidf, text),
            terms,
            neighbours: votes
                .map(|(&neighbour, share)| {
                    let share = of_votes * share;
                    ExplainingNeighbour::new(neighbour, share, &self.indexes.documents)
                })
                .collect(),
            ..Explanation::new(
                label,
                scored.map_or(0.0, |scored| scored.score),
                Method::Contributions,
            )
        })
    }
}
