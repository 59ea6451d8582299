//! Numbers as people read them.

/// Bytes in the unit that leaves up to four digits: `20.4 MiB`.
pub fn bytes(number: u64) -> String {
    let mut value = number as f64;
    let mut unit = "B";
    for larger in ["KiB", "MiB", "GiB", "TiB"] {
        if value < 1024.0 {
            break;
        }
        value /= 1024.0;
        unit = larger;
    }
    if unit == "B" {
        format!("{number} B")
    } else {
        format!("{value:.1} {unit}")
    }
}

/// Seconds up to two minutes, then minutes, then hours.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 10.0 => format!("{s:.2} s"),
        s if s < 120.0 => format!("{s:.1} s"),
        s if s < 7200.0 => format!("{:.1} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// A fraction in percent with two decimals, as papers print it.
pub fn percent(fraction: f64) -> String {
    format!("{:.2}", 100.0 * fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(21_390_950), "20.4 MiB");
        assert_eq!(duration(0.123), "0.12 s");
        assert_eq!(duration(600.0), "10.0 min");
        assert_eq!(percent(0.913_34), "91.33");
    }
}
