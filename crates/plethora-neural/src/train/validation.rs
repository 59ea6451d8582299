//! How good a network is, by documents that it was not trained on.

use super::network::Network;
use crate::Result;

/// Measures a network in the course of training.
pub trait Validator<N: Network> {
    /// Measures the network with the weights that it has now. Gradients are off. The stage of the
    /// progress is that of training and goes on.
    fn validate(&mut self, network: &N) -> Result<Validation>;
}

/// What came out of a validation.
#[derive(Debug, Clone, PartialEq)]
pub struct Validation {
    /// Which weights are the best: higher is better.
    pub score: f64,
    /// Metrics by name, to be shown and recorded; the one that is the score comes last.
    pub values: Vec<(String, f64)>,
}

impl Validation {
    /// The metric that selects, as `nDCG@5 0.7672`.
    pub(super) fn headline(&self) -> String {
        let name = self.values.last().map_or("score", |(name, _)| name);
        format!("{name} {:.4}", self.score)
    }
}
