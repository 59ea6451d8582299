//! The shallow and wide tree of You et al. 2019, by the widths of its levels.

use super::builder::{TreeConfig, TreeShape, grow};
use super::label_tree::LabelTree;
use crate::checks::check;
use crate::{Error, Result, SeedStream, SparseMatrix};

/// Key of the widths in messages.
const WIDTHS: &str = "widths";

/// Builds the shallow and wide tree of You et al. 2019 over all rows of `features`: labels are halved by
/// balanced 2-means, and of the binary tree only the depths stay that are as wide as `widths` says. The
/// last of these has the clusters of labels; what `config` says of sizes and shape does not count.
///
/// # Errors
/// [`Error::Config`] if widths are no rising powers of two, or too few labels are there for them.
pub fn build_wide(
    features: &SparseMatrix,
    widths: &[usize],
    config: &TreeConfig,
    seed: SeedStream,
) -> Result<LabelTree> {
    config.validate()?;
    check_widths(widths)?;
    let depths: Vec<usize> = widths.iter().map(|width| width.ilog2() as usize).collect();
    let deepest = depths.last().copied().unwrap_or(0);
    let num_labels = features.num_rows();
    if widths.last().is_some_and(|&width| width > num_labels) {
        let message = format!("{widths:?} are more clusters than there are labels, {num_labels}");
        return Err(Error::config(WIDTHS, message));
    }
    let binary = TreeConfig {
        shape: TreeShape::Balanced,
        branching: 2,
        max_leaf: 1,
        max_depth: deepest,
        ..config.clone()
    };
    let labels = (0..num_labels as u32).collect();
    let root = grow(labels, features, &binary, seed, 0);
    Ok(LabelTree::from(root).keep_depths(&depths))
}

/// Refuses widths that halving cannot give.
pub fn check_widths(widths: &[usize]) -> Result<()> {
    let are_powers = widths
        .iter()
        .all(|&width| width >= 2 && width.is_power_of_two());
    check(
        !widths.is_empty() && are_powers && widths.is_sorted_by(|above, below| above < below),
        WIDTHS,
        "must be rising powers of two, such as [2048, 16384]: clusters are halved",
    )
}

#[cfg(test)]
mod tests {
    use super::super::builder::tests::random_features;
    use super::*;

    #[test]
    fn a_wide_tree_has_the_widths_that_are_asked_for() {
        let features = random_features(300, 5);
        let config = TreeConfig::default();
        let seed = SeedStream::new(5);
        let tree = build_wide(&features, &[8, 64], &config, seed).unwrap();
        let widths: Vec<usize> = tree.levels().iter().map(ExactSizeIterator::len).collect();
        assert_eq!(widths, [1, 8, 64]);
        assert_eq!(tree.num_labels(), 300);
        // 300 / 64: the halves of halves differ by one label at most.
        assert!((9..73).all(|node| [4, 5].contains(&tree.labels(node).len())));
        assert!((1..9).all(|node| tree.children(node).len() == 8 && tree.labels(node).is_empty()));
        // As many clusters as labels: each is one.
        let tree = build_wide(&random_features(16, 5), &[16], &config, seed).unwrap();
        assert!((1..17).all(|node| tree.labels(node).len() == 1));
    }

    #[test]
    fn widths_that_halving_cannot_give_are_refused() {
        for widths in [&[][..], &[1], &[2, 6], &[8, 8], &[16, 4]] {
            let error = check_widths(widths).unwrap_err().to_string();
            assert!(
                error.starts_with("widths: must be rising powers of two"),
                "{error}"
            );
        }
        let few = random_features(15, 1);
        let error = build_wide(&few, &[4, 16], &TreeConfig::default(), SeedStream::new(1));
        assert_eq!(
            error.unwrap_err().to_string(),
            "widths: [4, 16] are more clusters than there are labels, 15"
        );
    }
}
