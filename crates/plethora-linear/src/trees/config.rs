//! Settings of the linear systems.

use plethora_core::text::TfIdfConfig;
use plethora_core::tree::TreeConfig;
use plethora_core::{Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Trees beyond a dozen hardly add anything; far beyond, a typing error would train for ever.
const MAX_TREES: usize = 1000;

/// What a classifier is punished for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// max(0, 1 - margin)^2: sparse duals, fast, the usual choice.
    SquaredHinge,
    /// log(1 + exp(-margin)): smoother probabilities, several times slower.
    Log,
}

/// Settings of the solver.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SolverConfig {
    /// The loss.
    pub loss: Loss,
    /// Weight C of the loss against the size of the weights.
    pub cost: f32,
    /// Stop when projected gradients of a pass over the documents differ by less than this.
    pub epsilon: f32,
    /// Stop after this many passes over the documents.
    pub max_epochs: usize,
    /// Weights smaller than this are dropped.
    pub prune_below: f32,
}

/// Settings of a linear system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinearConfig {
    /// Name of the system, which is its recipe's.
    pub system: String,
    /// Seeds the trees and the order of documents.
    pub seed: u64,
    /// How texts become features.
    pub text: TfIdfConfig,
    /// Trees whose scores are averaged, each from a seed of its own.
    pub num_trees: usize,
    /// Nodes kept at each level in prediction.
    pub beam: usize,
    /// Nodes per level to which each training document is sent by the levels above, beside those of
    /// its own labels, to serve as a hard negative there; 0 trains on its own nodes alone.
    pub hard_negatives: usize,
    /// Cost of a mistake on a hard negative, as a share of the solver's cost. Where documents lack some
    /// of their labels, a hard negative may be a positive that nobody marked: below 1, classifiers
    /// trust them less.
    #[serde(default = "full_cost", skip_serializing_if = "is_full")]
    pub hard_negative_cost: f32,
    /// How much the path to a label counts against the label's own classifier, as an exponent of
    /// the path's probability: 1 is their product. With hard negatives the label's classifier
    /// knows most of what the path knows, and little of it should count twice.
    pub path_weight: f32,
    /// How labels are grouped; a `max_leaf` above the number of labels is one-vs-all.
    pub tree: TreeConfig,
    /// How the classifiers of a node are trained.
    pub solver: SolverConfig,
}

/// What models of before had.
fn full_cost() -> f32 {
    1.0
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands out references"
)]
fn is_full(cost: &f32) -> bool {
    *cost == full_cost()
}

impl LinearConfig {
    /// Refuses settings that cannot work, naming the key.
    pub fn validate(&self) -> Result<()> {
        let check = |is_valid: bool, key: &str, message: &str| {
            if is_valid {
                Ok(())
            } else {
                Err(Error::config(key, message))
            }
        };
        check(self.num_trees >= 1, "num_trees", "must be at least 1")?;
        check(
            self.num_trees <= MAX_TREES,
            "num_trees",
            &format!("must be at most {MAX_TREES}"),
        )?;
        check(self.beam >= 1, "beam", "must be at least 1")?;
        check(
            self.hard_negative_cost > 0.0 && self.hard_negative_cost <= 1.0,
            "hard_negative_cost",
            "must be a number above 0, at most 1",
        )?;
        check(
            self.path_weight >= 0.0 && self.path_weight.is_finite(),
            "path_weight",
            "must be a number from 0",
        )?;
        let solver = &self.solver;
        check(
            solver.cost > 0.0 && solver.cost.is_finite(),
            "solver.cost",
            "must be a number above 0",
        )?;
        check(
            solver.epsilon > 0.0 && solver.epsilon.is_finite(),
            "solver.epsilon",
            "must be a number above 0",
        )?;
        check(
            solver.max_epochs >= 1,
            "solver.max_epochs",
            "must be at least 1",
        )?;
        check(
            solver.prune_below >= 0.0 && solver.prune_below.is_finite(),
            "solver.prune_below",
            "must be a number from 0",
        )?;
        self.text.validate()?;
        self.tree.validate()
    }
}

impl LinearConfig {
    /// The settings of a system's recipe.
    pub fn of_system(system: &str) -> Result<Self> {
        let mut systems = super::family::SYSTEMS.iter();
        let spec = systems.find(|spec| spec.name == system).ok_or_else(|| {
            Error::config("system", format!("no system of trees is called {system}"))
        })?;
        toml::from_str(spec.recipe).map_err(|error| Error::config(system, error.to_string()))
    }
}
