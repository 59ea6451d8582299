//! Boosted trees that tell true rows of features from others.

mod boosting;
mod feature_rows;
mod growing_tree;

pub use boosting::Forest;
pub use feature_rows::FeatureRows;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// How a forest is grown.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForestConfig {
    /// Trees.
    pub num_trees: usize,
    /// Leaves of a tree.
    pub num_leaves: usize,
    /// How much of a tree's correction counts.
    pub learning_rate: f32,
    /// Rows in a leaf, at least.
    pub min_rows: usize,
    /// Ridge of a leaf's value.
    pub ridge: f32,
}

impl ForestConfig {
    /// Refuses settings that cannot work, naming the key.
    pub fn validate(&self) -> Result<()> {
        for (value, key) in [(self.num_trees, "num_trees"), (self.min_rows, "min_rows")] {
            if value == 0 {
                return Err(Error::config(key, "must be at least 1"));
            }
        }
        if !(2..=1024).contains(&self.num_leaves) {
            return Err(Error::config("num_leaves", "must be from 2 to 1024"));
        }
        for (value, key) in [(self.learning_rate, "learning_rate"), (self.ridge, "ridge")] {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(Error::config(key, "must be a number from 0"));
            }
        }
        Ok(())
    }
}
