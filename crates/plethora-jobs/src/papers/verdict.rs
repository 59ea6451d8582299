//! Whether a claim holds, by what was measured.

use std::fmt;

use super::claims::Claim;
use super::results::{Results, Spread};
use super::rule::{Rule, Side};

/// What is to be said of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// All comparisons that were measured agree with it.
    Holds,
    /// One of them does not.
    DoesNotHold,
    /// Nothing was measured.
    NotRunYet,
    /// Nothing can be measured.
    NotTestable,
}

/// A rule on some data.
#[derive(Debug)]
pub(super) struct Comparison<'a> {
    /// The rule.
    pub(super) rule: &'a Rule,
    /// The data.
    pub(super) data: String,
    /// What was found; absent where one side was not measured.
    pub(super) found: Option<Found>,
}

/// What a comparison gave.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Found {
    /// How much larger the larger side is.
    pub(super) difference: f64,
    /// Whether the difference is smaller than the spread over seeds, so that other seeds might turn it.
    pub(super) is_within_spread: bool,
}

/// All comparisons of a claim.
#[derive(Debug)]
pub(super) struct Judged<'a> {
    /// On each of its data, in order.
    pub(super) comparisons: Vec<Comparison<'a>>,
    /// What follows.
    pub(super) verdict: Verdict,
}

/// Compares what was measured of a claim on these data.
pub(super) fn judge<'a>(claim: &'a Claim, data: &[&str], results: &Results) -> Judged<'a> {
    let metric = claim.metrics.last().map_or("P@5", String::as_str);
    let comparisons: Vec<Comparison<'a>> = data
        .iter()
        .flat_map(|data| {
            claim.rules.iter().map(|rule| Comparison {
                rule,
                data: (*data).to_owned(),
                found: compare(rule, data, metric, results),
            })
        })
        .collect();
    let found: Vec<Found> = comparisons.iter().filter_map(|one| one.found).collect();
    let verdict = if claim.untestable.is_some() {
        Verdict::NotTestable
    } else if found.is_empty() {
        Verdict::NotRunYet
    } else if found.iter().all(|found| found.difference > 0.0) {
        Verdict::Holds
    } else {
        Verdict::DoesNotHold
    };
    Judged {
        comparisons,
        verdict,
    }
}

fn compare(rule: &Rule, data: &str, metric: &str, results: &Results) -> Option<Found> {
    let of = |side: &Side| match side {
        Side::Number(number) => Some(Spread {
            mean: *number,
            deviation: None,
        }),
        Side::Run(run, own) => results.spread(run, data, own.as_deref().unwrap_or(metric)),
    };
    let (larger, smaller) = (of(&rule.larger)?, of(&rule.smaller)?);
    let difference = larger.mean - smaller.mean;
    let spread = [larger, smaller]
        .iter()
        .filter_map(|side| side.deviation)
        .fold(0.0, f64::hypot);
    Some(Found {
        difference,
        is_within_spread: difference.abs() < spread,
    })
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Holds => "holds",
            Self::DoesNotHold => "does not hold",
            Self::NotRunYet => "not run yet",
            Self::NotTestable => "not testable here",
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::papers::results::Figures;

    fn claim() -> Claim {
        toml::from_str(
            "id = \"table-1\"\nsays = \"a is best\"\nmetrics = [\"P@1\", \"P@5\"]\n\
             data = [\"books\"]\nrules = [\"a > b\", \"b:P@1 < a:P@1\"]",
        )
        .unwrap()
    }

    fn results(figures: &[(&str, u64, f64, f64)]) -> Results {
        let mut results = Results::default();
        for &(run, seed, first, fifth) in figures {
            results.add(Figures {
                run: run.into(),
                data: "books".into(),
                seed,
                metrics: BTreeMap::from([("P@1".into(), first), ("P@5".into(), fifth)]),
                ..Figures::default()
            });
        }
        results
    }

    #[test]
    fn a_claim_holds_if_everything_that_was_measured_agrees() {
        let claim = claim();
        let verdict = |figures: &[(&str, u64, f64, f64)]| {
            judge(&claim, &["books"], &results(figures)).verdict
        };
        assert_eq!(verdict(&[]), Verdict::NotRunYet);
        assert_eq!(verdict(&[("a", 1, 50.0, 30.0)]), Verdict::NotRunYet);
        let both = [("a", 1, 50.0, 30.0), ("b", 1, 49.0, 29.0)];
        assert_eq!(verdict(&both), Verdict::Holds);
        let turned = [("a", 1, 50.0, 30.0), ("b", 1, 51.0, 29.0)];
        assert_eq!(verdict(&turned), Verdict::DoesNotHold);
        let equal = [("a", 1, 50.0, 30.0), ("b", 1, 50.0, 29.0)];
        assert_eq!(verdict(&equal), Verdict::DoesNotHold);
    }

    #[test]
    fn differences_below_the_spread_of_seeds_are_marked() {
        let figures = [
            ("a", 1, 50.0, 30.0),
            ("a", 2, 54.0, 30.5),
            ("b", 1, 51.0, 20.0),
        ];
        let claim = claim();
        let results = results(&figures);
        let judged = judge(&claim, &["books"], &results);
        let found: Vec<Found> = judged
            .comparisons
            .iter()
            .map(|one| one.found.unwrap())
            .collect();
        assert!(!found[0].is_within_spread && (found[0].difference - 10.25).abs() < 1e-9);
        assert!(found[1].is_within_spread && (found[1].difference - 1.0).abs() < 1e-9);
    }

    #[test]
    fn what_is_untestable_stays_so() {
        let mut claim = claim();
        claim.untestable = Some("no such machine".into());
        let judged = judge(
            &claim,
            &["books"],
            &results(&[("a", 1, 2.0, 2.0), ("b", 1, 1.0, 1.0)]),
        );
        assert_eq!(judged.verdict, Verdict::NotTestable);
    }
}
