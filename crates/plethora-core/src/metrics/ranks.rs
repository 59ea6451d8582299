//! Systems compared over many data sets: their ranks, and whether one is above another more often than chance has it.

/// Differences up to which all orders of signs are counted; beyond, their sum is taken to be normal.
const MAX_EXACT: usize = 50;

/// Figures that differ by less are equal: they are written with a few digits, and their differences are not exact.
const EQUAL: f64 = 1e-9;

/// The mean rank of each system over all rows of figures, 1 for the best; equal figures share the mean of their ranks
/// (Demšar 2006).
///
/// # Panics
/// If a row has another number of figures than the first.
pub fn average_ranks(rows: &[Vec<f64>]) -> Vec<f64> {
    let num_systems = rows.first().map_or(0, Vec::len);
    let mut sums = vec![0.0; num_systems];
    for row in rows {
        assert_eq!(row.len(), num_systems, "a figure per system");
        let falling: Vec<f64> = row.iter().map(|figure| -figure).collect();
        for (sum, rank) in sums.iter_mut().zip(ranks(&falling)) {
            *sum += rank;
        }
    }
    sums.iter().map(|sum| sum / rows.len() as f64).collect()
}

/// The two-sided p-value of Wilcoxon's signed rank test for paired figures; none where no pair differs.
///
/// Pairs without a difference are left out. Up to fifty differences, the probability is counted over all signs of their
/// ranks, tied ones included; beyond, it is that of a normal distribution with the variance of these ranks.
pub fn wilcoxon(pairs: impl IntoIterator<Item = (f64, f64)>) -> Option<f64> {
    let differences: Vec<f64> = pairs
        .into_iter()
        .filter(|&(one, other)| !is_same(one, other))
        .map(|(one, other)| one - other)
        .collect();
    if differences.is_empty() {
        return None;
    }
    let sizes: Vec<f64> = differences
        .iter()
        .map(|difference| difference.abs())
        .collect();
    let ranks = ranks(&sizes);
    let of_sign = |is_wanted: fn(f64) -> bool| -> f64 {
        let with_ranks = differences.iter().zip(&ranks);
        let wanted = with_ranks.filter(|&(&difference, _)| is_wanted(difference));
        wanted.map(|(_, rank)| rank).sum()
    };
    let smaller =
        of_sign(|difference| difference > 0.0).min(of_sign(|difference| difference < 0.0));
    Some(if ranks.len() <= MAX_EXACT {
        exact(&ranks, smaller)
    } else {
        by_normal(&ranks, smaller)
    })
}

fn is_same(one: f64, other: f64) -> bool {
    (one - other).abs() < EQUAL
}

/// Ranks from 1 for the smallest; equal numbers share the mean of theirs.
fn ranks(numbers: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by(|&one, &other| numbers[one].total_cmp(&numbers[other]));
    let mut ranks = vec![0.0; numbers.len()];
    let mut start = 0;
    while start < order.len() {
        let is_equal = |&&place: &&usize| is_same(numbers[place], numbers[order[start]]);
        let end = start + order[start..].iter().take_while(is_equal).count();
        for &place in &order[start..end] {
            ranks[place] = (start + 1 + end) as f64 / 2.0;
        }
        start = end;
    }
    ranks
}

/// Twice the share of all signs of these ranks whose positive ones sum up to no more than `smaller`.
fn exact(ranks: &[f64], smaller: f64) -> f64 {
    // Mean ranks are halves at worst, so doubled ones are whole.
    let doubled: Vec<usize> = ranks
        .iter()
        .map(|rank| (2.0 * rank).round() as usize)
        .collect();
    let mut counts = vec![0.0f64; doubled.iter().sum::<usize>() + 1];
    counts[0] = 1.0;
    let mut reached = 0;
    for &rank in &doubled {
        for sum in (0..=reached).rev() {
            counts[sum + rank] += counts[sum];
        }
        reached += rank;
    }
    let limit = (2.0 * smaller).round() as usize;
    let below: f64 = counts[..=limit].iter().sum();
    (2.0 * below / 2.0f64.powi(ranks.len() as i32)).min(1.0)
}

/// The same share where sums of ranks are taken to be normal.
fn by_normal(ranks: &[f64], smaller: f64) -> f64 {
    let mean = ranks.iter().sum::<f64>() / 2.0;
    let variance = ranks.iter().map(|rank| rank * rank).sum::<f64>() / 4.0;
    let distance = (mean - smaller) / variance.sqrt();
    complementary_error(distance / std::f64::consts::SQRT_2).min(1.0)
}

/// erfc(x) for x from 0, by its continued fraction or, near 0, by the series of erf; exact to about 1e-14.
fn complementary_error(x: f64) -> f64 {
    let factor = (-x * x).exp() / std::f64::consts::PI.sqrt();
    if x < 2.0 {
        let mut term = x;
        let mut sum = x;
        for n in 1..200 {
            term *= 2.0 * x * x / f64::from(2 * n + 1);
            sum += term;
            if term < sum * 1e-17 {
                break;
            }
        }
        return 1.0 - 2.0 * factor * sum;
    }
    let fraction = (1..=120)
        .rev()
        .fold(x, |below, n| x + f64::from(n) / 2.0 / below);
    factor / fraction
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    struct Golden {
        wilcoxon: Vec<Case>,
        ranks: Vec<RankCase>,
    }

    #[derive(Deserialize)]
    struct Case {
        name: String,
        one: Vec<f64>,
        other: Vec<f64>,
        p: f64,
    }

    #[derive(Deserialize)]
    struct RankCase {
        rows: Vec<Vec<f64>>,
        mean_ranks: Vec<f64>,
    }

    fn golden() -> Golden {
        serde_json::from_str(include_str!("../../../../testdata/ranks/golden.json")).unwrap()
    }

    #[test]
    fn p_values_equal_scipys() {
        for case in golden().wilcoxon {
            let p = wilcoxon(case.one.iter().copied().zip(case.other)).unwrap();
            assert!(
                (p - case.p).abs() <= 1e-10 * case.p.max(1e-3),
                "{}: {p} {}",
                case.name,
                case.p
            );
        }
        assert_eq!(wilcoxon([(1.0, 1.0), (2.0, 2.0)]), None);
    }

    #[test]
    fn mean_ranks_equal_scipys() {
        for case in golden().ranks {
            for (found, expected) in average_ranks(&case.rows).iter().zip(&case.mean_ranks) {
                assert!((found - expected).abs() < 1e-12);
            }
        }
    }
}
