//! The paper's counts: parameters by equations 6 and 7, products of a training step by 11 and 12.

use super::*;

/// Width d, shrink factor q, and the labels of head and tails.
struct Sizes {
    hidden: usize,
    shrink: usize,
    clusters: Vec<usize>,
}

impl Sizes {
    fn plan(&self) -> Plan<'static> {
        let mut cut_offs = Vec::new();
        let mut end = 0;
        for size in &self.clusters[..self.clusters.len() - 1] {
            end += size;
            cut_offs.push(end);
        }
        Plan {
            config: AdaptiveConfig {
                hidden: self.hidden,
                shrink: self.shrink as f64,
                cut_offs,
                bias: false,
                ..config()
            },
            ..Plan::new()
        }
    }

    fn tails(&self) -> impl Iterator<Item = (usize, usize)> {
        let tails = self.clusters.iter().copied().enumerate().skip(1);
        tails.map(|(number, size)| (size, self.hidden / self.shrink.pow(number as u32)))
    }

    /// `d (l_h + K) + sum of d / q^i (d + l_i)`.
    fn equation_6(&self) -> usize {
        let num_tails = self.clusters.len() - 1;
        let tails = self
            .tails()
            .map(|(size, narrow)| narrow * (self.hidden + size));
        self.hidden * (self.clusters[0] + num_tails) + tails.sum::<usize>()
    }

    /// The sum of `d l_i / q^i`, with `l_0` for the head.
    fn equation_7(&self) -> usize {
        let tails = self.tails().map(|(size, narrow)| narrow * size);
        self.hidden * self.clusters[0] + tails.sum::<usize>()
    }
}

/// Numbers of everything behind the hidden layer.
fn num_parameters(case: &Case, width: usize) -> usize {
    let hidden = case.parameters.dense.get(case.head.hidden).size()[0] as usize;
    let dense: usize = (case.parameters.dense.iter())
        .map(|(_, value)| value.numel())
        .sum();
    let tables = case.parameters.tables.iter();
    dense + tables.map(|table| table.values().numel()).sum::<usize>() - hidden * (width + 1)
}

#[test]
fn parameters_are_as_many_as_the_paper_counts() {
    for (hidden, shrink, clusters) in [
        (8, 2, vec![5, 4, 4]),
        (16, 4, vec![3, 10]),
        (8, 1, vec![4, 4, 3, 2]),
        (8, 2, vec![13]),
    ] {
        let sizes = Sizes {
            hidden,
            shrink,
            clusters,
        };
        let mut plan = sizes.plan();
        let bare = num_parameters(&plan.fresh(), 6);
        assert_eq!(bare, sizes.equation_6());
        let num_tails = sizes.clusters.len() - 1;
        plan.config.bias = true;
        assert_eq!(num_parameters(&plan.fresh(), 6), bare + 13 + num_tails);
        plan.config.projection = Projection::Normed;
        let norms: usize = sizes.tails().map(|(_, narrow)| 2 * narrow).sum();
        let all = bare + 13 + num_tails + norms;
        assert_eq!(num_parameters(&plan.fresh(), 6), all);
    }
}

#[test]
fn real_label_sets_have_as_many_parameters_as_published() {
    // The paper's settings for Amazon-670K: 120.7 million where one layer would have 257.3.
    let amazon = Sizes {
        hidden: 384,
        shrink: 2,
        clusters: vec![167_523, 167_522, 167_523, 167_523],
    };
    assert_eq!(amazon.equation_6() / 100_000, 1207);
    let by_7 = amazon.equation_7() as f64;
    assert!((by_7 / amazon.equation_6() as f64 - 1.0).abs() < 0.005);
    let one_layer = 384.0 * 670_091.0;
    assert!(by_7 / one_layer < 0.47);
}

/// Products that the root and the tails take for the documents of a step, of which so many visit each
/// tail.
fn equation_11(sizes: &Sizes, num_documents: usize, visits: &[usize]) -> usize {
    let num_tails = sizes.clusters.len() - 1;
    let tails = sizes.tails().zip(visits);
    let of_tails = tails.map(|((size, narrow), visits)| visits * narrow * (size + sizes.hidden));
    num_documents * sizes.hidden * (sizes.clusters[0] + num_tails) + of_tails.sum::<usize>()
}

#[test]
fn documents_are_compared_with_the_labels_of_the_tails_they_visit_alone() {
    let sizes = Sizes {
        hidden: 8,
        shrink: 2,
        clusters: vec![5, 4, 4],
    };
    let plan = sizes.plan();
    let case = plan.case();
    let _ = counted::take();
    let learnt = case.learn(1.0);
    let clusters = frequency_clusters(&COUNTS, &plan.config.cut_offs);
    let visits = |tail: u32| {
        let is_inside = |labels: &&&[u32]| {
            labels
                .iter()
                .any(|&label| clusters.cluster_of(label) == tail)
        };
        TRUE_LABELS.iter().filter(is_inside).count()
    };
    let visits = [visits(1), visits(2)];
    assert_eq!(visits, [1, 2]);
    // Scores of labels are counted as they are computed, the root and the projections by their shapes.
    let of_labels = visits[0] * 4 * 4 + visits[1] * 4 * 2;
    assert_eq!(counted::take(), of_labels as i64);
    let of_root = 5 * 8 * (5 + 2);
    let of_projections = visits[0] * 8 * 4 + visits[1] * 8 * 2;
    let counted = of_root + of_projections + of_labels;
    assert_eq!(counted, equation_11(&sizes, 5, &visits));
    // Equation 12 leaves the small parts out.
    let by_12 = 5 * 8 * 5 + of_labels;
    assert!(by_12 < counted);
    let rows: Vec<Vec<i64>> = learnt.rows.iter().map(|rows| rows.rows.size()).collect();
    assert_eq!(rows, [[4], [4]]);
}

#[test]
fn tails_that_nobody_visits_cost_nothing() {
    let plan = Plan {
        true_labels: &[&[1], &[10, 5], &[], &[8], &[12]],
        ..Plan::new()
    };
    let case = plan.case();
    let _ = counted::take();
    assert!(case.learn(1.0).rows.is_empty());
    assert_eq!(counted::take(), 0);
}
