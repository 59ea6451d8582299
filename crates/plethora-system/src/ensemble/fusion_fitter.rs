//! Fits the forest of a fused ensemble.

use plethora_core::forest::{FeatureRows, Forest, ForestConfig};
use plethora_core::{Result, ScoredLabel};

use super::candidates::Candidates;
use super::fusion::Fusion;

/// Chosen by crossing parts of the dev documents of gnd-tib and cve-lib; twice or half of each number
/// changes nDCG@5 by less than 0.1.
const FOREST: ForestConfig = ForestConfig {
    num_trees: 100,
    num_leaves: 8,
    learning_rate: 0.1,
    min_rows: 50,
    ridge: 1.0,
};

/// A rougher one, to compare members by.
const SMALL_FOREST: ForestConfig = ForestConfig {
    num_trees: 40,
    learning_rate: 0.25,
    ..FOREST
};

/// What came out of fitting.
#[derive(Debug)]
pub struct FittedFusion {
    /// The forest, fitted to all documents.
    pub fusion: Fusion,
    /// Rankings of the documents by forests that had not seen them, in their order.
    pub rankings: Vec<Vec<ScoredLabel>>,
}

impl Fusion {
    /// Fits a forest, and one for each part of the documents to the others.
    ///
    /// # Errors
    /// [`plethora_core::Error::Data`] if there are too few true labels.
    pub fn fit(candidates: &Candidates) -> Result<FittedFusion> {
        candidates.check()?;
        let probabilities = crossed(candidates, &FOREST);
        let fusion = Self {
            forest: forest(candidates, &FOREST, &candidates.all_rows()),
            propensity_documents: None,
            num_documents: candidates.num_documents(),
            ndcg_before: candidates.mean_ndcg(),
            ndcg_after: candidates.ndcg(&probabilities),
        };
        Ok(FittedFusion {
            fusion,
            rankings: candidates.rankings(&probabilities),
        })
    }

    /// nDCG@5 of smaller forests on documents that they have not seen: enough to compare some members
    /// with others, in a third of the time.
    pub fn quick_ndcg(candidates: &Candidates) -> f64 {
        candidates.ndcg(&crossed(candidates, &SMALL_FOREST))
    }
}

/// What forests give the rows of each part of the documents that were fitted to the others.
fn crossed(candidates: &Candidates, config: &ForestConfig) -> Vec<f32> {
    let rows = &candidates.rows;
    candidates.crossed(
        |meant| forest(candidates, config, meant),
        |forest, unseen| forest.probabilities(rows.values_of(unseen), rows.num_features),
    )
}

fn forest(candidates: &Candidates, config: &ForestConfig, meant: &[usize]) -> Forest {
    let rows = &candidates.rows;
    let values: Vec<f32> = (meant.iter())
        .flat_map(|&row| rows.values_of(row..row + 1))
        .copied()
        .collect();
    let truth: Vec<bool> = meant.iter().map(|&row| candidates.truth[row]).collect();
    Forest::fit(
        &FeatureRows::new(&values, rows.num_features),
        &truth,
        config,
    )
}

#[cfg(test)]
mod tests {
    use plethora_core::LabelId;

    use super::*;

    /// Two members that are right about different labels, which only their scores together tell.
    fn candidates(num_documents: u32) -> Candidates {
        let mut candidates = Candidates::new(2);
        for number in 0..num_documents {
            let scored = |label: u32, score| ScoredLabel {
                label: LabelId(label),
                score,
            };
            // The first member is sure of a wrong label wherever the second does not know it.
            let wrong: Vec<ScoredLabel> = (10..14).map(|label| scored(label, 0.9)).collect();
            let first = [&wrong[..], &[scored(number % 7, 0.3)]].concat();
            let second = [scored(number % 7, 0.2), scored(8, 0.4)];
            candidates.add(&[&first, &second], &[LabelId(number % 7)], 1, |_| 5);
        }
        candidates
    }

    #[test]
    fn a_forest_finds_what_the_mean_cannot() {
        let candidates = candidates(300);
        let fitted = Fusion::fit(&candidates).unwrap();
        assert!(
            fitted.fusion.ndcg_before < 0.5,
            "{:?}",
            fitted.fusion.ndcg_before
        );
        assert!(
            fitted.fusion.ndcg_after > 0.99,
            "{:?}",
            fitted.fusion.ndcg_after
        );
        assert_eq!(fitted.rankings.len(), 300);
        assert_eq!(fitted.rankings[9][0].label, LabelId(2));
        assert!(fitted.fusion.validate(2).is_ok());
        assert!(fitted.fusion.validate(0).is_err());
        assert_eq!(Fusion::fit(&candidates).unwrap().fusion, fitted.fusion);
    }

    #[test]
    fn too_few_true_labels_are_refused() {
        assert!(!candidates(100).can_fit());
        let error = Fusion::fit(&candidates(100)).unwrap_err().to_string();
        assert!(error.starts_with("too few of the labels"), "{error}");
    }
}
