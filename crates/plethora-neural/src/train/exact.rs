//! Numbers that come back from JSON to the last bit, infinities and all.

use serde::{Deserialize, Serialize};

use super::validation::Validation;

/// The bits of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Exact(u64);

impl From<f64> for Exact {
    fn from(value: f64) -> Self {
        Self(value.to_bits())
    }
}

impl From<Exact> for f64 {
    fn from(exact: Exact) -> Self {
        Self::from_bits(exact.0)
    }
}

/// A [`Validation`] in a checkpoint.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ExactValidation {
    score: Exact,
    values: Vec<(String, Exact)>,
}

impl From<&Validation> for ExactValidation {
    fn from(validation: &Validation) -> Self {
        let values = validation.values.iter();
        Self {
            score: validation.score.into(),
            values: values
                .map(|(name, value)| (name.clone(), (*value).into()))
                .collect(),
        }
    }
}

impl From<ExactValidation> for Validation {
    fn from(exact: ExactValidation) -> Self {
        let values = exact.values.into_iter();
        Self {
            score: exact.score.into(),
            values: values.map(|(name, value)| (name, value.into())).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_to_the_last_bit() {
        for score in [0.1 + 0.2, f64::NEG_INFINITY, -0.0, f64::MIN_POSITIVE] {
            let validation = Validation {
                score,
                values: vec![("P@1".to_owned(), score)],
            };
            let text = serde_json::to_string(&ExactValidation::from(&validation)).unwrap();
            let back: ExactValidation = serde_json::from_str(&text).unwrap();
            let back = Validation::from(back);
            assert_eq!(back.score.to_bits(), score.to_bits());
            assert_eq!(back, validation);
        }
    }
}
