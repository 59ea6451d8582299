//! What scores mean.

use serde::{Deserialize, Serialize};

/// Kinds of scores that a model can give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum ScoreKind {
    /// Probabilities, where the model was calibrated; its own scores otherwise.
    #[default]
    Prob,
    /// The model's own scores.
    Raw,
}
