//! Settings of adaptive probabilistic label clusters.

use plethora_core::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::word_config::{check, check_share};

/// Labels by falling frequency, cut into a head that is always scored and tails that are scored by
/// narrower vectors, and in training only where a document has a label in them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdaptiveConfig {
    /// Width of the layer between document vector and labels; 0 chooses.
    pub hidden: usize,
    /// Share of its numbers that a training step leaves out.
    pub dropout: f64,
    /// Labels before each tail in the list of labels by falling frequency; none leaves that to
    /// `head_share` and `num_tails`.
    pub cut_offs: Vec<usize>,
    /// Share of the labels that are the head; 0 chooses by how often labels occur, and at 1 there are
    /// no tails.
    pub head_share: f64,
    /// Tails of equally many labels; 0 chooses.
    pub num_tails: usize,
    /// By how much vectors get narrower from cluster to cluster.
    pub shrink: f64,
    /// How the vector of a tail is made from that of the head.
    pub projection: Projection,
    /// True where labels have biases of their own.
    pub bias: bool,
    /// Which documents teach the root whether a tail is wanted.
    pub roots: Roots,
    /// What the labels of a tail learn from the documents that have some of them.
    pub tail_loss: TailLoss,
    /// Labels of each tail, drawn anew for each batch, that documents without a label in that tail
    /// are told from.
    pub negatives: usize,
}

/// How the vector of a tail is made from that of the head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Projection {
    /// By a matrix, as in the paper.
    Linear,
    /// By a matrix, a norm over its numbers and a rectifier, as in the paper's program.
    Normed,
}

/// Which documents teach the root whether a tail is wanted, beside the tail's own labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Roots {
    /// All.
    All,
    /// Those without a label in the tail, as in the paper's program.
    Absent,
    /// None, as in the paper.
    None,
}

/// What the labels of a tail learn from the documents that have some of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TailLoss {
    /// That the product of root and label is right, as in the paper: the root learns from it, too.
    Product,
    /// That the label is right once the tail is known to be: the root learns by itself.
    Conditional,
}

impl AdaptiveConfig {
    /// Refuses settings that cannot work, naming the key.
    pub(crate) fn validate(&self) -> Result<()> {
        check(self.hidden <= 65_536, "hidden", "must be from 0 to 65536")?;
        check_share(self.dropout, "dropout")?;
        check(
            (0.0..=1.0).contains(&self.head_share),
            "head_share",
            "must be a number from 0 to 1",
        )?;
        check(self.num_tails <= 100, "num_tails", "must be from 0 to 100")?;
        check(
            self.shrink >= 1.0 && self.shrink.is_finite(),
            "shrink",
            "must be a number from 1",
        )?;
        check(
            self.cut_offs.is_empty() || (self.head_share == 0.0 && self.num_tails == 0),
            "cut_offs",
            "leave no choice to head_share and num_tails, which must be 0 beside them",
        )?;
        check(
            self.cut_offs.len() <= 100 && self.cut_offs.is_sorted_by(|one, other| one < other),
            "cut_offs",
            "must be at most 100 numbers that rise",
        )?;
        check(
            self.cut_offs.first() != Some(&0),
            "cut_offs",
            "must start above 0: the head needs a label",
        )
    }

    /// Refuses cut-offs beyond the labels that there are.
    pub(crate) fn check_labels(&self, num_labels: usize) -> Result<()> {
        match self.cut_offs.last() {
            Some(&last) if last >= num_labels => Err(Error::config(
                "adaptive.cut_offs",
                format!("must be below the number of labels, which is {num_labels}"),
            )),
            _ => Ok(()),
        }
    }

    /// True where the clusters still follow from the labels.
    pub(crate) fn leaves_clusters_open(&self) -> bool {
        self.cut_offs.is_empty() && self.head_share < 1.0
    }

    /// Labels of each cluster, the head first.
    pub(crate) fn cluster_sizes(&self, num_labels: usize) -> Vec<usize> {
        let starts = std::iter::once(0).chain(self.cut_offs.iter().copied());
        let ends = self.cut_offs.iter().copied().chain([num_labels]);
        starts.zip(ends).map(|(start, end)| end - start).collect()
    }

    /// Width of the vectors that the labels of a cluster are compared by: d / q^i for tail i, and d
    /// for the head, which is number 0.
    pub(crate) fn width(&self, cluster: usize) -> usize {
        let divisor = self.shrink.powi(i32::try_from(cluster).unwrap_or(i32::MAX));
        ((self.hidden as f64 / divisor) as usize).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PieceConfig;

    fn recipe() -> AdaptiveConfig {
        let config = PieceConfig::of_system("aplc-xlnet").unwrap();
        config.adaptive.unwrap()
    }

    #[test]
    fn clusters_share_all_labels_and_get_narrower() {
        let config = AdaptiveConfig {
            hidden: 100,
            cut_offs: vec![10, 25, 70],
            ..recipe()
        };
        config.validate().unwrap();
        assert_eq!(config.cluster_sizes(100), [10, 15, 45, 30]);
        let widths: Vec<usize> = (0..4).map(|cluster| config.width(cluster)).collect();
        assert_eq!(widths, [100, 50, 25, 12]);
        assert_eq!(config.width(1000), 1);
        assert!(config.check_labels(71).is_ok());
        let none = AdaptiveConfig {
            cut_offs: Vec::new(),
            ..config
        };
        assert_eq!(none.cluster_sizes(100), [100]);
    }

    #[test]
    fn settings_that_cannot_work_are_refused_by_name() {
        let refusal = |change: fn(&mut AdaptiveConfig)| {
            let mut config = recipe();
            change(&mut config);
            let checked = config.validate().and_then(|()| config.check_labels(500));
            checked.unwrap_err().to_string()
        };
        assert_eq!(
            refusal(|config| config.shrink = 0.5),
            "shrink: must be a number from 1"
        );
        assert_eq!(
            refusal(|config| config.cut_offs = vec![20, 20]),
            "cut_offs: must be at most 100 numbers that rise"
        );
        assert_eq!(
            refusal(|config| config.cut_offs = vec![0]),
            "cut_offs: must start above 0: the head needs a label"
        );
        assert_eq!(
            refusal(|config| config.cut_offs = vec![500]),
            "adaptive.cut_offs: must be below the number of labels, which is 500"
        );
        assert_eq!(
            refusal(|config| (config.cut_offs, config.num_tails) = (vec![5], 2)),
            "cut_offs: leave no choice to head_share and num_tails, which must be 0 beside them"
        );
        for change in [
            (|config| config.head_share = 1.5) as fn(&mut AdaptiveConfig),
            |config| config.head_share = f64::NAN,
            |config| config.dropout = 1.0,
            |config| config.num_tails = 101,
            |config| config.shrink = f64::INFINITY,
            |config| config.hidden = 65_537,
        ] {
            assert!(refusal(change).contains("must be"));
        }
    }
}
