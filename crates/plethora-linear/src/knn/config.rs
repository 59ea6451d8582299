//! Settings of the system `knn`.

use plethora_core::text::TfIdfConfig;
use plethora_core::{Error, Result};
use serde::{Deserialize, Serialize};

/// Name of the system.
pub const KNN: &str = "knn";

/// The recipe of the system, a TOML document with every setting.
pub const KNN_RECIPE: &str = include_str!("../../../../recipes/knn.toml");

/// More neighbours would be a typing error.
const MAX_NEIGHBOURS: usize = 100_000;

/// Settings of the system `knn`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnnConfig {
    /// Name of the system.
    pub system: String,
    /// Training documents that vote.
    pub num_neighbours: usize,
    /// Exponent of a neighbour's similarity in its vote: 0 counts heads, higher ones favour the
    /// nearest. Training chooses one where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<f32>,
    /// Votes of all training documents together, as a share of those of the neighbours: frequent
    /// labels come behind those that neighbours have.
    pub prior: f32,
    /// How texts become features.
    pub text: TfIdfConfig,
}

impl KnnConfig {
    /// The settings of the recipe.
    pub fn of_recipe() -> Result<Self> {
        toml::from_str(KNN_RECIPE).map_err(|error| Error::config(KNN, error.to_string()))
    }

    /// Refuses settings that cannot work, naming the key.
    pub fn validate(&self) -> Result<()> {
        if !(1..=MAX_NEIGHBOURS).contains(&self.num_neighbours) {
            return Err(Error::config(
                "num_neighbours",
                format!("must be from 1 to {MAX_NEIGHBOURS}"),
            ));
        }
        for (value, key) in [(self.power.unwrap_or(0.0), "power"), (self.prior, "prior")] {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(Error::config(key, "must be a number from 0"));
            }
        }
        self.text.validate()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recipe_is_valid_and_impossible_values_are_refused_by_name() {
        let recipe = KnnConfig::of_recipe().unwrap();
        assert_eq!(recipe.system, KNN);
        recipe.validate().unwrap();
        let mut broken = vec![recipe.clone(); 4];
        broken[0].num_neighbours = 0;
        broken[1].power = Some(f32::NAN);
        broken[2].prior = -1.0;
        broken[3].text.min_df = 0;
        let keys = ["num_neighbours", "power", "prior", "text.min_df"];
        for (config, key) in broken.iter().zip(keys) {
            let message = config.validate().unwrap_err().to_string();
            assert!(message.starts_with(key), "{message}");
        }
    }
}
