//! Labels in three groups of about as many test assignments each, as in table 6 of You et al. 2019.

use serde::Serialize;

use super::bootstrap::{BootstrapConfig, Estimate, resample};
use super::label_curves::LabelCurve;
use super::observation_table::{ObservationTable, Quantity};

/// Labels with fewer test documents are left out: their AUC is mostly chance.
pub(super) const MIN_TEST_FREQUENCY: u64 = 5;
const NUM_GROUPS: usize = 3;

/// A group of labels by how many test documents have them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FrequencyGroup {
    /// Fewest test documents of its labels.
    pub min_test_frequency: u64,
    /// Most test documents of its labels.
    pub max_test_frequency: u64,
    /// Number of its labels.
    #[serde(rename = "n_labels")]
    pub num_labels: u64,
    /// Share of all test assignments, those of labels in no group included.
    pub share: f64,
    /// Mean over its labels of the area under the ROC curve.
    pub auc: Estimate,
    /// Mean over its labels of the average precision.
    pub aupr: Estimate,
}

/// Groups labels, most frequent first, so that each group has as close to a third of the test
/// assignments as labels of equal frequency in one group allow. Groups may be fewer than three.
pub(super) fn group(
    curves: &[LabelCurve],
    num_assignments: u64,
    config: &BootstrapConfig,
) -> Vec<FrequencyGroup> {
    let mut falling: Vec<&LabelCurve> = curves.iter().collect();
    falling.sort_by_key(|curve| (u64::MAX - curve.num_true, curve.label));
    let mut groups = Vec::new();
    let mut rest = &falling[..];
    for waiting in (1..=NUM_GROUPS).rev() {
        let (group, others) = rest.split_at(cut(rest, waiting as u64));
        rest = others;
        if let (Some(first), Some(last)) = (group.first(), group.last()) {
            let assignments: u64 = group.iter().map(|curve| curve.num_true).sum();
            let [auc, aupr] = means(group, config);
            groups.push(FrequencyGroup {
                min_test_frequency: last.num_true,
                max_test_frequency: first.num_true,
                num_labels: group.len() as u64,
                share: assignments as f64 / num_assignments.max(1) as f64,
                auc,
                aupr,
            });
        }
    }
    groups
}

/// Number of labels that come closest to one of `waiting` equal parts of all assignments, without
/// parting labels of equal frequency.
fn cut(falling: &[&LabelCurve], waiting: u64) -> usize {
    let total: u64 = falling.iter().map(|curve| curve.num_true).sum();
    let mut covered = 0;
    let mut best = (u64::MAX, 0);
    for labels in falling.chunk_by(|one, other| one.num_true == other.num_true) {
        covered += labels[0].num_true * labels.len() as u64;
        let distance = (covered * waiting).abs_diff(total);
        let start = best.1;
        if distance < best.0 {
            best = (distance, start + labels.len());
        } else {
            break;
        }
    }
    best.1
}

fn means(group: &[&LabelCurve], config: &BootstrapConfig) -> [Estimate; 2] {
    let mut table = ObservationTable::new(2);
    for curve in group {
        table.push([curve.auc, curve.aupr]);
    }
    let quantities = [Quantity::mean("AUC", 0), Quantity::mean("AUPR", 1)];
    let rows: Vec<u32> = (0..group.len() as u32).collect();
    let draws = resample(&table, &quantities, &rows, config);
    let mean = |value: fn(&LabelCurve) -> f64| {
        group.iter().map(|curve| value(curve)).sum::<f64>() / group.len() as f64
    };
    let values = [mean(|curve| curve.auc), mean(|curve| curve.aupr)];
    ["AUC", "AUPR"].map(|key| {
        let value = values[usize::from(key == "AUPR")];
        config.estimate(value, draws.get(key).unwrap_or_default())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LabelId;

    fn curves(frequencies: &[u64]) -> Vec<LabelCurve> {
        let curve = |(label, &num_true): (u32, &u64)| LabelCurve {
            label: LabelId(label),
            num_true,
            auc: 0.5 + 0.01 * f64::from(label),
            aupr: 0.25,
        };
        (0..).zip(frequencies).map(curve).collect()
    }

    fn sizes(frequencies: &[u64]) -> Vec<u64> {
        let groups = group(&curves(frequencies), 100, &BootstrapConfig::default());
        groups.iter().map(|group| group.num_labels).collect()
    }

    #[test]
    fn groups_have_a_third_of_the_assignments_each() {
        assert_eq!(sizes(&[10, 5, 30, 5, 10, 10, 5, 5, 5, 5]), [1, 3, 6]);
        assert_eq!(sizes(&[100, 7, 6]), [1, 1, 1]);
        assert_eq!(sizes(&[8, 8, 8, 8]), [4], "equal frequencies stay together");
        assert_eq!(sizes(&[]), [0_u64; 0]);
    }

    #[test]
    fn a_group_tells_its_bounds_and_means() {
        let groups = group(&curves(&[60, 20, 10, 10]), 200, &BootstrapConfig::default());
        let last = groups.last().unwrap();
        assert_eq!((last.min_test_frequency, last.max_test_frequency), (10, 10));
        assert!((last.auc.value - 0.525).abs() < 1e-12);
        assert!(last.auc.low < last.auc.value && last.auc.value < last.auc.high);
        assert_eq!((last.aupr.low, last.aupr.high), (0.25, 0.25));
        assert_eq!(groups[0].share, 0.3);
    }
}
