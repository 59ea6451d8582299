//! Settings of a label tree of which each level has a network of its own.

use plethora_core::Result;
use plethora_core::checks::{at_least, check, share, within};
use plethora_core::text::TfIdfConfig;
use plethora_core::tree::{TreeConfig, TreeShape, check_widths};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::systems::run_settings::share_of_epochs;
use crate::train::TrainConfig;

/// A label tree of which each level has a network of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PltConfig {
    /// Trees whose scores are averaged.
    pub num_trees: usize,
    /// Nodes of a level that are kept, in training and prediction.
    pub beam: usize,
    /// Epochs of a level below the first, which starts from the level above.
    pub lower_epochs: usize,
    /// What differs from level to level.
    #[serde(default, skip_serializing_if = "LevelsConfig::is_default")]
    pub levels: LevelsConfig,
    /// The features by which labels are grouped.
    pub text: TfIdfConfig,
    /// How labels are grouped.
    pub tree: TreeConfig,
}

/// Lists with a number for each level, from the top; the last number counts for all levels below, too.
/// What is absent is as for all.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LevelsConfig {
    /// Nodes of each level above the labels: the tree is shallow and wide. Absent: levels are as the tree has
    /// them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub widths: Option<Vec<usize>>,
    /// Nodes of each level that are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beam: Option<Vec<usize>>,
    /// Most epochs of each level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epochs: Option<Vec<usize>>,
    /// Documents per batch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch_size: Option<Vec<usize>>,
    /// Share of a level's steps after which averaging starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub averaging_start: Option<Vec<f64>>,
}

impl PltConfig {
    pub(super) fn validate(&self) -> Result<()> {
        within("num_trees", self.num_trees, 1..=100)?;
        at_least("beam", self.beam, 1)?;
        at_least("lower_epochs", self.lower_epochs, 1)?;
        self.levels
            .validate()
            .map_err(|error| error.within("levels"))?;
        check(
            self.levels.widths.is_none() || self.tree.shape == TreeShape::Balanced,
            "tree.shape",
            "must be balanced where levels.widths says how wide the tree is",
        )?;
        self.text.validate()?;
        self.tree.validate()
    }

    /// Nodes of a level that are kept, in training and prediction.
    pub(super) fn beam(&self, level: usize) -> usize {
        at_level(self.levels.beam.as_ref(), level).unwrap_or(self.beam)
    }

    /// How a level is trained where `train` is how the first one is: those below start from the one above and
    /// need less.
    pub(super) fn train_config(&self, train: &TrainConfig, level: usize) -> TrainConfig {
        let levels = &self.levels;
        let epochs = if level == 0 {
            train.epochs
        } else {
            self.lower_epochs
        };
        TrainConfig {
            epochs: at_level(levels.epochs.as_ref(), level).unwrap_or(epochs),
            batch_size: at_level(levels.batch_size.as_ref(), level).unwrap_or(train.batch_size),
            averaging_start: at_level(levels.averaging_start.as_ref(), level)
                .unwrap_or(train.averaging_start),
            ..train.clone()
        }
    }

    /// Trains for this share of the epochs, and at least one.
    pub(super) fn take_epoch_share(&mut self, share: f64) {
        let of_levels = self.levels.epochs.iter_mut().flatten();
        for epochs in of_levels.chain([&mut self.lower_epochs]) {
            *epochs = share_of_epochs(*epochs, share);
        }
    }
}

impl LevelsConfig {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }

    fn validate(&self) -> Result<()> {
        self.widths.as_deref().map_or(Ok(()), check_widths)?;
        each("beam", self.beam.as_ref(), |key, &nodes| {
            at_least(key, nodes, 1)
        })?;
        each("epochs", self.epochs.as_ref(), |key, &epochs| {
            within(key, epochs, 1..=1_000_000)
        })?;
        each("batch_size", self.batch_size.as_ref(), |key, &documents| {
            within(key, documents, 1..=65_536)
        })?;
        each(
            "averaging_start",
            self.averaging_start.as_ref(),
            |key, &start| share(key, start),
        )
    }
}

/// Checks a list that may be absent, and otherwise has a number.
fn each<T>(
    key: &str,
    list: Option<&Vec<T>>,
    is_valid: impl Fn(&str, &T) -> Result<()>,
) -> Result<()> {
    let Some(list) = list else { return Ok(()) };
    check(
        !list.is_empty(),
        key,
        "must have a number for the first level",
    )?;
    list.iter().try_for_each(|one| is_valid(key, one))
}

/// What a list says of a level.
fn at_level<T: Copy>(list: Option<&Vec<T>>, level: usize) -> Option<T> {
    let list = list?;
    list.get(level).or(list.last()).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::config::settled;

    #[test]
    fn levels_are_trained_alike_where_nothing_else_is_said() {
        let config = settled("attentionxml-plt");
        let mut plt = config.plt.unwrap();
        let train = &config.train;
        let said = |plt: &PltConfig, level| {
            let train = plt.train_config(train, level);
            (
                plt.beam(level),
                train.epochs,
                train.batch_size,
                train.averaging_start,
            )
        };
        assert_eq!(said(&plt, 0), (20, 15, 16, 0.5));
        assert_eq!(said(&plt, 1), (20, 8, 16, 0.5));
        assert_eq!(plt.train_config(train, 0), *train);

        plt.levels = LevelsConfig {
            widths: Some(vec![16, 64]),
            beam: Some(vec![5, 9]),
            epochs: Some(vec![6, 3]),
            batch_size: Some(vec![100]),
            averaging_start: Some(vec![0.6, 0.2]),
        };
        plt.validate().unwrap();
        assert_eq!(said(&plt, 0), (5, 6, 100, 0.6));
        assert_eq!(said(&plt, 1), (9, 3, 100, 0.2));
        assert_eq!(said(&plt, 2), (9, 3, 100, 0.2));
        plt.take_epoch_share(0.5);
        assert_eq!(plt.levels.epochs, Some(vec![3, 2]));
        assert_eq!(plt.lower_epochs, 4);
    }

    #[test]
    fn lists_that_cannot_work_are_named() {
        type Change = fn(&mut PltConfig);
        let broken: [(Change, &str); 6] = [
            (|plt| plt.levels.widths = Some(vec![10]), "levels.widths: "),
            (
                |plt| plt.levels.beam = Some(vec![]),
                "levels.beam: must have",
            ),
            (
                |plt| plt.levels.beam = Some(vec![3, 0]),
                "levels.beam: must be at least 1",
            ),
            (|plt| plt.levels.epochs = Some(vec![0]), "levels.epochs: "),
            (
                |plt| plt.levels.averaging_start = Some(vec![1.5]),
                "levels.averaging_start: ",
            ),
            (
                |plt| {
                    plt.levels.widths = Some(vec![8]);
                    plt.tree.shape = TreeShape::Kmeans;
                },
                "tree.shape: must be balanced",
            ),
        ];
        for (change, message) in broken {
            let mut plt = settled("attentionxml-plt").plt.unwrap();
            change(&mut plt);
            let found = plt.validate().unwrap_err().to_string();
            assert!(found.starts_with(message), "{found}");
        }
    }
}
