//! Settings of the groups of labels that heads with clusters choose from.

use plethora_core::Result;
use plethora_core::checks::within;
use plethora_core::tree::TreeConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The groups of labels that a head with clusters chooses from. Systems whose recipe leaves numbers to
/// the data have [`Auto`](plethora_system::settings::Auto) in their place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClustersConfig<Count = usize> {
    /// Networks with clusters of their own, whose scores are averaged.
    pub num_clusterings: usize,
    /// Clusters whose labels a training document is compared with.
    pub beam: Count,
    /// Clusters whose labels are ranked in prediction; as a number, 0 is as many as in training.
    pub predict_beam: Count,
    /// How labels are grouped.
    pub tree: TreeConfig,
}

impl<Count: Default> Default for ClustersConfig<Count> {
    fn default() -> Self {
        Self {
            num_clusterings: 1,
            beam: Count::default(),
            predict_beam: Count::default(),
            tree: TreeConfig::default(),
        }
    }
}

impl<Count> ClustersConfig<Count> {
    /// Refuses settings that cannot work, naming the key.
    pub(crate) fn validate(&self) -> Result<()> {
        within("clusters.num_clusterings", self.num_clusterings, 1..=100)?;
        self.tree
            .validate()
            .map_err(|error| error.within("clusters"))
    }
}

impl ClustersConfig {
    /// Clusters whose labels are ranked in prediction.
    pub(crate) fn predict_beam(&self) -> usize {
        match self.predict_beam {
            0 => self.beam,
            beam => beam,
        }
    }
}
