//! Settings of adaptive probabilistic label clusters.

use plethora_core::checks::{check, number_from, share_above_zero, share_below_one, within};
use plethora_core::{Error, Result};
use plethora_system::settings::Auto;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::setting::Setting;

/// Settings as users give them.
pub(crate) type OpenAdaptiveConfig = AdaptiveConfig<Auto<usize>, Auto<f64>, Auto<Vec<usize>>>;

/// Labels by falling frequency, cut into a head that is always scored and tails that are scored by
/// narrower vectors, and in training only where a document has a label in them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdaptiveConfig<Count = usize, Share = f64, Cuts = Vec<usize>> {
    /// Width of the layer between document vector and labels.
    pub hidden: Count,
    /// Share of its numbers that a training step leaves out.
    pub dropout: f64,
    /// Labels before each tail in the list of labels by falling frequency. Left open, they follow from
    /// the next three; without a number there are no tails.
    pub cut_offs: Cuts,
    /// Shares of the labels that the head and the tails have, in any unit. Of use where cut-offs are
    /// left open; models have none, as these follow from them.
    #[serde(default, skip_serializing_if = "Auto::is_auto")]
    pub cluster_shares: Auto<Vec<usize>>,
    /// Share of the labels that are the head, of use where cut-offs are left open; at 1 there are no
    /// tails.
    pub head_share: Share,
    /// Tails of equally many labels, of use where cut-offs are left open.
    pub num_tails: Count,
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Projection {
    /// By a matrix, as in the paper.
    Linear,
    /// By a matrix, a norm over its numbers and a rectifier, as in the paper's program.
    Normed,
}

/// Which documents teach the root whether a tail is wanted, beside the tail's own labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TailLoss {
    /// That the product of root and label is right, as in the paper: the root learns from it, too.
    Product,
    /// That the label is right once the tail is known to be: the root learns by itself.
    Conditional,
}

impl<Count, Share, Cuts> AdaptiveConfig<Count, Share, Cuts>
where
    Count: Setting<usize>,
    Share: Setting<f64>,
    Cuts: Setting<Vec<usize>>,
{
    /// Refuses settings that cannot work, naming the key.
    pub(crate) fn validate(&self) -> Result<()> {
        within("hidden", self.hidden.value().copied(), 1..=65_536)?;
        share_below_one("dropout", self.dropout)?;
        number_from("shrink", self.shrink, 1.0)?;
        check(
            self.tail_loss == TailLoss::Product || self.roots == Roots::All,
            "tail_loss",
            "must be product unless roots is all: nothing else would teach the root when a tail is needed",
        )?;
        self.validate_clusters()?;
        self.validate_shares()
    }

    fn validate_shares(&self) -> Result<()> {
        let Auto::Set(shares) = &self.cluster_shares else {
            return Ok(());
        };
        check(
            (1..=101).contains(&shares.len()) && !shares.contains(&0),
            "cluster_shares",
            "must be at most 101 numbers above 0, of the head first, or auto",
        )?;
        check(
            self.cut_offs.value().is_none()
                && self.head_share.value().is_none()
                && self.num_tails.value().is_none(),
            "cluster_shares",
            "leave no choice to cut_offs, head_share and num_tails, which must be auto beside them",
        )
    }

    /// Beside cut-offs, the numbers that they make useless may be 0, as in the settings of models.
    fn validate_clusters(&self) -> Result<()> {
        let none = Vec::new();
        let cut_offs = self.cut_offs.value().unwrap_or(&none);
        let (share, tails) = (self.head_share.value(), self.num_tails.value());
        check(
            cut_offs.len() <= 100 && cut_offs.is_sorted_by(|one, other| one < other),
            "cut_offs",
            "must be at most 100 numbers that rise",
        )?;
        check(
            cut_offs.first() != Some(&0),
            "cut_offs",
            "must start above 0: the head needs a label",
        )?;
        if !cut_offs.is_empty() {
            return check(
                share.is_none_or(|&share| share == 0.0) && tails.is_none_or(|&tails| tails == 0),
                "cut_offs",
                "leave no choice to head_share and num_tails, which must be auto beside them",
            );
        }
        let is_all_head = share == Some(&1.0);
        share_above_zero("head_share", share.copied())?;
        check(
            is_all_head || self.cut_offs.value().is_none(),
            "cut_offs",
            "must be auto or numbers that rise; head_share = 1 is without tails",
        )?;
        check(
            tails.is_none_or(|&tails| tails <= 100 && (tails > 0 || is_all_head)),
            "num_tails",
            "must be from 1 to 100",
        )
    }

    /// The same settings with these numbers in the places of those that may be left open.
    pub(crate) fn settled(&self, hidden: usize, cut_offs: Vec<usize>) -> AdaptiveConfig {
        AdaptiveConfig {
            hidden,
            dropout: self.dropout,
            head_share: if cut_offs.is_empty() { 1.0 } else { 0.0 },
            cut_offs,
            cluster_shares: Auto::Auto,
            num_tails: 0,
            shrink: self.shrink,
            projection: self.projection,
            bias: self.bias,
            roots: self.roots,
            tail_loss: self.tail_loss,
            negatives: self.negatives,
        }
    }
}

impl AdaptiveConfig {
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

    /// Numbers of all labels' vectors in the tails, and the sum of the tails' widths.
    pub(crate) fn tails(&self, num_labels: usize) -> (usize, usize) {
        let sizes = self.cluster_sizes(num_labels).into_iter().enumerate();
        let tails = sizes.skip(1).map(|(tail, size)| (size, self.width(tail)));
        tails.fold((0, 0), |(numbers, widths), (size, width)| {
            (numbers + size * width, widths + width)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pretrained::config::recipe;

    fn open() -> OpenAdaptiveConfig {
        recipe("aplc-xlnet").adaptive.unwrap()
    }

    #[test]
    fn clusters_share_all_labels_and_get_narrower() {
        let config = open().settled(100, vec![10, 25, 70]);
        config.validate().unwrap();
        assert_eq!(config.cluster_sizes(100), [10, 15, 45, 30]);
        let widths: Vec<usize> = (0..4).map(|cluster| config.width(cluster)).collect();
        assert_eq!(widths, [100, 50, 25, 12]);
        assert_eq!(config.width(1000), 1);
        assert!(config.check_labels(71).is_ok());
        let none = open().settled(100, Vec::new());
        none.validate().unwrap();
        assert_eq!(none.cluster_sizes(100), [100]);
    }

    #[test]
    fn a_conditional_loss_needs_a_root_that_all_documents_teach() {
        for (roots, works) in [
            (Roots::All, true),
            (Roots::Absent, false),
            (Roots::None, false),
        ] {
            let config = OpenAdaptiveConfig {
                roots,
                tail_loss: TailLoss::Conditional,
                ..open()
            };
            let refused = config.validate().err().map(|error| error.to_string());
            assert_eq!(refused.is_none(), works);
            assert!(refused.is_none_or(|text| text.starts_with("tail_loss: must be product")));
        }
    }

    #[test]
    fn settings_that_cannot_work_are_refused_by_name() {
        let refusal = |change: fn(&mut OpenAdaptiveConfig)| {
            let mut config = open();
            change(&mut config);
            config.validate().unwrap_err().to_string()
        };
        let cut_offs = |cut_offs: &[usize]| Auto::Set(cut_offs.to_vec());
        assert_eq!(
            refusal(|config| config.shrink = 0.5),
            "shrink: must be a number from 1, found 0.5"
        );
        let mut config = open();
        for (wrong, message) in [
            (&[20, 20][..], "must be at most 100 numbers that rise"),
            (&[0], "must start above 0: the head needs a label"),
            (
                &[],
                "must be auto or numbers that rise; head_share = 1 is without tails",
            ),
        ] {
            config.cut_offs = cut_offs(wrong);
            let refused = config.validate().unwrap_err().to_string();
            assert_eq!(refused, format!("cut_offs: {message}"));
        }
        assert_eq!(
            open()
                .settled(8, vec![500])
                .check_labels(500)
                .unwrap_err()
                .to_string(),
            "adaptive.cut_offs: must be below the number of labels, which is 500"
        );
        (config.cut_offs, config.num_tails) = (cut_offs(&[5]), 2.into());
        assert_eq!(
            config.validate().unwrap_err().to_string(),
            "cut_offs: leave no choice to head_share and num_tails, which must be auto beside them"
        );
        config.cut_offs = Auto::Auto;
        config.cluster_shares = vec![70, 20, 10].into();
        assert_eq!(
            config.validate().unwrap_err().to_string(),
            "cluster_shares: leave no choice to cut_offs, head_share and num_tails, which must be auto beside them"
        );
        for change in [
            (|config| config.head_share = 1.5.into()) as fn(&mut OpenAdaptiveConfig),
            |config| config.head_share = f64::NAN.into(),
            |config| config.head_share = 0.0.into(),
            |config| config.dropout = 1.0,
            |config| config.num_tails = 101.into(),
            |config| config.num_tails = 0.into(),
            |config| config.shrink = f64::INFINITY,
            |config| config.hidden = 65_537.into(),
            |config| config.hidden = 0.into(),
            |config| config.cluster_shares = vec![].into(),
            |config| config.cluster_shares = vec![5, 0].into(),
        ] {
            assert!(refusal(change).contains("must be"));
        }
    }
}
