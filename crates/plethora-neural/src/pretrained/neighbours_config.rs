//! Settings of neighbours by trained vectors.

use plethora_core::Result;
use plethora_core::checks::{above_zero, share, within};
use plethora_system::settings::Auto;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// More neighbours would be a typing error.
const MAX_NEIGHBOURS: usize = 100_000;

/// Training documents whose trained vectors are nearest, and who vote for their labels.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct VectorNeighboursConfig {
    /// Training documents that vote; 0 for none.
    pub num_neighbours: usize,
    /// How much the votes count, from 0 to 1: the network's score counts the rest.
    pub weight: Auto<f64>,
    /// What similarities are divided by before a softmax makes votes of them.
    pub temperature: Auto<f64>,
}

impl VectorNeighboursConfig {
    /// Refuses settings that cannot work, naming the key.
    pub(super) fn validate(&self) -> Result<()> {
        within(
            "neighbours.num_neighbours",
            self.num_neighbours,
            0..=MAX_NEIGHBOURS,
        )?;
        if let Auto::Set(weight) = self.weight {
            share("neighbours.weight", weight)?;
        }
        if let Auto::Set(temperature) = self.temperature {
            above_zero("neighbours.temperature", temperature)?;
        }
        Ok(())
    }

    /// Whether training documents vote at all.
    pub(super) fn vote(&self) -> bool {
        self.num_neighbours > 0
    }
}
