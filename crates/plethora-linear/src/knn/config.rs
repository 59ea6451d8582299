//! Settings of the system `knn`.

use plethora_core::Result;
use plethora_core::checks::{number_from, within};
use plethora_core::text::TfIdfConfig;
use plethora_system::settings::Auto;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// More neighbours would be a typing error.
const MAX_NEIGHBOURS: usize = 100_000;

/// Settings of the system `knn`. In those of a trained model everything is settled; before,
/// [`OpenKnnConfig`] may leave the power to training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KnnConfig<Power = f32> {
    /// Name of the system.
    pub system: String,
    /// Training documents that vote.
    pub num_neighbours: usize,
    /// Exponent of a neighbour's similarity in its vote: at 0 all count alike, higher ones
    /// favour the nearest.
    pub power: Power,
    /// Votes of all training documents together, as a share of those of the neighbours: frequent
    /// labels rank after those that neighbours have.
    pub prior: f32,
    /// How texts become features.
    pub text: TfIdfConfig,
}

/// Settings that may leave the power to training.
pub type OpenKnnConfig = KnnConfig<Auto<f32>>;

impl KnnConfig {
    /// Refuses settings that cannot work, naming the key.
    pub fn validate(&self) -> Result<()> {
        within("num_neighbours", self.num_neighbours, 1..=MAX_NEIGHBOURS)?;
        for (value, key) in [(self.power, "power"), (self.prior, "prior")] {
            number_from(key, value, 0.0)?;
        }
        self.text.validate()
    }
}

impl OpenKnnConfig {
    /// With this power, unless the settings have one.
    pub fn settled(&self, power: f32) -> KnnConfig {
        KnnConfig {
            system: self.system.clone(),
            num_neighbours: self.num_neighbours,
            power: self.power.unwrap_or_else(|| power),
            prior: self.prior,
            text: self.text.clone(),
        }
    }

    /// Refuses settings that cannot work, naming the key.
    pub fn validate(&self) -> Result<()> {
        self.settled(1.0).validate()
    }
}

#[cfg(test)]
mod tests {
    use crate::knn::recipe;

    #[test]
    fn impossible_values_are_refused_by_name() {
        let recipe = recipe();
        recipe.validate().unwrap();
        let mut broken = vec![recipe.clone(); 4];
        broken[0].num_neighbours = 0;
        broken[1].power = f32::NAN.into();
        broken[2].prior = -1.0;
        broken[3].text.min_df = 0;
        let keys = ["num_neighbours", "power", "prior", "text.min_df"];
        for (config, key) in broken.iter().zip(keys) {
            let message = config.validate().unwrap_err().to_string();
            assert!(message.starts_with(key), "{message}");
        }
    }
}
