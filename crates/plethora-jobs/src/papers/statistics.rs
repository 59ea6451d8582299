//! Runs ranked over all data and metrics of a claim, as papers do it.

use plethora_core::metrics::{average_ranks, wilcoxon};

use super::results::Results;

/// How runs stand over several figures.
#[derive(Debug, PartialEq)]
pub(super) struct Standing<'a> {
    /// Pairs of data and metric on which all of them were measured.
    pub(super) num_figures: usize,
    /// The runs, in the order of the claim, with their average rank and the p-value of their difference to the best.
    pub(super) runs: Vec<(&'a str, f64, Option<f64>)>,
}

/// Ranks those runs that were measured where the first one was, by all metrics on all data. None where fewer than two were, or
/// nothing is known of the first.
pub(super) fn standing<'a>(
    runs: &[&'a str],
    data: &[&str],
    metrics: &[String],
    results: &Results,
) -> Option<Standing<'a>> {
    let mean = |run: &str, data: &str, metric: &str| {
        results.spread(run, data, metric).map(|spread| spread.mean)
    };
    let first = runs.first()?;
    let mut figures = data
        .iter()
        .flat_map(|data| metrics.iter().map(move |metric| (*data, metric)));
    let measured: Vec<(&str, &String)> = figures
        .by_ref()
        .filter(|(data, metric)| mean(first, data, metric).is_some())
        .collect();
    let is_complete = |run: &&&str| {
        measured
            .iter()
            .all(|(data, metric)| mean(run, data, metric).is_some())
    };
    let runs: Vec<&'a str> = runs.iter().filter(is_complete).copied().collect();
    if runs.len() < 2 || measured.is_empty() {
        return None;
    }
    let rows: Vec<Vec<f64>> = measured
        .iter()
        .map(|(data, metric)| {
            runs.iter()
                .filter_map(|run| mean(run, data, metric))
                .collect()
        })
        .collect();
    let ranks = average_ranks(&rows);
    let best = (0..runs.len()).min_by(|&one, &other| ranks[one].total_cmp(&ranks[other]))?;
    let against_best = |place: usize| {
        let pairs = rows.iter().map(|row| (row[best], row[place]));
        (place != best).then(|| wilcoxon(pairs)).flatten()
    };
    let with_ranks = runs.iter().enumerate();
    Some(Standing {
        num_figures: rows.len(),
        runs: with_ranks
            .map(|(place, run)| (*run, ranks[place], against_best(place)))
            .collect(),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::papers::results::Figures;

    #[test]
    fn runs_are_ranked_where_all_were_measured() {
        let mut results = Results::default();
        for (run, data, values) in [
            ("a", "laws", [3.0, 2.0]),
            ("b", "laws", [2.0, 2.0]),
            ("c", "laws", [1.0, 1.0]),
            ("a", "books", [9.0, 8.0]),
            ("b", "books", [8.0, 7.0]),
        ] {
            let metrics = ["P@1", "P@5"].map(str::to_owned).into_iter().zip(values);
            results.add(Figures {
                run: run.into(),
                data: data.into(),
                seed: 1,
                metrics: metrics.collect::<BTreeMap<String, f64>>(),
                ..Figures::default()
            });
        }
        let metrics = ["P@1", "P@5"].map(str::to_owned);
        let found = standing(&["a", "b", "c"], &["laws", "books"], &metrics, &results).unwrap();
        assert_eq!(found.num_figures, 4);
        // c was not measured on books, so it has no rank.
        assert_eq!(found.runs, [("a", 1.125, None), ("b", 1.875, Some(0.25))]);
        assert!(standing(&["z", "a"], &["laws"], &metrics, &results).is_none());
    }
}
