//! How likely a true label is to have been assigned, by the model of Jain et al. (2016).

use crate::LabelId;

/// Inverse propensities `1 / p` of labels.
///
/// `1 / p = 1 + C (n + B)^-A` with `C = (ln N - 1) (B + 1)^A`, where `n` of `N` training documents
/// have the label. The rarer a label, the more a hit on it is worth.
#[derive(Debug, Clone, PartialEq)]
pub struct Propensities {
    inverses: Vec<f64>,
    unseen_inverse: f64,
}

impl Propensities {
    /// Propensities from the number of training documents of each label.
    pub fn new(train_counts: &[u32], num_train_documents: u64, a: f64, b: f64) -> Self {
        // The model is not meant for three documents or fewer, where C would be negative.
        let c = ((num_train_documents as f64).ln() - 1.0).max(0.0) * (b + 1.0).powf(a);
        let inverse = |count: u32| 1.0 + c * (f64::from(count) + b).powf(-a);
        let inverses = train_counts.iter().map(|&count| inverse(count)).collect();
        Self {
            inverses,
            unseen_inverse: inverse(0),
        }
    }

    /// The inverse propensity of a label; labels beyond the training counts were never seen.
    pub fn inverse(&self, label: LabelId) -> f64 {
        self.inverses
            .get(label.index())
            .copied()
            .unwrap_or(self.unseen_inverse)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_labels_weigh_more_and_unknown_ones_count_as_never_seen() {
        let propensities = Propensities::new(&[1000, 10, 0], 10_000, 0.55, 1.5);
        let [head, tail, never, unknown] =
            [0, 1, 2, 3].map(|label| propensities.inverse(LabelId(label)));
        assert!(1.0 < head && head < tail && tail < never);
        assert_eq!(never, unknown);
    }

    #[test]
    fn tiny_training_sets_give_plain_weights() {
        for num_documents in [0, 1, 2] {
            assert_eq!(
                Propensities::new(&[1], num_documents, 0.55, 1.5).inverse(LabelId(0)),
                1.0
            );
        }
    }
}
