//! Choosing how much nearer neighbours count.

use rayon::prelude::*;

use crate::metrics::{EvaluationConfig, Evaluator};
use crate::{LabelId, Result, ScoredLabel};

/// Powers to choose from. The first of equally good ones is taken, which decides for tiny corpora.
const POWERS: [f32; 10] = [3.0, 4.0, 2.0, 5.0, 1.5, 6.0, 1.0, 8.0, 0.5, 12.0];

/// Most training documents that a power is chosen by; more do not change the choice.
const MAX_ASKED: usize = 2_000;

/// Labels that are ranked per document: what the metric looks at.
const DEPTH: usize = 5;

/// The metric that chooses.
pub const CHOSEN_BY: &str = "nDCG@5";

/// What was chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChosenPower {
    /// The exponent of similarities.
    pub power: f32,
    /// How well it ranks.
    pub score: f64,
    /// By how many documents it was chosen.
    pub num_asked: usize,
}

impl ChosenPower {
    /// Which of so many training documents a power is chosen by.
    pub fn asked(num_documents: usize) -> Vec<u32> {
        let num_asked = num_documents.min(MAX_ASKED);
        // Spread evenly, as documents of one kind often follow each other.
        (0..num_asked)
            .map(|number| (number * num_documents / num_asked) as u32)
            .collect()
    }
}

/// The power that ranks the labels of documents best, of which `truths` are the true ones. `rank` gives
/// the labels of the document with a number, best first, by its neighbours' similarities to a power; no
/// document may be among its own neighbours.
pub fn choose_power(
    num_labels: usize,
    truths: &[Vec<LabelId>],
    rank: impl Fn(usize, f32) -> Vec<ScoredLabel> + Sync,
) -> Result<ChosenPower> {
    let mut chosen: Option<ChosenPower> = None;
    for power in POWERS {
        let rankings: Vec<Vec<ScoredLabel>> = (0..truths.len())
            .into_par_iter()
            .map(|number| {
                let mut ranking = rank(number, power);
                ranking.truncate(DEPTH);
                ranking
            })
            .collect();
        let config = EvaluationConfig {
            ks: vec![DEPTH],
            ..EvaluationConfig::default()
        };
        let mut evaluator = Evaluator::new(config, &vec![1; num_labels], 1)?;
        for (truth, ranking) in truths.iter().zip(&rankings) {
            evaluator.add(truth, ranking);
        }
        let score = evaluator.finish().get(CHOSEN_BY);
        let score = score.expect("the metric is one of those at that depth");
        if chosen.is_none_or(|best| score > best.score) {
            chosen = Some(ChosenPower {
                power,
                score,
                num_asked: truths.len(),
            });
        }
    }
    Ok(chosen.expect("there are powers"))
}
