//! The time, as RFC 3339 has it, in UTC.

/// Milliseconds since 1970 as `2026-11-18T21:08:02Z`.
pub fn rfc_3339(unix_ms: u64) -> String {
    let seconds = unix_ms / 1000;
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Years are counted from March: the day that is now and then there is their last.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Whether a word looks like it.
pub fn is_rfc_3339(word: &str) -> bool {
    let shape = word.bytes().take(19).map(|it| if it.is_ascii_digit() { b'0' } else { it });
    shape.eq(*b"0000-00-00T00:00:00")
        && word[19..].bytes().all(|it| it.is_ascii_digit() || b".:+-Z".contains(&it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        for (ms, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400_000, "2000-02-29T00:00:00Z"),
            (1_795_036_082_999, "2026-11-18T21:08:02Z"),
            (4_107_542_399_000, "2100-02-28T23:59:59Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(rfc_3339(ms), expected);
            assert!(is_rfc_3339(expected));
        }
        for odd in ["", "2026-11-18", "2026-11-18 21:08:02Z", "2026-11-18T21:08:02 then", "ü"] {
            assert!(!is_rfc_3339(odd), "{odd}");
        }
        assert!(is_rfc_3339("2026-11-18T21:08:02.5+01:00"));
    }
}
