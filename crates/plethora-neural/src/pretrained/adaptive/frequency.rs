//! Clusters of labels by how often they occur.

use plethora_system::settings::Auto;

use super::config::OpenAdaptiveConfig;
use crate::head::Clusters;

/// Share of all occurrences of labels that those of a head make up, where its size is to be chosen.
/// The paper's larger heads were the better ones, and on real data half of the labels or less do.
const COVERED: f64 = 0.95;

/// Fewest and most labels of a head that is chosen, as shares of all. Below, tails take over work that
/// wide vectors do better; above, there is nothing left to save.
const HEAD_SHARES: (f64, f64) = (0.25, 0.75);

/// Up to this many labels there is one tail, beyond three, as on the paper's data sets.
const MAX_LABELS_OF_ONE_TAIL: usize = 100_000;

/// Labels by falling frequency; those that are as frequent by their numbers.
fn by_frequency(counts: &[u32]) -> Vec<u32> {
    let mut labels: Vec<u32> = (0..counts.len() as u32).collect();
    labels.sort_by_key(|&label| (std::cmp::Reverse(counts[label as usize]), label));
    labels
}

/// The clusters of labels with these numbers of documents: the head, which is number 0, then the
/// tails.
pub(crate) fn frequency_clusters(counts: &[u32], cut_offs: &[usize]) -> Clusters {
    let mut clusters = vec![0; counts.len()];
    for (place, label) in by_frequency(counts).into_iter().enumerate() {
        let cluster = cut_offs.partition_point(|&cut_off| cut_off <= place);
        clusters[label as usize] = cluster as u32;
    }
    Clusters::from_cluster_of_label(clusters).expect("cut-offs rise and lie between the labels")
}

/// Where the labels are cut into clusters, by how often they occur.
pub(crate) fn choose_cut_offs(config: &OpenAdaptiveConfig, counts: &[u32]) -> Vec<usize> {
    if let Auto::Set(cut_offs) = &config.cut_offs {
        return cut_offs.clone();
    }
    let num_labels = counts.len();
    if let Auto::Set(shares) = &config.cluster_shares {
        return cut_by_shares(shares, num_labels);
    }
    let head = match config.head_share {
        Auto::Auto => covering(counts),
        Auto::Set(share) => (share * num_labels as f64).round() as usize,
    };
    let head = head.clamp(1, num_labels.max(1));
    let tails = config.num_tails.unwrap_or_else(|| {
        if num_labels <= MAX_LABELS_OF_ONE_TAIL {
            1
        } else {
            3
        }
    });
    // Every tail has a label, so that there may be fewer.
    let rest = num_labels.saturating_sub(head);
    let tails = tails.min(rest);
    (0..tails).map(|tail| head + rest * tail / tails).collect()
}

/// Where clusters with these shares of the labels end, but for the last one. Each has a label, so that
/// there may be fewer.
fn cut_by_shares(shares: &[usize], num_labels: usize) -> Vec<usize> {
    let total: u128 = shares.iter().map(|&share| share as u128).sum();
    let mut before = 0;
    let ends = shares.iter().map(|&share| {
        before += share as u128;
        (before * num_labels as u128 / total) as usize
    });
    let mut cut_offs: Vec<usize> = ends.filter(|&end| end > 0 && end < num_labels).collect();
    cut_offs.dedup();
    cut_offs
}

/// The most frequent labels, as many as make up most occurrences.
fn covering(counts: &[u32]) -> usize {
    let total: u64 = counts.iter().map(|&count| u64::from(count)).sum();
    let wanted = COVERED * total as f64;
    let mut seen = 0;
    let before = by_frequency(counts).into_iter().take_while(|&label| {
        let is_wanted = (seen as f64) < wanted;
        seen += u64::from(counts[label as usize]);
        is_wanted
    });
    let share = |share: f64| (share * counts.len() as f64).round() as usize;
    before
        .count()
        .clamp(share(HEAD_SHARES.0), share(HEAD_SHARES.1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::pretrained::config::recipe;

    fn chosen(
        counts: &[u32],
        head_share: impl Into<Auto<f64>>,
        num_tails: impl Into<Auto<usize>>,
    ) -> Vec<usize> {
        let config = OpenAdaptiveConfig {
            head_share: head_share.into(),
            num_tails: num_tails.into(),
            ..recipe("aplc-xlnet").adaptive.unwrap()
        };
        config.validate().unwrap();
        choose_cut_offs(&config, counts)
    }

    #[test]
    fn equally_frequent_labels_go_by_their_numbers() {
        let clusters = frequency_clusters(&[3, 9, 3, 1, 3, 9], &[2, 4]);
        let groups: Vec<&[u32]> = (0..3).map(|cluster| clusters.labels(cluster)).collect();
        assert_eq!(groups, [&[1, 5][..], &[0, 2], &[3, 4]]);
    }

    #[test]
    fn clusters_follow_from_shares_of_the_labels() {
        let counts = vec![1; 3956];
        assert_eq!(chosen(&counts, 0.5, 1), [1978]);
        assert_eq!(
            chosen(&vec![1; 670_091], 0.25, 3),
            [167_523, 335_045, 502_568]
        );
        assert_eq!(chosen(&counts, Auto::Auto, Auto::Auto), [2967]);
        let large = chosen(&vec![1; 200_000], 0.5, Auto::Auto);
        assert_eq!(large, [100_000, 133_333, 166_666]);
    }

    #[test]
    fn frequent_labels_make_a_smaller_head() {
        let mut counts = vec![1; 1000];
        counts[..400].fill(50);
        // 0.95 of 20,600 occurrences.
        assert_eq!(chosen(&counts, Auto::Auto, Auto::Auto), [392]);
        counts[..400].fill(1);
        counts[0] = 1_000_000;
        assert_eq!(chosen(&counts, Auto::Auto, Auto::Auto), [250]);
    }

    #[test]
    fn labels_too_few_for_tails_are_all_head() {
        assert_eq!(chosen(&[2], 0.4, 5), [0; 0]);
        assert_eq!(chosen(&[2], Auto::Auto, Auto::Auto), [0; 0]);
        assert_eq!(chosen(&[2; 3], 0.4, 5), [1, 2]);
        assert_eq!(chosen(&[2; 30], 1.0, Auto::Auto), [0; 0]);
    }

    #[test]
    fn shares_of_clusters_cut_the_labels() {
        let cut = |shares: &[usize], num_labels: usize| {
            let config = OpenAdaptiveConfig {
                cluster_shares: shares.to_vec().into(),
                ..recipe("aplc-xlnet").adaptive.unwrap()
            };
            config.validate().unwrap();
            choose_cut_offs(&config, &vec![1; num_labels])
        };
        assert_eq!(cut(&[70, 20, 10], 3956), [2769, 3560]);
        assert_eq!(cut(&[33, 33, 34], 3956), [1305, 2610]);
        assert_eq!(cut(&[10, 20, 70], 3956), [395, 1186]);
        assert_eq!(cut(&[1, 1], 3956), [1978], "as the program cuts");
        assert_eq!(cut(&[1, 1, 1, 1], 670_091), [167_522, 335_045, 502_568]);
        assert_eq!(cut(&[1], 10), [0; 0], "all of them are the head");
        assert_eq!(cut(&[1, 98, 1], 3), [2], "no cluster is empty");
        assert_eq!(cut(&[usize::MAX, usize::MAX], 10), [5]);
    }

    #[test]
    fn cut_offs_that_were_set_stay() {
        let config = OpenAdaptiveConfig {
            cut_offs: vec![7, 9].into(),
            ..recipe("aplc-xlnet").adaptive.unwrap()
        };
        assert_eq!(choose_cut_offs(&config, &[1; 50]), [7, 9]);
    }

    proptest! {
        #[test]
        fn every_label_is_in_one_cluster_and_none_is_behind_a_rarer_one(
            counts in proptest::collection::vec(0_u32..40, 1..200),
            head_share in proptest::option::of(0.01..1.0_f64),
            num_tails in proptest::option::of(1_usize..6),
        ) {
            let cut_offs = chosen(
                &counts,
                head_share.map_or(Auto::Auto, Auto::Set),
                num_tails.map_or(Auto::Auto, Auto::Set),
            );
            let config = recipe("aplc-xlnet").adaptive.unwrap().settled(8, cut_offs);
            config.validate().unwrap();
            config.check_labels(counts.len()).unwrap();
            let clusters = frequency_clusters(&counts, &config.cut_offs);
            let sizes = config.cluster_sizes(counts.len());
            prop_assert_eq!(clusters.num_clusters(), sizes.len());
            let mut seen = vec![0; counts.len()];
            let mut rarest = u32::MAX;
            for (cluster, size) in sizes.into_iter().enumerate() {
                let labels = clusters.labels(cluster as u32);
                prop_assert_eq!(labels.len(), size);
                let counts = labels.iter().map(|&label| counts[label as usize]);
                prop_assert!(counts.clone().all(|count| count <= rarest));
                rarest = counts.min().unwrap();
                for &label in labels {
                    seen[label as usize] += 1;
                }
            }
            prop_assert!(seen.iter().all(|&times| times == 1));
        }
    }
}
