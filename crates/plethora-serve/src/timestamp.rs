//! Points in time as clients read them.

use std::time::{SystemTime, UNIX_EPOCH};

/// The calendar repeats after this many years,
const CYCLE_YEARS: u64 = 400;
/// which are this many days.
const CYCLE_DAYS: u64 = 146_097;

/// A time to the second in ISO 8601, in UTC; none for times before 1970.
pub(crate) fn iso_8601(time: SystemTime) -> Option<String> {
    let seconds = time.duration_since(UNIX_EPOCH).ok()?.as_secs();
    let (year, month, day) = date(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    Some(format!(
        "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"
    ))
}

/// Year, month and day after this many days since 1970.
fn date(days: u64) -> (u64, u64, u64) {
    let mut year = 1970 + days / CYCLE_DAYS * CYCLE_YEARS;
    let mut left = days % CYCLE_DAYS;
    while left >= 365 + u64::from(is_leap(year)) {
        left -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if left < length {
            break;
        }
        left -= length;
        month += 1;
    }
    (year, month, left + 1)
}

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn times_are_written_as_the_calendar_has_them() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (978_307_199, "2000-12-31T23:59:59Z"),
            (1_589_906_562, "2020-05-19T16:42:42Z"),
            (4_107_542_399, "2100-02-28T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (12_622_780_800, "2370-01-01T00:00:00Z"),
        ] {
            let time = UNIX_EPOCH + Duration::from_secs(seconds);
            assert_eq!(iso_8601(time).as_deref(), Some(expected));
        }
        assert_eq!(iso_8601(UNIX_EPOCH - Duration::from_secs(1)), None);
    }
}
