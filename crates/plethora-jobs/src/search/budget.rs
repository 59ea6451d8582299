//! How long a search may take.

use std::time::{Duration, Instant};

/// Units of time with their seconds.
const UNITS: [(char, u64); 4] = [('d', 86_400), ('h', 3600), ('m', 60), ('s', 1)];

/// Longer than anybody waits; sums of times stay far from their limits.
const MAX_SECONDS: u64 = 3650 * 86_400;

/// Reads a time as `30m` or `1h30m`.
pub fn parse(text: &str) -> Result<Duration, String> {
    let seconds = seconds_of(text)
        .filter(|seconds| (1..=MAX_SECONDS).contains(seconds))
        .ok_or("expected a time above 0, as 90s, 30m, 1h30m or 2d")?;
    Ok(Duration::from_secs(seconds))
}

fn seconds_of(text: &str) -> Option<u64> {
    let mut rest = text;
    let mut total = 0_u64;
    let mut units = UNITS.iter();
    while !rest.is_empty() {
        let (count, after) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit())?);
        let unit = after.chars().next()?;
        // Larger units come first, each once.
        let (_, seconds) = units.find(|(known, _)| *known == unit)?;
        let part = count.parse::<u64>().ok()?.checked_mul(*seconds)?;
        total = total.checked_add(part)?;
        rest = &after[unit.len_utf8()..];
    }
    Some(total)
}

/// The time that is left of a budget.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    budget: Duration,
    /// What earlier runs of the search have used.
    before: Duration,
    started: Instant,
}

impl Clock {
    /// Starts with what earlier runs have left.
    pub(super) fn start(budget: Duration, seconds_before: f64) -> Self {
        // Files that somebody has edited may say anything.
        let seconds_before = seconds_before.clamp(0.0, MAX_SECONDS as f64);
        Self {
            budget,
            before: Duration::from_secs_f64(seconds_before),
            started: Instant::now(),
        }
    }

    /// The time that the search has taken.
    pub(super) fn spent(&self) -> Duration {
        self.before + self.started.elapsed()
    }

    /// The share of the budget that is gone; 1 and more where nothing is left.
    pub(super) fn spent_share(&self) -> f64 {
        self.spent().as_secs_f64() / self.budget.as_secs_f64()
    }

    /// When nothing will be left.
    pub(super) fn deadline(&self) -> Instant {
        self.started + self.budget.saturating_sub(self.before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        for (text, seconds) in [
            ("90s", 90),
            ("30m", 1800),
            ("1h30m", 5400),
            ("2d", 172_800),
            ("1d2h3m4s", 93_784),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in [
            "", "0", "0m", "30", "m", "-5m", "1.5h", "5x", "30m1h", "1h1h", "9999999d", "1e3s",
        ] {
            assert!(parse(text).unwrap_err().contains("as 90s, 30m"), "{text}");
        }
    }

    #[test]
    fn what_earlier_runs_used_is_gone() {
        let clock = Clock::start(Duration::from_secs(100), 60.0);
        assert!((0.6..0.7).contains(&clock.spent_share()));
        let left = clock.deadline() - Instant::now();
        assert!(left <= Duration::from_secs(40) && left > Duration::from_secs(30));
        let over = Clock::start(Duration::from_secs(1), 1e300);
        assert!(over.spent_share() > 1.0 && over.deadline() <= Instant::now());
    }
}
